import type { Model, ModelStatic } from 'sequelize'
import type { Field } from '../../../types/field.js'
import type { Column, OrderKey, Predicate } from '../../../types/plan.js'
import { readColumn, typesOf } from '../../sequelize/columnTypes.js'
import type { Dialect } from '../../sequelize/dialect/index.js'
import {
  createSelectList,
  literal,
  quote,
  type SelectOptions,
  writeDelete,
  writeInsert,
  writeSelect,
  writeUpdate,
} from '../../sequelize/sql.js'
import { cachedList } from '../../sequelize/sqlCache.js'
import { buildAggregate } from '../aggregate.js'
import type { TableContext } from '../tableContext.js'
import { WhereWriter } from '../where.js'
import { EmbedWriter } from './embed.js'
import type { Operands } from './operands.js'
import type { StatementRequest, StatementRequestOf } from './request.js'
import { columnAlias, EMPTY_ALIAS, keyAlias, keyPositions, TOTAL_ALIAS } from './row.js'
import {
  aliasExpression,
  buildWhere,
  hasMixedNulls,
  type LimitPlaceholders,
  writeColumnList,
  writeLimits,
  writeOrderTerm,
} from './terms.js'

/** Writes the SQL of a request. `operands` writes the values. */
export function writeStatement(
  dialect: Dialect,
  model: ModelStatic<Model>,
  request: StatementRequest,
  operands: Operands,
): string {
  const writer = new StatementWriter(dialect, model, operands)
  switch (request.kind) {
    case 'select':
      return writer.select(request)
    case 'embed':
      return new EmbedWriter(dialect, request, operands).writeText()
    case 'count':
      return writer.count(request)
    case 'aggregate':
      return writer.aggregate(request)
    case 'insert':
      return writer.insert(request)
    case 'update':
      return writer.update(request)
    case 'delete':
      return writer.delete(request)
  }
}

export class StatementWriter {
  readonly #dialect: Dialect
  readonly #model: ModelStatic<Model>
  readonly #operands: Operands
  /** Sequelize uses the model's name as the main table's alias. */
  readonly #root: TableContext

  constructor(dialect: Dialect, model: ModelStatic<Model>, operands: Operands) {
    this.#dialect = dialect
    this.#model = model
    this.#operands = operands
    this.#root = { model, alias: model.name, canJoin: true }
  }

  select(request: StatementRequestOf<'select'>): string {
    const [first] = request.order
    return first !== undefined && this.#hasNullPartitions(request, first)
      ? this.#selectPartitions(request, first)
      : this.#selectPage(request, null)
  }

