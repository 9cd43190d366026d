import type { Computed, ComputedContext, ComputingField } from '../../types/computed.js'
import type { JsonValue } from '../../types/field.js'
import type { Row } from '../../types/outcome.js'
import type { Embed, Member, Projection } from '../../types/plan.js'
import { Embedded } from '../common/embedded.js'
import { jsonOfType } from '../common/members.js'
import { nextTurn } from '../common/turns.js'
import { type Visits, visit } from '../common/visit.js'

/** Rows, and the projection for their records. */
export type ShownRows = readonly [projection: Projection, rows: readonly Row[]]

type ComputedMember = Extract<Member, { kind: 'computed' }>

/** A record with a computed field. */
interface Place {
  readonly row: Row
  readonly member: ComputedMember
}

/** The computed values of rows, between resolution and making the records. */
const resolved = new WeakMap<Row, Map<Member, JsonValue>>()

/** The most records that are collected without yielding to the event loop. */
const AT_ONCE = 2000

/**
 * Resolves the computed fields of a reply. Each field is resolved once, for all its records in the order of the reply.
 *
 * @throws TypeError for a wrong number or type of values, and errors of the application
 */
export async function resolveComputed(shown: readonly ShownRows[], context: ComputedContext): Promise<void> {
  const batches = new Map<ComputingField, Place[]>()
  let count = 0
  for (const place of placesIn(shown)) {
    const { field } = place.member
    const batch = batches.get(field)
    if (batch === undefined) batches.set(field, [place])
    else batch.push(place)
    count += 1
    if (count % AT_ONCE === 0) await nextTurn()
  }
  // One at a time, because they share the connection of a transaction.
  for (const [{ computed }, places] of batches) {
    const values = await valuesFor(computed, places, context)
    for (const [index, place] of places.entries()) keep(place, valueAt(computed, values, index))
  }
}

/**
 * Sets the values that depend on the caller to null for records that are made from now on. Returns whether there are
 * any.
 */
export function forgetPerCaller(shown: readonly ShownRows[]): boolean {
  let isFound = false
  for (const place of placesIn(shown)) {
    if (!place.member.field.computed.isPerCaller) continue
    keep(place, null)
    isFound = true
  }
  return isFound
}

/** Whether records of a projection have a computed field. */
export function showsComputed({ members, embeds = [] }: Projection): boolean {
  return hasComputed(members) || embeds.some(({ projection }) => showsComputed(projection))
}

/** The value of a computed member in a row. @throws TypeError if it is not resolved */
export function computedValue(row: Row, member: ComputedMember): JsonValue {
  const value = resolved.get(row)?.get(member)
  if (value === undefined) throw new TypeError(`${member.field.computed.where} was not resolved`)
  return value
}

function hasComputed(members: readonly Member[]): boolean {
  return members.some((member) => member.kind === 'computed' || ('members' in member && hasComputed(member.members)))
}

function* placesIn(shown: readonly ShownRows[]): Generator<Place> {
  for (const [projection, rows] of shown) {
    if (!showsComputed(projection)) continue
    for (const row of rows) yield* placesOf(projection.members, row, projection.embeds ?? [])
  }
}

function* placesOf(members: readonly Member[], row: Row, embeds: readonly Embed[]): Generator<Place> {
  for (const member of members) {
    if (member.kind !== 'value') yield* visit(PLACES, member, row, embeds)
  }
}

type Rarer = Exclude<Member, { readonly kind: 'value' }>

const PLACES: Visits<Rarer, [row: Row, embeds: readonly Embed[]], Iterable<Place>> = {
  constant: () => [],
  flattened: () => [],
  computed: (member, row) => [{ row, member }],
  nested: ({ presence, members }, row, embeds) =>
    (row[presence] ?? null) === null ? [] : placesOf(members, row, embeds),
  object: ({ members }, row, embeds) => placesOf(members, row, embeds),
  many: ({ index }, row, embeds) => {
    const embedded = row[row.length - embeds.length + index]
    const projection = embeds[index]?.projection
    return projection === undefined || !(embedded instanceof Embedded) ? [] : placesIn([[projection, embedded.rows]])
  },
}

async function valuesFor(
  computed: Computed,
  places: readonly Place[],
  context: ComputedContext,
): Promise<readonly unknown[]> {
  const values: unknown = await computed.resolve(places.map(recordAt), context)
  if (Array.isArray(values) && values.length === places.length) return values
  const given = Array.isArray(values) ? `${values.length} values` : 'something other than an array'
  throw new TypeError(`${computed.where}: resolve returned ${given} for ${places.length} records`)
}

function recordAt({ row, member: { field, needs } }: Place): object {
  return Object.fromEntries(
    field.computed.needs.map(({ name, decode }, index) => [name, decode(row[needs[index] ?? -1])]),
  )
}

function valueAt({ where, type, isNullable }: Computed, values: readonly unknown[], index: number): JsonValue {
  const value = values[index]
  const read = value === null && isNullable ? null : jsonOfType(type, value)
  if (read !== undefined) return read
  throw new TypeError(
    `${where}: resolve returned a value at index ${index} that is not of type ${type}${isNullable ? ' or null' : ''}`,
  )
}

function keep({ row, member }: Place, value: JsonValue): void {
  const known = resolved.get(row)
  if (known === undefined) resolved.set(row, new Map([[member, value]]))
  else known.set(member, value)
}
