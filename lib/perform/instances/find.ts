import type { FindOptions, IncludeOptions, Model, ModelStatic } from 'sequelize'
import type { Field } from '../../../types/field.js'
import type { Row } from '../../../types/outcome.js'
import type { Column, Predicate } from '../../../types/plan.js'
import type { Resource } from '../../../types/resource.js'
import { isGetterOrVirtual } from '../../common/columns.js'
import { jsonMemberOf, readJsonMember } from '../../common/jsonMembers.js'
import { instanceColumnOf } from '../../sequelize/columnTypes.js'
import { limitOptionsOf } from '../../sequelize/connections.js'
import type { Dialect } from '../../sequelize/dialect/index.js'
import { hasShortNames, type WhereFragment } from '../../sequelize/internals.js'
import { statementLoggingOf } from '../../sequelize/logging.js'
import { attributesExcludedByScope, dependenciesOf, hasScope, runBeforeFindHooks } from '../../sequelize/model.js'
import { readOptionOf } from '../../sequelize/primary.js'
import { addScope, literal, quote } from '../../sequelize/sql.js'
import { wrapInAnd } from '../../sequelize/whereTree.js'
import type { ReadOptions, RowWindow } from '../executor.js'
import { createInlineOperands } from '../statement/operands.js'
import { keyAlias } from '../statement/row.js'
import { writeExactSortKey } from '../statement/text.js'
import { withSequelizeTimeout } from '../statementTimeout.js'
import type { StatementContext } from '../store.js'
import { WhereWriter } from '../where.js'

export interface FindParts extends RowWindow, ReadOptions {
  readonly offset: number
  /** Whether the model's find hooks run. Default true. Sequelize runs no find hooks for includes. */
  readonly hooks?: boolean
}

/** Properties of a store that a read needs. */
export interface FindSource extends Pick<StatementContext, 'dialect' | 'model' | 'sequelize' | 'limit'> {
  readonly resource: Pick<Resource, 'key'>
}

/**
 * Builds all options for `model.findAll`, with values inlined. If a column has a getter or is virtual, `isWide` selects
 * all columns of its table.
 */
function buildFinderOptions(store: FindSource, parts: FindShape, isWide = true): FindOptions {
  const { columns, order: keys } = parts
  const { writer, condition } = buildCondition(store, parts)
  const root = { model: store.model, alias: store.model.name, canJoin: true }
  const order = keys.map(({ column, direction }) =>
    store.dialect.orderTerm(writer.writeColumn(column, root), direction, {
      nullable: column.nullable,
      enumeration: column.field.valueType.type === 'enum',
    }),
  )
  for (const column of columns) writer.writeRead(column, root)
  const include = writer.buildInclude(root)
  const readExpressionOf: ReadExpression = (column) =>
    column.countedJoin === undefined ? writer.writeInstanceRead(column, root) : writer.writeRead(column, root)
  addAttributes(include, columns, [], readExpressionOf, isWide)
  const own = columns.filter(({ joins }) => joins.length === 0)
  const ordered = keys.map(({ column }) =>
    writeExactSortKey(store.dialect, writer.writeColumn(column, root), column.field),
  )
  const keyed =
    parts.keyReading === undefined || parts.keyReading === 'none'
      ? []
      : ordered.map((sql, index): AliasedExpression => [literal(sql), keyAlias(index)])
  // The key is selected if the projection has no own fields, because Sequelize writes no SELECT without columns.
  const key: Column = { joins: [], field: store.resource.key, nullable: false }
  return {
    ...condition,
    attributes: addExpressions(selectAttributes(own.length === 0 ? [key] : own, readExpressionOf, isWide), keyed),
    ...(include.length === 0 ? {} : { include }),
    ...(order.length === 0 ? {} : { order: literal(order.join(', ')) }),
    limit: parts.limit,
    offset: parts.offset,
    subQuery: false,
  }
}

type FindShape = RowWindow & Pick<FindParts, 'offset'>

