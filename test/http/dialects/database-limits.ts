// What the database's own limits refuse, where the host allows more than it takes: 400 for what the client wrote, 500
// for what only the host can have meant.

import { createServer } from 'node:http'
import ava from 'ava'
import express from 'express'
import { DataTypes } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import type { Limits } from '../../../types/settings.js'
import { databaseName, openDatabase } from '../../support/database.js'
import { list, type Parameters } from '../../support/lists.js'
import { clientOf } from '../../support/server.js'
import { isFast } from '../../support/speed.js'

const test = ava.serial
const isMysql = databaseName === 'mysql' || databaseName === 'mariadb'

const database = await openDatabase()
const { sequelize } = database
const plain = { timestamps: false }
const COLUMNS = Array.from({ length: 850 }, (_, index) => `a${index}`)
const Node = sequelize.define(
  'Node',
  { name: DataTypes.STRING, level: DataTypes.INTEGER, text: isMysql ? DataTypes.TEXT('long') : DataTypes.TEXT },
  plain,
)
const Wide = sequelize.define('Wide', Object.fromEntries(COLUMNS.map((name) => [name, DataTypes.INTEGER])), plain)
const Leaf = sequelize.define('Leaf', { name: DataTypes.STRING }, plain)
const LEAVES = Array.from({ length: 64 }, (_, index) => `leaf${index}`)
const keys = LEAVES.map((name) => [`${name}Id`, DataTypes.INTEGER] as const)
const Hub = sequelize.define('Hub', { name: DataTypes.STRING, ...Object.fromEntries(keys) }, plain)
Node.belongsTo(Node, { as: 'parent', foreignKey: 'parentId', constraints: false })
Node.hasMany(Node, { as: 'children', foreignKey: 'parentId', constraints: false })
Wide.belongsTo(Wide, { as: 'next', foreignKey: 'nextId', constraints: false })
for (const as of LEAVES) Hub.belongsTo(Leaf, { as, foreignKey: `${as}Id`, constraints: false })

const MANY = 1_000_000
const limits: Partial<Limits> = {
  cost: false,
  ...{ filterLength: MANY, nesting: 200, clauses: MANY, listItems: MANY, sortKeys: MANY, selectFields: MANY },
  ...{ pathDepth: 200, joins: MANY, quantifiers: MANY, quantifierDepth: 200 },
  ...{ bulkItems: MANY, bodySize: 50_000_000 },
}
const heard: unknown[] = []
const app = express()
const common = { limits, operations: Operations.AllWithBulk, onError: (error: unknown) => heard.push(error) }
app.use(crudRouter(Node, common), crudRouter(Wide, common), crudRouter(Leaf, common))
app.use(crudRouter(Hub, { ...common, flatten: LEAVES }))
await sequelize.sync()
await Hub.create({ name: 'hub' })
// Queries that are too much for a database are too long for the headers that Node takes by default.
const server = createServer({ maxHeaderSize: 4_000_000 }, app)
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const address = server.address()
if (address === null || typeof address === 'string') throw new RangeError('the server has no port')
const client = clientOf(`http://127.0.0.1:${address.port}`)
test.after.always(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  await database.close()
})
test.beforeEach(() => {
  heard.length = 0
})

const far = (relations: number): string => `${'parent.'.repeat(relations)}name`
const deep = (levels: number): string => `${'children.Any('.repeat(levels)}level=1${')'.repeat(levels)}`
const numbers = (count: number, separator: string): string => Array.from({ length: count }, (_, n) => n).join(separator)

/** What is too much, by the databases that find it so. */
const QUERIES: readonly (readonly [what: string, where: boolean, path: string, parameters: Parameters])[] = [
  ['joins', databaseName !== 'postgres', '/api/nodes', { select: far(70) }],
  ['subqueries within each other', databaseName !== 'postgres', '/api/nodes', { filter: deep(70) }],
  ['comparisons', databaseName === 'sqlite', '/api/nodes', { filter: `level=${numbers(1100, '|level=')}`, cursor: '' }],
  // Without optimizations, values are part of the text, and no limit of values applies.
  ['values', databaseName === 'sqlite' && isFast, '/api/nodes', { filter: `level=in=${numbers(33_000, ';')}` }],
  ['values', databaseName === 'postgres' && isFast, '/api/nodes', { filter: `level=in=${numbers(66_000, ';')}` }],
  [
    'columns',
    databaseName === 'postgres',
    '/api/wides',
    { select: [...COLUMNS, ...COLUMNS.map((name) => `next.${name}`)].join(',') },
  ],
  ['order keys', databaseName === 'sqlite', '/api/wides', { sort: sortOf(3) }],
]

function sortOf(tables: number): string {
  return Array.from({ length: tables }, (_, n) => COLUMNS.map((name) => 'next.'.repeat(n) + name))
    .flat()
    .join(',')
}

for (const [what, applies, path, parameters] of QUERIES) {
  if (!applies) continue
  test(`too many or too large for ${databaseName}: ${what} are a 400`, async (t) => {
    const { status, text, body } = await list(client, path, parameters)
    t.is(status, 400, text.slice(0, 500))
    t.is(body.title, 'Invalid query.')
    t.is(body.detail, 'The request is too large for the database. Shorten the query, or send fewer records.')
    t.deepEqual(heard, [])
  })
}

test('more keys than a statement takes are a 400, and nothing is deleted', async (t) => {
  const { status, text, body } = await client.post(
    '/api/nodes/bulk-delete',
    Array.from({ length: 66_000 }, (_, index) => index + 1),
  )
  // MariaDB and MySQL take the keys as text, and so does every database without optimizations.
  if (isMysql || !isFast) return t.is(status, 200, text)
  t.is(status, 400, text)
  t.is(body.detail, 'The request is too large for the database. Shorten the query, or send fewer records.')
})

if (databaseName !== 'postgres') {
  test('what is flattened is the host’s fault alone, until the client asks for something', async (t) => {
    const { status, text } = await client.get('/api/hubs')
    t.is(status, 500, text)
    t.is(heard.length, 1)
    t.is((await client.get('/api/hubs/1')).status, 500)
    t.is((await list(client, '/api/hubs', { page: 1, pageSize: 5 })).status, 500)
    heard.length = 0
    for (const parameters of [{ filter: 'Name=x' }, { sort: '-Name' }, { name: 'x' }]) {
      t.is((await list(client, '/api/hubs', parameters)).status, 400, JSON.stringify(parameters))
    }
    t.is((await list(client, '/api/hubs', { select: 'Name' })).status, 200)
    t.deepEqual(heard, [])
  })
}

if (databaseName === 'mariadb') {
  test('a body beyond the size of a packet is a 400', async (t) => {
    const { status, text, body } = await client.post('/api/nodes', { text: 'x'.repeat(17_000_000) })
    t.is(status, 400, text)
    t.is(body.detail, 'The request is too large for the database. Shorten the query, or send fewer records.')
  })
}
