import type { FindOptions, IncludeOptions, Model, ModelStatic } from 'sequelize'
import type { Field } from '../../../types/field.js'
import type { Row } from '../../../types/outcome.js'
import type { Column, Predicate } from '../../../types/plan.js'
import type { Resource } from '../../../types/resource.js'
import { isGetterOrVirtual, ownColumn } from '../../common/columns.js'
import { jsonMemberOf, readJsonMember } from '../../common/jsonMembers.js'
import { addCondition } from '../../common/predicates.js'
import { instanceColumnOf } from '../../sequelize/columnTypes.js'
import { limitOptionsOf } from '../../sequelize/connections.js'
import type { Dialect } from '../../sequelize/dialect/index.js'
import { AS_INSTANCES } from '../../sequelize/instances.js'
import { hasShortNames, type WhereFragment } from '../../sequelize/internals.js'
import { statementLoggingOf } from '../../sequelize/logging.js'
import {
  attributesExcludedByScope,
  dependenciesOf,
  hasScope,
  includesCollections,
  runBeforeFindHooks,
  scopeIncludesOf,
  scopeOptionsOf,
} from '../../sequelize/model.js'
import { readOptionOf } from '../../sequelize/primary.js'
import { addScope, literal, quote } from '../../sequelize/sql.js'
import { wrapInAnd } from '../../sequelize/whereTree.js'
import type { ReadOptions, RowWindow } from '../executor.js'
import { buildIdentityPredicate } from '../recordIdentity.js'
import { createInlineOperands } from '../sql/operands.js'
import { keyAlias } from '../sql/row.js'
import { writeExactSortKey } from '../sql/text.js'
import { withSequelizeTimeout } from '../statementTimeout.js'
import type { StatementContext } from '../store.js'
import type { TableContext } from '../tableContext.js'
import { WhereWriter } from '../where.js'

export interface FindParts extends RowWindow, ReadOptions {
  readonly offset: number
  /** Whether the model's find hooks run. Default true. Sequelize runs no find hooks for includes. */
  readonly hooks?: boolean
}

/** Properties of a store that a read needs. */
export interface FindSource extends Pick<StatementContext, 'dialect' | 'model' | 'sequelize' | 'limit'> {
  readonly resource: Pick<Resource, 'key' | 'keys' | 'fields'>
}

/**
 * Builds all options for `model.findAll`, with values inlined. If a column has a getter or is virtual, `isWide` selects
 * all columns of its table.
 */
function buildFinderOptions(store: FindSource, parts: JoinedParts, isWide = true): FindOptions {
  const { columns, order: keys } = parts
  const { writer, condition } = buildCondition(store, parts)
  const root = { model: store.model, alias: store.model.name, canJoin: true }
  const order = writeOrder(store.dialect, writer, root, keys)
  for (const column of columns) writer.writeRead(column, root)
  const include = writer.buildInclude(root)
  const readExpressionOf: ReadExpression = (column) =>
    column.countedJoin === undefined ? writer.writeInstanceRead(column, root) : writer.writeRead(column, root)
  const select: SelectOptions = { dialect: store.dialect, read: readExpressionOf, isWide }
  addAttributes(include, columns, [], select)
  const isJoined = include.length > 0 || scopeOptionsOf(store.model).includes('include')
  const added = isJoined ? addedAttributesOf(store.dialect, store.model) : []
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
    attributes: addExpressions(selectAttributes(own.length === 0 ? [key] : own, added, select), keyed),
    ...(include.length === 0 ? {} : { include }),
    ...(order.length === 0 ? {} : { order: literal(order.join(', ')) }),
    ...(parts.limit === undefined ? {} : { limit: parts.limit, offset: parts.offset ?? 0 }),
    subQuery: false,
  }
}

