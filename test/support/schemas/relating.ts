import type { Field, JsonValue } from '../../../types/field.js'
import type { Operator } from '../../../types/query.js'
import type { JsonRecord } from '../../../types/reply.js'
import type { Relation } from '../../../types/resource.js'
import { list } from '../lists.js'
import { TOKENS } from '../operators.js'
import { assertAscending, assertSame, expectKeys, keyIn, readKeys, valuesOf, visitAll, type Walk } from './asking.js'
import { isMatch, isTextOrder, textOf } from './comparing.js'
import { pathsFrom, type RelationPath, type Row, type Tables, toWireValue } from './tables.js'

/**
 * Uses every relation path in filters, quantifiers, sorts and selections. Also sends requests that the server must
 * reject.
 */
export async function walkRelations(walk: Walk): Promise<void> {
  const { t, server, resource } = walk
  const paths = pathsFrom(resource)
  // Paths of three relations and more are put together like shorter ones, and there are hundreds: a third is a sample.
  const visited = paths.filter(({ relations }, n) => relations.length < 3 || n % 3 === 0)
  await visitAll(visited, async (path, n) => {
    const field = fieldAt(walk, path, n)
    if (field === null) return
    if (path.relations.some(({ many }) => many)) await walkCollections(walk, path, field, n)
    else await walkToOne(walk, path, field, n)
  })
  const [tooDeep] = paths.flatMap(({ relations, access }) =>
    relations.length < resource.limits.pathDepth
      ? []
      : [...access.relations.values()].map((next) => [...relations, next]),
  )
  if (tooDeep === undefined) return
  const { status, text } = await list(server, resource.route, { filter: `${namesOf(tooDeep).join('.')}.count>0` })
  t.is(status, 400)
  t.regex(text, /pathDepth/)
}

async function walkToOne(walk: Walk, { relations }: RelationPath, field: Field, n: number): Promise<void> {
  const { t, server, tables, resource } = walk
  const rows = tables.of(resource.model)
  const path = namesOf(relations).join('.')
  const leaf = (row: Row): Row | undefined => leavesOf(tables, relations, row)[0]
  const where = (test: (value: JsonValue) => boolean): readonly Row[] =>
    rows.filter((row) => test(leaf(row)?.[field.name] ?? null))
  const name = `${path}.${field.json}`
  const value = reachableValue(walk, relations, field, n)
  for (const operator of ['eq', 'ne', 'in', 'notIn', 'gte', 'lt'] as const) {
    if (!field.operators.has(operator) || isTextOrder(field, operator)) continue
    const filter = name + TOKENS[operator] + textOf(field, value)
    await expectKeys(
      walk,
      { filter },
      where((each) => isMatch(operator, each, [value])),
    )
  }
  await expectKeys(
    walk,
    { filter: `${path}=null` },
    rows.filter((row) => leaf(row) === undefined),
  )
  await expectKeys(
    walk,
    { filter: `${path}!=null` },
    rows.filter((row) => leaf(row) !== undefined),
  )
  if (field.sortable) {
    const byKey = new Map(rows.map((row) => [keyIn(row, resource), row]))
    const up = await readKeys(walk, { sort: name })
    t.deepEqual(await readKeys(walk, { sort: `-${name}` }), [...up].reverse(), `-${name}`)
    const sorted = up.map((key) => byKey.get(key))
    assertAscending(
      t,
      field,
      sorted.map((row) => (row === undefined ? null : (leaf(row)?.[field.name] ?? null))),
    )
  }
  const { body, text } = await list(server, resource.route, { select: `${resource.key.json},${name}`, pageSize: 1000 })
  const expected = rows.map((row) => ({
    [resource.key.json]: keyIn(row, resource),
    ...nested(tables, relations, field, row),
  }))
  assertSame(t, body.items, expected, resource.key.json, text)
}

/**
 * Checks quantifiers. A quantifier applies to the last collection of a path. In earlier collections, one matching
 * element suffices.
 */
