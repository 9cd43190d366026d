import type { Model, ModelStatic } from 'sequelize'
import type { Field } from '../../types/field.js'
import type { CrudOptions } from '../../types/options.js'
import type { Path } from '../../types/query.js'
import type { Relation } from '../../types/resource.js'
import { CrudConfigError } from '../common/errors.js'
import { internalError } from '../common/internalError.js'
import { createUnknownNameError, listValid } from '../config/suggest.js'
import { DEFAULT_LIMITS } from './limits.js'
import { cacheUntilMount, resourcesOver } from './mounted.js'
import { camelCase } from './names.js'
import { type Naming, relatedNamingOf } from './naming.js'
import { relationOptionOf } from './relationOptions.js'
import { isVirtual, type TypedAttribute, valueTypeOf } from './valueType.js'

/** The resource that the paths of an option start from. */
export interface PathOrigin {
  readonly model: ModelStatic<Model>
  readonly options: CrudOptions
  readonly fields: readonly Field[]
  readonly naming: Naming
  /** The relations of the resource. The resources over their targets are known only after they are mounted. */
  readonly relations: () => ReadonlyMap<string, Relation>
}

/** The requirements on the field at the end of an option's path. */
export interface EndRequirements {
  /** The model and the option, for messages. */
  readonly where: string
  /** The description of the field in messages: "the sortable field". */
  readonly what: string
  /**
   * Whether the path may end at this field of the resource itself. For attributes of a related model, `isAllowedType`
   * decides by the type.
   */
  readonly isAllowedField: (field: Field) => boolean
  readonly isAllowedType: (type: Field['valueType']['type']) => boolean
}

/**
 * Resolves an option's path over to-one relations to a field. The path has names of the model or of the API. Routers
 * mount in any order, so fields hidden by the target's resource are allowed. For the same reason API names are looked
 * up for each request.
 *
 * @throws CrudConfigError for unknown names and associations, relations that such a path cannot use, and too long paths
 */
export function resolveHostPath(described: PathOrigin, written: Path, requirements: EndRequirements): Path {
  const { where } = requirements
  const { segments } = written
  assertPathDepth(described.options, where, segments)
  const relationNames: PathName[] = []
  let target = described.model
  for (const [index, segment] of segments.slice(0, -1).entries()) {
    const found = requireName(associationsOf(described, target), segment, {
      code: 'UNKNOWN_ASSOCIATION',
      what: `${where} the association`,
    })
    const association = target.associations[found.name]
    if (association === undefined) throw internalError(`${target.name} has no association "${found.name}"`)
    if (association.isMultiAssociation) {
      const open = candidateFieldsOf(described, target, index, requirements)
      const instead = listValid(open.map((each) => [...relationNames, each].map(displayNameOf).join('.')))
      throw new CrudConfigError('INVALID_OPTION', `${where} ${collectionMessageOf(segments, index)}${instead}`)
    }
    if (index === 0 && relationOptionOf(described.options.relations, found.name) === false) {
      throw new CrudConfigError(
        'INVALID_OPTION',
        `${where} the option "relations" disables the association "${segment}".`,
      )
    }
    relationNames.push(found)
    target = association.target
  }
  return resolveNamesLate(described, written, [
    ...relationNames,
    requireLastField(described, target, relationNames, segments, requirements),
  ])
}

/** An attribute or an association with its names in paths. Messages use the first name. */
interface PathName {
  readonly name: string
  readonly spellings: readonly string[]
}

function displayNameOf({ name, spellings: [first = name] }: PathName): string {
  return first
}

function requireLastField(
  described: PathOrigin,
  target: ModelStatic<Model>,
  relationNames: readonly PathName[],
  segments: readonly string[],
  requirements: EndRequirements,
): PathName {
  const { where, what } = requirements
  const all = candidateFieldsOf(described, target, relationNames.length, requirements)
  const [first, ...further] = relationNames
  const candidates =
    first === undefined || further.length > 0 ? all : filterOpenNames(all, described.options, first.name)
  const last = segments.at(-1) ?? ''
  const known = fieldNamesAt(described, target, relationNames.length)
  if (known.some((each) => hasSpelling(each, last)) && !candidates.some((each) => hasSpelling(each, last))) {
    const message = `${where} "${segments.join('.')}" is not ${what.replace(/^the/, 'a')}.${listValid(candidates.map(displayNameOf))}`
    throw new CrudConfigError('UNKNOWN_ATTRIBUTE', message)
  }
  return requireName(candidates, last, { code: 'UNKNOWN_ATTRIBUTE', what: `${where} ${what}` })
}

/** Returns the fields at which a path of this length may end. */
function candidateFieldsOf(
  described: PathOrigin,
  target: ModelStatic<Model>,
  depth: number,
  { isAllowedField, isAllowedType }: EndRequirements,
): readonly PathName[] {
  const names =
    depth === 0
      ? described.fields.filter(isAllowedField).map(({ name }) => name)
      : attributeNamesOf(target, isAllowedType)
  return fieldNamesAt(described, target, depth).filter(({ name }) => names.includes(name))
}

