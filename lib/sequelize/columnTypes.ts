// Database types of the models' columns.

import { type Model, type ModelStatic, QueryTypes, type Sequelize, type Transaction } from 'sequelize'
import type { ColumnTypes, Conversion, TableName } from '../../types/columnTypes.js'
import type { Field } from '../../types/field.js'
import { getOrCreate } from '../common/getOrCreate.js'
import { storedFieldOf } from '../common/jsonMembers.js'
import { withoutCause } from '../trace/channels.js'
import { limitOptionsOf } from './connections.js'
import type { Dialect } from './dialect/index.js'
import { isTransient } from './failure.js'
import { sequelizeOf } from './internals.js'
import { definedModel } from './model.js'
import { readOptionOf } from './primary.js'
import { escapeValue, quoteTable } from './sql.js'
import type { StatementLimit } from './statementTimeout.js'
import { ambientTransaction } from './transaction.js'

type TypesByColumn = ReadonlyMap<string, string>

interface TypeCatalogue {
  /** Types of columns, by model and column name. */
  readonly types: WeakMap<ModelStatic<Model>, TypesByColumn>
  /** The read in progress, which needs a connection of the pool. null if no read is running. */
  reading: Promise<void> | null
}

const catalogues = new WeakMap<Sequelize, TypeCatalogue>()

function catalogueOf(sequelize: Sequelize): TypeCatalogue {
  return getOrCreate(catalogues, sequelize, () => ({ types: new WeakMap(), reading: null }))
}

export interface TypeRequest {
  readonly dialect: Dialect
  readonly model: ModelStatic<Model>
  readonly limit: StatementLimit | null
  readonly transaction: Transaction | undefined
}

/** Reads the column types of all models, once, before the first statement. Returns null if the types are known. */
export function loadColumnTypes(reading: TypeRequest): Promise<void> | null {
  const { columnTypes } = reading.dialect
  const sequelize = sequelizeOf(reading.model)
  const catalogue = catalogueOf(sequelize)
  if (columnTypes === null || catalogue.types.has(reading.model)) return null
  const readAll = (): Promise<void> => withoutCause(() => readTypes(reading, columnTypes, catalogue))
  // A transaction already has a connection. Waiting for another connection could deadlock, because waiting requests may
  // hold the last connections of the pool.
  if (reading.transaction !== undefined || ambientTransaction(sequelize) !== undefined) return readAll()
  return readOnce(catalogue, reading.model, readAll)
}

/** Reads the types once for concurrent callers. Models that are defined during a read need another read. */
async function readOnce(catalogue: TypeCatalogue, model: ModelStatic<Model>, read: () => Promise<void>): Promise<void> {
  while (!catalogue.types.has(model)) {
    catalogue.reading ??= read().finally(() => {
      catalogue.reading = null
    })
    await catalogue.reading
  }
}

/**
 * Forgets the types of all models, so that the next statement reads the types again. Call this function after a table
 * was created or altered.
 */
export function forgetColumnTypes(model: ModelStatic<Model>): void {
  catalogues.delete(sequelizeOf(model))
}

async function readTypes(
  { dialect, model, limit, transaction }: TypeRequest,
  { select }: ColumnTypes,
  { types }: TypeCatalogue,
): Promise<void> {
  const sequelize = sequelizeOf(model)
  const models = [...new Set([model, ...Object.values(sequelize.models)])].filter((each) => !types.has(each))
  const tables = new Map(models.map((each) => [quoteTable(each), tableOf(each)]))
  const found = new Map([...tables.keys()].map((table) => [table, new Map<string, string>()]))
  const places = [...found.values()]
  const sql = select([...tables.values()], (text) => escapeValue(model, text))
  try {
    const rows: readonly { readonly [column: string]: unknown }[] = await sequelize.query(sql, {
      type: QueryTypes.SELECT,
      raw: true,
      // The read belongs to no request, so it is not logged.
      logging: false,
      ...(transaction === undefined ? {} : { transaction }),
      ...readOptionOf(),
      ...limitOptionsOf(limit),
    })
    for (const { place, name, type } of rows) places[Number(place)]?.set(String(name), String(type))
  } catch (error) {
    if (isTransient(error, dialect)) throw error
    // On a server without this catalogue, the declared types are used.
  }
  for (const each of models) types.set(each, found.get(quoteTable(each)) ?? new Map())
}

function tableOf(model: ModelStatic<Model>): TableName {
  const name = model.getTableName()
  if (typeof name === 'string') return { schema: null, table: name }
  const { schema, tableName } = name
  return { schema: schema === '' ? null : schema, table: tableName }
}

/** Returns the SQL that reads a field's column without loss. */
export function readColumn(dialect: Dialect, model: ModelStatic<Model>, field: Field, column: string): string {
  const conversion = conversionOf(dialect, model, field)
  if (conversion === null) return dialect.readExpression(column, field)
  const { compare, read } = conversion
  if (read !== null) return dialect.readExpression(read(column), field)
  // An expression for the declared type could fail for another column type.
  return compare === null ? column : dialect.readExpression(column, field)
}

/** Returns the SQL by which instances read a field's column, or null if the column name suffices. */
export function instanceColumnOf(
  dialect: Dialect,
  model: ModelStatic<Model>,
  field: Field,
  column: string,
): string | null {
  const conversion = conversionOf(dialect, model, field)
  if (conversion === null) return dialect.instanceExpression(column, field)
  const { compare, read } = conversion
  if (read !== null) return dialect.instanceExpression(read(column), field) ?? read(column)
  return compare === null ? null : dialect.instanceExpression(column, field)
}

/**
 * Returns the conversion that makes a column behave like the declared type, or null if the column needs no conversion.
 */
export function conversionOf(
  { columnTypes }: Pick<Dialect, 'columnTypes'>,
  model: ModelStatic<Model>,
  field: Field,
): Conversion | null {
  // The item type of an array differs from the column type.
  if (columnTypes === null || field.virtual || field.derived?.kind === 'item') return null
  const type = typesOf(model)?.get(field.column)
  return type === undefined ? null : columnTypes.convert(type, storedFieldOf(field).valueType)
}

/** Whether the database may store one UUID in two spellings, as two different values. */
export function hasTwoUuidSpellings(
  { columnTypes }: Pick<Dialect, 'columnTypes'>,
  model: ModelStatic<Model>,
  field: Field,
): boolean {
  if (field.valueType.type !== 'uuid') return false
  const type = typesOf(model)?.get(field.column)
  return columnTypes === null || type === undefined || columnTypes.isSpellingPreserved(type)
}

/** Returns the types of a model's columns, or undefined before they are read. */
export function typesOf(model: ModelStatic<Model>): TypesByColumn | undefined {
  const { types } = catalogueOf(sequelizeOf(model))
  return types.get(model) ?? types.get(definedModel(model))
}
