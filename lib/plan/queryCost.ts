import type { Column, Join } from '../../types/plan.js'
import type { Relation } from '../../types/resource.js'
import type { Limits } from '../../types/settings.js'
import { getOrCreate } from '../common/getOrCreate.js'
import { invalidQuery } from '../common/problem.js'
import type { Parameter } from './context.js'
import type { Root } from './path.js'

type CostLimit = 'joins' | 'quantifiers' | 'quantifierDepth' | 'cost'

/**
 * Cost of each part of a request, in approximate reads of all rows. A comparison costs 1, because an index may serve
 * it. A text search, or a comparison that ignores case, reads every row. A collection is read for every parent, with
 * the conditions on its records.
 */
const COSTS: Readonly<Record<'comparison' | 'pattern' | 'collection' | 'within', number>> = Object.freeze({
  comparison: 1,
  pattern: 4,
  collection: 10,
  within: 3,
})

const LIMIT_MESSAGES: Readonly<Record<CostLimit, string>> = {
  joins: 'reaches more tables than the limit of',
  quantifiers: 'crosses more collections than the limit of',
  quantifierDepth: 'nests collections deeper than the limit of',
  cost: 'makes the request cost more than the limit of',
}

/** Parameter and offset of a part of the request, for the error of a limit. */
export interface QueryPosition {
  readonly parameter: Parameter
  readonly offset: number
}

/**
 * Counts the tables and collections that the paths of a request use, before the database is queried. Paths from one
 * root share the tables of their common beginning. Every quantifier has a separate collection, which is the root of the
 * paths in its condition.
 */
export class QueryCost {
  readonly #limits: Pick<Limits, CostLimit>
  readonly #joinedRelations = new Map<Root, Set<string>>()
  #tables = 0
  #collections = 0
  /** Cost of all statements of a request. */
  readonly #cost: { spent: number }
  readonly #names: Partial<Readonly<Record<CostLimit, keyof Limits>>>

  /** `names` contains the options that set the limits, if these options differ from the defaults. */
  constructor(
    limits: Pick<Limits, CostLimit>,
    cost: { spent: number } = { spent: 0 },
    names: Partial<Readonly<Record<CostLimit, keyof Limits>>> = {},
  ) {
    this.#limits = limits
    this.#cost = cost
    this.#names = names
  }

  /** Creates the query cost of a further statement. All statements of a request share one total. */
  startStatement(): QueryCost {
    return new QueryCost(this.#limits, this.#cost, this.#names)
  }

  /** Counts one or several comparisons of one kind. @throws Problem if the cost exceeds the limit */
  addComparison(root: Root, isPattern: boolean, position: QueryPosition, times = 1): void {
    this.#addCost(root, times * (isPattern ? COSTS.pattern : COSTS.comparison), position)
  }

  /** Counts a path over to-one relations. @throws Problem if the path needs too many tables */
  addPath(root: Root, joins: readonly Join[], position: QueryPosition): void {
    if (joins.length === 0) return
    const joined = getOrCreate(this.#joinedRelations, root, () => new Set())
    let path = ''
    for (const { relation } of joins) {
      path += `${relation.name}.`
      if (joined.has(path)) continue
      joined.add(path)
      this.#addTables(1, position)
    }
  }

  /** Whether a path from a root already uses the table behind a relation. */
  hasJoined(root: Root, { name }: Pick<Relation, 'name'>): boolean {
    return this.#joinedRelations.get(root)?.has(`${name}.`) === true
  }

  /**
   * Counts a collection with a quantifier or a count, behind to-one relations.
   * @throws Problem if there are too many collections
   */
  addCollection(root: Root, joins: readonly Join[], join: Join, position: QueryPosition): void {
    this.#addQuantifier(root, position)
    this.addPath(root, joins, position)
    this.#addTables(countTables(join), position)
    this.#addCost(root, COSTS.collection, position)
  }

  /**
   * Counts the items of an array with a quantifier or a count, behind to-one relations.
   * @throws Problem if there are too many quantifiers
   */
  addItems(root: Root, joins: readonly Join[], position: QueryPosition): void {
    this.#addQuantifier(root, position)
    this.addPath(root, joins, position)
    this.#addCost(root, COSTS.collection, position)
  }

  /** Counts a column, or the number of a collection's records. @throws Problem if there are too many tables */
  addColumn(root: Root, { joins, countedJoin }: Column, position: QueryPosition): void {
    this.addPath(root, joins, position)
    if (countedJoin === undefined) return
    this.#addTables(countTables(countedJoin), position)
    this.#addCost(root, COSTS.collection, position)
  }

  #addQuantifier({ collections }: Root, position: QueryPosition): void {
    this.#check('quantifierDepth', collections + 1, position)
    this.#collections += 1
    this.#check('quantifiers', this.#collections, position)
  }

  #addCost({ collections }: Root, cost: number, position: QueryPosition): void {
    this.#cost.spent += cost * COSTS.within ** collections
    this.#check('cost', this.#cost.spent, position)
  }

  #addTables(tables: number, position: QueryPosition): void {
    this.#tables += tables
    this.#check('joins', this.#tables, position)
  }

  #check(limit: CostLimit, count: number, { parameter, offset }: QueryPosition): void {
    const maximum = this.#limits[limit]
    // The test is not `count > maximum`, because a maximum of NaN must reject.
    if (maximum === false || count <= maximum) return
    throw invalidQuery(
      parameter,
      `at position ${offset} ${LIMIT_MESSAGES[limit]} ${maximum} (${this.#names[limit] ?? limit}).`,
    )
  }
}

/** Returns the number of tables of a join. A many-to-many uses two tables. */
function countTables({ relation }: Join): number {
  return relation.joinModel === null ? 1 : 2
}
