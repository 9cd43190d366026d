// Program of a project that uses the package. The program mounts a resource in Express, and uses every entry of the
// package in a way that needs the entry's code. The text is valid JavaScript and TypeScript, except for the imports.

const NAMES = {
  express: 'express',
  sequelize: '{ DataTypes, Sequelize }',
  'node:assert/strict': 'assert',
  '@modelcontextprotocol/client': '{ Client, StreamableHTTPClientTransport }',
  'sequelize-crud-router': '{ crudRouter, openApi, Operations }',
  'sequelize-crud-router/language': '{ filter, parseFilter }',
  'sequelize-crud-router/client': '{ ProblemError, resource }',
  'sequelize-crud-router/client/actions': '{ resource as acting }',
  'sequelize-crud-router/react-admin': '{ dataProvider as reactAdmin }',
  'sequelize-crud-router/refine': '{ dataProvider as refine }',
  'sequelize-crud-router/mcp': '{ crudMcp }',
  'sequelize-crud-router/node-sqlite': '{ nodeSqlite }',
}

const body = (storage) => `
const failed: string[] = []

/** The other parts run as well, so that a runtime that lacks one thing shows what it has. */
async function part(name: string, work: () => Promise<void>) {
  await work().catch((error: unknown) => {
    failed.push(name)
    console.error(name, error)
  })
}

async function main() {
  const sequelize = new Sequelize({ dialect: 'sqlite', dialectModule: driver(), storage: '${storage}', logging: false })
  const Player = sequelize.define(
    'Player',
    { name: { type: DataTypes.STRING(50), allowNull: false }, level: { type: DataTypes.INTEGER, allowNull: false } },
    { timestamps: false },
  )
  await sequelize.sync({ force: true })
  const identity = () => ({ name: 'Ewa', roles: new Set<string>(), permissions: new Set<string>(), claims: {} })
  const players = crudRouter(Player, {
    identity,
    operations: Operations.AllWithBulk,
    actions: { promote: { on: 'record', method: 'post', handler: ({ record }) => void record.set('level', 43) } },
  })
  const app = express()
  app.use(players)
  app.all('/mcp', crudMcp({ resources: [players], identity, write: true }))
  const server = app.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new TypeError('there is no port')
  const url = 'http://127.0.0.1:' + address.port

  await part('client', async () => {
    const api = resource<{ id: number; name: string; level: number }>(url + '/api/players')
    const made = await api.bulkCreate([{ name: 'Jan', level: 42 }, { name: 'Ana', level: 7 }])
    assert.deepEqual(made.map(({ id }) => id), [1, 2])
    const page = await api.list({ filter: filter.gt('Level', 10) })
    assert.deepEqual(page.items, [{ id: 1, name: 'Jan', level: 42 }])
    const refused = await api.list({ filter: 'Level>>1' }).catch((error: unknown) => error)
    assert.ok(refused instanceof ProblemError && refused.code === 'malformed-filter')
  })

  await part('language', async () => {
    assert.equal(parseFilter('Level>10,Name^J').kind, 'and')
  })

  await part('documents', async () => {
    assert.ok(openApi({ resources: [players], info: { title: 'Players', version: '1' } }).paths['/api/players'] !== undefined)
  })

  await part('actions', async () => {
    const actor = acting(url + '/api/players', { actions: { promote: { on: 'record', method: 'post' } } })
    assert.deepEqual(await actor.actions.promote(1), { id: 1, name: 'Jan', level: 43 })
  })

  await part('query', async () => {
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
    const body = 'filter=Level%3E10&select=name'
    const found = await fetch(url + '/api/players', { method: 'QUERY', headers, body })
    assert.equal(found.status, 200)
    assert.ok((await found.text()).includes('[{"name":"Jan"}]'))
    const tag = found.headers.get('etag') ?? 'none'
    const known = { ...headers, 'If-None-Match': tag }
    const same = await fetch(url + '/api/players', { method: 'QUERY', headers: known, body })
    assert.equal(same.status, 304)
  })

  await part('providers', async () => {
    const admin = reactAdmin(url + '/api')
    const shown = await admin.getOne('players', { id: 1 })
    assert.equal(shown.data.name, 'Jan')
    const refined = refine(url + '/api')
    const found = await refined.getList({ resource: 'players', filters: [{ field: 'name', operator: 'eqs', value: 'Ana' }] })
    assert.equal(found.total, 1)
  })

  await part('agents', async () => {
    const agent = new Client({ name: 'agent', version: '1.0.0' })
    await agent.connect(new StreamableHTTPClientTransport(new URL(url + '/mcp')))
    assert.equal((await agent.listTools()).tools.length, 8)
    const answer = await agent.callTool({ name: 'query_records', arguments: { resource: 'players', sort: '-level' } })
    assert.ok(JSON.stringify(answer.content).includes('Jan'))
    await agent.close()
  })

  await part('node-sqlite', async () => {
    const builtIn = new Sequelize({ dialect: 'sqlite', dialectModule: nodeSqlite, storage: '${storage}', logging: false })
    assert.deepEqual(await builtIn.query('SELECT name FROM Players WHERE id = $1', { bind: [2], plain: true, raw: true }), { name: 'Ana' })
    await builtIn.close()
  })

  await part('end', async () => {
    server.closeAllConnections()
    server.close()
    await sequelize.close()
  })
  console.log(failed.length === 0 ? 'answered' : 'failed: ' + failed.join(', '))
  process.exitCode = failed.length === 0 ? 0 : 1
}

/** Sequelize's own driver of SQLite, or with DRIVER=node that of this package. */
function driver() {
  return process.env.DRIVER === 'node' ? nodeSqlite : undefined
}

main().catch((error: unknown) => {
  console.error(error)
  process.exit(1)
})
`

