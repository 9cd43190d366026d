import type { Transaction } from 'sequelize'
import type { Field } from '../../types/field.js'
import type { Row } from '../../types/outcome.js'
import type { Predicate, Projection } from '../../types/plan.js'
import type { Changes } from '../../types/resource.js'
import { Describer } from './describe.js'
import { affectedBy, type Execution, rowsOf } from './execute.js'
import { needsFindAll } from './instances.js'
import { aliasOf, valuesOf } from './read.js'
import { quote, writeDelete, writeInsert, writeUpdate } from './sequelize.js'
import { placeholder, placeholders } from './statement.js'
import type { Store } from './store.js'
import { encodeStored } from './stored.js'
import { type Scope, WhereWriter } from './where.js'

/** Writes that are one statement each, without instances. Their conditions name columns of the one table only. */

type Within = Transaction | undefined

export async function insertReturning(
  store: Store,
  row: ReadonlyMap<Field, unknown>,
  projection: Projection,
  transaction: Within,
): Promise<Row | undefined> {
  const fields = [...row.keys()]
  const key = `insert;${fields.map(({ name }) => name).join(',')};${projection.key}`
  const statement = store.statements.get(key, () => {
    const values = new Map(fields.map(({ column }, slot) => [column, placeholder(slot)]))
    const sql = writeInsert(store.model, values).replace(/^INSERT INTO/, store.dialect.insert)
    return `${sql} ${returning(store, projection)}`
  })
  const values = [...row].map(([field, value]) => encodeStored(store, field, value))
  const [inserted] = await rowsOf(store, { statement, values, transaction, writes: true })
  return inserted === undefined ? undefined : valuesOf(inserted, projection.columns)
}

/** An UPDATE: where, the new values, and the attributes that rise by one. */
export interface RowUpdate {
  readonly where: Predicate
  readonly values: Changes
  readonly increments: readonly string[]
  /** Whether the rows are ones that a paranoid model hides. */
  readonly deleted: boolean
}

export async function updateReturning(
  store: Store,
  update: RowUpdate,
  projection: Projection,
  transaction: Within,
): Promise<Row | undefined> {
  const [row] = await rowsOf(store, { ...updateStatement(store, update, projection), transaction, writes: true })
  return row === undefined ? undefined : valuesOf(row, projection.columns)
}

/** The number of rows that the database reports, which on MySQL counts only rows that changed. */
export async function updateRows(store: Store, update: RowUpdate, transaction: Within): Promise<number> {
  return affectedBy(store, { ...updateStatement(store, update, null), transaction, writes: true })
}

export async function deleteRows(store: Store, where: Predicate, transaction: Within): Promise<number> {
  const description = new Describer(store.dialect, store.model).text('delete').where(where).done()
  const statement = store.statements.get(description.key, () => {
    const writer = new WhereWriter(store.dialect, placeholders(store.dialect, description))
    return writeDelete(store.model, writer.where(where, tableOf(store)))
  })
  return affectedBy(store, { statement, values: description.values, transaction, writes: true })
}

function updateStatement(
  store: Store,
  { where, values, increments, deleted }: RowUpdate,
  projection: Projection | null,
): Pick<Execution, 'statement' | 'values'> {
  const fields = fieldsOf(store, values)
  const shape = [fields.map(([{ name }]) => name), increments, deleted ? 'deleted' : '', projection?.key ?? '']
  const description = new Describer(store.dialect, store.model)
    .text(`update;${shape.join(';')}`)
    .where(where)
    .done()
  const statement = store.statements.get(description.key, () => {
    const writer = new WhereWriter(store.dialect, placeholders(store.dialect, description))
    const first = description.values.length
    const columns = new Map(fields.map(([{ column }], index) => [column, placeholder(first + index)]))
    for (const { name, column, nullable } of store.resource.fields) {
      if (!increments.includes(name)) continue
      const current = quote(store.model, column)
      columns.set(column, nullable ? `COALESCE(${current}, 0) + 1` : `${current} + 1`)
    }
    const sql = writeUpdate(store.model, columns, writer.where(where, tableOf(store)), deleted)
    return projection === null ? sql : `${sql} ${returning(store, projection)}`
  })
  const encoded = fields.map(([field, value]) => encodeStored(store, field, value))
  return { statement, values: [...description.values, ...encoded] }
}

function fieldsOf({ resource }: Store, changes: Changes): (readonly [Field, unknown])[] {
  return resource.fields
    .filter((field) => changes.has(field.name) && !field.virtual)
    .map((field) => [field, changes.get(field.name)] as const)
}

/** UPDATE and DELETE name their table without an alias. */
function tableOf({ model }: Store): Scope {
  return { model, alias: '', joins: false }
}

export function returning({ dialect, model }: Store, { columns }: Projection): string {
  const list = columns.map(
    ({ field }, index) => `${dialect.read(quote(model, field.column), field)} AS ${quote(model, aliasOf(index))}`,
  )
  return `RETURNING ${list.join(', ')}`
}

/** Whether RETURNING can give a projection: the record's own columns, where the host has no say in what is read. */
export function isReturnable(store: Store, { columns }: Projection): boolean {
  return columns.every(({ hops }) => hops.length === 0) && !needsFindAll(store, columns)
}
