import type { Field, JsonValue } from '../../types/field.js'
import type { Row } from '../../types/outcome.js'
import type { KeyValue, PlainValue, Predicate } from '../../types/plan.js'
import { allOf, anyOf, comparedParts, isKeyValue, type KeyFields } from '../common/keys.js'
import { among, both, joinedTo, junction } from '../common/predicates.js'

/** Condition for records with the given identities. */
export function identified(identity: readonly Field[], rows: readonly Row[]): Predicate {
  const varying = identity.filter((_, index) => rows.some((row) => row[index] !== rows[0]?.[index]))
  const [only = identity[0], ...others] = varying
  // One IN list instead of OR-ed conditions, which are slow to plan.
  if (only !== undefined && others.length === 0) {
    const place = identity.indexOf(only)
    const values = rows.map((row) => plain(identityValue(only, row[place])))
    const rest = identity.filter((field) => field !== only)
    const fixed = identifiedBy(
      rest,
      (rows[0] ?? []).filter((_, index) => index !== place),
    )
    if (values.every(isKeyValue)) return rest.length === 0 ? equal(only, values) : both(fixed, equal(only, values))
  }
  return anyOf(rows.map((row) => identifiedBy(identity, row)))
}

/** Condition for all records except the given ones. It also excludes other spellings of their UUIDs. */
export function others(identity: readonly Field[], rows: readonly Row[]): Predicate {
  const other = (field: Field, values: readonly PlainValue[]): Predicate => ({ ...among(field, values), negated: true })
  const [only] = identity
  if (only !== undefined && identity.length === 1) {
    return other(
      only,
      rows.map(([value]) => plain(identityValue(only, value))),
    )
  }
  return allOf(
    rows.map((row) => anyOf(identity.map((field, index) => other(field, [plain(identityValue(field, row[index]))])))),
  )
}

/** Text that identifies a record within its table. */
export function identityName(identity: readonly Field[], values: Row): string {
  return JSON.stringify(identity.map((field, index) => identityValue(field, values[index])))
}

/** Text that identifies the record of a key in a plan. */
export function keyIdentityName(keys: KeyFields, key: KeyValue): string {
  return identityName(keys, comparedParts(keys, key))
}

function identifiedBy(identity: readonly Field[], row: Row): Predicate {
  const nodes = identity.map((field, index) => equal(field, [plain(identityValue(field, row[index]))]))
  return junction('and', nodes) ?? { kind: 'never' }
}

/** A UUID is compared as stored: two spellings of one UUID may be two records. */
function equal(field: Field, values: readonly PlainValue[]): Predicate {
  return field.valueType.type === 'uuid' ? joinedTo(field, values) : among(field, values)
}

function identityValue({ valueType, decode }: Field, stored: unknown): JsonValue {
  return valueType.type === 'uuid' && typeof stored === 'string' ? stored : decode(stored)
}

function plain(value: unknown): PlainValue {
  return typeof value === 'number' || typeof value === 'boolean' ? value : String(value)
}
