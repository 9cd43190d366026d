/**
 * Declares the semi-public parts of Sequelize that this package uses: query generator, preparation of finders,
 * registered hooks, and the transaction in continuation-local storage. Only this file uses undeclared parts. All of
 * these parts are stable in Sequelize 6.
 */

import { type Model, type ModelStatic, type Sequelize, type Transaction, Utils, type WhereOptions } from 'sequelize'

/** Part of a where tree. */
export type WhereFragment = WhereOptions & object

interface QueryGenerator {
  readonly options: { readonly minifyAliases?: boolean }
  startTransactionQuery(transaction: Transaction): string
  commitTransactionQuery(transaction: Transaction): string
  selectQuery(table: unknown, options: object, model: ModelStatic<Model>): string
  updateQuery(table: unknown, values: object, where: object, options: object): { query: string }
  deleteQuery(table: unknown, where: object, options: object, model: ModelStatic<Model>): string
  insertQuery(table: unknown, values: object, attributes: object, options: object): { query: string }
  getWhereConditions(where: unknown, prefix: unknown, model: ModelStatic<Model>, options: object): string
  handleSequelizeMethod(expression: unknown): string
  quoteIdentifier(name: string): string
  quoteTable(table: unknown): string
  escape(value: unknown): string
}

type IndexField = string | { readonly name?: string; readonly attribute?: string }

export interface Index {
  readonly name?: string
  readonly fields?: readonly IndexField[]
  readonly unique?: boolean
  readonly msg?: unknown
  readonly where?: unknown
}

interface Preparation {
  _scope: { readonly [option: string]: unknown } | undefined
  autoIncrementAttribute: string | null
  _versionAttribute: string | false | undefined
  _timestampAttributes: { createdAt?: string; updatedAt?: string; deletedAt?: string }
  _conformIncludes(options: object, model: unknown): void
  _expandIncludeAll(options: object): void
  _validateIncludedElements(options: object, tableNames: object): void
  _paranoidClause(model: unknown, options: object): { where: object }
  options: {
    hooks?: { [hook: string]: readonly unknown[] | undefined }
    validate?: object
    uniqueKeys?: { [name: string]: Index | undefined }
  }
  fieldRawAttributesMap: { [column: string]: object }
  _indexes: readonly Index[] | undefined
  uniqueKeys: { [name: string]: Index | undefined }
  primaryKeys: { [attribute: string]: object }
}

interface FieldNames {
  mapOptionFieldNames(options: { where: object }, model: ModelStatic<Model>): { where: object }
}

export const fieldNames: FieldNames = Utils as object as FieldNames

// Common ancestor of literal, fn, col, cast and where. Sequelize does not export it under its own name.
export const expressions: new () => object = (Utils as object as { SequelizeMethod: new () => object }).SequelizeMethod

const { Literal } = Utils as object as { readonly Literal: new (val: unknown) => { readonly val: unknown } }

/** Returns the SQL text of a `literal`, or null for other values. */
export function textOfLiteral(value: object): string | null {
  return value instanceof Literal && typeof value.val === 'string' ? value.val : null
}

export interface DialectQuery {
  _logQuery(sql: string, debug: () => void, values: readonly unknown[]): () => void
  formatError(error: Error, stack: string | undefined): Error
}

interface Replica {
  dialectOptions?: object
}

interface Internals {
  connectionManager: {
    getConnection(options: object): Promise<unknown>
    /** Open connections of SQLite, by name. */
    connections?: { readonly [name: string]: unknown }
  }
  dialect: { Query: new (connection: object, sequelize: Sequelize, options: object) => DialectQuery }
  options: {
    timezone?: string
    databaseVersion?: unknown
    dialectOptions?: { readonly prependSearchPath?: unknown }
    standardConformingStrings?: unknown
    quoteIdentifiers?: boolean
    native?: unknown
    showWarnings?: unknown
    retry?: { readonly match?: unknown; readonly max?: number }
    replication?: false | { read?: Replica | readonly Replica[]; write?: Replica }
    logging?: unknown
    benchmark?: boolean
    query?: object
    hooks?: { [hook: string]: readonly unknown[] | undefined }
  }
  constructor: {
    _cls?: {
      get(key: 'transaction'): Transaction | null | undefined
      set(key: 'transaction', transaction: Transaction): void
    }
    _clsRun<T>(work: () => Promise<T>): Promise<T>
  }
}

// Sequelize's type declarations lack these members.
export function internalsOf(sequelize: Sequelize): Internals {
  return sequelize as object as Internals
}

/**
 * Returns a query generator that keeps long column names. With `minifyAliases`, only `sequelize.query` can restore
 * shortened names.
 */
export function queryGeneratorOf(sequelize: Sequelize): QueryGenerator {
  const queries = sequelize.getQueryInterface().queryGenerator as QueryGenerator
  const { options } = queries
  if (options.minifyAliases !== true) return queries
  return Object.create(queries, { options: { value: { ...options, minifyAliases: false } } }) as QueryGenerator
}

/** Whether Sequelize shortens the names of joined tables and columns (`minifyAliases`). */
export function hasShortNames({ sequelize }: ModelStatic<Model>): boolean {
  if (sequelize === undefined) return false
  return (sequelize.getQueryInterface().queryGenerator as QueryGenerator).options.minifyAliases === true
}

export function preparationOf(model: ModelStatic<Model>): Preparation {
  return model as object as Preparation
}

/**
 * Returns the Sequelize instance of a model.
 * @throws TypeError if the model is not initialized
 */
export function sequelizeOf(model: ModelStatic<Model>): Sequelize {
  const { sequelize } = model
  if (sequelize === undefined)
    throw new TypeError(`the model ${model.name} is not initialised. Call ${model.name}.init first`)
  return sequelize
}
