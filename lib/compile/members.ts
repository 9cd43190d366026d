import type { Field, MemberOf, MemberType, ValueType } from '../../types/field.js'
import { decoderOf } from '../codec/codecs.js'
import { CrudConfigError } from '../common/errors.js'
import { unknownName } from '../config/suggest.js'
import { type OperatorName, operatorsOf } from '../language/operators.js'
import { NAME } from './names.js'

/** What a type of members is to clients, and as what its values are compared where that is something else. */
interface MemberRow {
  readonly type: ValueType
  readonly stored?: ValueType
  /** Those of the type, unless told. */
  readonly operators?: readonly OperatorName[]
}

const TEXT: ValueType = Object.freeze({ type: 'string' })
/** The whole numbers that every reader of JSON reads as they are. */
const SAFE = BigInt(Number.MAX_SAFE_INTEGER)

const TYPES: Readonly<Record<MemberType, MemberRow>> = {
  string: { type: TEXT },
  integer: { type: Object.freeze({ type: 'integer', min: -SAFE, max: SAFE }) },
  number: { type: Object.freeze({ type: 'float' }) },
  boolean: { type: Object.freeze({ type: 'boolean' }) },
  // Their texts have one form, in which they are ordered as they are.
  date: { type: Object.freeze({ type: 'date' }), stored: TEXT },
  datetime: { type: Object.freeze({ type: 'datetime' }), stored: TEXT },
  array: { type: Object.freeze({ type: 'json' }), stored: TEXT, operators: ['eq', 'ne', 'in', 'notIn'] },
}

const NAMES = Object.keys(TYPES)
export const MEMBERS = 'an object of types by path'

/**
 * The declared members of a JSON attribute as fields, by their paths in lower case.
 *
 * @throws CrudConfigError for paths and types that are none, for two that differ in case alone or lie within one another, and
 * for attributes that are no JSON columns
 */
export function membersOf(
  where: string,
  of: Field,
  given: { readonly [path: string]: MemberType },
  { filterable, sortable, jsonAsText }: Pick<Field, 'filterable' | 'sortable'> & { readonly jsonAsText: boolean },
): ReadonlyMap<string, Field> {
  if (of.virtual || of.valueType.type !== 'json' || of.valueType.form !== undefined) {
    throw wrong(`${where}: members are those of a JSON column, which ${of.name} is not.`)
  }
  const members = new Map<string, Field>()
  for (const [path, type] of Object.entries(given)) {
    const name = path.toLowerCase()
    const around = [...members.keys()].find(
      (other) => `${other}.`.startsWith(`${name}.`) || `${name}.`.startsWith(`${other}.`),
    )
    if (around !== undefined) throw wrong(`${where}: "${path}" is another member's path, or within it or around it.`)
    if (!path.split('.').every((segment) => NAME.test(segment))) {
      throw wrong(`${where}: "${path}" must be names of letters, digits and _ with dots between them.`)
    }
    if (!Object.hasOwn(TYPES, type)) {
      throw unknownName('INVALID_OPTION', `${where}: "${path}": the type`, String(type), NAMES)
    }
    members.set(name, memberOf(of, path.split('.'), type, { filterable, sortable, jsonAsText }))
  }
  return members
}

function wrong(message: string): CrudConfigError {
  return new CrudConfigError('INVALID_OPTION', message)
}

function memberOf(
  of: Field,
  path: readonly string[],
  type: MemberType,
  { filterable, sortable, jsonAsText }: Pick<Field, 'filterable' | 'sortable'> & { readonly jsonAsText: boolean },
): Field {
  const { type: valueType, stored, operators } = TYPES[type]
  const derived: MemberOf = Object.freeze({ what: 'member', of, path: Object.freeze(path), type })
  const { derive: _, members: __, ...source } = of
  const field: Field = {
    ...source,
    valueType,
    nullable: true,
    isKey: false,
    assigned: false,
    filterable,
    sortable: sortable && type !== 'array',
    operators: operators === undefined ? operatorsOf(valueType.type) : new Set(operators),
    decode: type === 'array' ? decoderOf(valueType, { jsonAsText }) : decoderOf(stored ?? valueType),
    derived,
  }
  return Object.freeze(
    stored === undefined ? field : { ...field, stored: Object.freeze({ ...field, valueType: stored }) },
  )
}
