import type { IncludeOptions } from 'sequelize'
import type { Conversion } from '../../types/columnTypes.js'
import type { Field, ItemOf } from '../../types/field.js'
import type {
  BeyondPredicate,
  Column,
  ComparePredicate,
  CountPredicate,
  Hop,
  ItemCountPredicate,
  ItemsPredicate,
  MatchPredicate,
  OwnedPredicate,
  Predicate,
  QuantifiedPredicate,
  TuplesPredicate,
} from '../../types/plan.js'
import { memberIn } from '../common/members.js'
import { type Visits, visit } from '../common/visit.js'
import { conversionOf, instanceColumn, readColumn } from '../sequelize/columnTypes.js'
import type { Dialect } from '../sequelize/dialect/index.js'
import type { WhereFragment } from '../sequelize/internals.js'
import { isSeekable, keysOf, pointsAt } from '../sequelize/model.js'
import { literal, quote, scopesOf, selected, writeCondition, writeSelect } from '../sequelize/sql.js'
import { compared, every, isNull, some } from '../sequelize/tree.js'
import { writeBeyond } from './beyond.js'
import { Comparisons, ofValues } from './comparisons.js'
import { derivedOf } from './derived.js'
import {
  chainSelect,
  columnIn,
  elementSelect,
  fixed,
  isFirst,
  linked,
  linkedTo,
  ofSource,
  type Tied,
} from './elements.js'
import { incomparable } from './incomparable.js'
import { Joins } from './joins.js'
import { presentUnder } from './presence.js'
import { amongRows, atElement, matching, onLink } from './rows.js'
import type { Scope } from './scope.js'
import { encodeCompared, encodeValue, inSpellings } from './statement/encode.js'
import type { Operands } from './statement/operands.js'

export type { Scope }

type Fragment = WhereFragment

/** The model that a column belongs to. */
function modelOf({ hops }: Pick<Column, 'hops'>, { model }: Pick<Scope, 'model'>): Scope['model'] {
  return hops.at(-1)?.relation.association.target ?? model
}

/** Whether Sequelize would parse the column's name as a path. */
function isPath({ field }: Column): boolean {
  return /[.$]/.test(field.column)
}

/** The array column of an item predicate. */
function arrayColumn(hops: readonly Hop[], { of: field }: ItemOf): Column {
  return { hops, field, nullable: true }
}

/** Encodes a value for a where tree of Sequelize. */
type Member = (value: unknown, field: Field) => unknown

/** Converts a condition by column into SQL for the table of `at`. */
function textOf({ model, alias }: Scope, where: Fragment): Fragment {
  return every([literal(`(${writeCondition(model, where, alias)})`)])
}

/** Condition that an attribute is in a subquery. */
function within(scope: Scope, attribute: string, rows: string): Fragment {
  return scope.byAttribute === true
    ? compared(attribute, 'in', literal(`(${rows})`), false)
    : literal(`${columnIn(scope, attribute)} IN (${rows})`)
}

/** Writes predicates as `where` and `include` trees of Sequelize. Use one writer per statement. */
export class WhereWriter {
  readonly #dialect: Dialect
  readonly #operands: Operands
  readonly #member: Member | null
  readonly #comparisons: Comparisons
  readonly #joins: Joins
  readonly #present = new Set<string>()
  #aliases = 0

  /** `member` is for Sequelize finders. It encodes values of conditions that are written by attribute. */
  constructor(dialect: Dialect, operands: Operands, member: Member | null = null) {
    this.#member = member
    this.#joins = new Joins(member === null)
    this.#dialect = dialect
    this.#operands = operands
    this.#comparisons = new Comparisons(dialect, operands)
  }

  /** The where tree of a condition. Call `include()` afterwards for its joins. */
  where(node: Predicate, scope: Scope): Fragment {
    if (scope.joins) for (const path of presentUnder(node)) this.#present.add(path)
    return this.#predicate(node, scope)
  }