/**
 * Builds `findAll` options that host code uses itself. The options load only attributes that the caller may read, also
 * for getters and virtual attributes.
 */
export function buildHostOptions(store: StatementContext, parts: FindShape, hidden: ReadonlySet<string>): FindOptions {
  const isReadable = ({ name, virtual, targets }: Field): boolean =>
    !virtual && !hidden.has(name) && (targets.has('response') || targets.has('list'))
  const shown = new Set(store.resource.fields.filter(isReadable).map(({ name }) => name))
  // Sequelize also loads the declared dependencies of a virtual attribute. The readable attributes of other models are
  // unknown here, so such virtual attributes are omitted.
  const columns = parts.columns.filter(({ joins, field }) => {
    const needed = field.virtual
      ? dependenciesOf(joins.at(-1)?.relation.association.target ?? store.model, field.name)
      : []
    return needed.length === 0 || (joins.length === 0 && needed.every((name) => shown.has(name)))
  })
  const isOwnComputed = columns.some((column) => column.joins.length === 0 && isGetterOrVirtual(column))
  const more = isOwnComputed ? store.resource.fields.filter(isReadable) : []
  const added = more.map((field): Column => ({ joins: [], field, nullable: field.nullable }))
  const options = buildFinderOptions(store, { ...parts, columns: [...columns, ...added] }, false)
  // The scope is merged here, because Sequelize would replace one `Op.and` condition by the other.
  return hasScope(store.model) ? { ...options, where: addScope(store.model, options.where) } : options
}

export async function findInstances(store: FindSource, parts: FindParts): Promise<Row[]> {
  const {
    transaction,
    includeDeleted = false,
    unscoped = false,
    isFromPrimary = false,
    hooks = true,
    lock = false,
  } = parts
  const { where, ...rest } = buildFinderOptions(store, parts)
  const options = {
    ...rest,
    ...(where === undefined ? {} : { where: unscoped ? where : addScope(store.model, where) }),
    ...(transaction === undefined ? {} : { transaction }),
    ...(transaction && lock && store.dialect.readsSnapshots ? { lock: transaction.LOCK.UPDATE } : {}),
    ...(includeDeleted ? { paranoid: false } : {}),
    ...readOptionOf(isFromPrimary),
    ...(hooks ? {} : { hooks: false }),
    ...limitOptionsOf(store.limit),
    ...statementLoggingOf(store.sequelize),
  }
  const model = unscoped ? store.model.unscoped() : store.model
  const instances = await withSequelizeTimeout(store, transaction, () => model.findAll(options))
  const { columns, keyReading = 'none', order } = parts
  const orderKeysOf = (instance: Model): Row =>
    keyReading === 'none' ? [] : order.map((_, index) => instance.getDataValue(keyAlias(index) as never))
  return instances.map((instance) => [...instanceRow(store.dialect, instance, columns), ...orderKeysOf(instance)])
}

/** Converts an instance to the row that a statement would return. */
export function instanceRow(dialect: Dialect, instance: Model, columns: readonly Column[]): Row {
  return columns.map((column) => readAttribute(dialect, instance, column))
}

/**
 * Builds the where tree of a predicate on one table, combined with the model's default scope. `alias` is empty for a
 * DELETE, which has no table alias.
 */
export function buildWhereTree(
  store: StatementContext,
  where: Predicate,
  alias: string = store.model.name,
): WhereFragment {
  return addScope(store.model, buildCondition(store, { where, alias }).condition.where)
}

