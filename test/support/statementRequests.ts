import fc, { type Arbitrary } from 'fast-check'
import { DataTypes, type Model, type ModelStatic, Op, Sequelize } from 'sequelize'
import { addCondition } from '../../lib/common/predicates.js'
import { compile } from '../../lib/compile/index.js'
import { crudRouter } from '../../lib/index.js'
import type { StatementRequest } from '../../lib/perform/sql/request.js'
import type { Field } from '../../types/field.js'
import type { Column, Join, OrderKey, PlainValue, PositiveOperator, Predicate } from '../../types/plan.js'
import type { Relation, Resource } from '../../types/resource.js'
import { sqliteOptions } from './database.js'

const DIALECTS = ['sqlite', 'postgres', 'mysql', 'mariadb'] as const

/** Attributes of the join model between players and tags. */
const LABEL = {
  id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true },
  tenant: DataTypes.INTEGER,
  owner: DataTypes.INTEGER,
}

/**
 * Builds resources over models whose names contain all special characters of lists, paths and texts. No database is
 * used.
 */
export function resourcesOf(dialect: (typeof DIALECTS)[number]): Resource {
  const sequelize = new Sequelize({
    logging: false,
    ...(dialect === 'sqlite' ? { ...sqliteOptions, storage: ':memory:' } : { dialect }),
  })
  const attributes = {
    'a,b': { type: DataTypes.STRING, field: 'ab' },
    a: DataTypes.STRING,
    b: { type: DataTypes.STRING(20), allowNull: false },
    'a;b]': { type: DataTypes.INTEGER, field: 'a_b' },
    'x "1"': { type: DataTypes.INTEGER, field: 'x', allowNull: false },
    '#1 0': { type: DataTypes.BOOLEAN, field: 'flag' },
    when: { type: DataTypes.DATE, field: 'when_at' },
    漢: { type: DataTypes.ENUM('one', 'two'), field: 'kind' },
    tenant: DataTypes.INTEGER,
    owner: DataTypes.INTEGER,
  }
  const define = (name: string, options: object = {}): ModelStatic<Model> =>
    sequelize.define(name, attributes, { timestamps: false, ...options })
  const Player = define('Player')
  const Team = define('Team', { defaultScope: { where: { [Op.or]: [{ tenant: 1 }, { owner: null }] } } })
  const Club = define('Club', { timestamps: true, paranoid: true })
  const Tag = define('Tag')
  const Label = sequelize.define('Label', LABEL, { timestamps: false })
  const by = (name: string, foreignKey: string): object => ({ as: name, foreignKey, constraints: false })
  Player.belongsTo(Team, by('team', 'teamId'))
  Player.belongsTo(Player, by('c', 'cId'))
  Player.belongsToMany(Tag, { as: 'tags', through: Label, constraints: false })
  Tag.belongsToMany(Player, { as: 'players', through: Label, constraints: false })
  Team.hasMany(Player, by('players', 'teamId'))
  Team.belongsTo(Club, by('club', 'clubId'))
  Club.hasMany(Team, { ...by('teams', 'clubId'), scope: { b: 'fixed' } })
  Club.hasOne(Tag, by('tag', 'clubId'))
  for (const model of [Player, Team, Club, Tag, Label]) crudRouter(model)
  return compile(Player)
}

export const ALL_RESOURCES: readonly Resource[] = DIALECTS.map(resourcesOf)

/**
 * A number that selects one of several options. Any number is valid, because it is reduced to the number of options.
 */
type Choice = number

/** A part of a request, as choices. Choices are valid for any resource, and independent of values and caller. */
interface Node {
  readonly kind: Choice
  readonly path: readonly Choice[]
  readonly field: Choice
  readonly operator: Choice
  readonly flags: readonly boolean[]
  readonly count: Choice
  readonly nodes: readonly Node[]
}

export interface RequestChoices {
  readonly kind: Choice
  readonly where: Node | null
  readonly columns: readonly Node[]
  readonly order: readonly Node[]
  readonly window: Choice
  readonly flags: readonly boolean[]
}

/** Scopes of a caller, as one choice per model. */
export type Scopes = readonly Choice[]

const choice = fc.nat({ max: 30 })
const flags = fc.array(fc.boolean(), { minLength: 4, maxLength: 4 })

const { node } = fc.letrec<{ node: Node }>((tie) => ({
  node: fc.record({
    kind: choice,
    path: fc.array(choice, { maxLength: 2 }),
    field: choice,
    operator: choice,
    flags,
    count: fc.integer({ min: 1, max: 3 }),
    nodes: fc.oneof({ maxDepth: 2 }, fc.constant([]), fc.array(tie('node'), { maxLength: 3 })),
  }),
}))

