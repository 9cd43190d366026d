// Which of the tests over HTTP a server is asked for. SQLite runs all of them. A test that is in no list here runs on every
// database but the one that another driver speaks to already.

import { readdirSync } from 'node:fs'
import { join, sep } from 'node:path'

/**
 * What no database answers differently: Express, parsing, descriptions of the service, identities, subscribers, and clients that
 * speak to the service by HTTP. Folders end with a slash.
 */
const ONCE = [
  'bodies',
  'client',
  'config-errors',
  'cors',
  'defaults',
  'deprecated',
  'documents/apiDocs',
  'documents/asyncApi',
  'documents/client-types',
  'documents/large',
  'documents/newer',
  'documents/openApi',
  'documents/requests',
  'express4/',
  'filter-errors',
  'handlers',
  'host-requests',
  'identity',
  'malformed',
  'mcp',
  'mcp-authorization',
  'mcp-callers',
  'mcp-confirm',
  'mcp-hosts',
  'mcp-revisions',
  'oracle',
  'problem-handler',
  'push/client',
  'push/growth',
  'push/growth-servers',
  'push/servers',
  'push/subscribers',
  'query-method',
  'react-admin',
  'refine',
  'replies',
  'routers',
  'security/mcp',
  'security/push-open',
  'security/query-method',
  'server-timing',
  'sqlite-locks',
  'unchanged',
  'unknown-parameters',
]

/**
 * What a second driver for one and the same server may change: connections, values on their way in and out, errors,
 * transactions, what statements give back. All others ask SQL, which is that of the first driver.
 */
const SECOND_DRIVER = [
  'bulk',
  'bulk-update',
  'cls',
  'composite-keys',
  'concurrency',
  'crash',
  'create',
  'created',
  'delete',
  'dialects/',
  'differential',
  'exhausted',
  'export',
  'export-large',
  'failures',
  'foreign-keys',
  'hooks',
  'idempotency',
  'idempotency-proofs',
  'large-numbers',
  'left',
  'left-reads',
  'left-within',
  'links',
  'link-contests',
  'nested-bodies',
  'nested-contested',
  'nested-crash',
  'outages',
  'patch',
  'push/late-answers',
  'push/order',
  'push/transactions',
  'push/unchanged',
  'replace',
  'scope',
  'soft-delete',
  'statement-time',
  'table-rules',
  'text-keys',
  'upsert',
  'validation',
  'watching',
  'write-statements',
  'write-time',
]

/** Databases whose server another driver is tested with already. */
const SECOND_DRIVERS = new Set(['mariadb'])

const isNamedBy = (name, file) => (name.endsWith('/') ? file.startsWith(name) : file === name)

/** Those of the files that a list names; a name of none is an error, since a file that was renamed would leave its list without a word. */
function listed(files, list) {
  const strange = list.filter((name) => !files.some((file) => isNamedBy(name, file)))
  if (strange.length > 0) throw new RangeError(`test/parts.mjs names what is no test: ${strange.join(', ')}`)
  return new Set(files.filter((file) => list.some((name) => isNamedBy(name, file))))
}

/** The compiled files that a database is tested with; none in particular means all of them. */
export function filesFor(database, build, isWhole) {
  if (database === 'sqlite') return []
  const folder = join(build, 'test', 'http')
  const files = readdirSync(folder, { recursive: true })
    .filter((path) => path.endsWith('.js'))
    .map((path) => path.slice(0, -3).split(sep).join('/'))
    .sort()
  const once = listed(files, ONCE)
  const driver = listed(files, SECOND_DRIVER)
  const isAsked = (file) => isWhole || (SECOND_DRIVERS.has(database) ? driver.has(file) : !once.has(file))
  return files.filter(isAsked).map((file) => `${build}/test/http/${file}.js`)
}
