import type { Model, ModelStatic } from 'sequelize'
import type { Field } from '../../types/field.js'
import type { CrudOptions } from '../../types/options.js'
import type { Path } from '../../types/query.js'
import type { Relation } from '../../types/resource.js'
import { CrudConfigError } from '../common/errors.js'
import { unknownName, valid } from '../config/suggest.js'
import { DEFAULT_LIMITS } from './limits.js'
import { mountedOver, perGeneration } from './mounted.js'
import { camelCase } from './names.js'
import { type Naming, namingBehind } from './naming.js'
import { optionFor } from './relationOptions.js'
import { type TypedAttribute, valueTypeOf } from './valueType.js'

/** The resource that the paths of an option start from. */
export interface Described {
  readonly model: ModelStatic<Model>
  readonly options: CrudOptions
  readonly fields: readonly Field[]
  readonly naming: Naming
  /** The relations of the resource. Their targets' resources are known once they are mounted. */
  readonly relations: () => ReadonlyMap<string, Relation>
}

/** The requirements on the field at the end of an option's path. */
export interface Wanted {
  /** The model and the option, for messages. */
  readonly where: string
  /** The description of the field in messages: "the sortable field". */
  readonly what: string
  /**
   * Whether the path may end at this field of the resource, or (`behind`) at an attribute of this type of a related
   * model.
   */
  readonly own: (field: Field) => boolean
  readonly behind: (type: Field['valueType']['type']) => boolean
}

/**
 * Resolves a path of an option, over to-one relations to a field, in the names of the model or of the API. Routers
 * mount in any order. So fields hidden by the target's resource are allowed, and API names are looked up for each
 * request.
 *
 * @throws CrudConfigError for unknown names and associations, relations that such a path cannot use, and too long paths
 */
export function hostPathOf(described: Described, written: Path, wanted: Wanted): Path {
  const { where } = wanted
  const { segments } = written
  assertDepth(described.options, where, segments)
  const crossed: Named[] = []
  let target = described.model
  for (const [index, segment] of segments.slice(0, -1).entries()) {
    const found = find(associationsOf(described, target), segment, {
      code: 'UNKNOWN_ASSOCIATION',
      what: `${where} the association`,
    })
    const association = target.associations[found.name]
    if (association === undefined) throw new TypeError(`${target.name} has no association ${found.name}`)
    if (association.isMultiAssociation) {
      const open = candidatesOf(described, target, index, wanted)
      const instead = valid(open.map((each) => [...crossed, each].map(spellingOf).join('.')))
      throw new CrudConfigError('INVALID_OPTION', `${where} ${manyIn(segments, index)}${instead}`)
    }
    if (index === 0 && optionFor(described.options.relations, found.name) === false) {
      throw new CrudConfigError('INVALID_OPTION', `${where} "${segment}" is closed by the option "relations".`)
    }
    crossed.push(found)
    target = association.target
  }
  return lateNames(described, written, [...crossed, fieldAt(described, target, crossed, segments, wanted)])
}

/** An attribute or an association with its names in paths. Messages use the first name. */
interface Named {
  readonly name: string
  readonly spellings: readonly string[]
}

function spellingOf({ name, spellings: [first = name] }: Named): string {
  return first
}

function fieldAt(
  described: Described,
  target: ModelStatic<Model>,
  crossed: readonly Named[],
  segments: readonly string[],
  wanted: Wanted,
): Named {
  const { where, what } = wanted
  const all = candidatesOf(described, target, crossed.length, wanted)
  const [first, ...further] = crossed
  const candidates = first === undefined || further.length > 0 ? all : openTo(all, described.options, first.name)
  const last = segments.at(-1) ?? ''
  const known = namesAt(described, target, crossed.length)
  if (known.some((each) => isNamed(each, last)) && !candidates.some((each) => isNamed(each, last))) {
    const message = `${where} "${segments.join('.')}" is not ${what.replace(/^the/, 'a')}.${valid(candidates.map(spellingOf))}`
    throw new CrudConfigError('UNKNOWN_ATTRIBUTE', message)
  }
  return find(candidates, last, { code: 'UNKNOWN_ATTRIBUTE', what: `${where} ${what}` })
}

/** The fields that a path of this length may end with. */
function candidatesOf(
  described: Described,
  target: ModelStatic<Model>,
  depth: number,
  { own, behind }: Wanted,
): readonly Named[] {
  const names = depth === 0 ? described.fields.filter(own).map(({ name }) => name) : attributesOf(target, behind)
  return namesAt(described, target, depth).filter(({ name }) => names.includes(name))
}