  #predicate(node: Predicate, scope: Scope): Fragment {
    const { link } = scope
    const linked = link === undefined ? null : onLink(node)
    return linked === null || link === undefined
      ? visit(WhereWriter.#written, node, this, scope)
      : visit(WhereWriter.#written, linked, this, link)
  }

  static readonly #written: Visits<Predicate, [self: WhereWriter, scope: Scope], Fragment> = {
    and: ({ nodes }, self, scope) => every(nodes.map((node) => self.#predicate(node, scope))),
    or: ({ nodes }, self, scope) => some(nodes.map((node) => self.#predicate(node, scope))),
    never: () => literal('1 = 0'),
    always: () => literal('1 = 1'),
    compare: (node, self, scope) => self.#compare(node, scope),
    null: ({ column, negated }, self, scope) => {
      if (!self.#isBehindSubquery(column.hops, scope)) return self.#isNull(column, negated, scope)
      const present = (at: Scope): Fragment => self.#isNull(atElement(column), true, at)
      return self.#behindPath(scope, column.hops, present, !negated)
    },
    absent: ({ hops, negated }, self, scope) => self.#absent(hops, scope, negated),
    quantified: (node, self, scope) => self.#quantified(node, scope),
    count: (node, self, scope) => self.#count(node, scope),
    items: (node, self, scope) => self.#items(node, scope),
    itemCount: (node, self, scope) => self.#itemCount(node, scope),
    match: (node, self, scope) => self.#match(node, scope),
    tuples: (node, self, scope) => self.#tuples(node, scope),
    owned: (node, self, scope) => self.#owned(node, scope),
    apart: ({ condition }, self, scope) => self.#apart(condition, scope),
    beyond: (node, self, scope) => self.#beyond(node, scope),
  }

  /** The SQL of a column. Adds the joins of its path. */
  column({ hops, field, counted }: Column, scope: Scope): string {
    if (field.derived?.what === 'item') return derivedOf(this.#dialect, '', field.derived, scope.model).value
    if (field.derived !== undefined) {
      const source = this.column({ hops, field: field.derived.of, nullable: true }, scope)
      return derivedOf(this.#dialect, source, field.derived, scope.model).value
    }
    if (counted !== undefined) return `(${this.#elements('COUNT(*)', { hops, hop: counted }, scope, () => null)})`
    const name = this.#reference(hops, field, scope)
    const conversion = this.conversion({ hops, field }, scope)
    if (conversion === null) return name
    if (conversion.compare !== null) return conversion.compare(name)
    if (field.isKey) return name
    throw incomparable(field)
  }

  /** The SQL that selects a column without loss of precision. */
  read(column: Column, scope: Scope): string {
    const { hops, field, counted } = column
    const isOwn = field.derived === undefined && counted === undefined
    if (!isOwn) return this.#dialect.read(this.column(column, scope), field)
    return readColumn(this.#dialect, modelOf(column, scope), field, this.#reference(hops, field, scope))
  }

  /** The SQL that selects a column for an instance, or null if its name is enough. */
  instance(column: Column, scope: Scope): string | null {
    const { hops, field } = column
    if (field.derived !== undefined) return this.#dialect.instance(this.column(column, scope), field)
    return instanceColumn(this.#dialect, modelOf(column, scope), field, this.#reference(hops, field, scope))
  }

  /** The conversion for a column whose type differs from the declared one, or null. */
  conversion(column: Pick<Column, 'hops' | 'field'>, scope: Pick<Scope, 'model'>): Conversion | null {
    return conversionOf(this.#dialect, modelOf(column, scope), column.field)
  }

  #reference(hops: readonly Hop[], field: Field, { model, alias }: Scope): string {
    const name = quote(model, field.column)
    if (hops.length > 0) return `${quote(model, this.#joins.add(hops))}.${name}`
    return alias === '' ? name : `${quote(model, alias)}.${name}`
  }

  /** A condition on groups. */
  having(node: Predicate, scope: Scope): Fragment {
    return this.#predicate(node, scope)
  }

  /** The include tree for all paths written so far. */
  include(root: Scope): IncludeOptions[] {
    return this.#joins.tree((hop, { path, alias, before }) => {
      const { association } = hop.relation
      const from = before === '' ? root : { model: association.source, alias: before, joins: false }
      const at: Scope = { model: association.target, alias, joins: false }
      // As SQL: Sequelize would translate column names of the default scope as attributes again.
      const conditions = [...this.#conditions(hop, from, at), ...fixed(at, scopesOf(at.model))]
      return {
        association,
        attributes: [],
        // An inner join if the condition requires a row: not every database infers that.
        required: this.#present.has(path),
        ...(conditions.length === 0 ? {} : { where: textOf(at, every(conditions)) }),
      }
    })
  }

  /** Shortens aliases of joins that exceed the database's limit. */
  shorten(sql: string, { model }: Scope): string {
    return this.#joins.shorten(sql, this.#dialect.longestAlias, (name) => quote(model, name))
  }

  #isBehindSubquery(hops: readonly Hop[], scope: Scope): boolean {
    return hops.length > 0 && !scope.joins
  }

  #compare(given: ComparePredicate, scope: Scope): Fragment {
    const node = inSpellings(given)
    const { column, negated } = node
    const { hops, counted: hop } = column
    if (hop !== undefined) return this.#count({ ...node, kind: 'count', hops, hop, condition: null }, scope)
    if (this.#isBehindSubquery(column.hops, scope)) {
      const met = (at: Scope): Fragment => this.#positive({ ...node, column: atElement(column) }, at)
      return this.#behindPath(scope, column.hops, met, negated)
    }
    const matches = this.#memberOf(node, scope)
    if (matches !== null)
      return negated && column.nullable ? some([matches, this.#isNull(column, false, scope)]) : matches
    const reference = this.column(column, scope)
    if (!negated) return literal(this.#comparisons.write(node, reference, modelOf(column, scope)))
    const sql = this.#comparisons.complement(node, reference, modelOf(column, scope))
    return literal(column.nullable ? `(${sql} OR ${reference} IS NULL)` : sql)
  }

  /** The comparison as a member of a where tree, or null if it must be SQL. */
  #memberOf(node: ComparePredicate, scope: Scope): Fragment | null {
    const { column, operator, negated } = node
    const { valueType, derived } = column.field
    const isText = valueType.type === 'string' || derived !== undefined || isPath(column)
    if (this.#member === null || isText || this.conversion(column, scope) !== null) return null
    const values = encodeCompared(this.#dialect, modelOf(column, scope), node)
    if (negated && operator === 'eq' && valueType.type === 'boolean') {
      // An index serves equality with the other boolean, but not inequality.
      return compared(this.#key(column, scope), 'eq', literal(`(NOT ${this.#operands.sql(values[0])})`), false)
    }
    const members = values.map((value) => this.#member?.(value, column.field))
    return compared(this.#key(column, scope), ofValues(node), operator === 'in' ? members : members[0], negated)
  }

  /** The comparison as SQL, ignoring `negated`. */
  #positive(node: ComparePredicate, scope: Scope): Fragment {
    return literal(this.#comparisons.write(node, this.column(node.column, scope), modelOf(node.column, scope)))
  }

  /** Only pages have keyset predicates. Their tables are joined. */
  #beyond(node: BeyondPredicate, scope: Scope): Fragment {
    return literal(writeBeyond(this.#dialect, node, (column) => this.column(column, scope), this.#operands.sql))
  }

  #isNull(column: Column, negated: boolean, scope: Scope): Fragment {
    const { hops, field } = column
    if (this.#member !== null && field.derived === undefined && !isPath(column)) {
      return isNull(this.#key(column, scope), negated)
    }
    const reference = field.derived === undefined ? this.#reference(hops, field, scope) : this.column(column, scope)
    return literal(`${reference} IS ${negated ? 'NOT ' : ''}NULL`)
  }

  /** The attribute's name in a where tree. */
  #key({ hops, field }: Column, { joins, byAttribute = joins }: Scope): string {
    if (hops.length === 0) return byAttribute ? field.name : field.column
    this.#joins.add(hops)
    return `$${hops.map(({ relation }) => relation.name).join('.')}.${field.column}$`
  }

  #absent(hops: readonly Hop[], scope: Scope, negated: boolean): Fragment {
    if (!scope.joins) return this.#behindPath(scope, hops, () => literal('1 = 1'), !negated)
    const target = hops.at(-1)?.relation.association.target ?? scope.model
    const [key] = target.primaryKeyAttributes
    const column = key === undefined ? undefined : target.getAttributes()[key]
    const name = column?.field ?? key ?? ''
    const reference = `${quote(target, this.#joins.add(hops))}.${quote(target, name)}`
    return literal(`${reference} IS ${negated ? 'NOT ' : ''}NULL`)
  }

  #quantified(node: QuantifiedPredicate, scope: Scope): Fragment {
    const { quantifier, hops } = node
    const sought = quantifier === 'any' ? this.#sought(scope, hops, (at) => this.#among(node, at)) : null
    if (sought !== null) return sought
    const rows = this.#elements('1', node, scope, (inner) => {
      const where = this.#predicate(node.condition, inner)
      // `all` fails for an element whose condition is false or null.
      return quantifier === 'all' ? literal(`(${writeCondition(inner.model, where, inner.alias)}) IS NOT TRUE`) : where
    })
    return this.#exists(rows, quantifier !== 'any')
  }

  #count(node: CountPredicate, scope: Scope): Fragment {
    const { condition, negated } = node
    const rows = this.#elements('COUNT(*)', node, scope, (inner) =>
      condition === null ? null : this.#predicate(condition, inner),
    )
    const comparison = this.#dialect.values[ofValues(node)](`(${rows})`, node.values.map(this.#operands.sql))
    return literal(`${negated ? 'NOT ' : ''}(${comparison})`)
  }

  #items(node: ItemsPredicate, scope: Scope): Fragment {
    const { quantifier, hops } = node
    const isNegated = quantifier !== 'any'
    if (this.#isBehindSubquery(hops, scope)) {
      const behind = (at: Scope): Fragment => this.#exists(this.#itemRows({ ...node, hops: [] }, at), false)
      return this.#exists(this.#through(scope, hops, behind), isNegated)
    }
    const met = this.#exists(this.#itemRows(node, scope), isNegated)
    const indexed = isNegated ? null : this.#indexed(node, scope)
    return indexed === null ? met : every([literal(indexed), met])
  }

  /** The SELECT of items that meet the condition, or for `all` of items that do not. */
  #itemRows({ quantifier, hops, item, condition }: ItemsPredicate, scope: Scope): string {
    const at: Scope = { ...scope, model: modelOf({ hops }, scope) }
    const where = `(${writeCondition(at.model, this.#predicate(condition, at), at.alias)})`
    const from = this.#dialect.members.items(this.column(arrayColumn(hops, item), scope), item)
    return `SELECT 1 FROM ${from} WHERE ${quantifier === 'all' ? `${where} IS NOT TRUE` : where}`
  }

  /** An extra condition that an index over the array serves, or null if there is none. */
  #indexed({ hops, item, condition }: ItemsPredicate, scope: Scope): string | null {
    if (condition.kind !== 'compare' || condition.negated || condition.ignoreCase) return null
    if (condition.operator !== 'eq' && condition.operator !== 'in') return null
    const field = memberIn(item.of)?.of ?? item.of
    const values = encodeCompared(this.#dialect, modelOf({ hops }, scope), inSpellings(condition))
    const column = this.column({ hops, field, nullable: true }, scope)
    return this.#dialect.members.contains(column, item, values, this.#operands.sql)
  }

  #itemCount(node: ItemCountPredicate, scope: Scope): Fragment {
    const { hops, item, negated } = node
    const lengthOf = (from: readonly Hop[], at: Scope): string =>
      this.#dialect.members.length(this.column(arrayColumn(from, item), at), item)
    const length = this.#isBehindSubquery(hops, scope)
      ? `(${this.#chain(scope, hops, (at) => lengthOf([], at))})`
      : lengthOf(hops, scope)
    const count = `COALESCE(${length}, 0)`
    const comparison = this.#dialect.values[ofValues(node)](count, node.values.map(this.#operands.sql))
    return literal(`${negated ? 'NOT ' : ''}(${comparison})`)
  }

  #match({ fields, values }: MatchPredicate, scope: Scope): Fragment {
    const columns = fields.map((field) => this.column({ hops: [], field, nullable: field.nullable }, scope))
    return literal(matching(this.#dialect, columns, this.#operands.sql(values[0])))
  }

  /** `IS TRUE`: otherwise SQLite plans each part of the exact condition separately. */
  #tuples({ fields, values, exact }: TuplesPredicate, scope: Scope): Fragment {
    const names = fields.map((field) => this.column({ hops: [], field, nullable: false }, scope))
    const encoded = values.map((value, index) => {
      const field = fields[index % fields.length]
      return field === undefined ? value : encodeValue(this.#dialect, scope.model, field, value)
    })
    const among = literal(amongRows(this.#dialect, this.#operands, { fields, values: encoded }, names))
    if (exact === null) return among
    const whole = writeCondition(scope.model, this.#predicate(exact, scope), scope.alias)
    return every([among, literal(`(${whole}) IS TRUE`)])
  }

  /** Written as IN, which databases start from: an owner has few join rows. */
  #owned({ relation: { association }, key, values, guard }: OwnedPredicate, scope: Scope): Fragment {
    const [value] = values.map((each) => encodeValue(this.#dialect, association.source, key, each))
    const owner = this.#dialect.operand(this.#operands.sql(value), key)
    return linkedTo(association, owner, scope, {
      alias: this.#alias(),
      conditions: (link) => (guard === null ? [] : [this.#predicate(guard, link)]),
    })
  }

  /** The main table needs an alias: a subquery could have a column of the same name. */
  #apart(condition: Predicate, scope: Scope): Fragment {
    if (scope.alias === '') throw new TypeError(`${scope.model.name}: a condition over other tables in a write`)
    const at: Scope = { ...scope, joins: false, seeks: true }
    if (this.#member !== null && scope.joins) return this.#predicate(condition, { ...at, byAttribute: true })
    return textOf(at, this.#predicate(condition, at))
  }

  /** Some elements meet a condition, as IN. null if the key is not compared by its stored value. */
  #among({ hop, condition }: QuantifiedPredicate, scope: Scope): Fragment | null {
    const { association } = hop.relation
    const { sourceKey } = keysOf(association)
    if (!isSeekable(association.source, sourceKey)) return null
    const rows = elementSelect((element) => element, association, {
      correlate: () => literal('1 = 1'),
      conditions: (inner) => {
        const at = { ...inner, seeks: true }
        return [hop.guard, condition].filter((part) => part !== null).map((part) => this.#predicate(part, at))
      },
      linkConditions: (link) => (hop.linkGuard === null ? [] : [this.#predicate(hop.linkGuard, link)]),
      alias: () => this.#alias(),
    })
    return within(scope, sourceKey, rows)
  }

  /** The record at the end of to-one relations meets a condition, as IN. null if EXISTS is required. */
  #sought(scope: Scope, hops: readonly Hop[], condition: (at: Scope) => Fragment | null): Fragment | null {
    if (scope.seeks !== true) return null
    const [hop, ...rest] = hops
    if (hop === undefined) return condition(scope)
    const { association, polymorphic, doubtful, between } = hop.relation
    const { foreignKey, targetKey } = keysOf(association)
    const isKey = pointsAt(association) && !polymorphic && !doubtful && between === null
    if (!isKey || !isSeekable(association.target, targetKey)) return null
    const at: Scope = { model: association.target, alias: this.#alias(), joins: false, seeks: true }
    const further = this.#sought(at, rest, condition)
    if (further === null) return null
    const where = every([...fixed(at, keysOf(association).scope), ...this.#conditions(hop, scope, at), further])
    const rows = writeSelect(at.model, {
      attributes: selected(columnIn(at, targetKey)),
      tableAs: at.alias,
      where,
    })
    return within(scope, foreignKey, rows)
  }

  /** Some record at the end of to-one relations meets a condition, or none if `negated`. */
  #behindPath(scope: Scope, hops: readonly Hop[], condition: (at: Scope) => Fragment, negated: boolean): Fragment {
    const sought = negated ? null : this.#sought(scope, hops, condition)
    return sought ?? this.#exists(this.#through(scope, hops, condition), negated)
  }

  /** The SELECT of a relation's elements, correlated to the record of `scope`. */
  #elements(
    what: string,
    { hops, hop }: Pick<CountPredicate, 'hops' | 'hop'>,
    scope: Scope,
    condition: (inner: Scope) => Fragment | null,
  ): string {
    const conditions = (inner: Scope): Fragment[] => {
      const guard = hop.guard === null ? null : this.#predicate(hop.guard, inner)
      return [guard, condition(inner)].filter((part) => part !== null)
    }
    const correlate = ({ element, owner }: Tied): Fragment => {
      const link = (source: Scope): Fragment => literal(`${element} = ${owner(source)}`)
      if (hops.length === 0) return link(scope)
      const source = { model: hops.at(-1)?.relation.association.target ?? scope.model, joins: false }
      if (scope.joins) return link({ ...source, alias: this.#joins.add(hops) })
      if (this.#dialect.seeksExists) return this.#exists(this.#through(scope, hops, link), false)
      return literal(`${element} IN (${this.#chain(scope, hops, owner)})`)
    }
    return elementSelect(what, hop.relation.association, {
      correlate,
      conditions,
      linkConditions: (link) => (hop.linkGuard === null ? [] : [this.#predicate(hop.linkGuard, link)]),
      alias: () => this.#alias(),
    })
  }

  /** The SELECT of the record at the end of to-one relations, correlated to the record of `scope`. */
  #through(scope: Scope, hops: readonly Hop[], condition: (inner: Scope) => Fragment): string {
    const [hop, ...rest] = hops
    if (hop === undefined) throw new TypeError('a path without hops has no subquery')
    const { at, where } = this.#behind(hop, scope)
    const further = rest.length === 0 ? condition(at) : this.#exists(this.#through(at, rest, condition), false)
    return writeSelect(at.model, { attributes: selected('1'), tableAs: at.alias, where: every([where, further]) })
  }

  /** The SELECT of a key of the record at the end of to-one relations of `scope`. */
  #chain(scope: Scope, hops: readonly Hop[], key: (at: Scope) => string): string {
    const tables: { readonly at: Scope; readonly where: Fragment }[] = []
    for (const hop of hops) tables.push(this.#behind(hop, tables.at(-1)?.at ?? scope))
    return chainSelect(key(tables.at(-1)?.at ?? scope), tables)
  }

  /** The row that a to-one relation leads to. A hasOne may match several rows. */
  #behind(hop: Hop, from: Scope): { readonly at: Scope; readonly where: Fragment } {
    const { association } = hop.relation
    const at: Scope = { model: association.target, alias: this.#alias(), joins: false }
    const link = literal(linked(association, from, at))
    return { at, where: every([link, ...fixed(at, keysOf(association).scope), ...this.#conditions(hop, from, at)]) }
  }

  /** Conditions on the row that a to-one relation leads to. */
  #conditions({ relation, guard }: Hop, from: Scope, at: Scope): Fragment[] {
    const guards = (scope: Scope): Fragment[] => (guard === null ? [] : [this.#predicate(guard, scope)])
    const between = relation.between === null ? null : keysOf(relation.between).through
    const own = [...ofSource(relation.association, from), ...fixed(at, between?.scope ?? []), ...guards(at)]
    if (!relation.doubtful || at.model.primaryKeyAttributes.length === 0) return own
    const row: Scope = { ...at, alias: this.#alias() }
    return [...own, isFirst(relation.association, from, at, row, guards(row))]
  }

  #exists(rows: string, negated: boolean): Fragment {
    return literal(negated ? `NOT EXISTS (${rows})` : this.#dialect.exists(rows))
  }

  #alias(): string {
    this.#aliases += 1
    return `_q${this.#aliases}`
  }
}
