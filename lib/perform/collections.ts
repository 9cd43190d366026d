import type { Row } from '../../types/outcome.js'
import type { Column, Embed, Projection } from '../../types/plan.js'
import { isGetterOrVirtual, ownColumn } from '../common/columns.js'
import { EmbeddedRows } from '../common/embedded.js'
import { getOrCreate } from '../common/getOrCreate.js'
import { internalError } from '../common/internalError.js'
import { addCondition } from '../common/predicates.js'
import type { ResponseSize } from '../common/responseSize.js'
import { comparableDate } from '../sequelize/dates.js'
import { addComputedColumns } from './computedColumns.js'
import { type RowSource, readLargeColumnsSeparately } from './largeColumnReads.js'
import { storedValueText } from './nested/linkTargets.js'
import { DEFAULT_SELECT, type StatementRequest } from './sql/request.js'
import { columnValues, PARENT_ALIAS } from './sql/row.js'
import { createStatement } from './sql/statement.js'
import { fetchRows } from './statements/execute.js'
import type { StatementContext } from './store.js'

/**
 * Appends the projection's embedded collections to rows. Each collection is read for many rows at once, not for each
 * row separately.
 */
export async function addCollections(
  store: StatementContext,
  { columns, embeds = [] }: Projection,
  rows: readonly Row[],
  size: ResponseSize,
): Promise<readonly Row[]> {
  const collections: (readonly EmbeddedRows[])[] = []
  // The reads run one by one, because all statements of a transaction share one connection.
  for (const embed of embeds) collections.push(await readCollection(store, embed, columns, rows, size))
  return collections.length === 0 ? rows : rows.map((row, index) => [...row, ...collections.map((each) => each[index])])
}

/** Maximum number of records per statement. A driver blocks the event loop while it builds the rows of a result. */
const MAX_ROWS_PER_STATEMENT = 5000

const EMPTY_COLLECTION = new EmbeddedRows([], false)

/** Returns one collection per row, in the order of `rows`. */
async function readCollection(
  store: StatementContext,
  embed: Embed,
  columns: readonly Column[],
  rows: readonly Row[],
  size: ResponseSize,
): Promise<readonly EmbeddedRows[]> {
  const field = columns[embed.parentKeyColumn]?.field
  if (field === undefined)
    throw internalError(`the collection "${embed.join.relation.name}" is read without the keys of its parents`)
  const keyTextOf = (value: unknown): string => storedValueText(field, value)
  const keys = new Map<string, unknown>()
  for (const row of rows) {
    const value = row[embed.parentKeyColumn]
    if (value !== null && value !== undefined) keys.set(keyTextOf(value), value)
  }
  if (keys.size === 0) return rows.map(() => EMPTY_COLLECTION)
  // A case-insensitive collation matches both spellings of a UUID, so a child may spell its parent's key differently.
  const spelled = new Map([...keys].map(([name, value]) => [JSON.stringify(field.decode(value)), name]))
  const byParent = new Map<string, Row[]>()
  const parents = [...keys.values()]
  const step = Math.max(1, Math.floor(MAX_ROWS_PER_STATEMENT / (embed.limit + 1)))
  for (let at = 0; at < parents.length; at += step) {
    for (const { parentKey, row } of await readChildRows(store, embed, parents.slice(at, at + step), size)) {
      const exact = keyTextOf(parentKey)
      const name = keys.has(exact) ? exact : (spelled.get(JSON.stringify(field.decode(parentKey))) ?? exact)
      getOrCreate(byParent, name, () => []).push(row)
    }
  }
  const found = await fillCollections(store, embed, byParent, size)
  return rows.map((row) => found.get(keyTextOf(row[embed.parentKeyColumn])) ?? EMPTY_COLLECTION)
}

/** Limits the records of each parent and adds the embedded collections of the records. */
async function fillCollections(
  store: StatementContext,
  { limit, projection }: Embed,
  byParent: ReadonlyMap<string, readonly Row[]>,
  size: ResponseSize,
): Promise<ReadonlyMap<string, EmbeddedRows>> {
  const limited = [...byParent].map(([name, rows]) => ({
    name,
    rows: rows.slice(0, limit),
    isCut: rows.length > limit,
  }))
  const rows = await addCollections(
    store,
    projection,
    limited.flatMap((each) => each.rows),
    size,
  )
  let at = 0
  return new Map(
    limited.map(({ name, rows: { length }, isCut }) => {
      at += length
      return [name, new EmbeddedRows(rows.slice(at - length, at), isCut)]
    }),
  )
}

interface ChildRow {
  readonly parentKey: unknown
  readonly row: Row
}

/**
 * Reads the child records of several parents, in the order of the embed. One record above the limit shows that a
 * collection is truncated.
 */
async function readChildRows(
  store: StatementContext,
  embed: Embed,
  keys: readonly unknown[],
  size: ResponseSize,
): Promise<readonly ChildRow[]> {
  const { join, where, order, limit, identity, projection, joinRow } = embed
  const { sourceKey } = join.relation
  if (sourceKey === null) throw internalError(`the association "${join.relation.name}" has no key of its parents`)
  const stored = projection.columns.filter((column) => !isGetterOrVirtual(column))
  const isWhole = stored.length === projection.columns.length
  const columns = isWhole ? stored : [...stored, ...identity.map(ownColumn)]
  const { source } = join.relation.association
  // The driver would write a Date in the time zone of the process, or as its JSON on SQLite.
  const encoded = keys.map((key) => (key instanceof Date ? comparableDate(source, sourceKey, key) : key))
  const window = [store.dialect.inList.encode(encoded, sourceKey), limit + 1]
  const most = keys.length * limit
  const rows = await readLargeColumnsSeparately(
    createChildSource(store, embed),
    columns,
    { most, size },
    async (near) => {
      const request: StatementRequest = { kind: 'embed', join, joinRow, where, columns: near, order, window }
      const found = await fetchRows(store, {
        statement: createStatement(store, request),
        transaction: store.transaction,
        isOnPrimary: false,
      })
      // The parent's key is appended after the columns.
      return found.map((row) => [...columnValues(row, near), row[PARENT_ALIAS]])
    },
  )
  size.add(rows)
  const { length } = columns
  const whole = isWhole ? rows : await addComputedColumns(store, embed, rows, size)
  return whole.map((row, index) => ({ parentKey: rows[index]?.[length], row: row.slice(0, projection.columns.length) }))
}

/** Creates a row source that reads child records by their identity. */
function createChildSource(store: StatementContext, { join, identity }: Embed): RowSource {
  const target = { dialect: store.dialect, model: join.relation.association.target }
  return {
    identity,
    readRows: async (columns, named, most) => {
      const where = addCondition(join.condition, named)
      // The statement that found the records has already applied model scopes and deletion marks.
      const request: StatementRequest = {
        ...DEFAULT_SELECT,
        where,
        columns,
        window: [most],
        unscoped: true,
        includeDeleted: true,
      }
      const rows = await fetchRows(store, {
        statement: createStatement(target, request),
        transaction: store.transaction,
        isOnPrimary: false,
      })
      return rows.map((row) => columnValues(row, columns))
    },
  }
}
