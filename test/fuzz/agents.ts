// What agents ask: calls of tools by the Model Context Protocol.

import { recordBody } from './bodies.js'
import { chance, oneOf, weighted } from './choose.js'
import { filterText, selectText, sortText } from './filters.js'
import { commonHeaders } from './headers.js'
import { type Making, someKey } from './making.js'
import type { Header, Parts } from './request.js'
import type { Served } from './tables.js'
import { oddText, specialName } from './words.js'

const SPOKEN: readonly Header[] = [
  ['accept', 'application/json, text/event-stream'],
  ['content-type', 'application/json'],
]

/** The path that agents' calls go to. */
export const AGENTS = '/mcp'

export function agentReading(making: Making, table: Served): Parts {
  const { random } = making
  const resource = nameOf(making, table)
  return weighted(random, [
    [3, () => call(making, 'query_records', { resource, ...query(making, table) })],
    [2, () => call(making, 'get_record', { resource, key: someKey(making, table), ...selected(making, table) })],
    [0.5, () => call(making, 'describe_resource', { resource })],
    [0.3, () => call(making, 'list_resources', {})],
    [making.odd(0.5) ? 0.5 : 0, () => call(making, specialName(random), { [specialName(random)]: oddText(random) })],
    [0.1, () => asked(making, { jsonrpc: '2.0', id: 1, method: 'tools/list' })],
  ])
}

export function agentWriting(making: Making, table: Served): Parts {
  const { random } = making
  const resource = nameOf(making, table)
  const key = someKey(making, table)
  const version = table.versioned || making.odd(0.1) ? { version: Math.floor(random() * 2) } : {}
  return weighted(random, [
    [2, () => call(making, 'create_record', { resource, values: recordBody(making, table, random()) })],
    [
      2,
      () =>
        call(making, 'update_record', { resource, key, values: recordBody(making, table, 0.3, 'update'), ...version }),
    ],
    [1, () => call(making, 'delete_record', { resource, key, ...version })],
  ])
}

function nameOf(making: Making, { path }: Served): string {
  return making.odd(0.05) ? specialName(making.random) : path.slice(path.lastIndexOf('/') + 1)
}

function query(making: Making, table: Served): object {
  const { random } = making
  return {
    ...(chance(random, 0.6) ? { filter: filterText(making, table) } : {}),
    ...(chance(random, 0.3) ? { sort: sortText(making, table) } : {}),
    ...selected(making, table),
    ...(making.odd(0.05) ? { cursor: oddText(random) } : {}),
    ...(chance(random, 0.5) ? { limit: making.odd(0.1) ? oddText(random) : 1 + Math.floor(random() * 60) } : {}),
  }
}

function selected(making: Making, table: Served): object {
  return chance(making.random, 0.4) ? { select: selectText(making, table) } : {}
}

function call(making: Making, name: string, given: object): Parts {
  const odd = making.odd(0.1) ? { [specialName(making.random)]: oneOf(making.random, [1, 'x', null, {}]) } : {}
  const params = { name, arguments: { ...given, ...odd } }
  return asked(making, { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, `tool ${name.slice(0, 20)}`)
}

/** A message of revision 2026-07-28, and the headers that say so. */
function current(message: Message): { readonly message: Message; readonly headers: readonly Header[] } {
  const { method, params = {} } = message
  const name = 'name' in params ? [['mcp-name', String(params.name)] as const] : []
  const meta = { [`${META}protocolVersion`]: CURRENT, [`${META}clientCapabilities`]: {} }
  return {
    message: { ...message, params: { ...params, _meta: meta } },
    headers: [['mcp-protocol-version', CURRENT], ['mcp-method', method], ...name],
  }
}

const CURRENT = '2026-07-28'
const META = 'io.modelcontextprotocol/'

interface Message {
  readonly jsonrpc: '2.0'
  readonly id: number
  readonly method: string
  readonly params?: object
}

function asked(making: Making, earlier: Message, kind = 'tools'): Parts {
  const { caller, random } = making
  const isOdd = making.odd(0.05)
  // A header holds no characters but those of its own.
  const isCurrent = chance(random, 0.4) && !/[^ -~]/.test(JSON.stringify(earlier))
  const { message, headers: more } = isCurrent ? current(earlier) : { message: earlier, headers: [] }
  const own = isOdd ? commonHeaders(making) : Object.entries(caller.headers)
  const headers = [...own, ...SPOKEN, ...more]
  return {
    kind: /^tool \w+_record/.test(kind) || kind === 'tools' ? kind : 'tool',
    method: 'POST',
    target: AGENTS,
    headers,
    body: Buffer.from(JSON.stringify(message)),
  }
}
