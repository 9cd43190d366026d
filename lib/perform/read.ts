import { Op, type Transaction } from 'sequelize'
import type { Outcome, Row } from '../../types/outcome.js'
import type { Column, CountPlan, GetPlan, KeysetPlan, OrderKey, PagePlan, Predicate } from '../../types/plan.js'
import { Describer, type Description } from './describe.js'
import { rowsOf } from './execute.js'
import { countInstances, findInstances, needsFindAll } from './instances.js'
import { literal, type RawRow, selected, type WhereFragment, writeSelect } from './sequelize.js'
import { placeholder, placeholders } from './statement.js'
import type { Store } from './store.js'
import { type Scope, WhereWriter } from './where.js'

interface Within {
  readonly transaction?: Transaction
  /** Reads a record that was just written, whether or not the model's default scope still shows it. */
  readonly unscoped?: boolean
  /** Whether a record that a paranoid model hides is wanted too. */
  readonly deleted?: boolean
  /** Whether the record is locked until the transaction ends. */
  readonly lock?: boolean
  /** Whether a replica will not do, which may not have heard yet of what was written. */
  readonly main?: boolean
}

/** Runs a read that wants one record; null where there is none. */
export async function get(store: Store, plan: Omit<GetPlan, 'kind'>, within: Within = {}): Promise<Row | null> {
  const { where, projection } = plan
  const { columns } = projection
  const { transaction, unscoped = false, deleted = false, lock = false, main = false } = within
  if (needsFindAll(store, columns)) {
    const parts = { where, columns, order: [], limit: 1, offset: 0, transaction, unscoped, deleted, main }
    const [found] = await findInstances(store, parts)
    return found ?? null
  }
  const description = new Describer(store.dialect, store.model)
    .text(`get${unscoped ? ' unscoped' : ''}${deleted ? ' deleted' : ''}${lock ? ' locked' : ''}`)
    .text(projection.key)
    .where(where)
    .columns(columns)
    .done()
  const write = (): string => page(store, description, { where, columns, limit: '1', unscoped, deleted, lock })
  const rows = await run(store, description, [], transaction, write, main)
  const [row] = rows
  return row === undefined ? null : valuesOf(row, columns)
}

/** Reads records that were just written, by any condition, in no order. */
export async function many(
  store: Store,
  where: Predicate,
  columns: readonly Column[],
  limit: number,
  transaction: Transaction,
  lock = false,
): Promise<readonly Row[]> {
  if (needsFindAll(store, columns)) {
    return findInstances(store, {
      where,
      columns,
      order: [],
      limit,
      offset: 0,
      transaction,
      unscoped: true,
      deleted: false,
    })
  }
  const key = columns.map(({ hops, field }) => [...hops.map(({ relation }) => relation.name), field.name].join('.'))
  const description = new Describer(store.dialect, store.model)
    .text(`many${lock ? ' locked' : ''};${key.join(',')}`)
    .where(where)
    .columns(columns)
    .done()
  const rows = await run(store, description, [limit], transaction, () =>
    page(store, description, { where, columns, limit: placeholder(description.values.length), unscoped: true, lock }),
  )
  return rows.map((row) => valuesOf(row, columns))
}

