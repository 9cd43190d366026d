import type { Row } from '../../types/outcome.js'
import type { Column, Embed, Projection } from '../../types/plan.js'
import { isComputed, ownColumn } from '../common/columns.js'
import { Embedded } from '../common/embedded.js'
import { completed } from './computed.js'
import type { Request } from './statement/outline.js'
import { ownerIn, valuesOf } from './statement/row.js'
import { executionOf, manyOf } from './statements/execute.js'
import type { Store } from './store.js'

/**
 * Rows with what their projection's collections hold behind their columns: one statement for each collection, however
 * many rows there are.
 */
export async function withCollections(
  store: Store,
  { columns, embeds = [] }: Projection,
  rows: readonly Row[],
): Promise<readonly Row[]> {
  const collections: (readonly Embedded[])[] = []
  // One after the other: in a transaction of the host's they share a connection.
  for (const embed of embeds) collections.push(await collectionsOf(store, embed, columns, rows))
  return collections.length === 0 ? rows : rows.map((row, index) => [...row, ...collections.map((each) => each[index])])
}

const NOTHING = new Embedded([], false)

/** What each of the rows has in a collection. */
async function collectionsOf(
  store: Store,
  embed: Embed,
  columns: readonly Column[],
  rows: readonly Row[],
): Promise<readonly Embedded[]> {
  const field = columns[embed.owner]?.field
  if (field === undefined) throw new TypeError(`${embed.hop.relation.name}: the owners' keys were not read`)
  // What is the same in JSON is the same key, whatever the driver makes of it.
  const named = (value: unknown): string => JSON.stringify(field.decode(value))
  const keys = new Map<string, unknown>()
  for (const row of rows) {
    const value = row[embed.owner]
    if (value !== null && value !== undefined) keys.set(named(value), value)
  }
  if (keys.size === 0) return rows.map(() => NOTHING)
  const records = await recordsOf(store, embed, [...keys.values()])
  const byOwner = new Map<string, Row[]>()
  for (const { owner, row } of records) {
    const name = named(owner)
    const own = byOwner.get(name)
    if (own === undefined) byOwner.set(name, [row])
    else own.push(row)
  }
  const found = await filled(store, embed, byOwner)
  return rows.map((row) => found.get(named(row[embed.owner])) ?? NOTHING)
}

/** The records of each owner, no more than are wanted, with their own collections in turn. */
async function filled(
  store: Store,
  { limit, projection }: Embed,
  byOwner: ReadonlyMap<string, readonly Row[]>,
): Promise<ReadonlyMap<string, Embedded>> {
  const wanted = [...byOwner].map(([name, rows]) => ({ name, rows: rows.slice(0, limit), isCut: rows.length > limit }))
  const rows = await withCollections(
    store,
    projection,
    wanted.flatMap((each) => each.rows),
  )
  let at = 0
  return new Map(
    wanted.map(({ name, rows: { length }, isCut }) => {
      at += length
      return [name, new Embedded(rows.slice(at - length, at), isCut)]
    }),
  )
}

interface Owned {
  readonly owner: unknown
  readonly row: Row
}

/** The records of some owners in the order of each, and one more than is wanted where an owner has more. */
async function recordsOf(store: Store, embed: Embed, keys: readonly unknown[]): Promise<readonly Owned[]> {
  const { hop, where, order, limit, identity, projection } = embed
  const { owner } = hop.relation
  if (owner === null) throw new TypeError(`${hop.relation.name} has no owners`)
  const stored = projection.columns.filter((column) => !isComputed(column))
  const isWhole = stored.length === projection.columns.length
  const columns = isWhole ? stored : [...stored, ...identity.map(ownColumn)]
  const window = [store.dialect.among.encode(keys, owner), limit + 1]
  const request: Request = { kind: 'embed', hop, where, columns, order, window }
  const prepared = store.statements.prepare(store.dialect, request)
  const found = await manyOf(store, executionOf(prepared, store.transaction, false), Number.POSITIVE_INFINITY)
  const rows = found.map((row) => valuesOf(row, columns))
  const whole = isWhole ? rows : await completed(store, embed, rows)
  return whole.map((row, index) => ({ owner: ownerIn(found[index], columns), row }))
}
