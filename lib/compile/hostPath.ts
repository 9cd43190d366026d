import type { Model, ModelStatic } from 'sequelize'
import type { Field } from '../../types/field.js'
import type { CrudOptions } from '../../types/options.js'
import { CrudConfigError } from '../common/errors.js'
import { unknownName, valid } from '../config/suggest.js'
import { DEFAULT_LIMITS } from './limits.js'
import { camelCase } from './names.js'
import { optionFor } from './relationOptions.js'
import { type TypedAttribute, valueTypeOf } from './valueType.js'

/** What the paths of an option are checked against. */
export interface Described {
  readonly model: ModelStatic<Model>
  readonly options: CrudOptions
  readonly fields: readonly Field[]
}

/** What a path of an option may lead to. */
export interface Wanted {
  /** Names the model and the option in messages. */
  readonly where: string
  /** What is said of the field at its end: "the sortable field". */
  readonly what: string
  /** Whether it may be a field of the resource itself, or an attribute of a type behind relations. */
  readonly own: (field: Field) => boolean
  readonly behind: (type: Field['valueType']['type']) => boolean
}

/**
 * A path that the host has written in an option, over to-one relations to a field, in the names that it has on the wire. What
 * a resource over a relation's target hides is no matter of mounting: routers mount in any order.
 *
 * @throws CrudConfigError for names and associations that do not exist, for relations that no such path crosses, and for too many
 */
export function hostPathOf(
  { model, options, fields }: Described,
  segments: readonly string[],
  { where, what, own, behind }: Wanted,
): readonly string[] {
  const crossed = segments.slice(0, -1)
  assertDepth(options, where, segments)
  let target = model
  const names: string[] = []
  for (const [index, segment] of crossed.entries()) {
    const [name, association] = find(Object.entries(target.associations), ([each]) => each, segment, {
      code: 'UNKNOWN_ASSOCIATION',
      what: `${where} the association`,
    })
    if (association.isMultiAssociation) {
      const open = index === 0 ? fields.filter(own).map((field) => field.name) : attributesOf(target, behind)
      const instead = valid(open.map((each) => [...names, camelCase(each)].join('.')))
      throw new CrudConfigError('INVALID_OPTION', `${where} ${manyIn(segments, index)}${instead}`)
    }
    if (index === 0 && optionFor(options.relations, name) === false) {
      throw new CrudConfigError('INVALID_OPTION', `${where} "${segment}" is closed by the option "relations".`)
    }
    names.push(camelCase(name))
    target = association.target
  }
  const [first = ''] = crossed
  const candidates =
    crossed.length === 0
      ? fields.filter(own).map(({ name }) => name)
      : openTo(attributesOf(target, behind), model, options, crossed.length === 1 ? first : null)
  const last = segments.at(-1) ?? ''
  const known = crossed.length === 0 ? fields.map(({ name }) => name) : Object.keys(target.getAttributes())
  if (known.some((name) => isNamed(name, last)) && !candidates.some((name) => isNamed(name, last))) {
    const message = `${where} "${segments.join('.')}" is not ${what.replace(/^the/, 'a')}.${valid(candidates.map(camelCase))}`
    throw new CrudConfigError('UNKNOWN_ATTRIBUTE', message)
  }
  return [
    ...names,
    camelCase(find(candidates, (name) => name, last, { code: 'UNKNOWN_ATTRIBUTE', what: `${where} ${what}` })),
  ]
}

/** Why a path cannot cross the collection at that place of it. */
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

/** The attributes with a column of a type that fits. */
function attributesOf(model: ModelStatic<Model>, fits: Wanted['behind']): readonly string[] {
  return Object.entries(model.getAttributes())
    .filter(([, { type }]) => (type as { key?: string }).key !== 'VIRTUAL')
    .filter(([, attribute]) => fits(valueTypeOf(attribute as TypedAttribute).type))
    .map(([name]) => name)
}

/** Those of the names that the option `relations` leaves open behind an association; null stands for one further away. */
function openTo(
  names: readonly string[],
  model: ModelStatic<Model>,
  { relations }: CrudOptions,
  association: string | null,
): readonly string[] {
  const name = Object.keys(model.associations).find((each) => association !== null && isNamed(each, association))
  const option = name === undefined ? true : optionFor(relations, name)
  const fields = typeof option === 'object' ? option.fields : undefined
  return fields === undefined ? names : names.filter((each) => fields.includes(each))
}

/** In any case, by the name on the wire or by the one in the model. */
function isNamed(name: string, segment: string): boolean {
  return camelCase(name).toLowerCase() === segment.toLowerCase() || name === segment
}

function find<T>(
  candidates: readonly T[],
  nameOf: (candidate: T) => string,
  segment: string,
  { code, what }: { readonly code: 'UNKNOWN_ASSOCIATION' | 'UNKNOWN_ATTRIBUTE'; readonly what: string },
): T {
  const found = candidates.find((candidate) => isNamed(nameOf(candidate), segment))
  if (found !== undefined) return found
  throw unknownName(
    code,
    what,
    segment,
    candidates.map((candidate) => camelCase(nameOf(candidate))),
  )
}
