import type { FindOptions, IncludeOptions, Model, ModelStatic } from 'sequelize'
import type { Field } from '../../../types/field.js'
import type { Row } from '../../../types/outcome.js'
import type { Column, Predicate } from '../../../types/plan.js'
import type { Resource } from '../../../types/resource.js'
import { isComputed } from '../../common/columns.js'
import { memberIn, valueIn } from '../../common/members.js'
import { instanceColumn } from '../../sequelize/columnTypes.js'
import { limitedTo } from '../../sequelize/connections.js'
import type { Dialect } from '../../sequelize/dialect/index.js'
import { shortensNames, type WhereFragment } from '../../sequelize/internals.js'
import { statementLogging } from '../../sequelize/logging.js'
import { dependenciesOf, hasScope, hiddenByScope, withoutAfterFind } from '../../sequelize/model.js'
import { readsFrom } from '../../sequelize/primary.js'
import { literal, quote, scoped } from '../../sequelize/sql.js'
import { asEvery } from '../../sequelize/tree.js'
import type { Window, Within } from '../executor.js'
import { inlineOperands } from '../statement/operands.js'
import { keyAliasOf } from '../statement/row.js'
import { readKey } from '../statement/text.js'
import type { Store } from '../store.js'
import { timedBySequelize } from '../timed.js'
import { WhereWriter } from '../where.js'

export interface FindParts extends Window, Within {
  readonly offset: number
  /** Whether the model's find hooks run. Sequelize does not run them for includes. Default true. */
  readonly hooks?: boolean
}

/** The table that is read. */
export interface Source extends Pick<Store, 'dialect' | 'model' | 'sequelize' | 'limit'> {
  readonly resource: Pick<Resource, 'key'>
}

/** Builds all options for `model.findAll`, with values inlined. */
function findOptions(store: Source, parts: FindShape, isWide = true): FindOptions {
  const { columns, order: keys } = parts
  const { writer, condition } = written(store, parts)
  const root = { model: store.model, alias: store.model.name, joins: true }
  const order = keys.map(({ column, direction }) =>
    store.dialect.order(writer.column(column, root), direction, {
      nullable: column.nullable,
      enumeration: column.field.valueType.type === 'enum',
    }),
  )
  for (const column of columns) writer.read(column, root)
  const include = writer.include(root)
  const read: Read = (column) =>
    column.counted === undefined ? writer.instance(column, root) : writer.read(column, root)
  addAttributes(include, columns, [], read, isWide)
  const own = columns.filter(({ hops }) => hops.length === 0)
  const ordered = keys.map(({ column }) => readKey(store.dialect, writer.column(column, root), column.field))
  const keyed =
    parts.keys === undefined || parts.keys === 'none'
      ? []
      : ordered.map((sql, index): Expression => [literal(sql), keyAliasOf(index)])
  // Sequelize writes no SELECT without columns, which happens if the projection has no own fields.
  const key: Column = { hops: [], field: store.resource.key, nullable: false }
  return {
    ...condition,
    attributes: withExpressions(attributesOf(own.length === 0 ? [key] : own, read, isWide), keyed),
    ...(include.length === 0 ? {} : { include }),
    ...(order.length === 0 ? {} : { order: literal(order.join(', ')) }),
    limit: parts.limit,
    offset: parts.offset,
    subQuery: false,
  }
}

type FindShape = Window & Pick<FindParts, 'offset'>

/**
 * Options for the host's own `findAll`. They load nothing that the caller may not read. Getters and virtual attributes
 * see only attributes that responses show.
 */
export function hostOptions(store: Store, parts: FindShape, hidden: ReadonlySet<string>): FindOptions {
  const isShown = ({ name, virtual, targets }: Field): boolean =>
    !virtual && !hidden.has(name) && (targets.has('response') || targets.has('list'))
  const shown = new Set(store.resource.fields.filter(isShown).map(({ name }) => name))
  // Sequelize loads the declared dependencies of a virtual attribute. For other models it is unknown here which
  // attributes are shown.
  const columns = parts.columns.filter(({ hops, field }) => {
    const needed = field.virtual
      ? dependenciesOf(hops.at(-1)?.relation.association.target ?? store.model, field.name)
      : []
    return needed.length === 0 || (hops.length === 0 && needed.every((name) => shown.has(name)))
  })
  const isOwnComputed = columns.some((column) => column.hops.length === 0 && isComputed(column))
  const more = isOwnComputed ? store.resource.fields.filter(isShown) : []
  const added = more.map((field): Column => ({ hops: [], field, nullable: field.nullable }))
  const options = findOptions(store, { ...parts, columns: [...columns, ...added] }, false)
  // Otherwise Sequelize would replace one `Op.and` condition by the other.
  return hasScope(store.model) ? { ...options, where: scoped(store.model, options.where) } : options
}

