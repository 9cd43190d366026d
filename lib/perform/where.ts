import type { IncludeOptions } from 'sequelize'
import type { Conversion } from '../../types/columnTypes.js'
import type { Field } from '../../types/field.js'
import type {
  Column,
  ComparePredicate,
  CountPredicate,
  FullTextPredicate,
  ItemCountPredicate,
  ItemsPredicate,
  Join,
  KeysetPredicate,
  LinkedPredicate,
  Predicate,
  QuantifiedPredicate,
  TuplesPredicate,
} from '../../types/plan.js'
import { internalError } from '../common/internalError.js'
import { jsonMemberOf } from '../common/jsonMembers.js'
import { type Visitors, visit } from '../common/visitor.js'
import { operatorInfoOf } from '../language/operators.js'
import { conversionOf, instanceColumnOf, readColumn } from '../sequelize/columnTypes.js'
import type { Dialect } from '../sequelize/dialect/index.js'
import type { WhereFragment as Fragment } from '../sequelize/internals.js'
import { associationKeysOf, hasSourceForeignKey, isSeekable, joinedModelOption } from '../sequelize/model.js'
import { createSelectList, literal, quote, writeCondition, writeSelect } from '../sequelize/sql.js'
import { compareColumn, compareWithNull, joinAnd, joinOr, joinTexts, joinTrees } from '../sequelize/whereTree.js'
import {
  type CorrelationKey,
  defaultScopeConditions,
  scopeConditions,
  writeChildSelect,
  writeColumn,
  writeFirstCondition,
  writeJoinCondition,
  writeLinkCondition,
  writePathSelect,
} from './childSelect.js'
import {
  arrayColumn,
  encodeTuples,
  isEquality,
  isPathName,
  modelAtEnd,
  toTextFragment,
  writeIn,
} from './columnConditions.js'
import { ComparisonWriter, incomparableProblem, toValueOperator } from './comparisons.js'
import { writeDerived } from './derivedColumns.js'
import { JoinedTables } from './joins.js'
import { writeKeysetPredicate } from './keysetPredicate.js'
import { findPresentTables } from './presentTables.js'
import { toJoinRowCondition, toOwnColumn, writeFullTextMatch, writeRowMembership } from './rowConditions.js'
import { addSpellings, encodeCompared, encodeValue } from './sql/encode.js'
import type { Operands } from './sql/operands.js'
import type { TableContext } from './tableContext.js'

/** Encodes a value for Sequelize's where tree. */
type MemberEncoder = (value: unknown, field: Field) => unknown

/** Writes predicates as Sequelize's `where` and `include` trees. Use one writer per statement. */
export class WhereWriter {
  readonly #dialect: Dialect
  readonly #operands: Operands
  readonly #encodeMember: MemberEncoder | null
  readonly #join: typeof joinTexts
  readonly #comparisons: ComparisonWriter
  readonly #joinedTables: JoinedTables
  readonly #presentTables = new Set<string>()
  #aliasCount = 0

  /** `member` encodes values of conditions that are written by attribute. Only Sequelize finders need it. */
  constructor(dialect: Dialect, operands: Operands, member: MemberEncoder | null = null) {
    this.#encodeMember = member
    this.#join = member === null ? joinTexts : joinTrees
    this.#joinedTables = new JoinedTables(member === null)
    this.#dialect = dialect
    this.#operands = operands
    this.#comparisons = new ComparisonWriter(dialect, operands)
  }

  /** Writes the where tree of a condition. Call `buildInclude` afterwards to get the joins. */
  writeWhere(node: Predicate, scope: TableContext): Fragment {
    if (scope.canJoin) for (const path of findPresentTables(node)) this.#presentTables.add(path)
    return this.#writePredicate(node, scope)
  }