const imports = Object.entries(NAMES)
  .map(([from, names]) => `import ${names} from '${from}'`)
  .join('\n')

const requires = Object.entries(NAMES)
  .map(([from, names]) => `const ${names.replaceAll(' as ', ': ')} = require('${from}')`)
  .join('\n')

/** Removes the program's few types. */
const untyped = (text) =>
  text
    .replaceAll('new Set<string>()', 'new Set()')
    .replace(/resource<.*?>\(/, 'resource(')
    .replaceAll('(error: unknown)', '(error)')
    .replace('failed: string[]', 'failed')
    .replace('(name: string, work: () => Promise<void>)', '(name, work)')

export const module = (storage) => `${imports}\n${untyped(body(storage))}`
export const required = (storage) => `${requires}\n${untyped(body(storage))}`
export const typed = (storage) => `${imports}\n${body(storage)}`

/** Program of the NestJS recipe, with the declarations and requests of its documentation page. */
export const nest = (recipe, storage) => `import assert from 'node:assert/strict'
import express from 'express'
import { DataTypes, Sequelize } from 'sequelize'
import { crudRouter } from 'sequelize-crud-router'
const sequelize = new Sequelize({ dialect: 'sqlite', storage: '${storage}', logging: false })
const Team = sequelize.define('Team', { name: { type: DataTypes.STRING, allowNull: false } }, { timestamps: false })
await sequelize.sync({ force: true })
await Team.create({ name: 'Lakers' })
const app = express()
${recipe.replace(/listen\(\d+\)/, "listen(0, '127.0.0.1')")}
const url = await nest.getUrl()
const get = async (path: string): Promise<unknown> => (await fetch(url + path)).json()
assert.deepEqual(await get('/health'), { status: 'ok' })
assert.deepEqual(await get('/api/teams?filter=Name=Lakers&count=true'), { count: 1 })
const made = await fetch(url + '/api/teams', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"name":"Bulls"}' })
assert.equal(made.status, 201)
assert.equal((await fetch(url + '/api/teams/7')).headers.get('content-type'), 'application/problem+json')
await nest.close()
await sequelize.close()
console.log('answered')
`
