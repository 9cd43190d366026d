import type { Association } from 'sequelize'
import type { FieldType } from '../../../types/field.js'
import type { Join, Predicate } from '../../../types/plan.js'
import { internalError } from '../../common/internalError.js'
import type { Dialect } from '../../sequelize/dialect/index.js'
import type { WhereFragment } from '../../sequelize/internals.js'
import { associationKeysOf, isExactComparison, isIndexed } from '../../sequelize/model.js'
import { literal, writeScopedCondition, writeSelect } from '../../sequelize/sql.js'
import { joinAnd } from '../../sequelize/whereTree.js'
import { scopeConditions, writeColumn, writeTable } from '../childSelect.js'
import { aliasOfPath } from '../presentTables.js'
import type { TableContext } from '../tableContext.js'
import { WhereWriter } from '../where.js'
import type { Operands } from './operands.js'
import type { StatementRequestOf } from './request.js'
import { PARENT_ALIAS, POSITION_ALIAS } from './row.js'
import { aliasExpression, writeColumnList, writeOrderTerm } from './terms.js'

type EmbedRequest = StatementRequestOf<'embed'>

const KEY_ALIAS = '_k'

/** Key types whose values are equal only if every character is equal. */
const EXACT_TYPES: ReadonlySet<FieldType> = new Set(['integer', 'bigint', 'uuid'])

/** Tables that connect child records to their parents. */
interface ParentTables {
  readonly from: string
  readonly where: string
  /** SQL of the parent's key. */
  readonly parentKey: string
  /** The two joined columns: `parentReference` in the parent's tables, `ownColumn` in the child's table. */
  readonly parentReference: string
  readonly ownColumn: string
}

/**
 * Writes a SELECT of a collection's records for several parents. The database numbers the records of each parent and
 * limits their number.
 */
export class EmbedWriter {
  readonly #dialect: Dialect
  readonly #request: EmbedRequest
  /** Placeholders of the parents' keys and of the number of records per parent. */
  readonly #parentKeys: string
  readonly #limit: string
  readonly #join: Join
  readonly #association: Association
  readonly #writer: WhereWriter
  readonly #root: TableContext

  constructor(dialect: Dialect, request: EmbedRequest, operands: Operands) {
    this.#dialect = dialect
    this.#request = request
    this.#join = request.join
    this.#association = request.join.relation.association
    const [parentKeys, last] = request.window
    this.#parentKeys = operands.write(parentKeys)
    this.#limit = operands.write(last)
    this.#writer = new WhereWriter(dialect, operands)
    const { target } = this.#association
    this.#root = { model: target, alias: target.name, canJoin: true }
  }

  writeText(): string {
    const parentTables = this.#parentTables()
    const numbered = parentTables === null ? this.#selectNumbered() : this.#selectJoined(parentTables)
    return `SELECT * FROM (${numbered}) AS r WHERE r.${POSITION_ALIAS} <= ${this.#limit} ORDER BY r.${POSITION_ALIAS}`
  }