  /** Writes a COUNT(*) of the filtered records, with only the joins that the filter needs. */
  count({ where, includeDeleted }: StatementRequestOf<'count'>): string {
    const writer = this.#createWhereWriter()
    const condition = buildWhere(writer, where, this.#root)
    const include = writer.buildInclude(this.#root)
    const sql = writeSelect(this.#model, {
      attributes: createSelectList('COUNT(*)'),
      ...(includeDeleted ? { paranoid: false } : {}),
      ...condition,
      include,
    })
    return writer.shortenAliases(sql, this.#root)
  }

  aggregate({ window, includeDeleted, ...request }: StatementRequestOf<'aggregate'>): string {
    const writer = this.#createWhereWriter()
    const parts = buildAggregate(writer, this.#dialect, request, this.#root)
    const among = includeDeleted ? { paranoid: false } : {}
    const page = request.total ? {} : this.#limitOptions(writeLimits(this.#operands, window))
    const sql = writeSelect(this.#model, { ...parts, ...among, ...page })
    // MariaDB returns wrong results for a window function next to COUNT(DISTINCT ...), so the groups are counted in a
    // subquery.
    const whole = request.total ? `SELECT COUNT(*) AS ${TOTAL_ALIAS} FROM (${sql}) AS g` : sql
    return writer.shortenAliases(whole, this.#root)
  }

  insert({ fields, rows, returning }: StatementRequestOf<'insert'>): string {
    const { write } = this.#operands
    const columns = fields.map(({ column }) => column)
    const [first = [], ...others] = rows
    const values = first.map(write)
    const sql = writeInsert(
      this.#model,
      columns,
      values,
      others.map((row) => `(${row.map(write).join(',')})`),
    )
    return `${sql.replace(/^INSERT INTO/, this.#dialect.insertKeyword)} ${buildReturning(this.#dialect, this.#model, returning)}`
  }

  /** Writes an UPDATE. `from` is inserted before the condition. */
  update(
    { fields, values, increments, where, includeDeleted, returning }: StatementRequestOf<'update'>,
    from = '',
  ): string {
    const assigned = fields.map(({ column }, index) => [column, this.#operands.write(values[index])] as const)
    const risen = increments.map(({ column, nullable }) => {
      const current = quote(this.#model, column)
      return [column, nullable ? `COALESCE(${current}, 0) + 1` : `${current} + 1`] as const
    })
    const condition = this.#createWhereWriter().writeWhere(where, this.#table)
    const sql = writeUpdate(this.#model, new Map([...assigned, ...risen]), condition, { deleted: includeDeleted, from })
    return returning.length === 0 ? sql : `${sql} ${buildReturning(this.#dialect, this.#model, returning)}`
  }

  delete({ where }: StatementRequestOf<'delete'>): string {
    return writeDelete(this.#model, this.#createWhereWriter().writeWhere(where, this.#table))
  }

  #limitOptions({ limit, offset }: LimitPlaceholders): { limit: never; offset?: never } {
    const rows = literal(this.#dialect.limit(limit)) as never
    return offset === null ? { limit: rows } : { limit: rows, offset: literal(offset) as never }
  }

  /**
   * Whether a page is read in two parts. The first sort column must be in the model's own table, where it may have an
   * index.
   */
  #hasNullPartitions({ where, lock }: StatementRequestOf<'select'>, { column }: OrderKey): boolean {
    const { field, joins, countedJoin } = column
    const isPlain = joins.length === 0 && countedJoin === undefined && field.stored === undefined
    return (
      this.#dialect.needsNullPartitions &&
      isPlain &&
      field.valueType.type !== 'enum' &&
      !lock &&
      hasMixedNulls(column, where)
    )
  }

  /**
   * Reads rows with a value in the first sort column and rows without one, combined by UNION ALL. Each part has the
   * limit of the page, so that the database reads few rows and does not sort both parts together.
   */
  #selectPartitions(request: StatementRequestOf<'select'>, { column, direction }: OrderKey): string {
    const { where } = request
    const total = request.total ? this.count({ ...request, kind: 'count' }) : null
    const { limit, offset } = writeLimits(this.#operands, request.window)
    const ended = offset === null ? limit : `${limit}::bigint + ${offset}::bigint`
    const part = (negated: boolean): string => {
      const own: Predicate = { kind: 'null', column, negated }
      const both: Predicate = where === null ? own : { kind: 'and', nodes: [where, own] }
      return `(${this.#selectPage({ ...request, where: both, total: false }, { limit: ended, offset: null })})`
    }
    const parts = direction === 'asc' ? [part(false), part(true)] : [part(true), part(false)]
    const sql = `${parts.join(' UNION ALL ')} LIMIT ${limit}${offset === null ? '' : ` OFFSET ${offset}`}`
    return total === null ? sql : `SELECT _p.*, (${total}) AS ${TOTAL_ALIAS} FROM (${sql}) AS _p`
  }

  /** Writes the SELECT of a page. A `part` of a page has separate limits. */
  #selectPage(
    { where, columns, order, window, total, keys, unscoped, includeDeleted, lock }: StatementRequestOf<'select'>,
    part: LimitPlaceholders | null,
  ): string {
    const writer = this.#createWhereWriter()
    const { where: condition } = buildWhere(writer, where, this.#root)
    // The total needs only the joins of the condition, which are the joins known so far.
    const totalInclude = total ? writer.buildInclude(this.#root) : null
    const terms = order.map(({ column }) => writer.writeColumn(column, this.#root))
    const attributes = columns.length === 0 ? [] : [writeColumnList(this.#dialect, writer, columns, this.#root)]
    if (keys !== 'none') attributes.push(...this.#selectKeys({ keys, columns, order }, terms))
    // A SELECT needs a column even if no value is read.
    if (attributes.length === 0) attributes.push(aliasExpression(this.#model, '1', EMPTY_ALIAS))
    const include = writer.buildInclude(this.#root)
    const orderTerms = order.map((key, index) => writeOrderTerm(this.#dialect, terms[index] ?? '', key, where))
    const { limit, offset } = this.#limitOptions(part ?? writeLimits(this.#operands, window))
    const options: { -readonly [option in keyof SelectOptions]: SelectOptions[option] } = {
      attributes: attributes.length === 1 ? (attributes[0] ?? '') : attributes.join(', '),
      include,
      limit,
    }
    if (condition !== undefined) options.where = condition
    if (totalInclude !== null) options.total = TOTAL_ALIAS
    if (totalInclude !== null && totalInclude !== include) options.totalInclude = totalInclude
    if (order.length > 0) options.order = literal(orderTerms.join(', '))
    if (offset !== undefined) options.offset = offset
    if (unscoped) options.unscoped = true
    if (includeDeleted) options.paranoid = false
    if (lock) options.lock = true
    return writer.shortenAliases(writeSelect(this.#model, options), this.#root)
  }

  /** Selects the sort keys that the columns do not contain. */
  #selectKeys(
    select: Pick<StatementRequestOf<'select'>, 'keys' | 'columns' | 'order'>,
    terms: readonly string[],
  ): readonly string[] {
    const positions = keyPositions(this.#dialect, select)
    return select.order.flatMap(({ column: { field } }, index) =>
      positions[index] === -1
        ? [aliasExpression(this.#model, writeExactSortKey(this.#dialect, terms[index] ?? '', field), keyAlias(index))]
        : [],
    )
  }

  /** UPDATE and DELETE have no table alias. */
  get #table(): TableContext {
    return { model: this.#model, alias: '', canJoin: false }
  }

  #createWhereWriter(): WhereWriter {
    return new WhereWriter(this.#dialect, this.#operands)
  }
}

/** Writes the SQL that reads a sort key without loss. */
export function writeExactSortKey({ orderKeys: { read, term } }: Dialect, column: string, field: Field): string {
  return read(term(column, field.valueType.type === 'enum'), field)
}

/** Writes the RETURNING clause with the given columns. */
function buildReturning(dialect: Dialect, model: ModelStatic<Model>, columns: readonly Column[]): string {
  const writeList = (): string =>
    columns
      .map(({ field }, index) => {
        const read = readColumn(dialect, model, field, quote(model, field.column))
        return aliasExpression(model, read, columnAlias(index))
      })
      .join(', ')
  return `RETURNING ${cachedList(columns, { dialect, model, alias: '', types: typesOf(model) }, writeList)}`
}