export const recipes: Arbitrary<RequestChoices> = fc.record({
  kind: choice,
  where: fc.option(node, { freq: 4 }),
  columns: fc.array(node, { minLength: 1, maxLength: 4 }),
  order: fc.array(node, { minLength: 1, maxLength: 2 }),
  window: fc.nat({ max: 2 }),
  flags,
})

export const scopes: Arbitrary<Scopes> = fc.array(fc.nat({ max: 7 }), { minLength: 5, maxLength: 5 })

/** Values, as choices. Some texts contain characters that MySQL's narrow columns cannot store. */
export type Values = readonly Choice[]

export const values: Arbitrary<Values> = fc.array(choice, { minLength: 1, maxLength: 6 })

function pick<T>(from: readonly T[], at: Choice): T {
  const one = from[at % from.length]
  if (one === undefined) throw new RangeError('there is nothing to choose from')
  return one
}

const ORDERED: readonly PositiveOperator[] = ['eq', 'gt', 'gte', 'lt', 'lte', 'in']
const TEXT: readonly PositiveOperator[] = [...ORDERED, 'contains', 'startsWith', 'endsWith']

/** Builds the request of some choices, for a caller with scopes and values. */
export function buildRequest(
  resource: Resource,
  recipe: RequestChoices,
  caller: Scopes,
  given: Values,
): StatementRequest {
  return new RequestBuilder(resource, caller, given).request(recipe)
}

interface Place {
  readonly fields: readonly Field[]
  readonly relations: ReadonlyMap<string, Relation>
}

class RequestBuilder {
  readonly #resource: Resource
  readonly #caller: Scopes
  readonly #given: Values
  readonly #guards = new Map<ModelStatic<Model>, Predicate | null>()
  readonly #place: Place
  #used = 0

  constructor(resource: Resource, caller: Scopes, given: Values) {
    this.#resource = resource
    this.#caller = caller
    this.#given = given
    this.#place = { fields: ownOf(resource), relations: resource.relations() }
  }

