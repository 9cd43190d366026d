import type { Association } from 'sequelize'
import type { FieldType } from '../../../types/field.js'
import type { Hop, Predicate } from '../../../types/plan.js'
import type { Dialect } from '../../sequelize/dialect/index.js'
import type { WhereFragment } from '../../sequelize/internals.js'
import { areAlike, isIndexed, keysOf } from '../../sequelize/model.js'
import { literal, type Selected, writeGuarded, writeSelect } from '../../sequelize/sql.js'
import { every } from '../../sequelize/tree.js'
import { columnIn, fixed, tableAs } from '../elements.js'
import { pathOf } from '../presence.js'
import { type Scope, WhereWriter } from '../where.js'
import type { Operands } from './operands.js'
import type { RequestOf } from './request.js'
import { aliasOf, OWNER, PLACE } from './row.js'
import { expression, termOf } from './terms.js'

type Embed = RequestOf<'embed'>

const KEY = '_k'

/**
 * Writes the SELECT of a collection's records for several owners. The records are numbered per owner and limited in the
 * database.
 */
export function writeEmbed(dialect: Dialect, request: Embed, operands: Operands): string {
  return new EmbedWriter(dialect, request, operands).text()
}

/** Key types that are equal only if every character is equal. */
const EXACT: ReadonlySet<FieldType> = new Set(['integer', 'bigint', 'uuid'])

/** The tables that connect records to their owners. */
interface Ties {
  readonly from: string
  readonly where: string
  /** The SQL of the owner's key. */
  readonly owner: string
  /** The two columns that are joined: `tied` on the owner's side, `own` on the record's side. */
  readonly tied: string
  readonly own: string
}

class EmbedWriter {
  readonly #dialect: Dialect
  readonly #request: Embed
  /** Placeholders of the owners' keys and of the number of records per owner. */
  readonly #owners: string
  readonly #last: string
  readonly #hop: Hop
  readonly #association: Association
  readonly #writer: WhereWriter
  readonly #root: Scope

  constructor(dialect: Dialect, request: Embed, operands: Operands) {
    this.#dialect = dialect
    this.#request = request
    this.#hop = request.hop
    this.#association = request.hop.relation.association
    const [owners, last] = request.window
    this.#owners = operands.sql(owners)
    this.#last = operands.sql(last)
    this.#writer = new WhereWriter(dialect, operands)
    const { target } = this.#association
    this.#root = { model: target, alias: target.name, joins: true }
  }

  text(): string {
    const ties = this.#ties()
    const numbered = ties === null ? this.#numbered() : this.#tied(ties)
    return `SELECT * FROM (${numbered}) AS r WHERE r.${PLACE} <= ${this.#last} ORDER BY r.${PLACE}`
  }

