import type { ArrayType, Field, ItemOf, ItemType, MemberOf, MemberType, ValueType } from '../../types/field.js'
import type { MemberDeclaration } from '../../types/options.js'
import { createDecoder } from '../codec/codecs.js'
import { CrudConfigError } from '../common/errors.js'
import { NAME } from '../common/normalizedName.js'
import { createUnknownNameError } from '../config/suggest.js'
import { type OperatorName, operatorsForType } from '../language/operators.js'

/** The type of a member for clients, and the type that statements compare if it differs. */
interface MemberTypeRow {
  readonly type: ValueType
  readonly stored?: ValueType
}

const TEXT: ValueType = Object.freeze({ type: 'string' })
/** The integers that every JSON reader keeps exact. */
const SAFE = BigInt(Number.MAX_SAFE_INTEGER)

const TYPES: Readonly<Record<MemberType, MemberTypeRow>> = {
  string: { type: TEXT },
  integer: { type: Object.freeze({ type: 'integer', min: -SAFE, max: SAFE }) },
  number: { type: Object.freeze({ type: 'float' }) },
  boolean: { type: Object.freeze({ type: 'boolean' }) },
  // Dates are stored as text in a fixed format. The alphabetic order of the texts is the order of time.
  date: { type: Object.freeze({ type: 'date' }), stored: TEXT },
  datetime: { type: Object.freeze({ type: 'datetime' }), stored: TEXT },
  array: { type: Object.freeze({ type: 'json' }), stored: TEXT },
}

export const MEMBER_TYPES: readonly string[] = Object.keys(TYPES)

/** Returns the type of a member's values for clients. */
export function valueTypeOfMember(type: MemberType): ValueType {
  return TYPES[type].type
}

const ITEMS = MEMBER_TYPES.filter((name) => name !== 'array')
/** The operators of the type `array`, which test whether an array contains a value. */
const LIST: readonly OperatorName[] = ['eq', 'ne', 'in', 'notIn']
export const MEMBERS = 'an object of types by path'

/** The members and arrays that the options declare in a JSON attribute. */
export interface DeclaredMembers {
  /** The members as fields, by lower-case path. */
  readonly members: ReadonlyMap<string, Field>
  /** The items of a document that is itself an array. */
  readonly item: Field | null
  /** The arrays whose items are validated in bodies. */
  readonly arrays: readonly ArrayType[]
}

interface MemberAbilities extends Pick<Field, 'filterable' | 'sortable'> {
  readonly jsonAsText: boolean
}

/**
 * Compiles the declared members of a JSON attribute, and the items of its arrays.
 *
 * @throws CrudConfigError for invalid paths and types, paths that differ only in case or contain each other, and
 * attributes that are not JSON
 */
export function createMembers(
  where: string,
  of: Field,
  given: { readonly [path: string]: MemberDeclaration },
  openness: MemberAbilities,
): DeclaredMembers {
  if (of.virtual || of.valueType.type !== 'json' || of.valueType.form !== undefined) {
    throw createOptionError(`${where}: only a JSON column can have members, but "${of.name}" is not one.`)
  }
  const members = new Map<string, Field>()
  const arrays: ArrayType[] = []
  for (const [path, declared] of Object.entries(given)) {
    const type = readDeclaredType(`${where}: "${path}"`, declared)
    if (path !== '') assertMemberPath(where, path, members)
    else if (!type.isArray)
      throw createOptionError(
        `${where}: "" ${MUST_BE_NAMES}. Only for an array the path may be empty: { '': ['string'] }.`,
      )
    else if (Object.keys(given).length > 1)
      throw createOptionError(`${where}: the path "" is the whole document, so no other path is possible.`)
    const names = path === '' ? [] : path.split('.')
    const member = createMember(of, names, type, openness)
    if (type.isArray) arrays.push({ path: names, item: TYPES[type.item].type, takesNull: false, dimensions: 1 })
    if (path === '') return { members, item: member.item ?? null, arrays }
    members.set(path.toLowerCase(), member)
  }
  return { members, item: null, arrays }
}

