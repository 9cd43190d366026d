import type { CompiledComputation, CompiledComputedField, ComputedContext } from '../../types/computed.js'
import type { JsonValue } from '../../types/field.js'
import type { Row } from '../../types/outcome.js'
import type { Embed, Member, Projection } from '../../types/plan.js'
import { EmbeddedRows } from '../common/embedded.js'
import { yieldToEventLoop } from '../common/eventLoop.js'
import { getOrCreate } from '../common/getOrCreate.js'
import { internalError } from '../common/internalError.js'
import { toJsonOfType } from '../common/jsonMembers.js'
import { ignoreRejections } from '../common/promise.js'
import { type Visitors, visit } from '../common/visitor.js'

/** Rows, and the projection that converts the rows to records. */
export type ShownRows = readonly [projection: Projection, rows: readonly Row[]]

type ComputedMember = Extract<Member, { kind: 'computed' }>

/** Row of a record, and a computed field of that record. */
interface ComputedPlace {
  readonly row: Row
  readonly member: ComputedMember
}

/** Computed values by row, stored until the records are built. */
const resolvedValues = new WeakMap<Row, Map<Member, JsonValue>>()

/** Maximum number of records that are collected without yielding to the event loop. */
const RECORDS_BEFORE_YIELD = 2000

/**
 * Resolves the computed fields of a reply. Each field is resolved once, for all its records in the order of the reply.
 * @throws TypeError for a wrong number or type of values
 * @throws errors of the application, unchanged
 */
export async function resolveComputed(shown: readonly ShownRows[], context: ComputedContext): Promise<void> {
  const batches = new Map<CompiledComputedField, ComputedPlace[]>()
  let count = 0
  for (const place of computedPlacesOf(shown)) {
    getOrCreate(batches, place.member.field, () => []).push(place)
    count += 1
    if (count % RECORDS_BEFORE_YIELD === 0) await yieldToEventLoop()
  }
  // Fields are resolved one after the other, because all resolvers share the connection of a transaction.
  for (const [{ computed }, places] of batches) {
    const values = await resolveValues(computed, places, context)
    for (const [index, place] of places.entries()) storeValue(place, requireValue(computed, values, index))
  }
}

/**
 * Sets the values that depend on the caller to null, for records that are built afterwards. Returns whether such values
 * exist.
 */
export function clearPerCallerValues(shown: readonly ShownRows[]): boolean {
  let isFound = false
  for (const place of computedPlacesOf(shown)) {
    if (!place.member.field.computed.isPerCaller) continue
    storeValue(place, null)
    isFound = true
  }
  return isFound
}

/** Whether records of a projection have a computed field. */
export function hasComputedFields({ members, embeds = [] }: Pick<Projection, 'members' | 'embeds'>): boolean {
  return (
    members.some((member) => member.kind === 'computed' || ('members' in member && hasComputedFields(member))) ||
    embeds.some(({ projection }) => hasComputedFields(projection))
  )
}

/**
 * Returns the value of a computed member in a row.
 * @throws TypeError if the value is not resolved
 */
export function computedValue(row: Row, member: ComputedMember): JsonValue {
  const value = resolvedValues.get(row)?.get(member)
  if (value === undefined)
    throw internalError(`${member.field.computed.where} has no value for a record, because "resolve" was not called`)
  return value
}

function* computedPlacesOf(shown: readonly ShownRows[]): Generator<ComputedPlace> {
  for (const [projection, rows] of shown) {
    if (!hasComputedFields(projection)) continue
    for (const row of rows) yield* placesInRecord(projection.members, row, projection.embeds ?? [])
  }
}

function* placesInRecord(members: readonly Member[], row: Row, embeds: readonly Embed[]): Generator<ComputedPlace> {
  for (const member of members) {
    if (member.kind !== 'value') yield* visit(PLACE_FINDERS, member, row, embeds)
  }
}

type OtherMember = Exclude<Member, { readonly kind: 'value' }>

const PLACE_FINDERS: Visitors<OtherMember, [row: Row, embeds: readonly Embed[]], Iterable<ComputedPlace>> = {
  constant: () => [],
  flattened: () => [],
  computed: (member, row) => [{ row, member }],
  nested: ({ presence, members }, row, embeds) =>
    (row[presence] ?? null) === null ? [] : placesInRecord(members, row, embeds),
  object: ({ members }, row, embeds) => placesInRecord(members, row, embeds),
  many: ({ index }, row, embeds) => {
    const embedded = row[row.length - embeds.length + index]
    const projection = embeds[index]?.projection
    return projection === undefined || !(embedded instanceof EmbeddedRows)
      ? []
      : computedPlacesOf([[projection, embedded.rows]])
  },
}

async function resolveValues(
  computed: CompiledComputation,
  places: readonly ComputedPlace[],
  context: ComputedContext,
): Promise<readonly unknown[]> {
  const given: unknown = await computed.resolve(places.map(recordOfPlace), context)
  const values: unknown = Array.isArray(given) ? await Promise.all(given) : given
  if (Array.isArray(values) && values.length === places.length) return values
  const described = Array.isArray(values) ? `${values.length} values` : 'something other than an array'
  ignoreRejections(values)
  throw new TypeError(
    `${computed.where}: resolve returned ${described} for ${places.length} records. It must return an array with one value for each record`,
  )
}

function recordOfPlace({ row, member: { field, needs } }: ComputedPlace): object {
  return Object.fromEntries(
    field.computed.needs.map(({ name, decode }, index) => [name, decode(row[needs[index] ?? -1])]),
  )
}

function requireValue(
  { where, type, isNullable }: CompiledComputation,
  values: readonly unknown[],
  index: number,
): JsonValue {
  const value = values[index]
  const read = value === null && isNullable ? null : toJsonOfType(type, value)
  if (read !== undefined) return read
  throw new TypeError(
    `${where}: resolve returned a value at index ${index} that is not of type ${type}${isNullable ? ' or null' : ''}`,
  )
}

function storeValue({ row, member }: ComputedPlace, value: JsonValue): void {
  getOrCreate(resolvedValues, row, () => new Map()).set(member, value)
}