  /** null if the record's foreign key can be used as the owner's key. */
  #ties(): Ties | null {
    const { source, target } = this.#association
    const { foreignKey, otherKey, sourceKey, targetKey, through } = keysOf(this.#association)
    const { link } = this.#request
    const isExact = EXACT.has(this.#owner.valueType.type)
    if (through === null && isExact) return null
    const owners: Scope = { model: source, alias: '_w', joins: false }
    const key = columnIn(owners, sourceKey)
    if (through === null || link !== undefined) {
      // If the join row is read, the record occurs once per owner.
      const at = through === null || link === undefined ? this.#root : joined(through.model, link)
      const own = columnIn(at, foreignKey)
      return { from: tableAs(owners), where: this.#isAmong(key), owner: key, tied: key, own }
    }
    const links: Scope = { model: through.model, alias: '_l', joins: false }
    const own = columnIn(links, foreignKey)
    const owner = isExact ? own : key
    const guard = this.#hop.linkGuard === null ? [] : [this.#writer.where(this.#hop.linkGuard, links)]
    const conditions = every([literal(this.#isAmong(owner)), ...guard, ...fixed(links, through.scope)])
    return {
      from: isExact ? tableAs(links) : `${tableAs(links)} INNER JOIN ${tableAs(owners)} ON ${key} = ${own}`,
      where: writeGuarded(links.model, conditions, links.alias),
      owner,
      tied: columnIn(links, otherKey),
      own: columnIn({ ...this.#root, model: target }, targetKey),
    }
  }

  #numbered(): string {
    const owner = columnIn(this.#root, keysOf(this.#association).foreignKey)
    const terms = this.#request.order.map((key) => this.#term(this.#writer.column(key.column, this.#root), key))
    const numbered = [place(owner, terms), PLACE] as const
    return this.#written(
      this.#records(this.#first(owner, terms, numbered) ?? this.#isAmong(owner), [
        [this.#dialect.read(owner, this.#owner), OWNER],
        numbered,
      ]),
    )
  }

  /**
   * Condition that a record is among the first of its owner, found by keys alone: an owner may have thousands of
   * records. Returns null if that is slower, or if keys are not compared exactly.
   */
  #first(owner: string, terms: readonly string[], numbered: readonly [sql: string, alias: string]): string | null {
    const key = this.#request.order.at(-1)?.column.field
    const { source, target } = this.#association
    if (key === undefined || !EXACT.has(key.valueType.type)) return null
    if (target.primaryKeyAttributes.length !== 1 || target.primaryKeyAttribute !== key.name) return null
    const { each, numbersKeys } = this.#dialect.firsts
    const column = columnIn(this.#root, key.name)
    const { foreignKey, sourceKey } = keysOf(this.#association)
    const isLed = isIndexed(target, foreignKey) && areAlike([source, sourceKey], [target, foreignKey])
    if (each !== null && isLed) {
      const of = (one: string): string =>
        `${this.#select(`${owner} = ${one}`, [expression(column, KEY)])} ORDER BY ${terms.join(', ')} LIMIT ${this.#last}`
      return `${column} IN (${each({ placeholder: this.#owners, field: this.#owner, key: KEY }, of)})`
    }
    if (!numbersKeys) return null
    const keys = this.#select(this.#isAmong(owner), [expression(column, KEY), expression(...numbered)])
    return `${column} IN (SELECT _first.${KEY} FROM (${keys}) AS _first WHERE _first.${PLACE} <= ${this.#last})`
  }

  /**
   * Reads each record once, then numbers it for each of its owners. The condition on the owners is written twice,
   * because not every database pushes it into a subquery in FROM.
   */
  #tied({ from, where, owner, tied, own }: Ties): string {
    const { order } = this.#request
    const keys = order.map(({ column }, index) => [this.#writer.column(column, this.#root), `_s${index}`] as const)
    const records = this.#written(
      this.#records(`${own} IN (SELECT ${tied} FROM ${from} WHERE ${where})`, [...keys, [own, '_t']]),
    )
    const terms = order.map((key, index) => this.#term(`e._s${index}`, key))
    const read = this.#dialect.read(owner, this.#owner)
    return [
      `SELECT e.*, ${read} AS ${OWNER}, ${place(owner, terms)} AS ${PLACE}`,
      `FROM (${records}) AS e CROSS JOIN ${from} WHERE ${tied} = e._t AND ${where}`,
    ].join(' ')
  }

  /** The SELECT of the wanted records of some owners that the caller may see. */
  #records(owned: string, beside: readonly (readonly [sql: string, alias: string])[]): string {
    const read = this.#request.columns.map((column, index) =>
      expression(this.#writer.read(column, this.#root), aliasOf(index)),
    )
    return this.#select(owned, [...read, ...beside.map(([text, alias]) => expression(text, alias))])
  }

  #select(owned: string, attributes: Selected): string {
    const conditions: WhereFragment[] = [literal(owned), ...fixed(this.#root, keysOf(this.#association).scope)]
    for (const each of [this.#hop.guard, this.#request.where]) {
      if (each !== null) conditions.push(this.#writer.where(each, this.#root))
    }
    const { link } = this.#request
    if (link !== undefined) conditions.push(this.#writer.where(isLinked(link), this.#root))
    const include = this.#writer.include(this.#root)
    return writeSelect(this.#root.model, {
      attributes,
      where: every(conditions),
      ...(include.length === 0 ? {} : { include }),
      subQuery: false,
    })
  }

  #written(sql: string): string {
    return this.#writer.shorten(sql, this.#root)
  }

  get #owner(): NonNullable<Hop['relation']['owner']> {
    const { owner } = this.#hop.relation
    if (owner === null) throw new TypeError(`${this.#association.as} has no owners`)
    return owner
  }

  #isAmong(expression: string): string {
    return this.#dialect.among.write(expression, this.#owners)
  }

  #term(sql: string, key: Embed['order'][number]): string {
    return termOf(this.#dialect, sql, key, this.#request.where)
  }
}

/** The join model's rows, in a statement that joins them. */
function joined(model: Scope['model'], link: Hop): Scope {
  return { model, alias: pathOf([link]), joins: false }
}

function isLinked(link: Hop): Predicate {
  return { kind: 'absent', hops: [link], negated: true }
}

function place(owner: string, terms: readonly string[]): string {
  return `ROW_NUMBER() OVER (PARTITION BY ${owner} ORDER BY ${terms.join(', ')})`
}