export async function countInstances(
  store: StatementContext,
  where: Predicate | null,
  deleted: boolean,
): Promise<number> {
  const { writer, condition } = buildCondition(store, { where })
  const include = writer.buildInclude({ model: store.model, alias: store.model.name, canJoin: true })
  const options: FindOptions = {
    ...(condition.where === undefined ? {} : { where: addScope(store.model, condition.where) }),
    ...(include.length === 0 ? {} : { include }),
    ...(deleted ? { paranoid: false } : {}),
    ...readOptionOf(),
    ...limitOptionsOf(store.limit),
    ...statementLoggingOf(store.sequelize),
  }
  // Sequelize shortens aliases in joins, and cannot read the count under its shortened alias. All rows are read and
  // counted instead.
  if (include.length > 0 && hasShortNames(store.model)) {
    const all: FindOptions = { ...options, attributes: [[literal('1'), '_']], raw: true }
    const find = async () => store.model.findAll(await runBeforeFindHooks(store.model, all))
    return (await withSequelizeTimeout(store, undefined, find)).length
  }
  return withSequelizeTimeout(store, undefined, () => store.model.count(options))
}

interface ConditionTarget {
  readonly where: Predicate | null
  /** Alias of the table. Default: the model's name. */
  readonly alias?: string
}

interface BuiltCondition {
  readonly writer: WhereWriter
  readonly condition: FindOptions
}

/** Writes a condition as a where tree by attribute. Values are part of the SQL text. */
function buildCondition(
  store: Pick<StatementContext, 'dialect' | 'model'>,
  { where, alias = store.model.name }: ConditionTarget,
): BuiltCondition {
  const { model } = store
  const writer = createFinderWriter(store)
  if (where === null) return { writer, condition: {} }
  return { writer, condition: { where: wrapInAnd(writer.writeWhere(where, { model, alias, canJoin: true })) } }
}

/** Creates a writer of conditions for Sequelize's finders. */
export function createFinderWriter({ dialect, model }: Pick<StatementContext, 'dialect' | 'model'>): WhereWriter {
  const operands = createInlineOperands(model)
  // Values are written as SQL, because Sequelize could format a number as a date. MySQL would compare text with numbers
  // as floating point.
  return new WhereWriter(dialect, operands, (value, field) =>
    typeof value === 'string' || typeof value === 'number'
      ? literal(dialect.operand(operands.write(value), field))
      : value,
  )
}

/** Returns the SQL that reads a column, or null if the plain column name reads the exact value. */
type ReadExpression = (column: Column) => string | null

/** Selects columns of one table: by name, or by an expression if the driver would round the value. */
function selectAttributes(
  given: readonly Column[],
  read: ReadExpression,
  isWide: boolean,
): NonNullable<FindOptions['attributes']> {
  // A column is selected once, because the mariadb driver rejects rows with two columns of one name.
  const columns = [...new Map(given.map(documentColumnOf).map((column) => [column.field, column])).values()]
  const exact = new Map(
    columns
      .filter(({ field }) => !field.virtual && !field.getter)
      .flatMap((column) => {
        const sql = read(column)
        return sql === null ? [] : [[column.field.name, literal(sql)] as const]
      }),
  )
  const expressions = [...exact].map(([name, sql]): AliasedExpression => [sql, name])
  // A getter may use any attribute, so all columns are selected. The mariadb driver rejects a column that is selected
  // twice.
  if (isWide && columns.some(isGetterOrVirtual)) {
    return { exclude: [...exact.keys()], include: expressions }
  }
  return [...columns.filter(({ field }) => !exact.has(field.name)).map(({ field }) => field.name), ...expressions]
}

/** Returns the column of the whole JSON document for a member of a document. Returns other columns unchanged. */
function documentColumnOf(column: Column): Column {
  const member = jsonMemberOf(column.field)
  return member === null ? column : { ...column, field: member.source }
}

function addExpressions(attributes: Attributes, more: readonly AliasedExpression[]): Attributes {
  if (Array.isArray(attributes)) return [...attributes, ...more]
  return { ...attributes, include: [...(attributes.include ?? []), ...more] }
}

type Attributes = NonNullable<FindOptions['attributes']>

type AliasedExpression = [ReturnType<typeof literal>, string]

/**
 * Returns options that make `findOne`, `findAll` and `reload` load whole instances without loss of digits. A rounded
 * key would make `save` and `destroy` change another record.
 */