export async function findInstances(store: Source, parts: FindParts): Promise<Row[]> {
  const { transaction, deleted = false, unscoped = false, main = false, hooks = true, lock = false } = parts
  const { where, ...rest } = findOptions(store, parts)
  const options = {
    ...rest,
    ...(where === undefined ? {} : { where: unscoped ? where : scoped(store.model, where) }),
    ...(transaction === undefined ? {} : { transaction }),
    ...(transaction && lock && store.dialect.readsSnapshots ? { lock: transaction.LOCK.UPDATE } : {}),
    ...(deleted ? { paranoid: false } : {}),
    ...readsFrom(main),
    ...(hooks ? {} : { hooks: false }),
    ...limitedTo(store.limit),
    ...statementLogging(store.sequelize),
  }
  const model = unscoped ? store.model.unscoped() : store.model
  const instances = await timedBySequelize(store, transaction, () => model.findAll(options))
  const { columns, keys = 'none', order } = parts
  const keysIn = (instance: Model): Row =>
    keys === 'none' ? [] : order.map((_, index) => instance.getDataValue(keyAliasOf(index) as never))
  return instances.map((instance) => [...rowOf(store.dialect, instance, columns), ...keysIn(instance)])
}

/** Converts an instance to a row of a statement. */
export function rowOf(dialect: Dialect, instance: Model, columns: readonly Column[]): Row {
  return columns.map((column) => attributeOf(dialect, instance, column))
}

/**
 * The where tree of a predicate on one table, combined with the model's default scope. A DELETE has no table alias, so
 * `alias` is then empty.
 */
export function whereTree(store: Store, where: Predicate, alias: string = store.model.name): WhereFragment {
  return scoped(store.model, written(store, { where, alias }).condition.where)
}

export async function countInstances(store: Store, where: Predicate | null, deleted: boolean): Promise<number> {
  const { writer, condition } = written(store, { where })
  const include = writer.include({ model: store.model, alias: store.model.name, joins: true })
  const options: FindOptions = {
    ...(condition.where === undefined ? {} : { where: scoped(store.model, condition.where) }),
    ...(include.length === 0 ? {} : { include }),
    ...(deleted ? { paranoid: false } : {}),
    ...readsFrom(),
    ...limitedTo(store.limit),
    ...statementLogging(store.sequelize),
  }
  // Sequelize shortens aliases in joins and then does not find the count under its own alias.
  if (include.length > 0 && shortensNames(store.model)) {
    const all: FindOptions = { ...options, attributes: [[literal('1'), '_']], raw: true }
    const find = async () => store.model.findAll(await withoutAfterFind(store.model, all))
    return (await timedBySequelize(store, undefined, find)).length
  }
  return timedBySequelize(store, undefined, () => store.model.count(options))
}

/** A condition and the table that it applies to. */
interface Written {
  readonly where: Predicate | null
  /** Alias of the table. Default: the model's name. */
  readonly alias?: string
}

interface Writing {
  readonly writer: WhereWriter
  readonly condition: FindOptions
}

/** Writes a condition as a where tree by attribute, with values inlined. */
function written(store: Pick<Store, 'dialect' | 'model'>, { where, alias = store.model.name }: Written): Writing {
  const { model } = store
  const writer = finderWriter(store)
  if (where === null) return { writer, condition: {} }
  return { writer, condition: { where: asEvery(writer.where(where, { model, alias, joins: true })) } }
}

/** A writer of conditions for Sequelize's finders. */
export function finderWriter({ dialect, model }: Pick<Store, 'dialect' | 'model'>): WhereWriter {
  const operands = inlineOperands(model)
  // Written as SQL: Sequelize could take a number for a date, and MySQL compares text with numbers as floating point.
  return new WhereWriter(dialect, operands, (value, field) =>
    typeof value === 'string' || typeof value === 'number'
      ? literal(dialect.operand(operands.sql(value), field))
      : value,
  )
}

/** The SQL that reads a column, or null if its plain name is exact. */
type Read = (column: Column) => string | null

/** Attributes that read columns of one table: by name, or by an expression if the name would lose digits. */
function attributesOf(given: readonly Column[], read: Read, isWide: boolean): NonNullable<FindOptions['attributes']> {
  // Each column once: the mariadb driver rejects rows with two columns of one name.
  const columns = [...new Map(given.map(wholeOf).map((column) => [column.field, column])).values()]
  const exact = new Map(
    columns
      .filter(({ field }) => !field.virtual && !field.getter)
      .flatMap((column) => {
        const sql = read(column)
        return sql === null ? [] : [[column.field.name, literal(sql)] as const]
      }),
  )
  const expressions = [...exact].map(([name, sql]): Expression => [sql, name])
  // A getter may use any attribute. The mariadb driver rejects a name that is read twice.
  if (isWide && columns.some(isComputed)) {
    return { exclude: [...exact.keys()], include: expressions }
  }
  return [...columns.filter(({ field }) => !exact.has(field.name)).map(({ field }) => field.name), ...expressions]
}