/** All fields of the resource, or all attributes of a related model. */
function namesAt({ fields, options }: Described, target: ModelStatic<Model>, depth: number): readonly Named[] {
  if (depth === 0) return fields.map(({ name, json }) => ({ name, spellings: [json] }))
  const { field } = namingBehind(target, options)
  const resources = mountedOver(target)
  return Object.keys(target.getAttributes()).map((name) => {
    const mounted = resources.flatMap((each) => each.fields.find((other) => other.name === name)?.json ?? [])
    return { name, spellings: [...mounted, field(name), camelCase(name)] }
  })
}

function associationsOf({ model, naming, options }: Described, target: ModelStatic<Model>): readonly Named[] {
  const names = Object.keys(target.associations)
  if (target === model) return names.map((name) => ({ name, spellings: [naming.relation(name)] }))
  const { relation } = namingBehind(target, options)
  const resources = mountedOver(target)
  return names.map((name) => {
    const mounted = resources.flatMap(({ relations }) => {
      const found = [...relations().values()].find((other) => other.name === name)
      return found === undefined ? [] : [found.json]
    })
    return { name, spellings: [...mounted, relation(name), camelCase(name)] }
  })
}

/** The path with API names, which are resolved again after each mount. */
function lateNames({ fields, relations }: Described, { offset }: Path, path: readonly Named[]): Path {
  const last = path.at(-1)
  const crossed = path.slice(0, -1)
  const segments = perGeneration((): readonly string[] => {
    let at: ReadonlyMap<string, Relation> = crossed.length === 0 ? new Map() : relations()
    let reached = fields
    const names = crossed.map((each) => {
      const relation = [...at.values()].find(({ name }) => name === each.name)
      const reach = relation?.reach() ?? null
      at = reach?.relations ?? new Map()
      reached = [...(reach?.fields.values() ?? [])]
      return relation?.json ?? spellingOf(each)
    })
    const field = reached.find(({ name }) => name === last?.name)
    return [...names, field?.json ?? (last === undefined ? '' : spellingOf(last))]
  })
  return Object.freeze({
    offset,
    get segments() {
      return segments()
    },
  })
}

/** The error for a path over a collection. */
function manyIn(segments: readonly string[], index: number): string {
  const [next, ...further] = segments.slice(index + 1)
  const isCount = next?.toLowerCase() === 'count' && further.length === 0
  if (!isCount) return `"${segments[index]}" leads to many records, and none of them is first.`
  return `"${segments.join('.')}" is a number of records, by which clients sort and no option does.`
}

function assertDepth(options: CrudOptions, where: string, segments: readonly string[]): void {
  const { pathDepth = DEFAULT_LIMITS.pathDepth } = options.limits ?? {}
  if (segments.length - 1 <= pathDepth) return
  const path = segments.join('.')
  throw new CrudConfigError(
    'INVALID_OPTION',
    `${where} "${path}" crosses more relations than the limit of ${pathDepth} (pathDepth).`,
  )
}

/** The attributes with a column of a suitable type. */
function attributesOf(model: ModelStatic<Model>, fits: Wanted['behind']): readonly string[] {
  return Object.entries(model.getAttributes())
    .filter(([, { type }]) => (type as { key?: string }).key !== 'VIRTUAL')
    .filter(([, attribute]) => fits(valueTypeOf(attribute as TypedAttribute).type))
    .map(([name]) => name)
}

/** The names behind an association that the option `relations` opens. */
function openTo(all: readonly Named[], { relations }: CrudOptions, association: string): readonly Named[] {
  const option = optionFor(relations, association)
  const fields = typeof option === 'object' ? option.fields : undefined
  return fields === undefined ? all : all.filter(({ name }) => fields.includes(name))
}

/** API names are compared case-insensitively, model names exactly. */
function isNamed({ name, spellings }: Named, segment: string): boolean {
  return spellings.some((each) => each.toLowerCase() === segment.toLowerCase()) || name === segment
}

function find(
  candidates: readonly Named[],
  segment: string,
  { code, what }: { readonly code: 'UNKNOWN_ASSOCIATION' | 'UNKNOWN_ATTRIBUTE'; readonly what: string },
): Named {
  const found = candidates.find((candidate) => isNamed(candidate, segment))
  if (found !== undefined) return found
  throw unknownName(code, what, segment, candidates.map(spellingOf))
}