  #writePredicate(node: Predicate, scope: TableContext): Fragment {
    const { joinRow } = scope
    const linked = joinRow === undefined ? null : toJoinRowCondition(node)
    if (linked === null || joinRow === undefined) return visit(WhereWriter.#writers, node, this, scope)
    // A condition by column name would be in the tree of the target's table.
    return toTextFragment(joinRow, visit(WhereWriter.#writers, linked, this, joinRow))
  }

  #writeOptional(condition: Predicate | null, scope: TableContext): Fragment[] {
    return condition === null ? [] : [this.#writePredicate(condition, scope)]
  }

  static readonly #writers: Visitors<Predicate, [self: WhereWriter, scope: TableContext], Fragment> = {
    and: ({ nodes }, self, scope) => self.#join('AND', nodes, (node) => self.#writePredicate(node, scope)),
    or: ({ nodes }, self, scope) => self.#join('OR', nodes, (node) => self.#writePredicate(node, scope)),
    never: () => literal('1 = 0'),
    always: () => literal('1 = 1'),
    compare: (node, self, scope) => self.#writeComparison(node, scope),
    null: ({ column, negated }, self, scope) => {
      if (!self.#isBehindSubquery(column.joins, scope)) return self.#writeIsNull(column, negated, scope)
      const present = (at: TableContext): Fragment => self.#writeIsNull(toOwnColumn(column), true, at)
      return self.#writePathCondition(scope, column.joins, present, !negated)
    },
    absent: ({ joins, negated }, self, scope) => self.#writeMissing(joins, scope, negated),
    quantified: (node, self, scope) => self.#writeQuantified(node, scope),
    count: (node, self, scope) => self.#writeCount(node, scope),
    items: (node, self, scope) => self.#writeItems(node, scope),
    itemCount: (node, self, scope) => self.#writeItemCount(node, scope),
    fullText: (node, self, scope) => self.#writeMatch(node, scope),
    tuples: (node, self, scope) => self.#writeTuples(node, scope),
    linked: (node, self, scope) => self.#writeLinked(node, scope),
    apart: ({ condition }, self, scope) => self.#writeSubquery(condition, scope),
    keyset: (node, self, scope) => self.#writeKeyset(node, scope),
  }

  /** Writes the SQL of a column. Adds the joins of the column's path. */
  writeColumn({ joins, field, countedJoin }: Column, scope: TableContext): string {
    if (field.derived?.kind === 'item') return writeDerived(this.#dialect, '', field.derived, scope.model).value
    if (field.derived !== undefined) {
      const source = this.writeColumn({ joins, field: field.derived.source, nullable: true }, scope)
      return writeDerived(this.#dialect, source, field.derived, scope.model).value
    }
    if (countedJoin !== undefined)
      return `(${this.#selectElements('COUNT(*)', { joins, join: countedJoin }, scope, () => null)})`
    const name = this.#writeReference(joins, field, scope)
    const conversion = this.conversionOf({ joins, field }, scope)
    if (conversion === null) return name
    if (conversion.compare !== null) return conversion.compare(name)
    if (field.isKey) return name
    throw incomparableProblem(field)
  }

  /** Writes the SQL that selects a column without loss of precision. */
  writeRead(column: Column, scope: TableContext): string {
    const { joins, field, countedJoin } = column
    const isOwn = field.derived === undefined && countedJoin === undefined
    if (!isOwn) return this.#dialect.readExpression(this.writeColumn(column, scope), field)
    return readColumn(this.#dialect, modelAtEnd(column, scope), field, this.#writeReference(joins, field, scope))
  }

  /** Writes the SQL that selects a column for an instance. Returns null if the column's name is enough. */
  writeInstanceRead(column: Column, scope: TableContext): string | null {
    const { joins, field } = column
    if (field.derived !== undefined) return this.#dialect.instanceExpression(this.writeColumn(column, scope), field)
    return instanceColumnOf(this.#dialect, modelAtEnd(column, scope), field, this.#writeReference(joins, field, scope))
  }

  /** Returns the conversion of a column whose type differs from the declared type, or null if both types are equal. */
  conversionOf(column: Pick<Column, 'joins' | 'field'>, scope: Pick<TableContext, 'model'>): Conversion | null {
    return conversionOf(this.#dialect, modelAtEnd(column, scope), column.field)
  }

  #writeReference(joins: readonly Join[], field: Field, { model, alias }: TableContext): string {
    const name = quote(model, field.column)
    if (joins.length > 0) return `${quote(model, this.#joinedTables.addPath(joins))}.${name}`
    return alias === '' ? name : `${quote(model, alias)}.${name}`
  }

  /** Writes a condition on groups. */
  writeHaving(node: Predicate, scope: TableContext): Fragment {
    return this.#writePredicate(node, scope)
  }

  /** Builds the include tree for all paths written so far. Call it after all clauses. */
  buildInclude(root: TableContext): IncludeOptions[] {
    return this.#joinedTables.buildTree((join, { path, alias, before }) => {
      const { association } = join.relation
      const from = before === '' ? root : { model: association.source, alias: before, canJoin: false }
      const at: TableContext = { model: association.target, alias, canJoin: false }
      const conditions = [...this.#targetConditions(join, from, at), ...defaultScopeConditions(at)]
      return {
        association,
        ...joinedModelOption(association.target),
        attributes: [],
        // Requests INNER JOIN if the condition requires a row, because not every database infers it.
        required: this.#presentTables.has(path),
        ...(conditions.length === 0 ? {} : { where: toTextFragment(at, joinAnd(conditions)) }),
      }
    })
  }

  /** Shortens aliases of joins that exceed the database's limit. */
  shortenAliases(sql: string, { model }: TableContext): string {
    return this.#joinedTables.shortenAliases(sql, this.#dialect.maxAliasBytes, (name) => quote(model, name))
  }

  #isBehindSubquery(joins: readonly Join[], scope: TableContext): boolean {
    return joins.length > 0 && !scope.canJoin
  }

  #writeComparison(given: ComparePredicate, scope: TableContext): Fragment {
    const node = addSpellings(given)
    const { column, negated } = node
    const { joins, countedJoin: join } = column
    if (join !== undefined) return this.#writeCount({ ...node, kind: 'count', joins, join, condition: null }, scope)
    if (this.#isBehindSubquery(column.joins, scope)) {
      const met = (at: TableContext): Fragment => this.#writePositive({ ...node, column: toOwnColumn(column) }, at)
      return this.#writePathCondition(scope, column.joins, met, negated)
    }
    const matches = this.#comparisonMember(node, scope)
    if (matches !== null)
      return negated && column.nullable ? joinOr([matches, this.#writeIsNull(column, false, scope)]) : matches
    const reference = this.writeColumn(column, scope)
    if (!negated) return literal(this.#comparisons.write(node, reference, modelAtEnd(column, scope)))
    const sql = this.#comparisons.writeComplement(node, reference, modelAtEnd(column, scope))
    return literal(column.nullable ? `(${sql} OR ${reference} IS NULL)` : sql)
  }

  /** Writes a comparison as a member of a where tree. Returns null if the comparison must be SQL. */
  #comparisonMember(node: ComparePredicate, scope: TableContext): Fragment | null {
    if (this.#encodeMember === null) return null
    const { column, operator, negated } = node
    const { valueType, derived } = column.field
    const isText = valueType.type === 'string' || derived !== undefined || isPathName(column)
    if (isText || this.conversionOf(column, scope) !== null) return null
    const values = encodeCompared(this.#dialect, modelAtEnd(column, scope), node)
    const key = this.#attributeKey(column, scope)
    // The database can use an index for `= NOT value`, but not for `<> value`.
    if (negated && operator === 'eq' && valueType.type === 'boolean')
      return compareColumn(key, 'eq', literal(`(NOT ${this.#operands.write(values[0])})`), false)
    const members = values.map((value) => this.#encodeMember?.(value, column.field))
    return compareColumn(key, toValueOperator(node), operatorInfoOf(operator).list ? members : members[0], negated)
  }

  /** Writes a comparison as SQL, without its negation. */
  #writePositive(node: ComparePredicate, scope: TableContext): Fragment {
    return literal(this.#comparisons.write(node, this.writeColumn(node.column, scope), modelAtEnd(node.column, scope)))
  }

  /** Writes a keyset predicate. Only pages have keyset predicates, so joins are always possible. */
  #writeKeyset(node: KeysetPredicate, scope: TableContext): Fragment {
    const write = (column: Column): string => this.writeColumn(column, scope)
    return literal(writeKeysetPredicate(this.#dialect, node, write, this.#operands.write))
  }

  #writeIsNull(column: Column, negated: boolean, scope: TableContext): Fragment {
    const { joins, field } = column
    if (this.#encodeMember !== null && field.derived === undefined && !isPathName(column)) {
      return compareWithNull(this.#attributeKey(column, scope), negated)
    }
    const reference =
      field.derived === undefined ? this.#writeReference(joins, field, scope) : this.writeColumn(column, scope)
    return literal(`${reference} IS ${negated ? 'NOT ' : ''}NULL`)
  }

  /** Returns the attribute's name in a where tree. */
  #attributeKey({ joins, field }: Column, { canJoin, usesAttributes = canJoin }: TableContext): string {
    if (joins.length === 0) return usesAttributes ? field.name : field.column
    this.#joinedTables.addPath(joins)
    return `$${joins.map(({ relation }) => relation.name).join('.')}.${field.column}$`
  }

  #writeMissing(joins: readonly Join[], scope: TableContext, negated: boolean): Fragment {
    if (!scope.canJoin) return this.#writePathCondition(scope, joins, () => literal('1 = 1'), !negated)
    const target = joins.at(-1)?.relation.association.target ?? scope.model
    const [key] = target.primaryKeyAttributes
    const column = key === undefined ? undefined : target.getAttributes()[key]
    const name = column?.field ?? key ?? ''
    const reference = `${quote(target, this.#joinedTables.addPath(joins))}.${quote(target, name)}`
    return literal(`${reference} IS ${negated ? 'NOT ' : ''}NULL`)
  }

  #writeQuantified(node: QuantifiedPredicate, scope: TableContext): Fragment {
    const { quantifier, joins } = node
    const sought = quantifier === 'any' ? this.#writePathAsIn(scope, joins, (at) => this.#writeAnyAsIn(node, at)) : null
    if (sought !== null) return sought
    const rows = this.#selectElements('1', node, scope, (inner) => {
      const where = this.#writePredicate(node.condition, inner)
      // `all` is false if an element's condition is false or null.
      return quantifier === 'all' ? literal(`(${writeCondition(inner.model, where, inner.alias)}) IS NOT TRUE`) : where
    })
    return this.#writeExists(rows, quantifier !== 'any')
  }

  #writeCount(node: CountPredicate, scope: TableContext): Fragment {
    const { condition, negated } = node
    const rows = this.#selectElements('COUNT(*)', node, scope, (inner) =>
      condition === null ? null : this.#writePredicate(condition, inner),
    )
    const comparison = this.#dialect.valueComparisons[toValueOperator(node)](
      `(${rows})`,
      node.values.map(this.#operands.write),
    )
    return literal(`${negated ? 'NOT ' : ''}(${comparison})`)
  }

  #writeItems(node: ItemsPredicate, scope: TableContext): Fragment {
    const { quantifier, joins } = node
    const isNegated = quantifier !== 'any'
    if (this.#isBehindSubquery(joins, scope)) {
      const own = { ...node, joins: [] }
      const behind = (at: TableContext): Fragment => this.#writeExists(this.#selectItems(own, at), false)
      return this.#writeExists(this.#selectPathEnd(scope, joins, behind), isNegated)
    }
    const met = this.#writeExists(this.#selectItems(node, scope), isNegated)
    const indexed = isNegated ? null : this.#writeIndexCondition(node, scope)
    return indexed === null ? met : joinAnd([literal(indexed), met])
  }

  /** Writes a SELECT of array items that meet the condition. For `all`, selects the items that do not meet it. */
  #selectItems({ quantifier, joins, item, condition }: ItemsPredicate, scope: TableContext): string {
    const at: TableContext = { ...scope, model: modelAtEnd({ joins }, scope) }
    const where = `(${writeCondition(at.model, this.#writePredicate(condition, at), at.alias)})`
    const from = this.#dialect.jsonMembers.items(this.writeColumn(arrayColumn(joins, item), scope), item)
    return `SELECT 1 FROM ${from} WHERE ${quantifier === 'all' ? `${where} IS NOT TRUE` : where}`
  }