/** One page and the number of all records, in one statement where that is not more work than two. */
export async function list(store: Store, plan: PagePlan): Promise<Outcome> {
  const { where, order, pageSize, projection, includeDeleted: deleted } = plan
  const { columns } = projection
  const offset = (plan.page - 1) * pageSize
  if (needsFindAll(store, columns)) {
    const rows = await findInstances(store, {
      where,
      columns,
      order,
      limit: pageSize,
      offset,
      deleted,
      ...OUTSIDE,
    })
    const known = totalOf(rows.length, offset, pageSize)
    return { kind: 'page', rows, totalCount: known ?? (await countInstances(store, where, deleted)) }
  }
  const description = new Describer(store.dialect, store.model)
    .text(`${where === null ? 'page' : 'filtered'}${deleted ? ' deleted' : ''}`)
    .text(projection.key)
    .where(where)
    .columns(columns)
    .order(order)
    .done()
  const slot = description.values.length
  const window = { limit: placeholder(slot), offset: placeholder(slot + 1) }
  const rows = await run(store, description, [pageSize, offset], undefined, () => {
    const total = `(${counted(store, description, where, deleted)})`
    return where === null
      ? page(store, description, { where, columns, order, ...window, total, deleted })
      : filteredPage(store, description, { where, columns, order, ...window, total, deleted })
  })
  const known = totalOf(rows.length, offset, pageSize)
  const stated = rows[0]?._total
  const totalCount =
    known ?? (stated === undefined || stated === null ? await countRows(store, where, deleted) : Number(stated))
  return { kind: 'page', rows: rows.map((row) => valuesOf(row, columns)), totalCount }
}

export async function count(store: Store, { where, includeDeleted }: CountPlan): Promise<Outcome> {
  return { kind: 'count', count: await countRows(store, where, includeDeleted) }
}

/** A page of records by key. One more than the page is read, to know whether another follows. */
export async function keyset(store: Store, plan: KeysetPlan): Promise<Outcome> {
  const { where, order, pageSize, projection, includeDeleted: deleted } = plan
  const { columns } = projection
  const limit = pageSize + 1
  const rows = needsFindAll(store, columns)
    ? await findInstances(store, { where, columns, order, limit, offset: 0, deleted, ...OUTSIDE })
    : await keysetRows(store, plan, limit)
  return { kind: 'keyset', rows: rows.slice(0, pageSize), more: rows.length > pageSize }
}

async function keysetRows(store: Store, plan: KeysetPlan, limit: number): Promise<Row[]> {
  const { where, order, projection, includeDeleted: deleted } = plan
  const { columns } = projection
  const description = new Describer(store.dialect, store.model)
    .text(`keyset${deleted ? ' deleted' : ''}`)
    .text(projection.key)
    .where(where)
    .columns(columns)
    .done()
  const rows = await run(store, description, [limit], undefined, () =>
    page(store, description, { where, columns, order, limit: placeholder(description.values.length), deleted }),
  )
  return rows.map((row) => valuesOf(row, columns))
}

/** Not part of a transaction, and under the model's default scope. */
const OUTSIDE = { transaction: undefined, unscoped: false } as const

async function countRows(store: Store, where: Predicate | null, deleted: boolean): Promise<number> {
  if (needsFindAll(store, [])) return countInstances(store, where, deleted)
  const description = new Describer(store.dialect, store.model)
    .text(`count${deleted ? ' deleted' : ''}`)
    .where(where)
    .done()
  const [row] = await run(store, description, [], undefined, () => counted(store, description, where, deleted))
  return Number(row?._ ?? 0)
}

async function run(
  store: Store,
  description: Description,
  more: readonly unknown[],
  transaction: Transaction | undefined,
  write: () => string,
  main = false,
): Promise<readonly RawRow[]> {
  const statement = store.statements.get(description.key, write)
  const values = more.length === 0 ? description.values : [...description.values, ...more]
  return rowsOf(store, { statement, values, transaction, writes: main })
}

interface PageParts {
  readonly where: Predicate | null
  readonly columns: readonly Column[]
  readonly order?: readonly OrderKey[]
  readonly limit: string
  readonly offset?: string
  /** A subselect to read beside the columns of every row. */
  readonly total?: string
  /** Whether the order keys are read too, for an outer statement to order by. */
  readonly keys?: boolean
  readonly unscoped?: boolean
  readonly deleted?: boolean
  readonly lock?: boolean
}

/** The root of every statement: Sequelize's alias for the main table is the model's name. */
function rootOf(store: Store): Scope {
  return { model: store.model, alias: store.model.name, joins: true }
}

