import type { Column, Hop } from '../../types/plan.js'
import type { Relation } from '../../types/resource.js'
import type { Limits } from '../../types/settings.js'
import { invalidQuery } from '../common/problem.js'
import type { Parameter } from './context.js'
import type { Root } from './path.js'

type CostLimit = 'joins' | 'quantifiers' | 'quantifierDepth' | 'cost'

/**
 * What the parts of a request cost, about as often as each has its rows read or compared. A comparison that an index may serve is one;
 * what is looked for anywhere in a text, or in any case, is looked for in every row; and a collection is read for every owner,
 * with all that is said of its records.
 */
const COSTS: Readonly<Record<'comparison' | 'pattern' | 'collection' | 'within', number>> = Object.freeze({
  comparison: 1,
  pattern: 4,
  collection: 10,
  within: 3,
})

const EXCEEDED: Readonly<Record<CostLimit, string>> = {
  joins: 'reaches more tables than the limit of',
  quantifiers: 'crosses more collections than the limit of',
  quantifierDepth: 'crosses more collections within each other than the limit of',
  cost: 'makes the request cost more than the limit of',
}

/** What a request's own text says, and where: the answer to what is too much names it. */
export interface Place {
  readonly parameter: Parameter
  readonly offset: number
}

/**
 * Counts what the paths of one request reach, so that what it may cost is known before the database is asked. Paths
 * from one root share the tables that their beginnings share; every quantifier has its collection to itself, and is
 * the root of the paths in its condition.
 */
export class Tally {
  readonly #limits: Pick<Limits, CostLimit>
  readonly #reached = new Map<Root, Set<string>>()
  #tables = 0
  #collections = 0
  /** That of all statements of a request. */
  readonly #cost: { spent: number }
  readonly #names: Partial<Readonly<Record<CostLimit, keyof Limits>>>

  /** `names` has the options by which the host sets limits, where these are others. */
  constructor(
    limits: Pick<Limits, CostLimit>,
    cost: { spent: number } = { spent: 0 },
    names: Partial<Readonly<Record<CostLimit, keyof Limits>>> = {},
  ) {
    this.#limits = limits
    this.#cost = cost
    this.#names = names
  }

  /** The tally of another statement of the same request. */
  another(): Tally {
    return new Tally(this.#limits, this.#cost, this.#names)
  }

  /** A comparison, or several of the same kind. @throws Problem when it is too dear */
  comparison(root: Root, isPattern: boolean, place: Place, times = 1): void {
    this.#charge(root, times * (isPattern ? COSTS.pattern : COSTS.comparison), place)
  }

  /** A path over to-one relations. @throws Problem when it reaches one table too many */
  path(root: Root, hops: readonly Hop[], place: Place): void {
    const reached = this.#reached.get(root) ?? new Set()
    this.#reached.set(root, reached)
    let path = ''
    for (const { relation } of hops) {
      path += `${relation.name}.`
      if (reached.has(path)) continue
      reached.add(path)
      this.#add(1, place)
    }
  }

  /** Whether a path from a root reaches the table behind a relation. */
  hasReached(root: Root, { name }: Pick<Relation, 'name'>): boolean {
    return this.#reached.get(root)?.has(`${name}.`) === true
  }

  /** A collection with a quantifier or a count, behind to-one relations. @throws Problem when it is one too many */
  collection(root: Root, hops: readonly Hop[], hop: Hop, place: Place): void {
    this.#quantifier(root, place)
    this.path(root, hops, place)
    this.#add(tablesOf(hop), place)
    this.#charge(root, COSTS.collection, place)
  }

  /** The items of an array behind to-one relations, with a quantifier or a count. @throws Problem when they are too many */
  items(root: Root, hops: readonly Hop[], place: Place): void {
    this.#quantifier(root, place)
    this.path(root, hops, place)
    this.#charge(root, COSTS.collection, place)
  }

  /** What a column reads, which may be the number of a collection's records. @throws Problem when it is one table too many */
  column(root: Root, { hops, counted }: Column, place: Place): void {
    this.path(root, hops, place)
    if (counted === undefined) return
    this.#add(tablesOf(counted), place)
    this.#charge(root, COSTS.collection, place)
  }

  #quantifier({ collections }: Root, place: Place): void {
    this.#check('quantifierDepth', collections + 1, place)
    this.#collections += 1
    this.#check('quantifiers', this.#collections, place)
  }

  #charge({ collections }: Root, cost: number, place: Place): void {
    this.#cost.spent += cost * COSTS.within ** collections
    this.#check('cost', this.#cost.spent, place)
  }

  #add(tables: number, place: Place): void {
    this.#tables += tables
    this.#check('joins', this.#tables, place)
  }

  #check(limit: CostLimit, count: number, { parameter, offset }: Place): void {
    const maximum = this.#limits[limit]
    // Not `count > maximum`: a maximum that is no number refuses.
    if (maximum === false || count <= maximum) return
    throw invalidQuery(
      parameter,
      `at position ${offset} ${EXCEEDED[limit]} ${maximum} (${this.#names[limit] ?? limit}).`,
    )
  }
}

/** Both tables of a many-to-many are in the statement. */
function tablesOf({ relation }: Hop): number {
  return relation.link === null ? 1 : 2
}
