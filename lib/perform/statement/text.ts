import type { Model, ModelStatic } from 'sequelize'
import type { Field } from '../../../types/field.js'
import type { Column, OrderKey, Predicate } from '../../../types/plan.js'
import { readColumn } from '../../sequelize/columnTypes.js'
import type { Dialect } from '../../sequelize/dialect/index.js'
import {
  literal,
  quote,
  type Selected,
  selected,
  writeDelete,
  writeInsert,
  writeSelect,
  writeUpdate,
} from '../../sequelize/sql.js'
import { aggregateParts } from '../aggregate.js'
import { type Scope, WhereWriter } from '../where.js'
import { writeEmbed } from './embed.js'
import type { Operands } from './operands.js'
import type { Request, RequestOf } from './request.js'
import { aliasOf, keyAliasOf, keyPlaces, NOTHING, TOTAL } from './row.js'
import { expression, isMixed, termOf, type Window, whereOf, windowOf } from './terms.js'

/** Writes the SQL of a request. `operands` writes its values. */
export function write(dialect: Dialect, model: ModelStatic<Model>, request: Request, operands: Operands): string {
  const writer = new StatementWriter(dialect, model, operands)
  switch (request.kind) {
    case 'select':
      return writer.select(request)
    case 'embed':
      return writeEmbed(dialect, request, operands)
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

  constructor(dialect: Dialect, model: ModelStatic<Model>, operands: Operands) {
    this.#dialect = dialect
    this.#model = model
    this.#operands = operands
  }

  select(request: RequestOf<'select'>): string {
    const total = request.total ? `(${this.count({ ...request, kind: 'count' })})` : null
    const [first] = request.order
    return first !== undefined && this.#isParted(request, first)
      ? this.#inParts(request, first, windowOf(this.#operands, request.window), total)
      : this.#page(request, null, total)
  }

  /** COUNT(*) of the filtered records, with only the joins that the filter needs. */
  count({ where, deleted }: RequestOf<'count'>): string {
    const writer = this.#where()
    const condition = whereOf(writer, where, this.#root)
    const include = writer.include(this.#root)
    const sql = writeSelect(this.#model, {
      attributes: selected('COUNT(*)'),
      ...(deleted ? { paranoid: false } : {}),
      ...condition,
      ...(include.length === 0 ? {} : { include }),
    })
    return writer.shorten(sql, this.#root)
  }

  aggregate({ window, deleted, ...request }: RequestOf<'aggregate'>): string {
    const writer = this.#where()
    const parts = aggregateParts(writer, this.#dialect, request, this.#root)
    const among = deleted ? { paranoid: false } : {}
    const page = request.total ? {} : this.#window(windowOf(this.#operands, window))
    const sql = writeSelect(this.#model, { ...parts, ...among, ...page })
    // A window function would be wrong on MariaDB next to COUNT(DISTINCT ...).
    const whole = request.total ? `SELECT COUNT(*) AS ${TOTAL} FROM (${sql}) AS g` : sql
    return writer.shorten(whole, this.#root)
  }

  insert({ fields, rows, returning }: RequestOf<'insert'>): string {
    const columns = fields.map(({ column }) => column)
    const sql = writeInsert(
      this.#model,
      columns,
      rows.map((row) => row.map(this.#operands.sql)),
    )
    return `${sql.replace(/^INSERT INTO/, this.#dialect.insert)} ${returningOf(this.#dialect, this.#model, returning)}`
  }

  /** `from` is inserted before the condition. */
  update({ fields, values, increments, where, deleted, returning }: RequestOf<'update'>, from = ''): string {
    const assigned = fields.map(({ column }, index) => [column, this.#operands.sql(values[index])] as const)
    const risen = increments.map(({ column, nullable }) => {
      const current = quote(this.#model, column)
      return [column, nullable ? `COALESCE(${current}, 0) + 1` : `${current} + 1`] as const
    })
    const condition = this.#where().where(where, this.#table)
    const sql = writeUpdate(this.#model, new Map([...assigned, ...risen]), condition, { deleted, from })
    return returning.length === 0 ? sql : `${sql} ${returningOf(this.#dialect, this.#model, returning)}`
  }

  delete({ where }: RequestOf<'delete'>): string {
    return writeDelete(this.#model, this.#where().where(where, this.#table))
  }

  #window({ limit, offset }: Window): { limit: never; offset?: never } {
    const rows = literal(this.#dialect.limit(limit)) as never
    return offset === null ? { limit: rows } : { limit: rows, offset: literal(offset) as never }
  }

  /**
   * Whether a page is read in two parts: the first sort column is in the model's own table, so that it may have an
   * index.
   */
  #isParted({ where, lock }: RequestOf<'select'>, { column }: OrderKey): boolean {
    const { field, hops, counted } = column
    const isPlain = hops.length === 0 && counted === undefined && field.stored === undefined
    return this.#dialect.partsNulls && isPlain && field.valueType.type !== 'enum' && !lock && isMixed(column, where)
  }

  /**
   * Reads rows with a value in the first sort column and rows without one, combined by UNION ALL. Each part ends where
   * the page ends, so that the database reads no more and does not sort them together.
   */
  #inParts(
    request: RequestOf<'select'>,
    { column, direction }: OrderKey,
    { limit, offset }: Window,
    total: string | null,
  ): string {
    const { where } = request
    const ended = offset === null ? limit : `${limit}::bigint + ${offset}::bigint`
    const part = (negated: boolean): string => {
      const own: Predicate = { kind: 'null', column, negated }
      const both: Predicate = where === null ? own : { kind: 'and', nodes: [where, own] }
      return `(${this.#page({ ...request, where: both }, { limit: ended, offset: null }, null)})`
    }
    const parts = direction === 'asc' ? [part(false), part(true)] : [part(true), part(false)]
    const sql = `${parts.join(' UNION ALL ')} LIMIT ${limit}${offset === null ? '' : ` OFFSET ${offset}`}`
    return total === null ? sql : `SELECT _p.*, ${total} AS ${TOTAL} FROM (${sql}) AS _p`
  }

  /** Writes a page. `total` is a subselect with the number of all records. A part of a page has its own window. */
  #page(
    { where, columns, order, window, keys, unscoped, deleted, lock }: RequestOf<'select'>,
    part: Window | null,
    total: string | null,
  ): string {
    const writer = this.#where()
    const condition = whereOf(writer, where, this.#root)
    const terms = order.map((key) => ({ key, sql: writer.column(key.column, this.#root) }))
    const attributes = columns.map((column, index) => expression(writer.read(column, this.#root), aliasOf(index)))
    if (total !== null) attributes.push(expression(total, TOTAL))
    if (keys !== 'none')
      attributes.push(
        ...this.#keys(
          { keys, columns, order },
          terms.map(({ sql }) => sql),
        ),
      )
    // A SELECT needs a column even if no value is read.
    if (attributes.length === 0) attributes.push(expression('1', NOTHING))
    const include = writer.include(this.#root)
    const sql = writeSelect(this.#model, {
      attributes,
      ...condition,
      ...(include.length === 0 ? {} : { include }),
      ...(terms.length === 0
        ? {}
        : { order: literal(terms.map(({ sql: term, key }) => termOf(this.#dialect, term, key, where)).join(', ')) }),
      ...this.#window(part ?? windowOf(this.#operands, window)),
      subQuery: false,
      ...(unscoped ? { unscoped: true } : {}),
      ...(deleted ? { paranoid: false } : {}),
      ...(lock ? { lock: true } : {}),
    })
    return writer.shorten(sql, this.#root)
  }

  /** Sort keys that the columns do not contain. */
  #keys(select: Pick<RequestOf<'select'>, 'keys' | 'columns' | 'order'>, terms: readonly string[]): Selected {
    const places = keyPlaces(this.#dialect, select)
    return select.order.flatMap(({ column: { field } }, index) =>
      places[index] === -1 ? [expression(readKey(this.#dialect, terms[index] ?? '', field), keyAliasOf(index))] : [],
    )
  }

  /** Sequelize uses the model's name as the main table's alias. */
  get #root(): Scope {
    return { model: this.#model, alias: this.#model.name, joins: true }
  }

  /** UPDATE and DELETE have no table alias. */
  get #table(): Scope {
    return { model: this.#model, alias: '', joins: false }
  }

  #where(): WhereWriter {
    return new WhereWriter(this.#dialect, this.#operands)
  }
}

/** The SQL that reads a sort key without loss. */
export function readKey({ keys: { read, term } }: Dialect, column: string, field: Field): string {
  return read(term(column, field.valueType.type === 'enum'), field)
}

/** The RETURNING clause with the given columns. */
export function returningOf(
  dialect: Dialect,
  model: ModelStatic<Model>,
  columns: readonly Pick<Column, 'field'>[],
): string {
  const list = columns.map(
    ({ field }, index) =>
      `${readColumn(dialect, model, field, quote(model, field.column))} AS ${quote(model, aliasOf(index))}`,
  )
  return `RETURNING ${list.join(', ')}`
}
