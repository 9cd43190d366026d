import type { Model, ModelStatic } from 'sequelize'
import type { Field } from '../../../types/field.js'
import type { Column } from '../../../types/plan.js'
import type { Dialect } from '../../sequelize/dialect/index.js'
import type { WhereFragment } from '../../sequelize/internals.js'
import { literal, quote, selected, writeDelete, writeInsert, writeSelect, writeUpdate } from '../../sequelize/sql.js'
import { every } from '../../sequelize/tree.js'
import { hasValue } from '../presence.js'
import { type Operands, type Scope, WhereWriter } from '../where.js'
import type { Outline, OutlinePredicate, Slots } from './outline.js'
import { aliasOf } from './row.js'
import { placeholder } from './statement.js'

type Of<K extends Outline['kind']> = Extract<Outline, { kind: K }>

/** The text of a statement, with placeholders for its values. */
export function write(dialect: Dialect, model: ModelStatic<Model>, outline: Outline): string {
  const writer = new StatementWriter(dialect, model)
  switch (outline.kind) {
    case 'select':
      return writer.select(outline)
    case 'count':
      return writer.count(outline)
    case 'insert':
      return writer.insert(outline)
    case 'update':
      return writer.update(outline)
    case 'delete':
      return writer.delete(outline)
  }
}

/** What a page reads beside its columns. */
interface Beside {
  /** A subselect, for every row. */
  readonly total?: string
  /** The order keys, for an outer statement to order by. */
  readonly keys?: boolean
}

class StatementWriter {
  readonly #dialect: Dialect
  readonly #model: ModelStatic<Model>

  constructor(dialect: Dialect, model: ModelStatic<Model>) {
    this.#dialect = dialect
    this.#model = model
  }

  select(outline: Of<'select'>): string {
    if (!outline.total) return this.#page(outline, {})
    const total = `(${this.count({ ...outline, kind: 'count' })})`
    return outline.where === null ? this.#page(outline, { total }) : this.#filteredPage(outline, total)
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

  insert({ fields, values, returning }: Of<'insert'>): string {
    const sql = writeInsert(this.#model, new Map(this.#assigned(fields, values)))
    return `${sql.replace(/^INSERT INTO/, this.#dialect.insert)} ${returningOf(this.#dialect, this.#model, returning)}`
  }

  update({ fields, values, increments, where, deleted, returning }: Of<'update'>): string {
    const risen = increments.map(({ column, nullable }) => {
      const current = quote(this.#model, column)
      return [column, nullable ? `COALESCE(${current}, 0) + 1` : `${current} + 1`] as const
    })
    const columns = new Map([...this.#assigned(fields, values), ...risen])
    const sql = writeUpdate(this.#model, columns, this.#where().where(where, this.#table), deleted)
    return returning.length === 0 ? sql : `${sql} ${returningOf(this.#dialect, this.#model, returning)}`
  }

  delete({ where }: Of<'delete'>): string {
    return writeDelete(this.#model, this.#where().where(where, this.#table))
  }

  #page({ where, columns, order, window, unscoped, deleted, lock }: Of<'select'>, { total, keys }: Beside): string {
    const writer = this.#where()
    const read = (column: Column<Slots>): string => this.#dialect.read(writer.column(column, this.#root), column.field)
    const condition = whereOf(writer, where, this.#root)
    const terms = order.map((key) => ({ key, sql: writer.column(key.column, this.#root) }))
    const attributes = columns.map((column, index) => expression(read(column), aliasOf(index)))
    if (total !== undefined) attributes.push(expression(total, '_total'))
    if (keys) attributes.push(...terms.map(({ sql }, index) => expression(sql, `_s${index}`)))
    const include = writer.include(this.#root)
    const sql = writeSelect(this.#model, {
      attributes,
      ...condition,
      ...(include.length === 0 ? {} : { include }),
      ...(terms.length === 0
        ? {}
        : { order: literal(terms.map(({ sql, key }) => this.#term(sql, key, where)).join(', ')) }),
      limit: literal(limitOf(window)) as never,
      ...(window.count < 2 ? {} : { offset: literal(placeholder(window.first + 1)) as never }),
      subQuery: false,
      ...(unscoped ? { unscoped: true } : {}),
      ...(deleted ? { paranoid: false } : {}),
      ...(lock ? { lock: true } : {}),
    })
    return writer.shorten(sql, this.#root)
  }

  /**
   * A page under a filter. Most such pages are not full, and then they tell the total themselves: the count is in a
   * branch that is only taken when the page is full, so that the filter's work is not done twice.
   */
  #filteredPage(outline: Of<'select'>, total: string): string {
    const rows = this.#page(outline, { keys: true })
    const order = outline.order.map((key, index) => this.#term(`_s${index}`, key, outline.where))
    const isFull = `COUNT(*) OVER () = ${limitOf(outline.window)}`
    return `SELECT p.*, CASE WHEN ${isFull} THEN ${total} END AS _total FROM (${rows}) AS p ORDER BY ${order.join(', ')}`
  }

  /** Where the filter leaves no nulls there is no place to be named for them: with one, an index would not serve. */
  #term(sql: string, { column, direction }: Of<'select'>['order'][number], where: OutlinePredicate | null): string {
    const { field } = column
    const nullable = column.nullable && (where === null || !hasValue(where, column))
    return this.#dialect.order(sql, direction, { nullable, enumeration: field.valueType.type === 'enum' })
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
    const operands: Operands = {
      sql: placeholder,
      member: (slot, field) => literal(this.#dialect.operand(placeholder(slot), field)),
    }
    return new WhereWriter(this.#dialect, operands)
  }
}

function whereOf(writer: WhereWriter, where: OutlinePredicate | null, scope: Scope): { where?: WhereFragment } {
  return where === null ? {} : { where: every([writer.where(where, scope)]) }
}

function limitOf({ first, count }: Slots): string {
  return count === 0 ? '1' : placeholder(first)
}

function expression(sql: string, alias: string): [never, string] {
  return [literal(sql) as never, alias]
}

/** The columns of rows that a statement has written. */
export function returningOf(
  dialect: Dialect,
  model: ModelStatic<Model>,
  columns: readonly Pick<Column, 'field'>[],
): string {
  const list = columns.map(
    ({ field }, index) => `${dialect.read(quote(model, field.column), field)} AS ${quote(model, aliasOf(index))}`,
  )
  return `RETURNING ${list.join(', ')}`
}
