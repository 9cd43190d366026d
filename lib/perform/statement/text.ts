import type { Model, ModelStatic } from 'sequelize'
import type { Field } from '../../../types/field.js'
import type { Column, OrderKey } from '../../../types/plan.js'
import { readColumn } from '../../sequelize/columnTypes.js'
import type { Dialect } from '../../sequelize/dialect/index.js'
import { literal, quote, selected, writeDelete, writeInsert, writeSelect, writeUpdate } from '../../sequelize/sql.js'
import { aggregateParts } from '../aggregate.js'
import type { Scope, WhereWriter } from '../where.js'
import { writeEmbed } from './embed.js'
import type { Outline, OutlinePredicate, Slots } from './outline.js'
import { placeholder } from './pieces.js'
import { aliasOf, keyAliasOf, keyPlaces, NOTHING, TOTAL } from './row.js'
import { expression, isMixed, limitOf, termOf, whereOf, writerOf } from './terms.js'

type Of<K extends Outline['kind']> = Extract<Outline, { kind: K }>

/** The text of a statement, with placeholders for its values. */
export function write(dialect: Dialect, model: ModelStatic<Model>, outline: Outline): string {
  const writer = new StatementWriter(dialect, model)
  switch (outline.kind) {
    case 'select':
      return writer.select(outline)
    case 'embed':
      return writeEmbed(dialect, outline)
    case 'count':
      return writer.count(outline)
    case 'aggregate':
      return writer.aggregate(outline)
    case 'insert':
      return writer.insert(outline)
    case 'update':
      return writer.update(outline)
    case 'delete':
      return writer.delete(outline)
  }
}

class StatementWriter {
  readonly #dialect: Dialect
  readonly #model: ModelStatic<Model>

  constructor(dialect: Dialect, model: ModelStatic<Model>) {
    this.#dialect = dialect
    this.#model = model
  }

  select(outline: Of<'select'>): string {
    const total = outline.total ? `(${this.count({ ...outline, kind: 'count' })})` : null
    const [first] = outline.order
    return first !== undefined && this.#isParted(outline, first)
      ? this.#inParts(outline, first, total)
      : this.#page(outline, total)
  }

