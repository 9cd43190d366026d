import type { Row } from '../../types/outcome.js'
import type { Column, Embed, Projection } from '../../types/plan.js'
import { isComputed, ownColumn } from '../common/columns.js'
import { Embedded } from '../common/embedded.js'
import { both } from '../common/predicates.js'
import type { ResponseSize } from '../common/responseSize.js'
import { readApart, type Source } from './apart.js'
import { completed } from './computed.js'
import { nameOf } from './nested/linkTargets.js'
import { type Request, SELECT } from './statement/request.js'
import { OWNER, valuesOf } from './statement/row.js'
import { prepare } from './statement/statement.js'
import { rowsOf } from './statements/execute.js'
import type { Store } from './store.js'

/**
 * Appends the projection's embedded collections to rows. Each collection is one statement, whatever the number of rows.
 */
export async function withCollections(
  store: Store,
  { columns, embeds = [] }: Projection,
  rows: readonly Row[],
  size: ResponseSize,
): Promise<readonly Row[]> {
  const collections: (readonly Embedded[])[] = []
  // Sequential, because inside a transaction all statements share one connection.
  for (const embed of embeds) collections.push(await collectionsOf(store, embed, columns, rows, size))
  return collections.length === 0 ? rows : rows.map((row, index) => [...row, ...collections.map((each) => each[index])])
}

/** Maximum number of records per statement. Drivers build all rows before other work continues. */
const MOST_AT_ONCE = 5000

const NOTHING = new Embedded([], false)

/** The collection's records for each row. */
async function collectionsOf(
  store: Store,
  embed: Embed,
  columns: readonly Column[],
  rows: readonly Row[],
  size: ResponseSize,
): Promise<readonly Embedded[]> {
  const field = columns[embed.owner]?.field
  if (field === undefined) throw new TypeError(`${embed.hop.relation.name}: the owners' keys were not read`)
  const named = (value: unknown): string => nameOf(field, value)
  const keys = new Map<string, unknown>()
  for (const row of rows) {
    const value = row[embed.owner]
    if (value !== null && value !== undefined) keys.set(named(value), value)
  }
  if (keys.size === 0) return rows.map(() => NOTHING)
  // A case-insensitive collation joins both spellings of a UUID.
  const spelled = new Map([...keys].map(([name, value]) => [JSON.stringify(field.decode(value)), name]))
  const byOwner = new Map<string, Row[]>()
  const owners = [...keys.values()]
  const step = Math.max(1, Math.floor(MOST_AT_ONCE / (embed.limit + 1)))
  for (let at = 0; at < owners.length; at += step) {
    for (const { owner, row } of await recordsOf(store, embed, owners.slice(at, at + step), size)) {
      const exact = named(owner)
      const name = keys.has(exact) ? exact : (spelled.get(JSON.stringify(field.decode(owner))) ?? exact)
      const own = byOwner.get(name)
      if (own === undefined) byOwner.set(name, [row])
      else own.push(row)
    }
  }
  const found = await filled(store, embed, byOwner, size)
  return rows.map((row) => found.get(named(row[embed.owner])) ?? NOTHING)
}

/** Records of each owner, limited, with their own embedded collections. */
async function filled(
  store: Store,
  { limit, projection }: Embed,
  byOwner: ReadonlyMap<string, readonly Row[]>,
  size: ResponseSize,
): Promise<ReadonlyMap<string, Embedded>> {
  const wanted = [...byOwner].map(([name, rows]) => ({ name, rows: rows.slice(0, limit), isCut: rows.length > limit }))
  const rows = await withCollections(
    store,
    projection,
    wanted.flatMap((each) => each.rows),
    size,
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

/** Records of several owners, in each owner's order. One extra record shows that an owner has more than the limit. */
async function recordsOf(
  store: Store,
  embed: Embed,
  keys: readonly unknown[],
  size: ResponseSize,
): Promise<readonly Owned[]> {
  const { hop, where, order, limit, identity, projection, link } = embed
  const { owner } = hop.relation
  if (owner === null) throw new TypeError(`${hop.relation.name} has no owners`)
  const stored = projection.columns.filter((column) => !isComputed(column))
  const isWhole = stored.length === projection.columns.length
  const columns = isWhole ? stored : [...stored, ...identity.map(ownColumn)]
  const window = [store.dialect.among.encode(keys, owner), limit + 1]
  const most = keys.length * limit
  const rows = await readApart(elementsOf(store, embed), columns, { most, size }, async (near) => {
    const request: Request = { kind: 'embed', hop, link, where, columns: near, order, window }
    const found = await rowsOf(store, {
      statement: prepare(store, request),
      transaction: store.transaction,
      writes: false,
    })
    // The owner's key follows the columns.
    return found.map((row) => [...valuesOf(row, near), row[OWNER]])
  })
  size.add(rows)
  const { length } = columns
  const whole = isWhole ? rows : await completed(store, embed, rows, size)
  return whole.map((row, index) => ({ owner: rows[index]?.[length], row: row.slice(0, projection.columns.length) }))
}

/** Reads the related records by their identity. */
function elementsOf(store: Store, { hop, identity }: Embed): Source {
  const target = { dialect: store.dialect, model: hop.relation.association.target }
  return {
    identity,
    rows: async (columns, named, most) => {
      const where = both(hop.guard, named)
      // The records were just found by the relation's conditions, so model scopes and deletion marks are ignored.
      const request: Request = { ...SELECT, where, columns, window: [most], unscoped: true, deleted: true }
      const rows = await rowsOf(store, {
        statement: prepare(target, request),
        transaction: store.transaction,
        writes: false,
      })
      return rows.map((row) => valuesOf(row, columns))
    },
  }
}
