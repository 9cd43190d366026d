// Compares the list, the counts and the negated filter of one case with the oracle.

import fc from 'fast-check'
import type { Case } from './cases.js'
import { negated } from './condition.js'
import { keysOf, type Oracle, selectedOf } from './oracle.js'
import { printFilter, printName, printPath } from './print.js'
import { below, type Random, randomOf } from './random.js'
import { assertSame, type Client, keyIn, type Query } from './requests.js'
import type { Row, World } from './world.js'

/** Maximum length of a filter in characters. */
export const LONGEST = 4096

export class Checker {
  readonly #world: World
  readonly #oracle: Oracle
  readonly #client: Client

  constructor(world: World, oracle: Oracle, client: Client) {
    this.#world = world
    this.#oracle = oracle
    this.#client = client
  }

  /** Sends the requests of a case. @throws Difference for a response that differs from the oracle */
  async check(given: Case): Promise<void> {
    const { table, includeDeleted, condition, parameters } = given
    const rows = includeDeleted ? this.#world.all(table.name) : this.#world.rows(table.name)
    const isWanted = (row: Row): boolean =>
      (condition === null || this.#oracle.meets(row, condition)) &&
      parameters.every(({ column, operand }) =>
        this.#oracle.meets(row, {
          kind: 'compare',
          relations: [],
          column,
          operator: 'eq',
          operands: [operand],
          ignoreCase: false,
        }),
      )
    const expectedRows = rows.filter(isWanted)
    const random = randomOf(given.style)
    const deleted: Query = includeDeleted ? { includeDeleted: 'true' } : {}
    const filter: Query = { ...filterOf(given, random), ...deleted }
    const complement = condition === null ? '' : printFilter(negated(condition), random)
    fc.pre((filter.filter ?? '').length <= LONGEST && complement.length <= LONGEST)
    await Promise.all([
      this.#items(given, filter, expectedRows, random),
      this.#count(given, filter, expectedRows.length),
      this.#complement(given, complement, rows, deleted),
    ])
  }

  async #count({ table }: Case, filter: Query, expected: number): Promise<void> {
    const { request, body } = await this.#client.request(table, { ...filter, count: 'true' })
    assertSame('the count', request, body.count, expected)
  }

  /** Checks the negated filter. A filter and its negation together return every row exactly once. */
  async #complement({ table, condition }: Case, filter: string, rows: readonly Row[], deleted: Query): Promise<void> {
    if (condition === null) return
    const { request, body } = await this.#client.request(table, { filter, ...deleted, count: 'true' })
    const unmet = rows.filter((row) => !this.#oracle.meets(row, condition))
    assertSame('the count of the complement', request, body.count, unmet.length)
  }

  async #items(given: Case, filter: Query, expectedRows: readonly Row[], random: Random): Promise<void> {
    switch (given.reading) {
      case 'keyset':
        return this.#keyset(given, filter, expectedRows, random)
      case 'select':
        return this.#selected(given, filter, expectedRows, random)
      default:
        return this.#pages(given, filter, expectedRows, random)
    }
  }

  /** Checks numbered pages. All pages together have the whole order, and each page has the correct total. */
  async #pages(given: Case, filter: Query, expectedRows: readonly Row[], random: Random): Promise<void> {
    const { table, reading, pages, sort } = given
    const { query: order, direction } = orderOf(given, random)
    const isWhole = reading === 'keys'
    const pageSize = isWhole ? 1000 : Math.max(1, Math.ceil(expectedRows.length / pages))
    const number = Math.max(1, Math.ceil(expectedRows.length / pageSize))
    const query = { ...filter, ...order, ...(isWhole ? { select: 'id' } : {}), pageSize: String(pageSize) }
    const answers = await Promise.all(
      Array.from({ length: number }, (_, at) => this.#client.request(table, { ...query, page: String(at + 1) })),
    )
    const found = answers.flatMap(({ body }) => body.items.map(keyIn))
    const expected = keysOf(this.#oracle.sorted(table, expectedRows, sort, direction), table)
    for (const { request, body } of answers) {
      assertSame('the keys of all pages', request, found, expected)
      assertSame('the total', request, body.totalCount, expectedRows.length)
    }
  }

  /** Checks keyset pages. All pages together contain each row once in key order. */
  async #keyset(given: Case, filter: Query, expectedRows: readonly Row[], random: Random): Promise<void> {
    const { table, pages } = given
    const query = {
      ...filter,
      ...orderOf(given, random).query,
      pageSize: String(Math.max(1, Math.ceil(expectedRows.length / pages))),
    }
    const found: unknown[] = []
    let cursor: string | null = ''
    let last = ''
    while (cursor !== null && found.length <= expectedRows.length) {
      const { request, body } = await this.#client.request(table, { ...query, cursor })
      found.push(...body.items.map(keyIn))
      cursor = body.nextCursor
      last = request
    }
    assertSame('the keys by cursor', last, found, keysOf(this.#oracle.sorted(table, expectedRows, []), table))
  }

  async #selected(given: Case, filter: Query, expectedRows: readonly Row[], random: Random): Promise<void> {
    const { table, sort } = given
    const { query: order, direction } = orderOf(given, random)
    const select = given.select
      .map(({ relations, column }) => printPath([...relations.map(nameOf), column.name], random))
      .join()
    const { request, body } = await this.#client.request(table, { ...filter, ...order, select, pageSize: '1000' })
    const expected = this.#oracle.sorted(table, expectedRows, sort, direction)
    assertSame(
      'the selected items',
      request,
      body.items,
      expected.map((row) => selectedOf(row, given.select)),
    )
  }
}

/** Query with the filter and the typed parameters of a case. */
export function filterOf({ condition, parameters }: Case, random: Random): Query {
  const typed = parameters.map(({ column, operand }) => [
    printName(column.name, random),
    operand.kind === 'null' ? '' : operand.text,
  ])
  return {
    ...(condition === null ? {} : { filter: printFilter(condition, random) }),
    ...Object.fromEntries(typed),
  }
}

/** Query with the sort of a case, in a randomly chosen form. */
export function orderOf({ sort }: Case, random: Random): { query: Query; direction: 'asc' | 'desc' } {
  const [first] = sort
  if (first === undefined) {
    const isTurned = below(random, 4) === 0
    return isTurned ? { query: { sortDirection: 'desc' }, direction: 'desc' } : { query: {}, direction: 'asc' }
  }
  if (sort.length === 1 && first.relations.length === 0 && below(random, 2) === 0) {
    const sortBy = printName(first.column.name, random)
    const query = first.descending ? { sortBy, sortDirection: 'Desc' } : { sortBy }
    return { query, direction: 'asc' }
  }
  const keys = sort.map(({ relations, column, descending }) => {
    const path = printPath([...relations.map(nameOf), column.name], random)
    if (!descending) return below(random, 4) === 0 ? `${path} asc` : path
    return below(random, 2) === 0 ? `-${path}` : `${path} desc`
  })
  return { query: { sort: keys.join() }, direction: 'asc' }
}

function nameOf({ name }: { readonly name: string }): string {
  return name
}
