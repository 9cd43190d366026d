// Requests that change nothing: lists in all their modes, records, what lies below them, files and documents.

import { aggregateQuery } from './aggregates.js'
import { chance, oneOf, weighted } from './choose.js'
import { encoded } from './encoded.js'
import { commonHeaders } from './headers.js'
import { keyText, type Making } from './making.js'
import { relationsOf } from './paths.js'
import { encodedQuery, listQuery, type Pair, selectPairs } from './queries.js'
import type { Header, Parts } from './request.js'
import { type Relation, SERVED, type Served, type Table, tableNamed } from './tables.js'
import { oddText } from './words.js'

const FORM: Header = ['content-type', 'application/x-www-form-urlencoded']
const JSON_TYPE: Header = ['content-type', 'application/json']
const FILES = ['text/csv', 'application/jsonl', 'application/x-ndjson'] as const

export function reading(making: Making, table: Served): Parts {
  const { random } = making
  const { path } = table
  const headers = commonHeaders(making)
  const method = chance(random, 0.06) ? 'HEAD' : 'GET'
  const get = (kind: string, target: string, more: readonly Header[] = []): Parts => {
    return { kind, method, target, headers: [...headers, ...more], body: null }
  }
  const list = (kind: string, at: string, pairs: readonly Pair[], more: readonly Header[] = []): Parts =>
    get(kind, `${at}?${encodedQuery(making, pairs)}`, more)
  const record = (): string => `${path}/${keyText(making, table)}`
  return weighted<Parts>(random, [
    [6, () => list('list', path, listQuery(making, table))],
    [1.2, () => list('aggregate', path, aggregateQuery(making, table))],
    [1, () => queried(making, path, headers, listQuery(making, table))],
    [0.8, () => exported(making, path, table, list)],
    [2, () => get('record', record())],
    [1, () => list('record', record(), selectPairs(making, table))],
    [2, () => below(making, table, list, get)],
    [making.odd(0.6) ? 0.4 : 0, () => ({ ...get('odd', oddPath(making, table)), method: oddMethod(making) })],
    [0.15, () => ({ ...get('options', chance(random, 0.5) ? path : record()), method: 'OPTIONS' })],
    [making.odd(0.6) ? 0.6 : 0, () => get('odd', oddPath(making, table))],
    [0.05, () => get('documents', oneOf(random, ['/openapi.json', '/docs', '/client.d.ts', `/docs/${'x'}`]))],
  ])
}

function oddMethod({ random }: Making): string {
  return oneOf(random, ['OPTIONS', 'TRACE', 'PROPFIND', 'SEARCH', 'QUERY'])
}

type ListAt = (kind: string, at: string, pairs: readonly Pair[], more?: readonly Header[]) => Parts

function queried(making: Making, path: string, headers: readonly Header[], pairs: readonly Pair[]): Parts {
  const isForm = chance(making.random, 0.5)
  const body = isForm ? encodedQuery(making, pairs) : JSON.stringify(Object.fromEntries(pairs))
  const all = [...headers, isForm ? FORM : JSON_TYPE]
  return { kind: 'QUERY', method: 'QUERY', target: path, headers: all, body: Buffer.from(body) }
}

/** What pages are asked by, and files are not. */
const PAGED: ReadonlySet<string> = new Set(['page', 'pageSize', 'count', 'cursor', 'after', 'before'])

function exported(making: Making, path: string, table: Table, list: ListAt): Parts {
  const { random } = making
  const pairs = listQuery(making, table, false).filter(([name]) => making.odd(0.2) || !PAGED.has(name))
  if (chance(random, 0.5)) return list('file', path, [...pairs, ['format', oneOf(random, ['csv', 'jsonl'])]])
  return list('file', path, pairs, [['accept', oneOf(random, FILES)]])
}

/** The list or the record behind a relation. */
function below(making: Making, owner: Served, list: ListAt, get: (kind: string, target: string) => Parts): Parts {
  const { random } = making
  const found = relationsOf(making, owner, ({ routes }) => routes || making.odd(0.1))
  if (found.length === 0) return list('list', owner.path, listQuery(making, owner))
  const relation: Relation = oneOf(random, found)
  const target = tableNamed(relation.to)
  const at = `${owner.path}/${keyText(making, owner)}/${relation.name}`
  if (!relation.many) {
    return chance(random, 0.6) ? get('record below', at) : list('record below', at, selectPairs(making, target))
  }
  const pairs = chance(random, 0.12) ? aggregateQuery(making, target) : listQuery(making, target)
  return list('list below', at, pairs)
}

export function oddPath(making: Making, { path }: Served): string {
  const { random } = making
  const odd = (): string => encoded(making, oddText(random))
  const ends = ['bulk', 'bulk-delete', 'hub', 'bulk/', '1/restore', '1/', '/', '1//', '../clubs', '%2e%2e', '']
  const tails = ['restore', 'players', 'tags', 'tags/1', 'team', 'skills/2/3']
  return weighted(random, [
    [3, () => `${path}/${oneOf(random, ends)}`],
    [2, () => `${path}/${odd()}/${oneOf(random, [...tails, odd()])}`],
    [1, () => `${oneOf(random, SERVED).path}/1/${oneOf(random, tails)}`],
    [1, () => path.toUpperCase()],
    [1, () => `/${path}`],
    [1, () => `${path}${odd()}`],
    [1, () => `${path}?${odd()}`],
    [1, () => `http://elsewhere.test${path}`],
  ])
}
