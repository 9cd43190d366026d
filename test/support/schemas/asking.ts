import type { ExecutionContext } from 'ava'
import type { Field, JsonValue } from '../../../types/field.js'
import type { JsonRecord } from '../../../types/reply.js'
import type { Resource } from '../../../types/resource.js'
import { list, type Parameters } from '../lists.js'
import type { TestServer } from '../server.js'
import { order } from './comparing.js'
import type { Row, Tables } from './tables.js'

/** A resource under test, with its expected data and its server. */
export interface Walk {
  readonly t: ExecutionContext
  readonly server: TestServer
  readonly tables: Tables
  readonly resource: Resource
}

export type Key = string | number

/** Distinct values of a column without null. */
export function valuesOf(rows: readonly Row[], { name }: Field): readonly JsonValue[] {
  return [...new Set(rows.map((row) => row[name] ?? null))].filter((value) => value !== null)
}

export function keyIn(row: Row, { key }: Resource): Key {
  const value = row[key.name]
  if (typeof value !== 'string' && typeof value !== 'number') throw new TypeError('a row without a key')
  return value
}

export async function readKeys({ server, resource }: Walk, parameters: Parameters): Promise<Key[]> {
  const { json } = resource.key
  const { status, text, body } = await list(server, resource.route, { ...parameters, select: json, pageSize: 1000 })
  if (status !== 200) throw new Error(`${JSON.stringify(parameters)}: ${status} ${text}`)
  if (body.totalCount !== body.items.length) throw new Error(`${JSON.stringify(parameters)}: a wrong total`)
  return body.items.map((item: Readonly<Record<string, Key>>) => item[json])
}

export async function expectKeys(walk: Walk, parameters: Parameters, expected: readonly Row[]): Promise<void> {
  const keys = expected.map((row) => keyIn(row, walk.resource))
  walk.t.deepEqual(inOrder(await readKeys(walk, parameters)), inOrder(keys), JSON.stringify(parameters))
}

/** Sorts keys in one order for all databases. Duplicates stay. Databases order texts differently. */
export function inOrder(keys: readonly Key[]): readonly Key[] {
  return [...keys].sort(order)
}

/** Asserts that two lists have equal records, in any order. */
export function assertSame(
  t: ExecutionContext,
  actual: readonly JsonRecord[],
  expected: readonly JsonRecord[],
  key: string,
  message?: string,
): void {
  const byKey = (a: JsonRecord, b: JsonRecord): number => order(a[key] ?? null, b[key] ?? null)
  t.deepEqual([...actual].sort(byKey), [...expected].sort(byKey), message)
}

/**
 * Asserts that nulls come first and the other values ascend. Texts are not compared, because their order depends on the
 * database.
 */
export function assertAscending(t: ExecutionContext, field: Field, values: readonly JsonValue[]): void {
  const present = values.filter((value) => value !== null)
  t.deepEqual(values.slice(values.length - present.length), present, `${field.json}: nulls come first`)
  if (field.valueType.type === 'string') return
  t.deepEqual(present, [...present].sort(order), field.json)
}

/** Visits items with a few concurrent requests, because one request at a time would mostly wait. */
export async function visitAll<T>(
  items: readonly T[],
  visit: (item: T, index: number) => Promise<void>,
): Promise<void> {
  const entries = items.entries()
  const worker = async (): Promise<void> => {
    for (const [index, item] of entries) await visit(item, index)
  }
  await Promise.all([worker(), worker(), worker(), worker()])
}