/** The whole document column for a member of a document. */
function wholeOf(column: Column): Column {
  const member = memberIn(column.field)
  return member === null ? column : { ...column, field: member.of }
}

function withExpressions(attributes: Attributes, more: readonly Expression[]): Attributes {
  if (Array.isArray(attributes)) return [...attributes, ...more]
  return { ...attributes, include: [...(attributes.include ?? []), ...more] }
}

type Attributes = NonNullable<FindOptions['attributes']>

type Expression = [ReturnType<typeof literal>, string]

/**
 * Options that make `findOne`, `findAll` and `reload` return whole instances without loss of digits. A rounded key
 * would identify another record, which `save` and `destroy` would then change.
 */
export function exactly(store: Store): Pick<FindOptions, 'attributes' | 'logging'> {
  const logging = statementLogging(store.sequelize)
  const hidden = hiddenByScope(store.model)
  const shown = store.resource.fields.filter(({ virtual, name }) => !virtual && !hidden.has(name))
  const include = expressionsOf(store, shown)
  if (include.length === 0) return logging
  return { attributes: { exclude: [...hidden, ...include.map(([, name]) => name)], include }, ...logging }
}

/** Options for instances that only have their keys, without loss of digits. */
export function exactKeys(store: Store): Pick<FindOptions, 'attributes' | 'logging'> {
  const { keys } = store.resource
  const expressions = new Map(expressionsOf(store, keys).map((expression) => [expression[1], expression]))
  return { attributes: keys.map(({ name }) => expressions.get(name) ?? name), ...statementLogging(store.sequelize) }
}

/** Fields whose values the driver would round, each with an exact expression. */
function expressionsOf({ dialect, model }: Store, fields: readonly Field[]): Expression[] {
  return fields.flatMap((field): Expression[] => {
    const column = `${quote(model, model.name)}.${quote(model, field.column)}`
    const sql = instanceColumn(dialect, model, field, column)
    return sql === null ? [] : [[literal(sql), field.name]]
  })
}

/** Sets the attributes of each include. It is all attributes if a getter needs them. */
function addAttributes(
  includes: readonly IncludeOptions[],
  columns: readonly Column[],
  path: readonly string[],
  read: Read,
  isWide: boolean,
): void {
  for (const include of includes) {
    const name = include.association === undefined ? '' : nameOf(include.association)
    const here = [...path, name]
    const behind = columns.filter(({ hops }) => isAt(hops, here))
    const further = columns.find(({ hops }) => hops.length > here.length && isAt(hops.slice(0, here.length), here))
    const passed = further?.hops[here.length - 1]?.relation.association.target
    // Sequelize builds no instance for a record without attributes, and none for the records below it.
    include.attributes =
      behind.length === 0 && passed !== undefined ? keyAttributes(passed) : attributesOf(behind, read, isWide)
    addAttributes((include.include ?? []) as IncludeOptions[], columns, here, read, isWide)
  }
}

/** The model's primary key, or any attribute if it has none. */
function keyAttributes({ primaryKeyAttributes, rawAttributes }: ModelStatic<Model>): string[] {
  return primaryKeyAttributes.length > 0 ? [...primaryKeyAttributes] : Object.keys(rawAttributes).slice(0, 1)
}

function isAt(hops: Column['hops'], path: readonly string[]): boolean {
  return hops.length === path.length && hops.every(({ relation }, index) => relation.name === path[index])
}

function nameOf(association: NonNullable<IncludeOptions['association']>): string {
  return typeof association === 'string' ? association : association.as
}

function attributeOf(dialect: Dialect, instance: Model, { hops, field }: Column): unknown {
  let at: Model | null | undefined = instance
  for (const { relation } of hops) {
    if (at === null || at === undefined) return null
    // The loaded value: find hooks of the host may have replaced the relation in the instance.
    at = at.previous(relation.name as never) as Model | null | undefined
  }
  if (at === null || at === undefined) return null
  const value = at.get(field.name)
  const member = memberIn(field)
  return asDriver(dialect, field, member === null ? value : valueIn(value, member))
}

/** Instances have parsed JSON. Decoders expect the driver's form, which is text for some drivers. */
function asDriver(dialect: Dialect, field: Field, value: unknown): unknown {
  const isText = dialect.jsonAsText && field.valueType.type === 'json' && !field.virtual && !field.getter
  return isText && value !== null && value !== undefined ? JSON.stringify(value) : value
}
