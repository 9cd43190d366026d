// Generates random selections of collections, sends their requests, and compares the responses with the oracle.

import fc, { type Arbitrary } from 'fast-check'
import type { Condition } from './condition.js'
import { Conditions } from './conditions.js'
import { jsonOf } from './kinds.js'
import type { Oracle, SortKey } from './oracle.js'
import { printFilter, printName, printPath } from './print.js'
import { below, type Random, randomOf } from './random.js'
import { assertSame, type Client, type Query } from './requests.js'
import { type Column, type Relation, type Table, type TableName, tableNamed } from './schema.js'
import { type Row, relatedRecord, relatedTo, valueIn, type World } from './world.js'

/** Columns and relations that `select` requests from the records of a table. */
interface Selection {
  readonly columns: readonly Column[]
  readonly ones: readonly { readonly relation: Relation; readonly selection: Selection }[]
  readonly collections: readonly CollectionSelection[]
  /** Collections whose records are counted. */
  readonly counts: readonly Relation[]
}

interface CollectionSelection {
  readonly relation: Relation
  readonly condition: Condition | null
  readonly sort: readonly SortKey[]
  /** Null if the request sets no limit. */
  readonly limit: number | null
  readonly selection: Selection
}

export interface Embedding {
  readonly table: Table
  readonly condition: Condition | null
  readonly pages: number
  readonly selection: Selection
  /** Seed for variations of the request that must not change the response. */
  readonly style: number
}

/** Default limit of a collection. */
const USUAL = 100

/** Maximum length of a query. */
const LONGEST = 6000

const ROOTS: readonly TableName[] = ['Item', 'Item', 'Item', 'Store', 'Region', 'Part', 'Tag', 'Mark', 'Seal']

export function embeddingsOf(world: World): Arbitrary<Embedding> {
  const conditions = new Conditions(world, { pathDepth: 1, far: false, collections: true })
  return fc.constantFrom(...ROOTS).chain((name) => {
    const table = tableNamed(name)
    return fc.record({
      table: fc.constant(table),
      condition: fc.option(conditions.of(table), { freq: 1 }),
      pages: fc.integer({ min: 1, max: 3 }),
      selection: selectionOf(table, conditions, 2),
      style: fc.nat(),
    })
  })
}

function selectionOf(table: Table, conditions: Conditions, depth: number): Arbitrary<Selection> {
  const ones = table.relations.filter(({ many }) => !many)
  const collections = table.relations.filter(({ many }) => many)
  const some = <T>(relations: readonly Relation[], most: number, of: (relation: Relation) => Arbitrary<T>) =>
    depth === 0 || relations.length === 0
      ? fc.constant<readonly T[]>([])
      : fc
          .uniqueArray(fc.constantFrom(...relations), { maxLength: most })
          .chain((chosen): Arbitrary<readonly T[]> => fc.tuple(...chosen.map(of)))
  return fc.record({
    columns: fc.uniqueArray(fc.constantFrom(...table.columns), { minLength: 1, maxLength: 3 }),
    ones: some(ones, 1, (relation) =>
      selectionOf(tableNamed(relation.to), conditions, depth - 1).map((selection) => ({ relation, selection })),
    ),
    collections: some(collections, 2, (relation) => collectedOf(relation, conditions, depth - 1)),
    counts: some(collections, 2, (relation) => fc.constant(relation)),
  })
}

function collectedOf(relation: Relation, conditions: Conditions, depth: number): Arbitrary<CollectionSelection> {
  const table = tableNamed(relation.to)
  const key = fc
    .record({ place: conditions.place(table, 1), descending: fc.boolean() })
    .map(({ place: { relations, column }, descending }): SortKey => ({ relations, column, descending }))
  return fc.record({
    relation: fc.constant(relation),
    condition: fc.option(conditions.of(table), { freq: 1 }),
    sort: fc.array(key, { maxLength: 2 }),
    limit: fc.option(fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: USUAL }))),
    selection: selectionOf(table, conditions, depth),
  })
}

