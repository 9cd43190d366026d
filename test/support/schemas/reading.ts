import { METHODS } from 'node:http'
import type { Field, JsonValue } from '../../../types/field.js'
import type { Operator } from '../../../types/query.js'
import type { JsonRecord } from '../../../types/reply.js'
import { list, type Parameters } from '../lists.js'
import { TOKENS } from '../operators.js'
import {
  assertAscending,
  assertSame,
  expectKeys,
  inOrder,
  type Key,
  keyIn,
  readKeys,
  valuesOf,
  visitAll,
  type Walk,
} from './asking.js'
import { canBeHidden, isMatch, isTextOrder, operandsOf, textOf, toPlainText } from './comparing.js'

const LIST_METHODS = ['GET', 'HEAD', 'POST', ...(METHODS.includes('QUERY') ? ['QUERY'] : []), 'OPTIONS'].join(', ')

/** Reads all records by GET, lists, counts, pages, keyset pages, HEAD and OPTIONS. */
export async function walkRoutes({ t, server, tables, resource }: Walk): Promise<void> {
  const { route, key, model } = resource
  const rows = tables.of(model)
  const records = new Map(rows.map((row) => [keyIn(row, resource), tables.record(resource, row)]))

  for (const [id, record] of records) {
    const { status, body } = await server.get(`${route}/${encodeURIComponent(id)}`)
    t.is(status, 200, `${route}/${id}`)
    t.deepEqual(body, record)
  }
  const [some] = records.keys()
  const path = `${route}/${encodeURIComponent(some ?? '')}`
  t.is((await server.send('HEAD', path)).status, 200)
  t.is((await server.send('HEAD', route)).status, 200)
  t.is((await server.send('OPTIONS', route)).headers.get('allow'), LIST_METHODS)
  t.is((await server.send('OPTIONS', path)).headers.get('allow'), 'GET, HEAD, PATCH, DELETE, OPTIONS')
  t.is((await server.send('PUT', path)).status, 405)

  const counted = await list(server, route, { count: true })
  t.deepEqual(counted.body, { count: rows.length })
  const whole = await list(server, route, { pageSize: 1000 })
  t.deepEqual(whole.body.totalCount, rows.length)
  assertSame(t, whole.body.items, [...records.values()], key.json)
  const pageSize = Math.max(2, Math.ceil(rows.length / 5))
  const paged: JsonRecord[] = []
  for (let page = 1; page <= Math.ceil(rows.length / pageSize); page++) {
    const { body } = await list(server, route, { page, pageSize })
    t.is(body.totalCount, rows.length)
    paged.push(...body.items)
  }
  t.deepEqual(paged, whole.body.items, 'the pages one after the other are the list')

  t.true(resource.keyset, 'the keys of the published tables are of types that have cursors')
  const followed: JsonRecord[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { status, body, text } = await list(server, route, { cursor, pageSize })
    t.is(status, 200, text)
    followed.push(...body.items)
    cursor = body.nextCursor
  }
  t.deepEqual(followed, whole.body.items, 'so are the pages by cursor')
}

/** Filters by every field, with every operator and with values of the rows. Also uses every typed parameter. */
export async function walkFilters(walk: Walk): Promise<void> {
  const { t, server, tables, resource } = walk
  const { route, fields, parameters, model } = resource
  const rows = tables.of(model)
  const opaque = fields.filter(({ operators }) => operators.size === 0)
  for (const { json } of opaque) t.is((await list(server, route, { filter: `${json}=x` })).status, 400, json)

  await visitAll(
    fields.filter(({ filterable, operators }) => filterable && operators.size > 0),
    async (field) => {
      const values = valuesOf(rows, field)
      const value = (n: number): JsonValue => values[n % values.length] ?? null
      const expectFiltered = async (clause: string, test: (value: JsonValue) => boolean): Promise<void> => {
        const expected = rows.filter((row) => test(row[field.name] ?? null))
        await expectKeys(walk, { filter: field.json + clause }, expected)
      }
      if (field.nullable) {
        await expectFiltered('=null', (each) => each === null)
        await expectFiltered('!=null', (each) => each !== null)
      } else {
        const { status, body } = await list(server, route, { filter: `${field.json}=null` })
        t.is(status, canBeHidden(field) ? 200 : 400, `${field.json}=null`)
        if (canBeHidden(field)) t.deepEqual(body.items, [], field.json)
        else t.regex(body.detail, /it is never null/, field.json)
      }
      if (values.length === 0) return
      for (const [n, operator] of [...field.operators].entries()) {
        if (isTextOrder(field, operator)) continue
        const operands = operandsOf(field, operator, value(n), value(n * 3 + 1))
        const text = operands.map((each) => textOf(field, each)).join(';')
        await expectFiltered(TOKENS[operator] + text, (each) => isMatch(operator, each, operands))
      }
      if (field.valueType.type === 'string') await walkTextOrder(walk, field, String(value(values.length >> 1)))
      if (!parameters.has(field.json.toLowerCase())) return
      const given = value(2)
      const equal = rows.filter((row) => row[field.name] === given)
      await expectKeys(walk, { [field.json]: toPlainText(field, given) }, equal)
    },
  )
}