async function walkCollections(walk: Walk, path: RelationPath, field: Field, n: number): Promise<void> {
  const { t, server, tables, resource } = walk
  const { relations } = path
  const rows = tables.of(resource.model)
  const at = relations.findLastIndex(({ many }) => many)
  const outer = relations.slice(0, at)
  const [collection, ...inner] = relations.slice(at)
  if (collection === undefined) throw new RangeError('a path without a collection')
  const before = outer.map(({ json, many }) => (many && n % 2 === 0 ? `${json}.Any` : json))
  const prefix = [...before, collection.json].join('.')
  const leafName = [...namesOf(inner), field.json].join('.')
  const value = reachableValue(walk, relations, field, n)
  const text = textOf(field, value)
  const met = (operator: Operator) => (element: Row) =>
    isMatch(operator, leavesOf(tables, inner, element)[0]?.[field.name] ?? null, [value])
  const where = (test: (elements: readonly Row[]) => boolean): readonly Row[] =>
    rows.filter((row) =>
      isMetByAny(tables, outer, row, (at) => test(at === null ? [] : tables.behind(collection.association, at))),
    )

  await expectKeys(
    walk,
    { filter: `${prefix}.${leafName}=${text}` },
    where((all) => all.some(met('eq'))),
  )
  await expectKeys(
    walk,
    { filter: `${prefix}.Any.${leafName}!=${text}` },
    where((all) => all.some(met('ne'))),
  )
  await expectKeys(
    walk,
    { filter: `${prefix}.All.${leafName}!=${text}` },
    where((all) => all.every(met('ne'))),
  )
  await expectKeys(
    walk,
    { filter: `${prefix}.None.${leafName}=${text}` },
    where((all) => !all.some(met('eq'))),
  )
  await expectKeys(
    walk,
    { filter: `${prefix}.Count>=2` },
    where((all) => all.length >= 2),
  )
  await expectKeys(
    walk,
    { filter: `${prefix}.Count(${leafName}!=${text})=1` },
    where((all) => all.filter(met('ne')).length === 1),
  )
  const whole = `${namesOf(relations).join('.')}.${field.json}`
  const refused = await list(server, resource.route, { sort: whole })
  t.is(refused.status, 400, refused.text)
  t.deepEqual(Object.keys(refused.body.errors), ['sort'])
  const select = `${resource.key.json},${whole}`
  const selected = await list(server, resource.route, { select, ...limitsFor(relations) })
  t.is(selected.status, 200, selected.text)
  const expected = selected.body.items.map((item: JsonRecord) => {
    const row = rows.find((each) => keyIn(each, resource) === item[resource.key.json])
    return { ...item, ...(row === undefined ? {} : nested(tables, relations, field, row)) }
  })
  assertSame(
    t,
    selected.body.items.map(sortCollections),
    expected.map(sortCollections),
    resource.key.json,
    selected.text,
  )
}

/** Limits of three nested collections that allow all their elements in the response. */
function limitsFor(relations: readonly Relation[]): Readonly<Record<string, string>> {
  const collections = relations.flatMap(({ many }, at) => (many ? [namesOf(relations.slice(0, at + 1)).join('.')] : []))
  if (collections.length < 3) return {}
  const limits = collections.map((path, at) => [`${path}.limit`, at === 0 ? '60' : '27'] as const)
  return { pageSize: '2', ...Object.fromEntries(limits) }
}

/** Sorts the collections of a record, so that records can be compared. */
function sortCollections(value: JsonRecord): JsonRecord {
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, sortDeep(each)]))
}

function sortDeep(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value
  if (!isList(value)) return sortCollections(value)
  return value.map(sortDeep).toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1))
}

function isList(value: object): value is readonly JsonValue[] {
  return Array.isArray(value)
}

/**
 * Whether some row at the end of a relation path meets a test. At the end of to-one relations, the row may be missing.
 */
function isMetByAny(
  tables: Tables,
  relations: readonly Relation[],
  row: Row,
  test: (row: Row | null) => boolean,
): boolean {
  const [first, ...others] = relations
  if (first === undefined) return test(row)
  const behind = tables.behind(first.association, row)
  if (first.many) return behind.some((element) => isMetByAny(tables, others, element, test))
  const [only] = behind
  if (only !== undefined) return isMetByAny(tables, others, only, test)
  return others.some(({ many }) => many) ? false : test(null)
}

function leavesOf(tables: Tables, relations: readonly Relation[], row: Row): readonly Row[] {
  return relations.reduce<readonly Row[]>(
    (rows, { association }) => rows.flatMap((each) => tables.behind(association, each)),
    [row],
  )
}

/**
 * Expected value of a selected path. A collection is an array, a to-one relation is an object, or null without a
 * record.
 */
function nested(tables: Tables, relations: readonly Relation[], field: Field, row: Row): JsonRecord {
  const [first, ...others] = relations
  if (first === undefined) return { [field.json]: toWireValue(field, row[field.name] ?? null) }
  const all = tables.behind(first.association, row)
  if (first.many) return { [first.json]: all.map((each) => nested(tables, others, field, each)) }
  const [behind] = all
  return { [first.json]: behind === undefined ? null : nested(tables, others, field, behind) }
}

/** The field for the end of the n-th path. Successive paths use different fields. */
function fieldAt({ tables }: Walk, { access }: RelationPath, n: number): Field | null {
  const rows = tables.of(access.model)
  const usable = [...access.fields.values()].filter(
    (field) => field.filterable && field.operators.size > 0 && valuesOf(rows, field).length > 0,
  )
  return usable[n % usable.length] ?? null
}

/** A value at the end of a path from some row. If no row has such a value, any value of the field. */
function reachableValue(
  { tables, resource }: Walk,
  relations: readonly Relation[],
  field: Field,
  n: number,
): JsonValue {
  const leaves = tables.of(resource.model).flatMap((row) => leavesOf(tables, relations, row))
  const target = relations.at(-1)?.association.target
  const values = valuesOf(leaves, field)
  const fallback = target === undefined ? [] : valuesOf(tables.of(target), field)
  return values[n % values.length] ?? fallback[n % fallback.length] ?? null
}

function namesOf(relations: readonly Relation[]): readonly string[] {
  return relations.map(({ json }) => json)
}