/** Returns the names of all fields of the resource, or of all attributes of a related model. */
function fieldNamesAt({ fields, options }: PathOrigin, target: ModelStatic<Model>, depth: number): readonly PathName[] {
  if (depth === 0) return fields.map(({ name, json }) => ({ name, spellings: [json] }))
  const { field } = relatedNamingOf(target, options)
  const resources = resourcesOver(target)
  return Object.keys(target.getAttributes()).map((name) => {
    const mounted = resources.flatMap((each) => each.fields.find((other) => other.name === name)?.json ?? [])
    return { name, spellings: [...mounted, field(name), camelCase(name)] }
  })
}

function associationsOf({ model, naming, options }: PathOrigin, target: ModelStatic<Model>): readonly PathName[] {
  const names = Object.keys(target.associations)
  if (target === model) return names.map((name) => ({ name, spellings: [naming.relation(name)] }))
  const { relation } = relatedNamingOf(target, options)
  const resources = resourcesOver(target)
  return names.map((name) => {
    const mounted = resources.flatMap(({ relations }) => {
      const found = [...relations().values()].find((other) => other.name === name)
      return found === undefined ? [] : [found.json]
    })
    return { name, spellings: [...mounted, relation(name), camelCase(name)] }
  })
}

/** Returns the path with API names, which are looked up again after each mount. */
function resolveNamesLate({ fields, relations }: PathOrigin, { offset }: Path, path: readonly PathName[]): Path {
  const last = path.at(-1)
  const relationNames = path.slice(0, -1)
  const segments = cacheUntilMount((): readonly string[] => {
    let at: ReadonlyMap<string, Relation> = relationNames.length === 0 ? new Map() : relations()
    let fieldsAtEnd = fields
    const names = relationNames.map((each) => {
      const relation = [...at.values()].find(({ name }) => name === each.name)
      const access = relation?.resolveTarget() ?? null
      at = access?.relations ?? new Map()
      fieldsAtEnd = [...(access?.fields.values() ?? [])]
      return relation?.json ?? displayNameOf(each)
    })
    const field = fieldsAtEnd.find(({ name }) => name === last?.name)
    return [...names, field?.json ?? (last === undefined ? '' : displayNameOf(last))]
  })
  return Object.freeze({
    offset,
    get segments() {
      return segments()
    },
  })
}

/** Returns the error message for a path over a collection. */
function collectionMessageOf(segments: readonly string[], index: number): string {
  const [next, ...further] = segments.slice(index + 1)
  const isCount = next?.toLowerCase() === 'count' && further.length === 0
  if (!isCount) return `"${segments[index]}" leads to several records, but the path must lead to one record.`
  return `"${segments.join('.')}" is the number of related records. Clients can sort by it, but options cannot.`
}

function assertPathDepth(options: CrudOptions, where: string, segments: readonly string[]): void {
  const { pathDepth = DEFAULT_LIMITS.pathDepth } = options.limits ?? {}
  if (segments.length - 1 <= pathDepth) return
  const path = segments.join('.')
  throw new CrudConfigError(
    'INVALID_OPTION',
    `${where} "${path}" crosses more relations than the limit of ${pathDepth} (pathDepth).`,
  )
}

/** The attributes with a column of an allowed type. */
function attributeNamesOf(model: ModelStatic<Model>, fits: EndRequirements['isAllowedType']): readonly string[] {
  return Object.entries(model.getAttributes())
    .filter(([, attribute]) => !isVirtual(attribute))
    .filter(([, attribute]) => fits(valueTypeOf(attribute as TypedAttribute).type))
    .map(([name]) => name)
}

/** The names of a related model's fields that the option `relations` opens. */
function filterOpenNames(
  all: readonly PathName[],
  { relations }: CrudOptions,
  association: string,
): readonly PathName[] {
  const option = relationOptionOf(relations, association)
  const fields = typeof option === 'object' ? option.fields : undefined
  return fields === undefined ? all : all.filter(({ name }) => fields.includes(name))
}

/** Whether a name in a path means this attribute or association. API names ignore case, model names do not. */
function hasSpelling({ name, spellings }: PathName, segment: string): boolean {
  return spellings.some((each) => each.toLowerCase() === segment.toLowerCase()) || name === segment
}

function requireName(
  candidates: readonly PathName[],
  segment: string,
  { code, what }: { readonly code: 'UNKNOWN_ASSOCIATION' | 'UNKNOWN_ATTRIBUTE'; readonly what: string },
): PathName {
  const found = candidates.find((candidate) => hasSpelling(candidate, segment))
  if (found !== undefined) return found
  throw createUnknownNameError(code, what, segment, candidates.map(displayNameOf))
}