export function exactReadOptions(store: StatementContext): Pick<FindOptions, 'attributes' | 'logging'> {
  const logging = statementLoggingOf(store.sequelize)
  const hidden = attributesExcludedByScope(store.model)
  const shown = store.resource.fields.filter(({ virtual, name }) => !virtual && !hidden.has(name))
  const include = exactExpressionsOf(store, shown)
  if (include.length === 0) return logging
  return { attributes: { exclude: [...hidden, ...include.map(([, name]) => name)], include }, ...logging }
}

/** Returns options that load only the keys of instances, without loss of digits. */
export function exactKeyOptions(store: StatementContext): Pick<FindOptions, 'attributes' | 'logging'> {
  const { keys } = store.resource
  const expressions = new Map(exactExpressionsOf(store, keys).map((expression) => [expression[1], expression]))
  return { attributes: keys.map(({ name }) => expressions.get(name) ?? name), ...statementLoggingOf(store.sequelize) }
}

/** Returns the fields whose values the driver would round, each with an exact SQL expression. */
function exactExpressionsOf({ dialect, model }: StatementContext, fields: readonly Field[]): AliasedExpression[] {
  return fields.flatMap((field): AliasedExpression[] => {
    const column = `${quote(model, model.name)}.${quote(model, field.column)}`
    const sql = instanceColumnOf(dialect, model, field, column)
    return sql === null ? [] : [[literal(sql), field.name]]
  })
}

/** Sets the selected attributes of each include. A getter needs all attributes. */
function addAttributes(
  includes: readonly IncludeOptions[],
  columns: readonly Column[],
  path: readonly string[],
  read: ReadExpression,
  isWide: boolean,
): void {
  for (const include of includes) {
    const name = include.association === undefined ? '' : associationNameOf(include.association)
    const here = [...path, name]
    const behind = columns.filter(({ joins }) => isAtPath(joins, here))
    const further = columns.find(
      ({ joins }) => joins.length > here.length && isAtPath(joins.slice(0, here.length), here),
    )
    const passed = further?.joins[here.length - 1]?.relation.association.target
    // The key is selected, because Sequelize builds no instance for an included record without attributes. Records that
    // are nested in that record would be lost too.
    include.attributes =
      behind.length === 0 && passed !== undefined ? keyAttributes(passed) : selectAttributes(behind, read, isWide)
    addAttributes((include.include ?? []) as IncludeOptions[], columns, here, read, isWide)
  }
}

/** Returns the attributes of the model's primary key, or any attribute if the model has no primary key. */
function keyAttributes({ primaryKeyAttributes, rawAttributes }: ModelStatic<Model>): string[] {
  return primaryKeyAttributes.length > 0 ? [...primaryKeyAttributes] : Object.keys(rawAttributes).slice(0, 1)
}

function isAtPath(joins: Column['joins'], path: readonly string[]): boolean {
  return joins.length === path.length && joins.every(({ relation }, index) => relation.name === path[index])
}

function associationNameOf(association: NonNullable<IncludeOptions['association']>): string {
  return typeof association === 'string' ? association : association.as
}

function readAttribute(dialect: Dialect, instance: Model, { joins, field }: Column): unknown {
  let at: Model | null | undefined = instance
  for (const { relation } of joins) {
    if (at === null || at === undefined) return null
    // `previous` returns the loaded relation. Find hooks of the host may have replaced the relation in the instance.
    at = at.previous(relation.name as never) as Model | null | undefined
  }
  if (at === null || at === undefined) return null
  const value = at.get(field.name)
  const member = jsonMemberOf(field)
  return toDriverValue(dialect, field, member === null ? value : readJsonMember(value, member))
}

/**
 * Converts an instance's parsed JSON to text if the driver returns JSON as text, because decoders expect the driver's
 * form.
 */
function toDriverValue(dialect: Dialect, field: Field, value: unknown): unknown {
  const isText = dialect.jsonAsText && field.valueType.type === 'json' && !field.virtual && !field.getter
  return isText && value !== null && value !== undefined ? JSON.stringify(value) : value
}