function page(store: Store, description: Description, parts: PageParts): string {
  const { dialect, model } = store
  const writer = new WhereWriter(dialect, placeholders(dialect, description))
  const root = rootOf(store)
  const read = (column: Column): string => dialect.read(writer.column(column, root), column.field)
  const where = whereOf(writer, parts.where, root)
  const order = (parts.order ?? []).map(({ column, direction }) => ({
    sql: writer.column(column, root),
    direction,
    how: { nullable: column.nullable, enumeration: column.field.valueType.type === 'enum' },
  }))
  const attributes = parts.columns.map((column, index) => [literal(read(column)), aliasOf(index)] as [never, string])
  if (parts.total !== undefined) attributes.push([literal(parts.total) as never, '_total'])
  if (parts.keys)
    attributes.push(...order.map(({ sql }, index) => [literal(sql) as never, `_s${index}`] as [never, string]))
  const include = writer.include()
  const sql = writeSelect(model, {
    attributes,
    ...where,
    ...(include.length === 0 ? {} : { include }),
    ...(order.length === 0
      ? {}
      : { order: literal(order.map(({ sql, direction, how }) => dialect.order(sql, direction, how)).join(', ')) }),
    limit: literal(parts.limit) as never,
    ...(parts.offset === undefined ? {} : { offset: literal(parts.offset) as never }),
    subQuery: false,
    ...(parts.unscoped ? { unscoped: true } : {}),
    ...(parts.deleted ? { paranoid: false } : {}),
    ...(parts.lock ? { lock: true } : {}),
  })
  return writer.shorten(sql, root)
}

/**
 * A page under a filter. Most such pages are not full, and then they tell the total themselves: the count is in a
 * branch that is only taken when the page is full, so that the filter's work is not done twice.
 */
function filteredPage(store: Store, description: Description, parts: PageParts & { total: string }): string {
  const { total, ...inner } = parts
  const rows = page(store, description, { ...inner, keys: true })
  const order = (parts.order ?? []).map(({ column, direction }, index) =>
    store.dialect.order(`_s${index}`, direction, {
      nullable: column.nullable,
      enumeration: column.field.valueType.type === 'enum',
    }),
  )
  return `SELECT p.*, CASE WHEN COUNT(*) OVER () = ${parts.limit} THEN ${total} END AS _total FROM (${rows}) AS p ORDER BY ${order.join(', ')}`
}

/** COUNT(*) of the records that meet the filter, with the joins that the filter needs and no others. */
function counted(store: Store, description: Description, where: Predicate | null, deleted: boolean): string {
  const writer = new WhereWriter(store.dialect, placeholders(store.dialect, description))
  const root = rootOf(store)
  const condition = whereOf(writer, where, root)
  const include = writer.include()
  const sql = writeSelect(store.model, {
    attributes: selected('COUNT(*)'),
    ...(deleted ? { paranoid: false } : {}),
    ...condition,
    ...(include.length === 0 ? {} : { include }),
  })
  return writer.shorten(sql, root)
}

function whereOf(writer: WhereWriter, where: Predicate | null, scope: Scope): { where?: WhereFragment } {
  return where === null ? {} : { where: { [Op.and]: [writer.where(where, scope)] } }
}

const ALIASES: readonly string[] = Array.from({ length: 64 }, (_, index) => `c${index}`)

/** The alias of the n-th column that a statement reads. */
export function aliasOf(index: number): string {
  return ALIASES[index] ?? `c${index}`
}

/** A driver's row as the values of the columns, in their order. */
export function valuesOf(row: RawRow, columns: readonly Column[]): Row {
  const values = new Array<unknown>(columns.length)
  for (let index = 0; index < values.length; index++) values[index] = row[aliasOf(index)]
  return values
}

/** The number of all records, where the page's own length tells it. */
function totalOf(length: number, offset: number, pageSize: number): number | null {
  if (length === pageSize || (length === 0 && offset > 0)) return null
  return offset + length
}