function writeOrder(
  dialect: Dialect,
  writer: WhereWriter,
  root: TableContext,
  order: RowWindow['order'],
): readonly string[] {
  return order.map(({ column, direction }) =>
    dialect.orderTerm(writer.writeColumn(column, root), direction, {
      nullable: column.nullable,
      enumeration: column.field.valueType.type === 'enum',
    }),
  )
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

/**
 * Replaces the order of the default scope, which a read of one record, of groups or of measures does not need. PostgreSQL
 * would reject an order by a column that the SELECT groups or selects twice.
 */
export const NO_ORDER: Pick<FindOptions, 'order'> = { order: null as never }

export async function findInstances(store: FindSource, parts: FindParts): Promise<Row[]> {
  if (parts.unscoped === true || !includesCollections(store.model)) return findJoinedInstances(store, parts)
  // LIMIT would count the joined rows of the collections, so the page's records are found first.
  const identity = identityOf(store)
  const rows = await findIdentities(store, parts, identity)
  if (rows.length === 0) return []
  const where = addCondition(parts.where, buildIdentityPredicate(identity, rows))
  return findJoinedInstances(store, { ...parts, where, limit: undefined, offset: undefined })
}

/** The fields of the primary key, or of the resource's key if the primary key has no fields. */
function identityOf({ model, resource: { fields, keys } }: FindSource): readonly Field[] {
  const identity = fields.filter(({ name }) => model.primaryKeyAttributes.includes(name))
  return identity.length > 0 && identity.length === model.primaryKeyAttributes.length ? identity : keys
}

/**
 * Finds the identities of records, without duplicates from the default scope's joins. Hooks after the query do not run,
 * because the rows are not instances.
 */
async function findIdentities(
  store: FindSource,
  parts: Omit<FindParts, 'columns' | 'limit' | 'offset'> & Partial<Pick<FindParts, 'limit' | 'offset'>>,
  identity: readonly Field[],
): Promise<readonly Row[]> {
  const { transaction, includeDeleted = false, isFromPrimary = false, hooks = true } = parts
  const { writer, condition } = buildCondition(store, parts)
  const root = { model: store.model, alias: store.model.name, canJoin: true }
  const order = writeOrder(store.dialect, writer, root, parts.order)
  const terms = [...identity.map(ownColumn), ...parts.order.map(({ column }) => column)]
  const group = [...new Set(terms.map((column) => writer.writeColumn(column, root)))]
  const attributes = identity.map((field, index): AliasedExpression => {
    return [literal(writer.writeRead(ownColumn(field), root)), keyAlias(index)]
  })
  const include = writer.buildInclude(root)
  const options = {
    ...NO_ORDER,
    where: addScope(store.model, condition.where),
    attributes,
    ...(include.length === 0 ? {} : { include }),
    group: group.map(literal) as never,
    ...(order.length === 0 ? {} : { order: literal(order.join(', ')) }),
    ...(parts.limit === undefined ? {} : { limit: parts.limit, offset: parts.offset ?? 0 }),
    subQuery: false,
    includeIgnoreAttributes: false,
    raw: true,
    ...(transaction === undefined ? {} : { transaction }),
    ...(includeDeleted ? { paranoid: false } : {}),
    ...readOptionOf(isFromPrimary),
    ...limitOptionsOf(store.limit),
    ...statementLoggingOf(store.sequelize),
  }
  const rows = await withSequelizeTimeout(store, transaction, async () =>
    store.model.findAll(hooks ? await runBeforeFindHooks(store.model, options) : withoutHooks(options)),
  )
  return rows.map((row) => identity.map((_, index) => Reflect.get(row, keyAlias(index)) as unknown))
}

function withoutHooks(options: FindOptions): FindOptions & { readonly hooks: false } {
  return { ...options, hooks: false }
}

type JoinedParts = Omit<FindParts, 'limit' | 'offset'> & {
  readonly limit: number | undefined
  readonly offset: number | undefined
}

/** Finds instances. `limit` and `offset` count joined rows. */
async function findJoinedInstances(store: FindSource, parts: JoinedParts): Promise<Row[]> {
  const {
    transaction,
    includeDeleted = false,
    unscoped = false,
    isFromPrimary = false,
    hooks = true,
    lock = false,
  } = parts
  // Getters and virtual attributes may read related records that the default scope includes.
  const isComputed = ({ joins, field }: Column): boolean => joins.length === 0 && isGetterOrVirtual({ field })
  const included = unscoped && parts.columns.some(isComputed) ? scopeIncludesOf(store.model) : []
  // The condition of a read without the default scope names all its records.
  const counted = included.length === 0 ? parts : { ...parts, limit: undefined, offset: undefined }
  const { where, include: joined = [], ...rest } = buildFinderOptions(store, counted)
  const include = [joined, included].flat(2)
  const options = {
    ...NO_ORDER,
    ...rest,
    ...(include.length === 0 ? {} : { include }),
    ...(where === undefined ? {} : { where: unscoped ? where : addScope(store.model, where) }),
    ...(transaction === undefined ? {} : { transaction }),
    ...(transaction && lock ? { lock: { level: transaction.LOCK.NO_KEY_UPDATE, of: store.model } } : {}),
    ...(includeDeleted ? { paranoid: false } : {}),
    ...readOptionOf(isFromPrimary),
    ...(hooks ? {} : { hooks: false }),
    ...AS_INSTANCES,
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
  const { model } = store
  const [key, ...others] = includesCollections(model) ? identityOf(store) : []
  // Sequelize counts the different values of one column, without short names.
  if (key !== undefined && (others.length > 0 || hasShortNames(model))) {
    return (await findIdentities(store, { where, order: [], includeDeleted: deleted }, [key, ...others])).length
  }
  const { writer, condition } = buildCondition(store, { where })
  const include = writer.buildInclude({ model, alias: model.name, canJoin: true })
  const options: FindOptions = {
    ...(condition.where === undefined ? {} : { where: addScope(model, condition.where) }),
    ...(include.length === 0 ? {} : { include }),
    ...(deleted ? { paranoid: false } : {}),
    ...readOptionOf(),
    ...limitOptionsOf(store.limit),
    ...statementLoggingOf(store.sequelize),
  }
  // Sequelize shortens aliases in joins, and cannot read the count under its shortened alias. All rows are read and
  // counted instead.
  if (include.length > 0 && hasShortNames(model)) {
    const all: FindOptions = { ...options, attributes: [[literal('1'), '_']], raw: true }
    const find = async () => model.findAll(await runBeforeFindHooks(model, all))
    return (await withSequelizeTimeout(store, undefined, find)).length
  }
  if (key === undefined) return withSequelizeTimeout(store, undefined, () => model.count(options))
  // With own joins, Sequelize itself writes the table before the column.
  const col = include.length > 0 ? key.column : `${model.name}.${key.column}`
  return withSequelizeTimeout(store, undefined, () => model.count({ ...options, distinct: true, col }))
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
  added: readonly string[],
  { read, isWide }: SelectOptions,
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
  const renamed = added.filter((name) => exact.has(name))
  const expressions = [...exact].map(([name, sql]): AliasedExpression => {
    return [sql, renamed.includes(name) ? exactAlias(name) : name]
  })
  // A getter may use any attribute, so all columns are selected. The mariadb driver rejects a column that is selected
  // twice.
  if (isWide && columns.some(isGetterOrVirtual)) {
    return { exclude: [...exact.keys()].filter((name) => !renamed.includes(name)), include: expressions }
  }
  const names = columns.map(({ field }) => field.name).filter((name) => !exact.has(name))
  return [...names, ...renamed, ...expressions]
}

interface SelectOptions {
  readonly dialect: Dialect
  readonly read: ReadExpression
  readonly isWide: boolean
}

/**
 * Returns the attributes that Sequelize adds to a query with joins if they are selected only as expressions. If the
 * driver rejects a second column of the name, the attributes are selected by name, and the expressions get other names.
 */
function addedAttributesOf({ rejectsRepeatedNames }: Dialect, model: ModelStatic<Model>): readonly string[] {
  return rejectsRepeatedNames ? model.primaryKeyAttributes : []
}

/** The alias of an exact value whose attribute is also selected by its name. No attribute has such a name. */
function exactAlias(name: string): string {
  return `exact value of ${name}`
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
export function exactReadOptions(store: StatementContext): Pick<FindOptions, 'attributes' | 'logging' | 'raw'> {
  const options = { ...AS_INSTANCES, ...statementLoggingOf(store.sequelize) }
  const hidden = attributesExcludedByScope(store.model)
  const shown = store.resource.fields.filter(({ virtual, name }) => !virtual && !hidden.has(name))
  const include = exactExpressionsOf(store, shown)
  if (include.length === 0) return options
  return { attributes: { exclude: [...hidden, ...include.map(([, name]) => name)], include }, ...options }
}

/** Returns options that load only the keys of instances, without loss of digits. */
export function exactKeyOptions(store: StatementContext): Pick<FindOptions, 'attributes' | 'logging' | 'raw'> {
  const { keys } = store.resource
  const expressions = new Map(exactExpressionsOf(store, keys).map((expression) => [expression[1], expression]))
  const attributes = keys.map(({ name }) => expressions.get(name) ?? name)
  return { attributes, ...AS_INSTANCES, ...statementLoggingOf(store.sequelize) }
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
  select: SelectOptions,
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
    const target = behind[0]?.joins.at(-1)?.relation.association.target
    const added = target === undefined ? [] : addedAttributesOf(select.dialect, target)
    include.attributes =
      behind.length === 0 && passed !== undefined ? keyAttributes(passed) : selectAttributes(behind, added, select)
    addAttributes((include.include ?? []) as IncludeOptions[], columns, here, select)
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
  const exact: unknown = dialect.rejectsRepeatedNames ? at.getDataValue(exactAlias(field.name) as never) : undefined
  const value = exact ?? at.get(field.name)
  const member = jsonMemberOf(field)
  return toDriverValue(dialect, field, member === null ? value : readJsonMember(value, member))
}

/**
 * Converts an instance's parsed JSON document to text if the driver returns documents as text, because decoders expect
 * the driver's form.
 */
function toDriverValue(dialect: Dialect, field: Field, value: unknown): unknown {
  const isText = dialect.jsonAsText && field.valueType.document === true && !field.virtual && !field.getter
  return isText && value !== null && value !== undefined ? JSON.stringify(value) : value
}