  /** COUNT(*) of the records that meet the filter, with the joins that the filter needs and no others. */
  count({ where, deleted }: Of<'count'>): string {
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

  aggregate({ window, deleted, ...outline }: Of<'aggregate'>): string {
    const writer = this.#where()
    const parts = aggregateParts(writer, this.#dialect, outline, this.#root)
    const page = {
      limit: literal(this.#dialect.limit(limitOf(window))) as never,
      ...(window.count < 2 ? {} : { offset: literal(placeholder(window.first + 1)) as never }),
    }
    const among = deleted ? { paranoid: false } : {}
    const sql = writeSelect(this.#model, { ...parts, ...among, ...(outline.total ? {} : page) })
    // No window function: beside COUNT(DISTINCT ...) MariaDB counts wrong by it.
    const whole = outline.total ? `SELECT COUNT(*) AS ${TOTAL} FROM (${sql}) AS g` : sql
    return writer.shorten(whole, this.#root)
  }

  insert({ fields, values, returning }: Of<'insert'>): string {
    const sql = writeInsert(this.#model, new Map(this.#assigned(fields, values)))
    return `${sql.replace(/^INSERT INTO/, this.#dialect.insert)} ${returningOf(this.#dialect, this.#model, returning)}`
  }

  update({ fields, values, increments, where, deleted, among, returning }: Of<'update'>): string {
    const risen = increments.map(({ column, nullable }) => {
      const current = quote(this.#model, column)
      return [column, nullable ? `COALESCE(${current}, 0) + 1` : `${current} + 1`] as const
    })
    const columns = new Map([...this.#assigned(fields, values), ...risen])
    const own = { deleted, from: among ? placeholder(values.first + values.count) : '' }
    const sql = writeUpdate(this.#model, columns, this.#where().where(where, this.#table), own)
    return returning.length === 0 ? sql : `${sql} ${returningOf(this.#dialect, this.#model, returning)}`
  }

  delete({ where }: Of<'delete'>): string {
    return writeDelete(this.#model, this.#where().where(where, this.#table))
  }

  /** Whether a page is read in two parts: in an order by a column of the table itself, which an index may have. */
  #isParted({ where, lock }: Of<'select'>, { column }: OrderKey<Slots>): boolean {
    const { field, hops, counted } = column
    const isPlain = hops.length === 0 && counted === undefined && field.stored === undefined
    return this.#dialect.partsNulls && isPlain && field.valueType.type !== 'enum' && !lock && isMixed(column, where)
  }

  /**
   * The rows that have a value in the first column of the order and those that have none, one behind the other. Each part is cut
   * where the page ends, so that the database neither reads more of them nor mixes them; of the second it reads what the first leaves.
   */
  #inParts(outline: Of<'select'>, { column, direction }: OrderKey<Slots>, total: string | null): string {
    const { where, window } = outline
    const part = (negated: boolean): string => {
      const own: OutlinePredicate = { kind: 'null', column, negated }
      return `(${this.#page({ ...outline, where: where === null ? own : { kind: 'and', nodes: [where, own] } }, null, ended)})`
    }
    const limit = limitOf(window)
    const offset = window.count < 2 ? null : placeholder(window.first + 1)
    const ended = offset === null ? limit : `${limit}::bigint + ${offset}::bigint`
    const parts = direction === 'asc' ? [part(false), part(true)] : [part(true), part(false)]
    const sql = `${parts.join(' UNION ALL ')} LIMIT ${limit}${offset === null ? '' : ` OFFSET ${offset}`}`
    return total === null ? sql : `SELECT _p.*, ${total} AS ${TOTAL} FROM (${sql}) AS _p`
  }

  /** With the number of all records beside every row, where that is given as a subselect. */
  #page(
    { where, columns, order, window, keys, unscoped, deleted, lock }: Of<'select'>,
    total: string | null,
    ended: string | null = null,
  ): string {
    const writer = this.#where()
    const read = (column: Column<Slots>): string => writer.read(column, this.#root)
    const condition = whereOf(writer, where, this.#root)
    const terms = order.map((key) => ({ key, sql: writer.column(key.column, this.#root) }))
    const attributes = columns.map((column, index) => expression(read(column), aliasOf(index)))
    if (total !== null) attributes.push(expression(total, TOTAL))
    if (keys !== 'none') {
      const places = keyPlaces(this.#dialect, { keys, columns, order })
      for (const [index, { key, sql }] of terms.entries()) {
        if (places[index] !== -1) continue
        attributes.push(expression(readKey(this.#dialect, sql, key.column.field), keyAliasOf(index)))
      }
    }
    // Rows of which nothing is wanted are rows all the same.
    if (attributes.length === 0) attributes.push(expression('1', NOTHING))
    const include = writer.include(this.#root)
    const sql = writeSelect(this.#model, {
      attributes,
      ...condition,
      ...(include.length === 0 ? {} : { include }),
      ...(terms.length === 0
        ? {}
        : { order: literal(terms.map(({ sql, key }) => this.#term(sql, key, where)).join(', ')) }),
      limit: literal(ended ?? this.#dialect.limit(limitOf(window))) as never,
      ...(window.count < 2 || ended !== null ? {} : { offset: literal(placeholder(window.first + 1)) as never }),
      subQuery: false,
      ...(unscoped ? { unscoped: true } : {}),
      ...(deleted ? { paranoid: false } : {}),
      ...(lock ? { lock: true } : {}),
    })
    return writer.shorten(sql, this.#root)
  }

  #term(sql: string, key: Of<'select'>['order'][number], where: OutlinePredicate | null): string {
    return termOf(this.#dialect, sql, key, where)
  }

  #assigned(fields: readonly Field[], { first }: Slots): readonly (readonly [column: string, sql: string])[] {
    return fields.map(({ column }, index) => [column, placeholder(first + index)])
  }

  /** Sequelize's alias for the main table of a SELECT is the model's name. */
  get #root(): Scope {
    return { model: this.#model, alias: this.#model.name, joins: true }
  }

  /** UPDATE and DELETE name their table without an alias. */
  get #table(): Scope {
    return { model: this.#model, alias: '', joins: false }
  }

  #where(): WhereWriter {
    return writerOf(this.#dialect)
  }
}

/** The expression that reads a key of the order without loss. */
export function readKey({ keys: { read, term } }: Dialect, column: string, field: Field): string {
  return read(term(column, field.valueType.type === 'enum'), field)
}

/** The columns of rows that a statement has written. */
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