  /** Writes an additional condition that an index over the array serves. Returns null if no index can serve it. */
  #writeIndexCondition({ joins, item, condition }: ItemsPredicate, scope: TableContext): string | null {
    if (!isEquality(condition)) return null
    const field = jsonMemberOf(item.source)?.source ?? item.source
    const values = encodeCompared(this.#dialect, modelAtEnd({ joins }, scope), addSpellings(condition))
    const column = this.writeColumn({ joins, field, nullable: true }, scope)
    return this.#dialect.jsonMembers.contains(column, item, values, this.#operands.write)
  }

  #writeItemCount(node: ItemCountPredicate, scope: TableContext): Fragment {
    const { joins, item, negated } = node
    const lengthOf = (from: readonly Join[], at: TableContext): string =>
      this.#dialect.jsonMembers.length(this.writeColumn(arrayColumn(from, item), at), item)
    const length = this.#isBehindSubquery(joins, scope)
      ? `(${this.#selectPathKey(scope, joins, (at) => lengthOf([], at))})`
      : lengthOf(joins, scope)
    const count = `COALESCE(${length}, 0)`
    const compare = this.#dialect.valueComparisons[toValueOperator(node)]
    return literal(`${negated ? 'NOT ' : ''}(${compare(count, node.values.map(this.#operands.write))})`)
  }

  #writeMatch({ fields, values }: FullTextPredicate, scope: TableContext): Fragment {
    const columns = fields.map((field) => this.writeColumn({ joins: [], field, nullable: field.nullable }, scope))
    return literal(writeFullTextMatch(this.#dialect, columns, this.#operands.write(values[0])))
  }

  /** SQL text names columns, not attributes. Without `IS TRUE`, SQLite would plan each part of the text separately. */
  #writeTuples({ fields, values, exact }: TuplesPredicate, scope: TableContext): Fragment {
    const names = fields.map((field) => this.writeColumn({ joins: [], field, nullable: false }, scope))
    const encoded = encodeTuples(this.#dialect, scope.model, fields, values)
    const among = literal(writeRowMembership(this.#dialect, this.#operands, { fields, values: encoded }, names))
    if (exact === null) return among
    const at: TableContext = { ...scope, canJoin: false, usesAttributes: false }
    const whole = writeCondition(scope.model, this.#writePredicate(exact, at), scope.alias)
    return joinAnd([among, literal(`(${whole}) IS TRUE`)])
  }

  /** IN lets the database start from the join rows, because a parent has few join rows. */
  #writeLinked({ relation, key, values, joinRowCondition }: LinkedPredicate, scope: TableContext): Fragment {
    const { association } = relation
    const [value] = values.map((each) => encodeValue(this.#dialect, association.source, key, each))
    const operand = this.#dialect.operand(this.#operands.write(value), key)
    return writeLinkCondition(association, operand, scope, {
      alias: this.#nextAlias(),
      conditions: (link) => this.#writeOptional(joinRowCondition, link),
    })
  }

  /** The main table needs an alias, because a subquery could have a column with an equal name. */
  #writeSubquery(condition: Predicate, scope: TableContext): Fragment {
    if (scope.alias === '') throw internalError(`a write of ${scope.model.name} needs an alias of its table`)
    const at: TableContext = { ...scope, canJoin: false, usesIn: true }
    if (this.#encodeMember !== null && scope.canJoin)
      return this.#writePredicate(condition, { ...at, usesAttributes: true })
    return toTextFragment(at, this.#writePredicate(condition, at))
  }

  /** Writes the quantifier `any` as IN. Returns null if the key is not compared by its stored value. */
  #writeAnyAsIn({ join, condition }: QuantifiedPredicate, scope: TableContext): Fragment | null {
    const { association } = join.relation
    const { sourceKey } = associationKeysOf(association)
    if (!isSeekable(association.source, sourceKey)) return null
    const rows = writeChildSelect((element) => element, association, {
      correlate: () => literal('1 = 1'),
      conditions: (inner) =>
        [join.condition, condition].flatMap((part) => this.#writeOptional(part, { ...inner, usesIn: true })),
      joinRowConditions: (link) => this.#writeOptional(join.joinRowCondition, link),
      alias: () => this.#nextAlias(),
    })
    return writeIn(scope, sourceKey, rows)
  }

  /** Writes a condition at the end of to-one relations as IN. Returns null if EXISTS is required. */
  #writePathAsIn(
    scope: TableContext,
    joins: readonly Join[],
    condition: (at: TableContext) => Fragment | null,
  ): Fragment | null {
    if (scope.usesIn !== true) return null
    const [join, ...rest] = joins
    if (join === undefined) return condition(scope)
    const { association, polymorphic, canMatchSeveralRows, manyToMany } = join.relation
    const { foreignKey, targetKey } = associationKeysOf(association)
    const isKey = hasSourceForeignKey(association) && !polymorphic && !canMatchSeveralRows && manyToMany === null
    if (!isKey || !isSeekable(association.target, targetKey)) return null
    const at: TableContext = { model: association.target, alias: this.#nextAlias(), canJoin: false, usesIn: true }
    const further = this.#writePathAsIn(at, rest, condition)
    if (further === null) return null
    const where = joinAnd([
      ...scopeConditions(at, associationKeysOf(association).scope),
      ...this.#targetConditions(join, scope, at),
      further,
    ])
    const attributes = createSelectList(writeColumn(at, targetKey))
    return writeIn(scope, foreignKey, writeSelect(at.model, { attributes, tableAs: at.alias, where }))
  }

  /** Writes that a record at the end of to-one relations meets a condition, or that none meets it if `negated`. */
  #writePathCondition(
    scope: TableContext,
    joins: readonly Join[],
    condition: (at: TableContext) => Fragment,
    negated: boolean,
  ): Fragment {
    const sought = negated ? null : this.#writePathAsIn(scope, joins, condition)
    return sought ?? this.#writeExists(this.#selectPathEnd(scope, joins, condition), negated)
  }

  /** Writes a SELECT of a relation's child records, correlated to the record of `scope`. */
  #selectElements(
    what: string,
    { joins, join }: Pick<CountPredicate, 'joins' | 'join'>,
    scope: TableContext,
    condition: (inner: TableContext) => Fragment | null,
  ): string {
    const conditions = (inner: TableContext): Fragment[] =>
      [...this.#writeOptional(join.condition, inner), condition(inner)].filter((part) => part !== null)
    const correlate = ({ childColumn, writeParentColumn }: CorrelationKey): Fragment => {
      const link = (source: TableContext): Fragment => literal(`${childColumn} = ${writeParentColumn(source)}`)
      if (joins.length === 0) return link(scope)
      const source = { model: joins.at(-1)?.relation.association.target ?? scope.model, canJoin: false }
      if (scope.canJoin) return link({ ...source, alias: this.#joinedTables.addPath(joins) })
      if (this.#dialect.hasIndexedExists) return this.#writeExists(this.#selectPathEnd(scope, joins, link), false)
      return literal(`${childColumn} IN (${this.#selectPathKey(scope, joins, writeParentColumn)})`)
    }
    return writeChildSelect(what, join.relation.association, {
      correlate,
      conditions,
      joinRowConditions: (link) => this.#writeOptional(join.joinRowCondition, link),
      alias: () => this.#nextAlias(),
    })
  }

  /** Writes a SELECT of the record at the end of to-one relations, correlated to the record of `scope`. */
  #selectPathEnd(scope: TableContext, joins: readonly Join[], condition: (inner: TableContext) => Fragment): string {
    const [join, ...rest] = joins
    if (join === undefined) throw internalError('a subquery was built for a path without relations')
    const { at, where } = this.#targetOf(join, scope)
    const further =
      rest.length === 0 ? condition(at) : this.#writeExists(this.#selectPathEnd(at, rest, condition), false)
    return writeSelect(at.model, {
      attributes: createSelectList('1'),
      tableAs: at.alias,
      where: joinAnd([where, further]),
    })
  }

  /** Writes a SELECT of a key of the record at the end of to-one relations of `scope`. */
  #selectPathKey(scope: TableContext, joins: readonly Join[], key: (at: TableContext) => string): string {
    const tables: { readonly at: TableContext; readonly where: Fragment }[] = []
    for (const join of joins) tables.push(this.#targetOf(join, tables.at(-1)?.at ?? scope))
    return writePathSelect(key(tables.at(-1)?.at ?? scope), tables)
  }

  /** Returns the table and the condition of a to-one relation's row. A hasOne may match several rows. */
  #targetOf(join: Join, from: TableContext): { readonly at: TableContext; readonly where: Fragment } {
    const { association } = join.relation
    const at: TableContext = { model: association.target, alias: this.#nextAlias(), canJoin: false }
    const link = literal(writeJoinCondition(association, from, at))
    const scoped = scopeConditions(at, associationKeysOf(association).scope)
    return { at, where: joinAnd([link, ...scoped, ...this.#targetConditions(join, from, at)]) }
  }

  /** Returns the conditions on the row that a to-one relation leads to. */
  #targetConditions({ relation, condition }: Join, from: TableContext, at: TableContext): Fragment[] {
    const through = relation.manyToMany === null ? null : associationKeysOf(relation.manyToMany).through
    const own = [
      // A polymorphic foreign key of the source row belongs to this association only under these conditions.
      ...scopeConditions(from, associationKeysOf(relation.association).sourceScope),
      ...scopeConditions(at, through?.scope ?? []),
      ...this.#writeOptional(condition, at),
    ]
    if (!relation.canMatchSeveralRows || at.model.primaryKeyAttributes.length === 0) return own
    const row: TableContext = { ...at, alias: this.#nextAlias() }
    return [...own, writeFirstCondition(relation.association, from, at, row, this.#writeOptional(condition, row))]
  }

  #writeExists(rows: string, negated: boolean): Fragment {
    return literal(negated ? `NOT EXISTS (${rows})` : this.#dialect.exists(rows))
  }

  #nextAlias(): string {
    this.#aliasCount += 1
    return `_q${this.#aliasCount}`
  }
}