/** Checks that order comparisons of texts agree with sorts. */
async function walkTextOrder(walk: Walk, field: Field, value: string): Promise<void> {
  const { t, tables, resource } = walk
  const clause = (operator: Operator): Parameters => ({
    filter: `${field.json}${TOKENS[operator]}${textOf(field, value)}`,
  })
  const [less, notMore, more, notLess] = await Promise.all(
    (['lt', 'lte', 'gt', 'gte'] as const).map((operator) => readKeys(walk, clause(operator))),
  )
  const sorted = await readKeys(walk, { sort: field.json })
  const rows = tables.of(resource.model)
  const nulls = rows.filter((row) => row[field.name] === null).map((row) => keyIn(row, resource))
  const own = rows.filter((row) => row[field.name] === value).map((row) => keyIn(row, resource))
  const cut = (keys: readonly Key[] = []): readonly Key[] => [...nulls, ...keys]
  for (const [before, after] of [
    [less, notLess],
    [notMore, more],
  ]) {
    const length = cut(before).length
    t.deepEqual(inOrder(sorted.slice(0, length)), inOrder(cut(before)), `${field.json} before ${value}`)
    t.deepEqual(inOrder(sorted.slice(length)), inOrder(after ?? []), `${field.json} from ${value} on`)
  }
  t.true(own.every((key) => notMore?.includes(key) && notLess?.includes(key) && !less?.includes(key)))
}

/** Sorts by every field in both directions, with `sort` and with `sortBy`. */
export async function walkSorts(walk: Walk): Promise<void> {
  const { t, tables, resource } = walk
  await visitAll(
    resource.fields.filter(({ sortable }) => sortable),
    async (field) => {
      const up = await readKeys(walk, { sort: field.json })
      t.deepEqual(await readKeys(walk, { sort: `-${field.json}` }), [...up].reverse(), `-${field.json}`)
      t.deepEqual(await readKeys(walk, { sortBy: field.json, sortDirection: 'asc' }), up)
      const byKey = new Map(tables.of(resource.model).map((row) => [keyIn(row, resource), row]))
      assertAscending(
        t,
        field,
        up.map((key) => byKey.get(key)?.[field.name] ?? null),
      )
    },
  )
}

/** Selects every field, and all fields. */
export async function walkSelects({ t, server, tables, resource }: Walk): Promise<void> {
  const shown = resource.fields.filter(({ targets }) => targets.has('list'))
  const whole = await list(server, resource.route, { pageSize: 1000 })
  const own = new Set(shown.map(({ json }) => json))
  const select = async (names: readonly string[]): Promise<void> => {
    const { status, body, text } = await list(server, resource.route, { select: names.join(','), pageSize: 1000 })
    t.is(status, 200, text)
    const expected = whole.body.items.map((item: JsonRecord) =>
      Object.fromEntries(names.map((name) => [name, item[name]])),
    )
    t.deepEqual(body.items, expected, names.join())
  }
  await visitAll(shown, ({ json }) => select([json]))
  await select([...own])
  t.is(whole.body.items.length, tables.of(resource.model).length)
}