  request({
    kind,
    where: condition,
    columns: some,
    order: keys,
    window,
    flags: given,
  }: RequestChoices): StatementRequest {
    const [unscoped = false, deleted = false, lock = false, total = false] = given
    const own = ownOf(this.#resource)
    const column = (each: Node): Column => this.#column({ ...each, path: [] }, this.#root)
    const where = condition === null ? null : this.#predicate(condition, this.#root)
    const direct = this.#flat(condition)
    const columns = some.map((each) => this.#read(each, this.#root))
    const order = keys.map((each) => ({
      column: this.#read(each, this.#root),
      direction: each.flags[0] ? ('asc' as const) : ('desc' as const),
    }))
    const size = total ? 2 : window
    switch (pick(['select', 'select', 'count', 'aggregate', 'insert', 'update', 'delete'] as const, kind)) {
      case 'select':
        return {
          kind: 'select',
          where: size > 0 && lock ? addCondition(where, this.#keysetPredicate(order, unscoped)) : where,
          columns,
          order: size === 0 ? [] : order,
          window: Array.from({ length: size }, () => this.#next()),
          total,
          keys: deleted ? (unscoped ? 'shared' : 'exact') : 'none',
          unscoped,
          includeDeleted: deleted,
          lock,
        }
      case 'count':
        return { kind: 'count', where, includeDeleted: deleted }
      case 'aggregate': {
        const groups = some.slice(0, unscoped ? 1 : 0).map((each) => this.#read({ ...each, flags: [] }, this.#root))
        const measured = some.map((each) => this.#measure(each))
        const [first] = measured
        const having: Predicate | null =
          first === undefined || !lock
            ? null
            : {
                kind: 'compare',
                column: first,
                operator: 'gt',
                values: [this.#next()],
                ignoreCase: false,
                negated: total,
              }
        return {
          kind: 'aggregate',
          where,
          columns: [...groups, ...measured],
          groups: groups.length,
          having,
          order: [...groups, ...measured].map((column) => ({ column, direction: deleted ? 'asc' : 'desc' })),
          window: total ? [] : [this.#next(), this.#next()],
          total,
          includeDeleted: deleted,
        }
      }
      case 'insert': {
        const fields = [...new Set(some.map(({ field }) => pick(own, field)))]
        return {
          kind: 'insert',
          fields,
          rows: this.#times(total ? 2 : 1, () => fields.map(() => this.#next())),
          returning: some.map(column),
        }
      }
      case 'update': {
        const increments = own.filter(({ name }) => name === 'tenant' && unscoped)
        const fields = [...new Set(some.map(({ field }) => pick(own, field)))].filter(
          (each) => !increments.includes(each),
        )
        const returning = lock ? some.map(column) : []
        return {
          kind: 'update',
          fields,
          values: fields.map(() => this.#next()),
          increments,
          where: direct,
          includeDeleted: deleted,
          returning,
        }
      }
      case 'delete':
        return { kind: 'delete', where: direct }
    }
  }

  /**
   * Keyset predicate for records after a position in the order. A choice decides whether the first key of the position
   * is null.
   */
  #keysetPredicate(order: readonly OrderKey[], inclusive: boolean): Predicate {
    const keys = order.map((key, index) => ({ ...key, isNull: index === 0 && inclusive && key.column.nullable }))
    return { kind: 'keyset', keys, inclusive, values: keys.filter(({ isNull }) => !isNull).map(() => this.#next()) }
  }

  get #root(): Place {
    return this.#place
  }

  #next(): Choice {
    this.#used += 1
    return this.#given[this.#used % this.#given.length] ?? 0
  }

  /** An aggregate of a column. */
  #measure(from: Node): Column {
    const column = this.#column(from, this.#root)
    const field = column.field.derive?.(pick(['count', 'distinct', 'rows'] as const, from.operator)) ?? null
    if (field === null) throw new TypeError(`nothing is measured of ${column.field.name}`)
    return { joins: column.joins, field, nullable: field.nullable }
  }

  /** A condition on columns of the record itself, as in writes. */
  #flat(from: Node | null): Predicate {
    const parts = from === null ? [] : [from, ...from.nodes]
    return { kind: 'and', nodes: parts.map((each) => this.#compare({ ...each, path: [] }, this.#root)) }
  }

  #predicate(from: Node, at: Place): Predicate {
    const negated = from.flags[0] ?? false
    const nodes = (): Predicate[] => from.nodes.map((each) => this.#predicate(each, at))
    const kinds = [
      'compare',
      'compare',
      'null',
      'absent',
      'quantified',
      'count',
      'and',
      'or',
      'never',
      'always',
      'fullText',
    ] as const
    const kind = pick(kinds, from.kind)
    switch (kind) {
      case 'compare':
        return this.#compare(from, at)
      case 'null':
        return { kind, column: this.#column(from, at), negated }
      case 'absent': {
        const { joins } = this.#walk(from.path, at)
        return joins.length === 0 ? this.#compare(from, at) : { kind, joins, negated }
      }
      case 'and':
      case 'or':
        return from.nodes.length === 0 ? this.#compare(from, at) : { kind, nodes: nodes() }
      case 'never':
      case 'always':
        return { kind }
      case 'fullText': {
        if (at !== this.#place || this.#resource.dialect().fullText === null) return this.#compare(from, at)
        const texts = [...at.fields].filter(({ valueType }) => valueType.type === 'string')
        return { kind, fields: texts.slice(0, from.count), values: [String(this.#next())] }
      }
      case 'quantified':
      case 'count': {
        const { joins, place } = this.#walk(from.path, at)
        const many = [...place.relations.values()].filter((relation) => relation.many)
        if (many.length === 0) return this.#compare(from, at)
        const relation = pick(many, from.field)
        const join = this.#joinOf(relation)
        const [first] = from.nodes
        const condition = first === undefined ? null : this.#predicate(first, targetPlaceOf(relation))
        if (kind === 'quantified' && condition !== null) {
          return {
            kind,
            quantifier: pick(['any', 'all', 'none'] as const, from.operator),
            joins,
            join,
            condition,
          }
        }
        const operator = pick(ORDERED, from.operator)
        const count = operator === 'in' ? from.count : 1
        return {
          kind: 'count',
          joins,
          join,
          condition,
          operator,
          negated,
          values: this.#times(count, () => this.#next()),
        }
      }
    }
  }

  #compare(from: Node, at: Place): Predicate {
    const column = this.#column(from, at)
    const { type } = column.field.valueType
    const [negated = false, ignoreCase = false] = from.flags
    const operator =
      type === 'boolean' || type === 'enum'
        ? pick(['eq', 'in'] as const, from.operator)
        : pick(type === 'string' ? TEXT : ORDERED, from.operator)
    const count = operator === 'in' ? from.count : 1
    // The planner reverses comparisons instead of negating them, except comparisons of text.
    const isNegated = negated && (operator === 'eq' || operator === 'in' || type === 'string')
    return {
      kind: 'compare',
      column,
      operator,
      values: this.#times(count, () => valueFor(column.field, this.#next())),
      ignoreCase: ignoreCase && type === 'string',
      negated: isNegated,
    }
  }

  #times<T>(count: number, make: () => T): T[] {
    return Array.from({ length: count }, make)
  }

  #column(from: Node, at: Place): Column {
    const { joins, place } = this.#walk(from.path, at)
    const field = pick(place.fields, from.field)
    return { joins, field, nullable: field.nullable || joins.length > 0 }
  }

  /** A column of a response or of an order, or the number of records in a collection. */
  #read(from: Node, at: Place): Column {
    const { joins, place } = this.#walk(from.path, at)
    const many = [...place.relations.values()].filter((relation) => relation.many)
    if (many.length === 0 || !from.flags[2]) return this.#column(from, at)
    const relation = pick(many, from.field)
    return { joins, field: relation.count, nullable: false, countedJoin: this.#joinOf(relation) }
  }

  /** Follows to-one relations that exist. */
  #walk(path: readonly Choice[], from: Place): { joins: readonly Join[]; place: Place } {
    const joins: Join[] = []
    let place = from
    for (const step of path) {
      const ones = [...place.relations.values()].filter((relation) => !relation.many)
      if (ones.length === 0) break
      const relation = pick(ones, step)
      joins.push(this.#joinOf(relation))
      place = targetPlaceOf(relation)
    }
    return { joins, place }
  }

  #joinOf(relation: Relation): Join {
    const { joinModel, association, resolveTarget } = relation
    const guard = this.#guardOf(association.target, [...(resolveTarget()?.fields.values() ?? [])])
    const fields = joinModel?.resources()[0]?.fields
    return {
      relation,
      condition: guard,
      joinRowCondition: joinModel === null || !fields ? null : this.#guardOf(joinModel.model, fields),
    }
  }

  /** Condition of the caller's scope on a model. All paths share one object per model. */
  #guardOf(model: ModelStatic<Model>, fields: readonly Field[]): Predicate | null {
    const known = this.#guards.get(model)
    if (known !== undefined) return known
    const guard = guardOf(fields, this.#caller[model.name.length % this.#caller.length] ?? 0, this.#next())
    this.#guards.set(model, guard)
    return guard
  }
}

function targetPlaceOf({ resolveTarget }: Relation): Place {
  const at = resolveTarget()
  if (at === null) throw new TypeError('the relation is closed')
  return { fields: [...at.fields.values()].filter(({ virtual }) => !virtual), relations: at.relations }
}

function ownOf({ fields }: Resource): readonly Field[] {
  return fields.filter(({ virtual }) => !virtual)
}

/**
 * Builds a scope condition. A choice selects none, one attribute, another attribute, both, null, not null, one of
 * several values, or marked as deleted.
 */
function guardOf(fields: readonly Field[], shape: Choice, value: Choice): Predicate | null {
  const named = (name: string): Column => {
    const field = fields.find((each) => each.name === name)
    if (field === undefined) throw new TypeError(`there is no ${name}`)
    return { joins: [], field, nullable: true }
  }
  const equals = (name: string, negated = false): Predicate => ({
    kind: 'compare',
    column: named(name),
    operator: 'eq',
    values: [value],
    ignoreCase: false,
    negated,
  })
  switch (shape % 8) {
    case 1:
      return equals('tenant')
    case 2:
      return equals('owner')
    case 3:
      return { kind: 'and', nodes: [equals('tenant'), equals('owner')] }
    case 4:
      return { kind: 'null', column: named('owner'), negated: false }
    case 5:
      return { kind: 'null', column: named('owner'), negated: true }
    case 6:
      return { kind: 'or', nodes: [equals('owner'), { kind: 'null', column: named('tenant'), negated: false }] }
    case 7:
      return equals('tenant', true)
    default:
      return null
  }
}

/** A text that is wide, long, both or neither. Databases compare these texts with different SQL. */
function textFor(seed: Choice): string {
  const text = seed % 4 < 2 ? `\u{1F600}${seed}` : `text ${seed}`
  return seed % 2 === 0 ? text : text.repeat(20)
}

function valueFor({ valueType }: Field, seed: Choice): PlainValue {
  switch (valueType.type) {
    case 'string':
      return textFor(seed)
    case 'boolean':
      return seed % 2 === 0
    case 'datetime':
      return new Date(seed * 1000)
    case 'enum':
      return pick(valueType.values ?? [], seed)
    default:
      return seed
  }
}
