// Selects the HTTP tests for each database. SQLite runs all tests. A test that is in no list runs on every database,
// except databases whose server is already tested with another driver.

import { readdirSync } from 'node:fs'
import { join, sep } from 'node:path'

/**
 * Tests that have equal results on every database. Such tests are about Express, parsing, descriptions of the API,
 * identities, validators of models, closing, subscribers, and clients that use HTTP. Names of folders end with a slash.
 */
const ONCE = [
  'access/identity',
  'access/oracle',
  'actions/client',
  'actions/documents',
  'actions/mcp',
  'actions/mount',
  'bulk/crash',
  'bulk/turns',
  'clients/client',
  'clients/react-admin',
  'clients/refine',
  'documents/apiDocs',
  'documents/asyncApi',
  'documents/client-types',
  'documents/large',
  'documents/names',
  'documents/newer',
  'documents/openApi',
  'documents/requests',
  'express4/',
  'fields/computed-options',
  'filters/errors',
  'filters/malformed',
  'filters/parsed-texts',
  'filters/suggestions',
  'keys/natural-key-clients',
  'lists/query-method',
  'lists/unknown-parameters',
  'mcp/authorization',
  'mcp/callers',
  'mcp/confirm',
  'mcp/hosts',
  'mcp/mcp',
  'mcp/pages',
  'mcp/revisions',
  'mounting/config-errors',
  'mounting/cors',
  'mounting/create-handler',
  'mounting/defaults',
  'mounting/deprecated',
  'mounting/handlers',
  'mounting/host-logger',
  'mounting/host-requests',
  'mounting/routers',
  'outages/closing',
  'push/client',
  'push/crowds',
  'push/failures',
  'push/growth',
  'push/growth-servers',
  'push/servers',
  'push/subscribers',
  'relations/link-attribute-documents',
  'replies/compressed',
  'replies/messages',
  'replies/problem-handler',
  'replies/replies',
  'replies/server-timing',
  'replies/unchanged',
  'schemas/to-json',
  'security/lists/query-method',
  'security/mcp',
  'security/push-open',
  'singletons/client',
  'transactions/sqlite-locks',
  'validation/model-validators',
  'validation/own-validators',
  'writes/bodies',
]

/**
 * Tests that depend on the driver. Such tests run with the second driver of a server. The tests are about connections,
 * conversion of values, errors, transactions, and results of statements. Other tests depend only on the SQL, on hooks and
 * on the server, which both drivers share.
 */
const SECOND_DRIVER = [
  'access/scope',
  'bulk/bulk',
  'bulk/update',
  'dialects/',
  'filters/differential',
  'filters/large-numbers',
  'keys/composite-keys',
  'keys/foreign-keys',
  'keys/text-keys',
  'nested/bodies',
  'nested/contested',
  'outages/exhausted',
  'outages/failures',
  'outages/left',
  'outages/left-reads',
  'outages/left-within',
  'outages/outages',
  'outages/statement-time',
  'outages/write-time',
  'push/late-answers',
  'push/transactions',
  'push/unchanged',
  'relations/link-contests',
  'relations/links',
  'replies/export',
  'replies/export-large',
  'replies/watching',
  'schemas/created',
  'transactions/cls',
  'validation/table-rules',
  'validation/validation',
  'writes/concurrency-in-body',
  'writes/create',
  'writes/delete',
  'writes/idempotency',
  'writes/idempotency-proofs',
  'writes/patch',
  'writes/replace',
  'writes/statements',
  'writes/upsert',
]

/**
 * Tests that depend on the driver over `node:sqlite`. The tests take little more than a minute. `.ci/run` runs them in
 * addition to all tests on SQLite.
 */
const NODE_SQLITE = [
  'bulk/bulk',
  'bulk/crash',
  'dialects/keys',
  'dialects/refusals',
  'dialects/values',
  'filters/large-numbers',
  'keys/foreign-keys',
  'nested/bodies',
  'transactions/handles',
  'transactions/sqlite-locks',
  'transactions/write-queue',
  'writes/create',
  'writes/idempotency',
  'writes/upsert',
]

/** Tests for databases that are already tested with another driver. */
const PARTS = { mariadb: SECOND_DRIVER, 'node-sqlite': NODE_SQLITE }

const isNamedBy = (name, file) => (name.endsWith('/') ? file.startsWith(name) : file === name)

/**
 * The files that a list names. @throws RangeError for a name without a file, because the tests of a renamed file would
 * no longer run
 */
function listed(files, list) {
  const strange = list.filter((name) => !files.some((file) => isNamedBy(name, file)))
  if (strange.length > 0) throw new RangeError(`test/parts.mjs names what is no test: ${strange.join(', ')}`)
  return new Set(files.filter((file) => list.some((name) => isNamedBy(name, file))))
}

/** The compiled test files for a database. An empty list means all files. */
export function filesFor(database, build, isWhole) {
  if (database === 'sqlite') return []
  const folder = join(build, 'test', 'http')
  const files = readdirSync(folder, { recursive: true })
    .filter((path) => path.endsWith('.js'))
    .map((path) => path.slice(0, -3).split(sep).join('/'))
    .sort()
  const once = listed(files, ONCE)
  const parts = new Map(Object.entries(PARTS).map(([name, list]) => [name, listed(files, list)]))
  const isAsked = (file) => isWhole || (parts.get(database)?.has(file) ?? !once.has(file))
  return files.filter(isAsked).map((file) => `${build}/test/http/${file}.js`)
}
