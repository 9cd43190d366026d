import {
  type Association,
  type FindOptions,
  type Model,
  type ModelAttributeColumnOptions,
  type ModelStatic,
  Op,
  QueryTypes,
  Sequelize,
  type Transaction,
  Utils,
  type WhereOptions,
} from 'sequelize'
import type { Field } from '../../types/field.js'

/**
 * The file that touches Sequelize's less public parts: the query generator, the preparation that `findAll`
 * does before it calls it, the registered hooks, and the transaction in continuation-local storage. Those of connections and
 * transactions are in `connections.ts`, `handles.ts` and `writeRun.ts`. All of it is stable throughout Sequelize 6.
 */

/** A part of a where tree. */
export type WhereFragment = WhereOptions & object

interface QueryGenerator {
  readonly options: { readonly minifyAliases?: boolean }
  selectQuery(table: unknown, options: object, model: ModelStatic<Model>): string
  updateQuery(table: unknown, values: object, where: object, options: object): { query: string }
  deleteQuery(table: unknown, where: object, options: object, model: ModelStatic<Model>): string
  insertQuery(table: unknown, values: object, attributes: object, options: object): { query: string }
  bulkInsertQuery(table: unknown, rows: object[], options: object, attributes: object): string
  getWhereConditions(where: unknown, prefix: string, model: ModelStatic<Model>, options: object): string
  handleSequelizeMethod(expression: unknown): string
  quoteIdentifier(name: string): string
  quoteTable(table: unknown): string
  escape(value: unknown): string
}

type IndexField = string | { readonly name?: string; readonly attribute?: string }

interface Index {
  readonly name?: string
  readonly fields?: readonly IndexField[]
  readonly unique?: boolean
  readonly where?: unknown
}

interface Preparation {
  _scope: { readonly [option: string]: unknown } | undefined
  autoIncrementAttribute: string | null
  _versionAttribute: string | false | undefined
  _timestampAttributes: { createdAt?: string; updatedAt?: string; deletedAt?: string }
  _conformIncludes(options: object, model: unknown): void
  _expandAttributes(options: object): void
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
  cloneDeep<T>(value: T): T
  mapFinderOptions(options: object, model: ModelStatic<Model>): object
  mapOptionFieldNames(options: { where: object }, model: ModelStatic<Model>): { where: object }
}

const fieldNames: FieldNames = Utils as object as FieldNames

// The common ancestor of literal, fn, col, cast and where, which is not exported under its own name.
const expressions: new () => object = (Utils as object as { SequelizeMethod: new () => object }).SequelizeMethod

interface DialectQuery {
  _logQuery(sql: string, debug: () => void, values: readonly unknown[]): () => void
  formatError(error: Error, stack: string | undefined): Error
}

interface Replica {
  dialectOptions?: object
}