  /**
   * Returns the tables that connect children to parents. Returns null if the child's foreign key can be used as the
   * parent's key.
   */
  #parentTables(): ParentTables | null {
    const { source, target } = this.#association
    const { foreignKey, otherKey, sourceKey, targetKey, through } = associationKeysOf(this.#association)
    const { joinRow } = this.#request
    const isExact = EXACT_TYPES.has(this.#sourceKey.valueType.type)
    if (through === null && isExact) return null
    const parents: TableContext = { model: source, alias: '_w', canJoin: false }
    const key = writeColumn(parents, sourceKey)
    if (through === null || joinRow !== undefined) {
      // If the join row is read, its table is already joined, and a record occurs once per parent.
      const at = through === null || joinRow === undefined ? this.#root : joinRowContext(through.model, joinRow)
      const own = writeColumn(at, foreignKey)
      return {
        from: writeTable(parents),
        where: this.#writeParentCondition(key),
        parentKey: key,
        parentReference: key,
        ownColumn: own,
      }
    }
    const links: TableContext = { model: through.model, alias: '_l', canJoin: false }
    const own = writeColumn(links, foreignKey)
    const parentKey = isExact ? own : key
    const guard =
      this.#join.joinRowCondition === null ? [] : [this.#writer.writeWhere(this.#join.joinRowCondition, links)]
    const conditions = joinAnd([
      literal(this.#writeParentCondition(parentKey)),
      ...guard,
      ...scopeConditions(links, through.scope),
    ])
    return {
      from: isExact ? writeTable(links) : `${writeTable(links)} INNER JOIN ${writeTable(parents)} ON ${key} = ${own}`,
      where: writeScopedCondition(links.model, conditions, links.alias),
      parentKey,
      parentReference: writeColumn(links, otherKey),
      ownColumn: writeColumn({ ...this.#root, model: target }, targetKey),
    }
  }

  #selectNumbered(): string {
    const parentKey = writeColumn(this.#root, associationKeysOf(this.#association).foreignKey)
    const terms = this.#request.order.map((key) =>
      this.#writeOrderTerm(this.#writer.writeColumn(key.column, this.#root), key),
    )
    const numbered = [writeRowNumber(parentKey, terms), POSITION_ALIAS] as const
    return this.#written(
      this.#selectRecords(
        this.#writeFirstCondition(parentKey, terms, numbered) ?? this.#writeParentCondition(parentKey),
        [[this.#dialect.readExpression(parentKey, this.#sourceKey), PARENT_ALIAS], numbered],
      ),
    )
  }

  /**
   * Writes the condition that a record is among the first records of its parent. The condition reads only keys, because
   * a parent may have thousands of records. Returns null if the condition would be slower, or if keys are not compared
   * exactly.
   */
  #writeFirstCondition(
    parentKey: string,
    terms: readonly string[],
    numbered: readonly [sql: string, alias: string],
  ): string | null {
    const key = this.#request.order.at(-1)?.column.field
    const { source, target } = this.#association
    if (key === undefined || !EXACT_TYPES.has(key.valueType.type)) return null
    if (target.primaryKeyAttributes.length !== 1 || target.primaryKeyAttribute !== key.name) return null
    const { each, numbersKeys } = this.#dialect.firstPerParent
    const column = writeColumn(this.#root, key.name)
    const { foreignKey, sourceKey } = associationKeysOf(this.#association)
    const isLed = isIndexed(target, foreignKey) && isExactComparison([source, sourceKey], [target, foreignKey])
    if (each !== null && isLed) {
      const of = (one: string): string =>
        `${this.#selectColumns(`${parentKey} = ${one}`, [this.#aliasExpression(column, KEY_ALIAS)])} ORDER BY ${terms.join(', ')} LIMIT ${this.#limit}`
      return `${column} IN (${each({ placeholder: this.#parentKeys, field: this.#sourceKey, key: KEY_ALIAS }, of)})`
    }
    if (!numbersKeys) return null
    const keys = this.#selectColumns(this.#writeParentCondition(parentKey), [
      this.#aliasExpression(column, KEY_ALIAS),
      this.#aliasExpression(...numbered),
    ])
    return `${column} IN (SELECT _first.${KEY_ALIAS} FROM (${keys}) AS _first WHERE _first.${POSITION_ALIAS} <= ${this.#limit})`
  }

  /**
   * Reads each record once and numbers it for each of its parents. The condition on the parents is repeated, because
   * not every database pushes it into a subquery in FROM.
   */
  #selectJoined({ from, where, parentKey, parentReference, ownColumn }: ParentTables): string {
    const { order } = this.#request
    const keys = order.map(({ column }, index) => [this.#writer.writeColumn(column, this.#root), `_s${index}`] as const)
    const records = this.#written(
      this.#selectRecords(`${ownColumn} IN (SELECT ${parentReference} FROM ${from} WHERE ${where})`, [
        ...keys,
        [ownColumn, '_t'],
      ]),
    )
    const terms = order.map((key, index) => this.#writeOrderTerm(`e._s${index}`, key))
    const read = this.#dialect.readExpression(parentKey, this.#sourceKey)
    return [
      `SELECT e.*, ${read} AS ${PARENT_ALIAS}, ${writeRowNumber(parentKey, terms)} AS ${POSITION_ALIAS}`,
      `FROM (${records}) AS e CROSS JOIN ${from} WHERE ${parentReference} = e._t AND ${where}`,
    ].join(' ')
  }

  /** Writes a SELECT of the requested records of some parents, limited to records that the caller may see. */
  #selectRecords(parentCondition: string, beside: readonly (readonly [sql: string, alias: string])[]): string {
    const { columns } = this.#request
    return this.#selectColumns(parentCondition, [
      ...(columns.length === 0 ? [] : [writeColumnList(this.#dialect, this.#writer, columns, this.#root)]),
      ...beside.map(([text, alias]) => this.#aliasExpression(text, alias)),
    ])
  }

  #selectColumns(parentCondition: string, attributes: readonly string[]): string {
    const conditions: WhereFragment[] = [
      literal(parentCondition),
      ...scopeConditions(this.#root, associationKeysOf(this.#association).scope),
    ]
    for (const each of [this.#join.condition, this.#request.where]) {
      if (each !== null) conditions.push(this.#writer.writeWhere(each, this.#root))
    }
    const { joinRow } = this.#request
    if (joinRow !== undefined) conditions.push(this.#writer.writeWhere(buildJoinRowCondition(joinRow), this.#root))
    const include = this.#writer.buildInclude(this.#root)
    return writeSelect(this.#root.model, {
      attributes: attributes.join(', '),
      where: joinAnd(conditions),
      include,
    })
  }

  #aliasExpression(sql: string, alias: string): string {
    return aliasExpression(this.#root.model, sql, alias)
  }

  #written(sql: string): string {
    return this.#writer.shortenAliases(sql, this.#root)
  }

  get #sourceKey(): NonNullable<Join['relation']['sourceKey']> {
    const { sourceKey } = this.#join.relation
    if (sourceKey === null) throw internalError(`the association "${this.#association.as}" has no key of its parents`)
    return sourceKey
  }

  #writeParentCondition(expression: string): string {
    return this.#dialect.inList.write(expression, this.#parentKeys)
  }

  #writeOrderTerm(sql: string, key: EmbedRequest['order'][number]): string {
    return writeOrderTerm(this.#dialect, sql, key, this.#request.where)
  }
}

/** Table of the join model's rows, in a statement that joins these rows. */
function joinRowContext(model: TableContext['model'], link: Join): TableContext {
  return { model, alias: aliasOfPath([link]), canJoin: false }
}

function buildJoinRowCondition(link: Join): Predicate {
  return { kind: 'absent', joins: [link], negated: true }
}

function writeRowNumber(partition: string, terms: readonly string[]): string {
  return `ROW_NUMBER() OVER (PARTITION BY ${partition} ORDER BY ${terms.join(', ')})`
}