/** Sends the request of a case. @throws Difference for a response that differs from the oracle */
export async function checkEmbedding(client: Client, world: World, oracle: Oracle, given: Embedding): Promise<void> {
  const { table, condition, selection, pages } = given
  const random = randomOf(given.style)
  const rows = world.rows(table.name).filter((row) => condition === null || oracle.meets(row, condition))
  const sorted = oracle.sorted(table, rows, [])
  const pageSize = Math.max(1, Math.ceil(sorted.length / pages))
  const query: Query = {
    ...(condition === null ? {} : { filter: printFilter(condition, random) }),
    select: printSelection(selection, random).join(),
    ...Object.fromEntries(printCollectionParameters(selection, [], random)),
    pageSize: String(pageSize),
  }
  fc.pre(Object.values(query).every(({ length }) => length <= 4096))
  fc.pre(new URLSearchParams(query).toString().length <= LONGEST)
  for (let page = 1; page <= Math.max(1, Math.ceil(sorted.length / pageSize)); page += 1) {
    const { request, body } = await client.request(table, { ...query, page: String(page) })
    const expected = sorted
      .slice((page - 1) * pageSize, page * pageSize)
      .map((row) => expectedRecord(oracle, row, selection))
    assertSame('the items with their collections', request, body.items, expected)
    assertSame('the total', request, body.totalCount, sorted.length)
  }
}

/** Writes the items of `select` in random order. Each path is written alone or in a group. */
function printSelection({ columns, ones, collections, counts }: Selection, random: Random): readonly string[] {
  const all = [
    ...columns.map(({ name }) => printName(name, random)),
    ...[...ones, ...collections].flatMap(({ relation, selection }) => {
      const members = printSelection(selection, random)
      const name = printName(relation.name, random)
      return below(random, 2) === 0 ? [`${name}(${members.join()})`] : members.map((member) => `${name}.${member}`)
    }),
    ...counts.map(({ name }) => printPath([name, 'count'], random)),
  ]
  const turn = below(random, all.length)
  return [...all.slice(turn), ...all.slice(0, turn)]
}

/** Writes the parameters with the filter, sort and limit of each collection. */
function printCollectionParameters(
  { ones, collections }: Selection,
  before: readonly string[],
  random: Random,
): [string, string][] {
  const parameters = collections.flatMap(({ relation, condition, sort, limit, selection }): [string, string][] => {
    const path = [...before, relation.name]
    const named = (what: string): string => printPath([...path, what], random)
    const keys = sort.map(({ relations, column, descending }) => {
      return (descending ? '-' : '') + printPath([...relations.map(({ name }) => name), column.name], random)
    })
    return [
      ...(condition === null ? [] : [[named('filter'), printFilter(condition, random)] as [string, string]]),
      ...(keys.length === 0 ? [] : [[named('sort'), keys.join()] as [string, string]]),
      ...(limit === null ? [] : [[named('limit'), String(limit)] as [string, string]]),
      ...printCollectionParameters(selection, path, random),
    ]
  })
  return [
    ...parameters,
    ...ones.flatMap(({ relation, selection }) =>
      printCollectionParameters(selection, [...before, relation.name], random),
    ),
  ]
}

type ExpectedRecord = { readonly [name: string]: unknown }

/** Expected record for a row. A truncated array has a `@more` member next to it. */
function expectedRecord(oracle: Oracle, row: Row, { columns, ones, collections, counts }: Selection): ExpectedRecord {
  const record: Record<string, unknown> = {}
  for (const column of columns) record[column.name] = jsonOf(column, valueIn(row, column))
  for (const { relation, selection } of ones) {
    const one = relatedRecord(row, relation)
    record[relation.name] = one === null ? null : expectedRecord(oracle, one, selection)
  }
  for (const { relation, condition, sort, limit, selection } of collections) {
    const met = relatedTo(row, relation).filter((each) => condition === null || oracle.meets(each, condition))
    const most = limit ?? USUAL
    const first = oracle.sorted(tableNamed(relation.to), met, sort).slice(0, most)
    record[relation.name] = first.map((each) => expectedRecord(oracle, each, selection))
    if (met.length > most) record[`${relation.name}@more`] = true
  }
  for (const relation of counts) record[`${relation.name}Count`] = relatedTo(row, relation).length
  return record
}
