import type { Field, JsonValue } from '../../types/field.js'
import type { Row } from '../../types/outcome.js'
import type { KeyValue, PlainValue, Predicate } from '../../types/plan.js'
import { comparableKeyParts, isKeyValue, joinByAnd, joinByOr, type KeyFields, matchKeyPart } from '../common/keys.js'
import { addCondition, joinPredicates, matchStoredValues } from '../common/predicates.js'

/** Builds the condition for records with the given identities. */
export function buildIdentityPredicate(identity: readonly Field[], rows: readonly Row[]): Predicate {
  const varying = identity.filter((_, index) => rows.some((row) => row[index] !== rows[0]?.[index]))
  const [only = identity[0], ...others] = varying
  // One IN list replaces OR-ed conditions, which are slow to plan.
  if (only !== undefined && others.length === 0) {
    const place = identity.indexOf(only)
    const values = rows.map((row) => asPlainValue(identityValue(only, row[place])))
    const rest = identity.filter((field) => field !== only)
    const fixed = matchRow(
      rest,
      (rows[0] ?? []).filter((_, index) => index !== place),
    )
    if (values.every(isKeyValue))
      return rest.length === 0 ? matchValues(only, values) : addCondition(fixed, matchValues(only, values))
  }
  return joinByOr(rows.map((row) => matchRow(identity, row)))
}

/**
 * Builds the condition for all records except the given records. The condition also excludes other spellings of UUIDs.
 */
export function buildExclusionPredicate(identity: readonly Field[], rows: readonly Row[]): Predicate {
  const excludeValues = (field: Field, values: readonly PlainValue[]): Predicate => ({
    ...matchKeyPart(field, values),
    negated: true,
  })
  const [only] = identity
  if (only !== undefined && identity.length === 1) {
    return excludeValues(
      only,
      rows.map(([value]) => asPlainValue(identityValue(only, value))),
    )
  }
  return joinByAnd(
    rows.map((row) =>
      joinByOr(identity.map((field, index) => excludeValues(field, [asPlainValue(identityValue(field, row[index]))]))),
    ),
  )
}

/** Returns a text that identifies a record within its table. */
export function identityText(identity: readonly Field[], values: Row): string {
  return JSON.stringify(identity.map((field, index) => identityValue(field, values[index])))
}

/** Returns a text that identifies the record of a key in a plan. */
export function keyIdentityText(keys: KeyFields, key: KeyValue): string {
  return identityText(keys, comparableKeyParts(keys, key))
}

function matchRow(identity: readonly Field[], row: Row): Predicate {
  const nodes = identity.map((field, index) => matchValues(field, [asPlainValue(identityValue(field, row[index]))]))
  return joinPredicates('and', nodes) ?? { kind: 'never' }
}

/**
 * Builds the condition that a field has one of the values. A UUID is compared as stored, because two spellings of one
 * UUID may be two records.
 */
function matchValues(field: Field, values: readonly PlainValue[]): Predicate {
  return field.valueType.type === 'uuid' ? matchStoredValues(field, values) : matchKeyPart(field, values)
}

function identityValue({ valueType, decode }: Field, stored: unknown): JsonValue {
  return valueType.type === 'uuid' && typeof stored === 'string' ? stored : decode(stored)
}

function asPlainValue(value: unknown): PlainValue {
  return typeof value === 'number' || typeof value === 'boolean' ? value : String(value)
}