const MUST_BE_NAMES = 'must be names of letters, digits and _ with dots between them'

function assertMemberPath(where: string, path: string, members: ReadonlyMap<string, Field>): void {
  const name = path.toLowerCase()
  const around = [...members.keys()].find(
    (other) => `${other}.`.startsWith(`${name}.`) || `${name}.`.startsWith(`${other}.`),
  )
  if (around !== undefined)
    throw createOptionError(`${where}: "${path}" overlaps with another member: one path must not contain the other.`)
  if (!path.split('.').every((segment) => NAME.test(segment))) {
    throw createOptionError(`${where}: "${path}" ${MUST_BE_NAMES}.`)
  }
}

/**
 * A declared type. `['integer']` declares an array by the type of its items (`isArray`). `array` declares an array of
 * texts, whose field itself has operators that test for a contained text.
 */
type DeclaredType =
  | { readonly isArray: false; readonly type: MemberType }
  | { readonly isArray: true; readonly item: ItemType }

function readDeclaredType(where: string, declared: unknown): DeclaredType {
  if (!Array.isArray(declared)) {
    if (isMemberType(declared)) return { isArray: false, type: declared }
    throw createUnknownNameError('INVALID_OPTION', `${where}: the type`, String(declared), MEMBER_TYPES)
  }
  const [item, ...others]: readonly unknown[] = declared
  if (others.length > 0)
    throw createOptionError(`${where}: the items of an array must have a single type, such as ['string'].`)
  if (isMemberType(item) && item !== 'array') return { isArray: true, item }
  throw createUnknownNameError('INVALID_OPTION', `${where}: the type`, String(item), ITEMS)
}

function isMemberType(type: unknown): type is MemberType {
  return typeof type === 'string' && Object.hasOwn(TYPES, type)
}

function createOptionError(message: string): CrudConfigError {
  return new CrudConfigError('INVALID_OPTION', message)
}

function createMember(
  of: Field,
  path: readonly string[],
  declared: DeclaredType,
  { filterable, sortable, jsonAsText }: MemberAbilities,
): Field {
  const type = declared.isArray ? 'array' : declared.type
  const item = declared.isArray ? declared.item : 'string'
  const { type: valueType, stored } = TYPES[type]
  const derived: MemberOf = Object.freeze({ kind: 'member', source: of, path: Object.freeze(path), type })
  const { derive: _, members: __, ...source } = of
  const own: Field = {
    ...source,
    valueType,
    nullable: true,
    isKey: false,
    assigned: false,
    filterable,
    sortable: sortable && type !== 'array',
    operators: declared.isArray ? new Set() : type === 'array' ? new Set(LIST) : operatorsForType(valueType.type),
    decode: type === 'array' ? createDecoder(valueType, { jsonAsText }) : createDecoder(stored ?? valueType),
    derived,
  }
  const field = type === 'array' ? { ...own, item: createItem(own, item) } : own
  return Object.freeze(
    stored === undefined ? field : { ...field, stored: Object.freeze({ ...field, valueType: stored }) },
  )
}

/** Creates the field for the items of an array in a JSON document. */
function createItem(of: Field, type: ItemType): Field {
  const { type: valueType, stored } = TYPES[type]
  const item = createDerivedItem({ kind: 'item', source: of, type }, valueType)
  return stored === undefined ? item : Object.freeze({ ...item, stored: Object.freeze({ ...item, valueType: stored }) })
}

/** Creates the field for the items of an array column. */
export function createColumnItem(of: Field, valueType: ValueType): Field {
  return createDerivedItem({ kind: 'item', source: of, type: null }, valueType)
}

function createDerivedItem(derived: ItemOf, valueType: ValueType): Field {
  const { derive: _, members: __, stored: ___, ...source } = derived.source
  return Object.freeze({
    ...source,
    valueType,
    nullable: true,
    isKey: false,
    assigned: false,
    sortable: false,
    operators: operatorsForType(valueType.type),
    decode: createDecoder(valueType),
    derived: Object.freeze(derived),
  })
}