interface Internals {
  connectionManager: { getConnection(options: object): Promise<unknown> }
  dialect: { Query: new (connection: object, sequelize: Sequelize, options: object) => DialectQuery }
  options: {
    timezone?: string
    databaseVersion?: unknown
    dialectOptions?: object
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

// Sequelize's own declarations leave these members out; a cast through `object` is how a file says "I know".
function internals(sequelize: Sequelize): Internals {
  return sequelize as object as Internals
}

/** Names columns as it is told to: `minifyAliases` would have `sequelize.query` know which statements it shortened. */
function generator(sequelize: Sequelize): QueryGenerator {
  const queries = sequelize.getQueryInterface().queryGenerator as QueryGenerator
  const { options } = queries
  if (options.minifyAliases !== true) return queries
  return Object.create(queries, { options: { value: { ...options, minifyAliases: false } } }) as QueryGenerator
}

function preparation(model: ModelStatic<Model>): Preparation {
  return model as object as Preparation
}

/** The Sequelize instance of a model. */
export function sequelizeOf(model: ModelStatic<Model>): Sequelize {
  const { sequelize } = model
  if (sequelize === undefined) throw new TypeError(`the model ${model.name} is not initialised`)
  return sequelize
}

/** What opens, keeps and closes the connections of a Sequelize instance. */
export function connectionsOf(sequelize: Sequelize): object {
  return internals(sequelize).connectionManager
}

/** The version of the server, where there has been a connection. */
export function versionOf(sequelize: Sequelize): unknown {
  return internals(sequelize).options.databaseVersion
}

/** What the host wants handed to the driver of the database, for all connections and for those of single replicas. */
export function driverOptionsOf(sequelize: Sequelize): readonly object[] {
  const { options } = internals(sequelize)
  const replicas = [options.replication || {}].flatMap(({ read = [], write = [] }) => [read, write].flat())
  return [options, ...replicas].map(({ dialectOptions }) => dialectOptions ?? {})
}

/** SQL that Sequelize leaves as it is. Only for text made from compiled names and placeholders. */
export function literal(sql: string): ReturnType<typeof Sequelize.literal> {
  return Sequelize.literal(sql)
}

export function quote(model: ModelStatic<Model>, identifier: string): string {
  return generator(sequelizeOf(model)).quoteIdentifier(identifier)
}

/** A value as SQL text, escaped by Sequelize for the model's database. */
export function escapeValue(model: ModelStatic<Model>, value: unknown): string {
  return generator(sequelizeOf(model)).escape(value)
}

export interface SelectOptions extends FindOptions {
  /** The main table's alias; the model's name without it. */
  readonly tableAs?: string
  /** Leaves the model's default scope out. */
  readonly unscoped?: boolean
}

/** The text of the SELECT that `model.findAll(options)` would run, find hooks aside, without the closing `;`. */
export function writeSelect(model: ModelStatic<Model>, options: SelectOptions): string {
  const prepared = preparation(model)
  const clone: { [option: string]: unknown } = { ...fieldNames.cloneDeep(options), hooks: false }
  if (options.unscoped !== true) clone.where = scoped(model, clone.where)
  prepared._conformIncludes(clone, model)
  prepared._expandAttributes(clone)
  if (clone.include !== undefined) {
    clone.hasJoin = true
    prepared._validateIncludedElements(clone, {})
  }
  fieldNames.mapFinderOptions(clone, model)
  const complete = prepared._paranoidClause(model, clone)
  const table = model.getTableName()
  return generator(sequelizeOf(model)).selectQuery(table, complete, model).replace(/;$/, '')
}

/** A condition's text, its columns prefixed by `prefix`; the model's default scope is not in it. */
export function writeCondition(model: ModelStatic<Model>, where: object, prefix: string): string {
  const mapped = fieldNames.mapOptionFieldNames({ where }, model)
  return generator(sequelizeOf(model)).getWhereConditions(mapped.where, prefix, model, { model })
}

/**
 * A condition and the one of the model's default scope. Where Sequelize itself puts the two together, what stands under
 * the same name, `Op.and` included, replaces the other; of this one nothing can be lost.
 */
export function scoped(model: ModelStatic<Model>, where: unknown): WhereFragment {
  const scope = preparation(model)._scope?.where
  const both = [where, scope].filter((part) => part !== undefined && part !== null)
  return { [Op.and]: both } as WhereFragment
}

/** The condition of the model's own default scope and of `paranoid`, with the caller's, by column. */
function guarded(model: ModelStatic<Model>, where: object, deleted = false): object {
  const mapped = fieldNames.mapOptionFieldNames({ where: scoped(model, where) }, model)
  // CVE-2023-22579: an update or delete without a condition must not be possible, whatever was made of it.
  if (Reflect.ownKeys(where).length === 0) throw new TypeError(`refusing to write to ${model.name} without a condition`)
  return deleted ? mapped.where : preparation(model)._paranoidClause(model, mapped).where
}

/** The text of `guarded`, its columns prefixed by `prefix`. */
export function writeGuarded(model: ModelStatic<Model>, where: object, prefix: string, deleted = false): string {
  const condition = guarded(model, where, deleted)
  return generator(sequelizeOf(model)).getWhereConditions(condition, prefix, model, { model })
}

/** INSERT of one row of SQL text by column. */
export function writeInsert(model: ModelStatic<Model>, values: ReadonlyMap<string, string>): string {
  const hash = Object.fromEntries([...values].map(([column, sql]) => [column, literal(sql)]))
  const { query } = generator(sequelizeOf(model)).insertQuery(model.getTableName(), hash, {}, { bindParam: false })
  return query.replace(/;$/, '')
}

/** UPDATE of the columns in `values`, whose values are SQL text; with `deleted` also of rows that are marked so. */
export function writeUpdate(
  model: ModelStatic<Model>,
  values: ReadonlyMap<string, string>,
  where: object,
  deleted: boolean,
): string {
  const hash = Object.fromEntries([...values].map(([column, sql]) => [column, literal(sql)]))
  // As text: the values of the default scope would become bind parameters of Sequelize's own, which nobody fills.
  const condition = literal(writeGuarded(model, where, '', deleted))
  const options = { bindParam: false, model }
  return generator(sequelizeOf(model)).updateQuery(model.getTableName(), hash, { [Op.and]: [condition] }, options).query
}

export function writeDelete(model: ModelStatic<Model>, where: object): string {
  const options = { limit: null, model }
  const sql = generator(sequelizeOf(model)).deleteQuery(model.getTableName(), guarded(model, where), options, model)
  return sql.replace(/;$/, '')
}

/** INSERT of rows of values by column, escaped by Sequelize for each column's type. */
export function writeInsertRows(model: ModelStatic<Model>, rows: object[]): string {
  const attributes = preparation(model).fieldRawAttributesMap
  const sql = generator(sequelizeOf(model)).bulkInsertQuery(model.getTableName(), rows, {}, attributes)
  return sql.replace(/\s*;$/, '')
}

export function quoteTable(model: ModelStatic<Model>): string {
  return generator(sequelizeOf(model)).quoteTable(model.getTableName())
}

interface DateType {
  stringify(value: Date, options: object): string
}

/** A date as the database stores it in the attribute's column. */
export function stringifyDate(model: ModelStatic<Model>, field: Field, value: Date): unknown {
  const type = typeOf(model, field)
  return type === null ? value : dateText(model, field, type as DateType, value)
}

/** A date as it is compared with the attribute's column. Its text for storing may lack milliseconds: MySQL's does. */
export function comparedDate(model: ModelStatic<Model>, field: Field, value: Date): unknown {
  const type = typeOf(model, field)
  if (type === null) return value
  const exact = Reflect.construct(type.constructor, [3]) as DateType
  return dateText(model, field, exact, value)
}

function dateText(model: ModelStatic<Model>, field: Field, type: DateType, value: Date): string {
  const { timezone } = internals(sequelizeOf(model)).options
  return type.stringify(value, { timezone, field: model.getAttributes()[field.name] })
}

function typeOf(model: ModelStatic<Model>, field: Field): object | null {
  const type: unknown = model.getAttributes()[field.name]?.type
  return typeof type === 'object' ? type : null
}

/** How a statement runs through `sequelize.query`. */
export interface QueryRun {
  readonly sql: string
  /** Values beside the text, or null where they are in it. */
  readonly bind: readonly unknown[] | null
  readonly transaction: Transaction | undefined
  /** Whether it writes, or reads what was just written, and so must not go to a replica. */
  readonly writes: boolean
}

export type RawRow = { readonly [column: string]: unknown }

/** Runs a statement and gives its rows: no model, no PRAGMA, but the host's logging, pool and replication. */
export async function queryRows(sequelize: Sequelize, run: QueryRun): Promise<readonly RawRow[]> {
  return sequelize.query(run.sql, { ...runOptions(run), type: QueryTypes.SELECT }) as Promise<RawRow[]>
}

/** Runs an UPDATE or DELETE and gives the number of rows that the database reports. */
export async function queryAffected(sequelize: Sequelize, run: QueryRun): Promise<number> {
  const count: unknown = await sequelize.query(run.sql, { ...runOptions(run), type: QueryTypes.BULKDELETE })
  return typeof count === 'number' ? count : 0
}

function runOptions({ bind, transaction, writes }: QueryRun): object {
  return {
    raw: true,
    tableNames: [],
    ...(bind === null ? {} : { bind }),
    ...(transaction === undefined ? {} : { transaction }),
    ...(writes ? { useMaster: true } : {}),
  }
}

/** A handle of the sqlite3 driver, as far as prepared statements need it. */
export interface SqliteConnection {
  prepare(sql: string, done: (error: Error | null) => void): SqliteStatement
  close(done?: (error: Error | null) => void): void
}

export interface SqliteStatement {
  all(values: readonly unknown[], done: (error: Error | null, rows?: RawRow[]) => void): void
  run(values: readonly unknown[], done: (this: { changes: number }, error: Error | null) => void): void
  finalize(): void
}

/** The handle on which Sequelize runs what belongs to no transaction; it opens it where that has not happened yet. */
export async function sqliteConnection(sequelize: Sequelize): Promise<SqliteConnection> {
  return internals(sequelize).connectionManager.getConnection({ type: 'SELECT' }) as Promise<SqliteConnection>
}

/** Whether nothing of the host's watches or rewrites single queries, so that they need not be `sequelize.query`'s. */
export function runsPlainQueries(sequelize: Sequelize): boolean {
  const { hooks, query } = internals(sequelize).options
  const isHooked = ['beforeQuery', 'afterQuery'].some((name) => (hooks?.[name]?.length ?? 0) > 0)
  return !isHooked && Object.keys(query ?? {}).length === 0
}

/** Logs a statement as Sequelize does, and gives what is to be called when it is done. */
export function logQuery(
  sequelize: Sequelize,
  connection: object,
  sql: string,
  values: readonly unknown[],
): () => void {
  const { logging, benchmark } = internals(sequelize).options
  if (logging === false && benchmark !== true) return () => undefined
  return queryOn(sequelize, connection)._logQuery(sql, () => undefined, values)
}

/** The driver's error as the class that Sequelize has for it. */
export function formatError(sequelize: Sequelize, connection: object, sql: string, error: Error): Error {
  const { stack } = new Error(error.message)
  return queryOn(sequelize, connection).formatError(Object.assign(error, { sql }), stack)
}

function queryOn(sequelize: Sequelize, connection: object): DialectQuery {
  const { dialect, options } = internals(sequelize)
  return new dialect.Query(connection, sequelize, { logging: options.logging })
}

/** The transaction that the host opened around this request in continuation-local storage. */
export function ambientTransaction(sequelize: Sequelize): Transaction | undefined {
  // Null behind the end of a transaction.
  return internals(sequelize).constructor._cls?.get('transaction') ?? undefined
}

/** Runs something with a continuation-local storage of its own, where the host uses it. */
export function inContext<T>(sequelize: Sequelize, work: () => Promise<T>): Promise<T> {
  return internals(sequelize).constructor._clsRun(work)
}

/** Makes a transaction the one that is found in the continuation-local storage. */
export function enterContext(transaction: Transaction & { readonly sequelize: Sequelize }): void {
  internals(transaction.sequelize).constructor._cls?.set('transaction', transaction)
}

/**
 * Runs something when a transaction and those around it are committed. Not by `afterCommit`, whose functions Sequelize
 * calls even where the COMMIT failed.
 */
export function whenCommitted(transaction: Transaction, work: () => void): void {
  const { parent, finished } = transaction as Transaction & { parent?: Transaction | null; finished?: string }
  const go = (): void => (parent ? whenCommitted(parent, work) : work())
  if (finished === 'commit') go()
  if (finished !== undefined) return
  const commit = transaction.commit
  transaction.commit = async () => {
    await commit.call(transaction)
    go()
  }
}

/**
 * `model.bulkCreate`, without hooks and validation, of instances that are built already: it would build them from
 * values again, and run the host's setters a second time. `insertedKeys` is the query that tells the keys where
 * Sequelize would guess them.
 */
export async function bulkInsert(
  model: ModelStatic<Model>,
  instances: readonly Model[],
  transaction: Transaction,
  insertedKeys: string | null,
): Promise<void> {
  const own = {
    build: { value: (instance: Model) => instance },
    ...(insertedKeys === null ? {} : { autoIncrementAttribute: { value: null } }),
  }
  const options = { transaction, hooks: false, validate: false }
  await model.bulkCreate.call(Object.create(model, own), instances as never, options)
  const { autoIncrementAttribute: key } = preparation(model)
  if (insertedKeys === null || !key || instances.some((instance) => Boolean(instance.getDataValue(key as never))))
    return
  const sequelize = sequelizeOf(model)
  const [row] = await queryRows(sequelize, { sql: insertedKeys, bind: null, transaction, writes: true })
  for (const [index, instance] of instances.entries()) {
    const value = BigInt(String(row?.first)) + BigInt(String(row?.step)) * BigInt(index)
    const number = Number(value)
    instance.set(key, Number.isSafeInteger(number) ? number : String(value), { raw: true })
  }
}

/** Whether any of the hooks is registered, on the model or for all models. Asked per request: hosts add hooks late. */
export function hasHooks(model: ModelStatic<Model>, names: readonly string[]): boolean {
  const own = preparation(model).options.hooks ?? {}
  const global = internals(sequelizeOf(model)).options.hooks ?? {}
  return names.some((name) => (own[name]?.length ?? 0) > 0 || (global[name]?.length ?? 0) > 0)
}

/** Runs the hooks of a kind as Sequelize itself would. */
export async function runHooks(model: ModelStatic<Model>, name: string, ...given: readonly unknown[]): Promise<void> {
  await (model as object as { runHooks(...given: readonly unknown[]): Promise<void> }).runHooks(name, ...given)
}

/** Whether Sequelize itself deletes the dependants of a deleted record, running their hooks. */
export function hasCascades(model: ModelStatic<Model>): boolean {
  return Object.values(model.associations).some((association) => {
    const { options } = association as object as { options: { hooks?: boolean; onDelete?: string } }
    return options.hooks === true && options.onDelete?.toLowerCase() === 'cascade'
  })
}

/** Whether the model has a default scope that may leave records out. */
export function hasScope(model: ModelStatic<Model>): boolean {
  const scope = preparation(model)._scope ?? {}
  return typeof scope === 'function' || Object.keys(scope).some((option) => option !== 'attributes')
}

/** Whether the default scope holds more than a condition, so that only `findAll` can honour it. */
export function hasComplexScope(model: ModelStatic<Model>): boolean {
  const scope = preparation(model)._scope
  if (scope === undefined) return false
  return (
    typeof scope === 'function' || Object.keys(scope).some((option) => option !== 'where' && option !== 'attributes')
  )
}

/** The columns or attributes of a unique index by its name in the database; none where the model does not have it. */
export function columnsOfIndex(model: ModelStatic<Model>, name: string): readonly string[] {
  const { _indexes: indexes = [], uniqueKeys, primaryKeys } = preparation(model)
  if (name === 'PRIMARY') return Object.keys(primaryKeys)
  return indexed(indexes.find((index) => index.name === name) ?? uniqueKeys[name])
}

function indexed(index: Index | undefined): readonly string[] {
  return (index?.fields ?? []).map((field) => {
    return typeof field === 'string' ? field : (field.name ?? field.attribute ?? '')
  })
}

/** The columns or attributes that the model declares unique in all of its rows, those together that are so together. */
export function uniquesOf(model: ModelStatic<Model>): readonly (readonly string[])[] {
  const { _indexes: indexes = [], uniqueKeys, options } = preparation(model)
  const whole = indexes.filter(({ unique, where }) => unique === true && where === undefined)
  return [...Object.values(uniqueKeys), ...Object.values(options.uniqueKeys ?? {}), ...whole].map(indexed)
}

/** Whether the model validates across attributes. */
export function hasModelValidators(model: ModelStatic<Model>): boolean {
  return Object.keys(preparation(model).options.validate ?? {}).length > 0
}

/** Whether the model keeps Sequelize's own version column. */
export function hasVersion(model: ModelStatic<Model>): boolean {
  return typeof preparation(model)._versionAttribute === 'string'
}

/** Whether a value is an expression that the database evaluates, such as a default of `literal('now()')`. */
export function isExpression(value: unknown): boolean {
  return value instanceof expressions
}

/** What the database makes of an expression. */
export async function evaluate(model: ModelStatic<Model>, expression: unknown, run: Transaction): Promise<unknown> {
  const sequelize = sequelizeOf(model)
  const sql = `SELECT ${generator(sequelize).handleSequelizeMethod(expression)} AS _`
  const [row] = await queryRows(sequelize, { sql, bind: null, transaction: run, writes: true })
  return row?._
}

/** The attributes in which Sequelize keeps its time stamps. */
export function timestampsOf(model: ModelStatic<Model>): {
  createdAt?: string
  updatedAt?: string
  deletedAt?: string
} {
  return preparation(model)._timestampAttributes
}

/**
 * Whether `save` leaves the instance's own time of the last change alone and stores it. Sequelize puts its own clock's
 * there unless it is silent, and with `true` itself it stores none; any other true value is silent and stores it.
 */
export function silently(keeps: boolean): { readonly silent?: boolean } {
  return keeps ? { silent: 1 as never } : {}
}

/** The attribute names that tie an association's two tables together, whatever its kind. */
export interface AssociationKeys {
  readonly foreignKey: string
  readonly sourceKey: string
  readonly targetKey: string
  readonly otherKey: string
  /** Fixed attributes of the target, such as the type column of a polymorphic association; none or one. */
  readonly scope: readonly WhereFragment[]
  /** The table between the two of a belongs-to-many, with its own fixed attributes. */
  readonly through: { readonly model: ModelStatic<Model>; readonly scope: readonly WhereFragment[] } | null
}

export function keysOf(association: Association): AssociationKeys {
  const keys = association as object as {
    foreignKey: string
    sourceKey?: string
    targetKey?: string
    otherKey?: string
    scope?: WhereFragment
    through?: { model?: ModelStatic<Model>; scope?: WhereFragment }
  }
  const through = keys.through?.model
  return {
    foreignKey: keys.foreignKey,
    sourceKey: keys.sourceKey ?? association.source.primaryKeyAttribute,
    targetKey: keys.targetKey ?? association.target.primaryKeyAttribute,
    otherKey: keys.otherKey ?? '',
    scope: keys.scope ? [keys.scope] : [],
    through: through === undefined ? null : { model: through, scope: keys.through?.scope ? [keys.through.scope] : [] },
  }
}

/** The model that was defined, of which `Model.scope()` and `Model.schema()` make variants: subclasses without attributes. */
export function definedModel(model: ModelStatic<Model>): ModelStatic<Model> {
  const parent: unknown = Object.getPrototypeOf(model)
  if (Object.hasOwn(model, 'rawAttributes') || typeof parent !== 'function') return model
  return definedModel(parent as ModelStatic<Model>)
}

/** A SELECT list of one expression. */
export function selected(sql: string): [ReturnType<typeof literal>, string][] {
  return [[literal(sql), '_']]
}

/** What of a model is in the text of its statements, and a host may change at any time. */
export function changeable(model: ModelStatic<Model>): {
  readonly table: unknown
  /** Another object whenever an attribute was added, changed or removed. */
  readonly attributes: object
  readonly paranoid: boolean
  readonly scope: object | undefined
} {
  const table: unknown = model.getTableName()
  const { paranoid = false } = model.options
  // Of a table in a schema Sequelize gives an object with a function of its own each time.
  const name = typeof table === 'object' && table !== null ? { ...table, toString: null } : table
  return {
    table: name,
    attributes: preparation(model).fieldRawAttributesMap,
    paranoid,
    scope: preparation(model)._scope,
  }
}

/** The attributes that the model's default scope leaves out of every read. */
export function hiddenByScope(model: ModelStatic<Model>): ReadonlySet<string> {
  const attributes = preparation(model)._scope?.attributes
  const all = Object.keys(model.getAttributes())
  if (Array.isArray(attributes)) return new Set(all.filter((name) => !attributes.includes(name)))
  const { exclude } = (attributes ?? {}) as { exclude?: readonly string[] }
  return new Set(exclude ?? [])
}

/** An attribute's definition as it will be on the model: its type an instance, its column named by the model's rules. */
export function completed(
  model: ModelStatic<Model>,
  name: string,
  definition: ModelAttributeColumnOptions,
): ModelAttributeColumnOptions {
  const { underscored = false } = model.options
  const sequelize = sequelizeOf(model) as object as {
    normalizeDataType(type: unknown): ModelAttributeColumnOptions['type']
  }
  return {
    ...definition,
    type: sequelize.normalizeDataType(definition.type),
    field: Utils.underscoredIf(name, underscored),
  }
}

/** Adds attributes to a model that is defined already. */
export function addToModel(
  model: ModelStatic<Model>,
  attributes: Readonly<Record<string, ModelAttributeColumnOptions>>,
): void {
  const { rawAttributes, refreshAttributes } = model as object as {
    rawAttributes: { [attribute: string]: ModelAttributeColumnOptions }
    refreshAttributes(): void
  }
  // Copies: Sequelize writes into them.
  for (const [name, definition] of Object.entries(attributes)) rawAttributes[name] = { ...definition }
  refreshAttributes.call(model)
}
