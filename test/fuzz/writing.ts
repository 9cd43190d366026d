// Requests that write: records, many at once, whole ones, links, and what lies below a record.

import { bulkBody, changesBody, keysBody, oddBody, recordBody, upsertBody } from './bodies.js'
import { chance, oneOf, weighted } from './choose.js'
import { commonHeaders, contentEncoding, contentType, onceHeader, tagText } from './headers.js'
import { keyText, type Making } from './making.js'
import { relationsOf } from './paths.js'
import { oddPath } from './reading.js'
import type { Header, Parts } from './request.js'
import { type Served, type Table, tableNamed } from './tables.js'

export function writing(making: Making, table: Served): Parts {
  const { random } = making
  const { path, versioned, softDelete } = table
  const one = (): string => `${path}/${keyText(making, table)}`
  const tags: readonly Header[] = chance(random, versioned ? 0.93 : 0.1) ? [['if-match', tagText(making)]] : []
  const share = random()
  const bare = (kind: string, method: string, target: string, more: readonly Header[] = []): Parts => {
    return { kind, method, target, headers: [...commonHeaders(making), ...onceHeader(making), ...more], body: null }
  }
  const body = (kind: string, method: string, target: string, json: unknown, more: readonly Header[] = []): Parts =>
    withBody(making, { kind, method, target }, JSON.stringify(json), more)
  return weighted(random, [
    [5, () => body('update', 'PATCH', one(), recordBody(making, table, share * 0.5, 'update'), tags)],
    [4, () => body('create', 'POST', path, recordBody(making, table, share))],
    [1.5, () => many(making, table, 'bulk create', 'POST', bulkBody(making, table))],
    [1.5, () => body('bulk update', 'PATCH', `${path}/bulk`, changesBody(making, table))],
    [1.2, () => upsert(making, table)],
    [2, () => body('replace', 'PUT', one(), recordBody(making, table, 0.6 + share / 2), tags)],
    [1, () => body('bulk delete', 'POST', `${path}/bulk-delete`, keysBody(making, table))],
    [2, () => bare('delete', 'DELETE', one(), tags)],
    [softDelete === null ? 0.1 : 1.5, () => bare('restore', 'POST', `${one()}/restore`)],
    [3, () => below(making, table, body, bare)],
    [
      0.3,
      () => body('odd', oneOf(random, ['PUT', 'DELETE', 'GET', 'POST', 'PATCH', 'MERGE']), oddPath(making, table), {}),
    ],
  ])
}

/** As an array, or as a line each. */
function many(
  making: Making,
  { path }: Served,
  kind: string,
  method: string,
  items: readonly unknown[],
  query = '',
): Parts {
  const target = `${path}/bulk${query}`
  if (!chance(making.random, 0.2)) return withBody(making, { kind, method, target }, JSON.stringify(items))
  const text = items.map((item) => JSON.stringify(item)).join(oneOf(making.random, ['\n', '\r\n', '\n\n']))
  return withBody(making, { kind, method, target }, text, [], 'application/jsonl')
}

function upsert(making: Making, table: Served): Parts {
  const { natural } = table
  if (natural === null && !making.odd(0.2)) return many(making, table, 'bulk create', 'POST', bulkBody(making, table))
  const by = natural === null || making.odd(0.1) ? 'name' : natural
  return many(making, table, 'upsert', 'PUT', upsertBody(making, table, by), making.odd(0.1) ? '' : `?by=${by}`)
}

type WithBody = (kind: string, method: string, target: string, json: unknown) => Parts

/** What lies behind a relation: created there, linked and unlinked. */
function below(
  making: Making,
  owner: Served,
  body: WithBody,
  bare: (kind: string, method: string, at: string) => Parts,
): Parts {
  const { random } = making
  const found = relationsOf(making, owner, ({ routes, many: several }) => (routes && several) || making.odd(0.1))
  if (found.length === 0) return body('create', 'POST', owner.path, recordBody(making, owner, random()))
  const { name, to, by, linked } = oneOf(random, found)
  const target = tableNamed(to)
  const at = `${owner.path}/${keyText(making, owner)}/${name}`
  if (!linked) return body('create below', 'POST', at, withoutOwner(making, target, by))
  return weighted(random, [
    [2, () => bare('link', 'PUT', `${at}/${keyText(making, target)}`)],
    [0.7, () => body('link', 'PUT', `${at}/${keyText(making, target)}`, linkBody(making, owner))],
    [2, () => bare('unlink', 'DELETE', `${at}/${keyText(making, target)}`)],
    [1, () => body('links', 'PUT', at, keysBody(making, target))],
    [1, () => body('links', 'POST', at, keysBody(making, target))],
  ])
}

function withoutOwner(making: Making, target: Table, by: string | null): object {
  const record = recordBody(making, target, making.random())
  return Object.fromEntries(Object.entries(record).filter(([name]) => name !== by || making.odd(0.3)))
}

/** Fields of the row between; where no resource is over it, they are for nothing. */
function linkBody(making: Making, { name }: Table): object {
  if (name !== 'Player' && name !== 'Skill') return { remark: making.text() }
  const training = tableNamed('Training')
  return withoutOwner(making, { ...training, columns: training.columns.filter(({ refers }) => refers === null) }, null)
}

function withBody(
  making: Making,
  { kind, method, target }: Pick<Parts, 'kind' | 'method' | 'target'>,
  meant: string,
  more: readonly Header[] = [],
  type: string | null = null,
): Parts {
  const text = making.odd(0.12) ? oddBody(making) : meant
  const { headers, body } = contentEncoding(making, Buffer.from(text))
  const types =
    type === null
      ? contentType(making, method === 'PATCH' && !target.includes('/bulk'))
      : [['content-type', type] as const]
  return {
    kind,
    method,
    target,
    headers: [...commonHeaders(making), ...onceHeader(making), ...more, ...types, ...headers],
    body,
  }
}
