import type { Model, ModelStatic } from 'sequelize'
import type { Field } from '../../types/field.js'
import type { CrudOptions } from '../../types/options.js'
import type { SortNode } from '../../types/query.js'
import type { QuerySettings } from '../../types/settings.js'
import { CrudConfigError } from '../common/errors.js'
import { unknownName } from '../config/suggest.js'
import { operatorsOf } from '../language/operators.js'
import { parseSort } from '../language/query.js'
import { limitsOf } from './limits.js'
import { camelCase } from './names.js'
import { optionFor } from './relations.js'
import { valueTypeOf } from './valueType.js'

/** What a path is checked against. */
interface Sorted {
  readonly model: ModelStatic<Model>
  readonly options: CrudOptions
  readonly fields: readonly Field[]
}

/**
 * Pass: the default sort parses, and each of its paths ends at something to sort by. What a resource over a relation's
 * target hides is left out of the order, so that it is no matter of mounting.
 *
 * @throws CrudConfigError for what does not parse, names and associations that do not exist, and relations that no sort crosses
 */
export function defaultSortOf(sorted: Sorted, { defaultSort, defaultDirection }: QuerySettings): readonly SortNode[] {
  if (defaultSort.trim() === '') return []
  const where = `${sorted.model.name}: query.defaultSort:`
  const keys = parse(where, defaultSort, { direction: defaultDirection })
  for (const { path } of keys) checkPath(sorted, where, path.segments)
  return keys
}

function parse(where: string, text: string, options: Parameters<typeof parseSort>[1]): readonly SortNode[] {
  try {
    return parseSort(text, options)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new CrudConfigError('INVALID_OPTION', `${where} ${reason}`)
  }
}

function checkPath({ model, options, fields }: Sorted, where: string, segments: readonly string[]): void {
  const crossed = segments.slice(0, -1)
  const { pathDepth } = limitsOf(options)
  if (crossed.length > pathDepth) {
    const path = segments.join('.')
    throw new CrudConfigError(
      'INVALID_OPTION',
      `${where} "${path}" crosses more relations than the limit of ${pathDepth} (pathDepth).`,
    )
  }
  let target = model
  for (const [index, segment] of crossed.entries()) {
    const [name, association] = find(Object.entries(target.associations), ([each]) => each, segment, {
      code: 'UNKNOWN_ASSOCIATION',
      what: `${where} the association`,
    })
    if (association.isMultiAssociation) {
      throw new CrudConfigError(
        'INVALID_OPTION',
        `${where} "${segment}" leads to many records, and none of them is first.`,
      )
    }
    if (index === 0 && optionFor(options.relations, name) === false) {
      throw new CrudConfigError('INVALID_OPTION', `${where} "${segment}" is closed by the option "relations".`)
    }
    target = association.target
  }
  const [first = ''] = crossed
  const own = fields.filter(({ sortable }) => sortable).map(({ name }) => name)
  const names =
    crossed.length === 0 ? own : openTo(comparable(target), model, options, crossed.length === 1 ? first : null)
  find(names, (name) => name, segments.at(-1) ?? '', { code: 'UNKNOWN_ATTRIBUTE', what: `${where} the sortable field` })
}

/** The attributes whose values have an order. */
function comparable(model: ModelStatic<Model>): readonly string[] {
  return Object.entries(model.getAttributes())
    .filter(([, { type }]) => (type as { key?: string }).key !== 'VIRTUAL')
    .filter(([, attribute]) => operatorsOf(valueTypeOf(attribute).type).size > 0)
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
  return typeof option === 'object' ? names.filter((each) => option.fields.includes(each)) : names
}

function isNamed(name: string, segment: string): boolean {
  return camelCase(name).toLowerCase() === segment.toLowerCase()
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
