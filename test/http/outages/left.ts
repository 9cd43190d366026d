// Clients that hang up while their write waits for its turn, or for a connection of the pool: it is not done later.

import { once } from 'node:events'
import { request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import ava, { type ExecutionContext } from 'ava'
import type { RequestHandler } from 'express'
import { DataTypes, type Model, type ModelStatic, type Sequelize } from 'sequelize'
import { crudRouter, type Hook } from '../../../lib/index.js'
import { databaseName } from '../../support/database.js'
import type { TestServer } from '../../support/server.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial
const isSqlite = databaseName === 'sqlite'

interface Bench extends TestServer {
  readonly sequelize: Sequelize
  readonly Thing: ModelStatic<Model>
  readonly called: string[]
}

/** A resource without hooks, and one at `/hooked` whose hook waits for `held` where the name says so. One connection. */
async function bench(t: ExecutionContext, held: Promise<void>): Promise<Bench> {
  const server = await openStage({ sequelize: { pool: { max: 1, acquire: 20_000 } } })
  const { app, sequelize } = server
  const Thing = sequelize.define('thing', { name: DataTypes.STRING }, { timestamps: false })
  const Label = sequelize.define('label', { text: DataTypes.STRING }, { timestamps: false })
  Thing.belongsToMany(Label, { as: 'labels', through: 'ties', timestamps: false })
  const called: string[] = []
  const beforeCreate: Hook = async ({ instance }) => {
    const name = String(instance.get('name'))
    called.push(name)
    if (name === 'holds') await held
  }
  const silent = { onError: () => undefined }
  app.use(crudRouter(Thing, { ...silent, idempotency: true, relations: { labels: { routes: true } } }))
  app.use(crudRouter(Label, silent))
  app.use('/timely', answersInTime, crudRouter(Thing, silent))
  app.use('/hooked', crudRouter(Thing, { ...silent, hooks: { beforeCreate } }))
  await sequelize.sync()
  t.teardown(server.close)
  return { ...server, Thing, called }
}

/** As hosts do who keep no client waiting for long. */
const answersInTime: RequestHandler = (_req, res, next) => {
  const problem = { type: 'about:blank', title: 'Service Unavailable', status: 503, code: 'unavailable' }
  setTimeout(() => res.status(503).type('application/problem+json').end(JSON.stringify(problem)), 300)
  next()
}

/** What waits until it is opened. */
function holder(): { readonly held: Promise<void>; readonly open: () => void } {
  let open: () => void = () => undefined
  const held = new Promise<void>((resolve) => {
    open = resolve
  })
  return { held, open }
}

/** Sends a write, and hangs up when the server has had the time to take it in. */
async function hangUp(url: string, headers: Record<string, string>, method = 'POST', json?: object): Promise<void> {
  const asked = request(url, { method, headers: { 'content-type': 'application/json', ...headers } })
  asked.on('error', () => undefined)
  asked.end(json === undefined ? undefined : JSON.stringify(json))
  await once(asked, 'socket')
  await wait(300)
  asked.destroy()
  await wait(50)
}

for (const [what, path, headers] of [
  ['of one statement', '/api/things', {}],
  ['with hooks', '/hooked/api/things', {}],
  ['under an Idempotency-Key', '/api/things', { 'idempotency-key': '"k"' }],
] as const) {
  test(`a write ${what} that still waits when its client hangs up is not done, and those behind it are`, async (t) => {
    const { held, open } = holder()
    const server = await bench(t, held)
    const first = server.post('/hooked/api/things', { name: 'holds' })
    while (server.called.length === 0) await wait(5)
    await hangUp(server.url + path, headers, 'POST', { name: 'gone' })
    const behind = server.post('/api/things', { name: 'behind' })
    await wait(50)
    open()
    t.is((await first).status, 201)
    t.is((await behind).status, 201)
    t.deepEqual(server.called, ['holds'])
    const names = (await server.Thing.findAll({ order: ['id'] })).map((each) => each.get('name'))
    t.deepEqual(names, ['holds', 'behind'])
    // The only connection works, and nothing is left in it.
    t.is((await server.post(path, { name: 'gone' }, headers)).status, 201)
    t.is(isSqlite ? 3 : await server.Thing.count(), 3)
  })
}

test('records that are to be linked are not, where the client hangs up while that waits', async (t) => {
  const { held, open } = holder()
  const server = await bench(t, held)
  await server.post('/api/things', { name: 'labelled' })
  await server.post('/api/labels', { text: 'label' })
  const first = server.post('/hooked/api/things', { name: 'holds' })
  while (server.called.length === 0) await wait(5)
  await hangUp(`${server.url}/api/things/1/labels/1`, {}, 'PUT')
  open()
  t.is((await first).status, 201)
  // It would have been done before this one.
  t.is((await server.post('/api/things', { name: 'behind' })).status, 201)
  t.is((await server.get('/api/things/1/labels')).body.totalCount, 0)
  t.is((await server.send('PUT', '/api/things/1/labels/1')).status, 204)
  t.is((await server.get('/api/things/1/labels')).body.totalCount, 1)
})

test('a write that waits when the application answers in its place is done all the same', async (t) => {
  const { held, open } = holder()
  const server = await bench(t, held)
  const first = server.post('/hooked/api/things', { name: 'holds' })
  while (server.called.length === 0) await wait(5)
  t.is((await server.post('/timely/api/things', { name: 'answered' }, { connection: 'close' })).status, 503)
  open()
  t.is((await first).status, 201)
  t.is((await server.post('/api/things', { name: 'behind' })).status, 201)
  const names = (await server.Thing.findAll({ order: ['id'] })).map((each) => each.get('name'))
  t.deepEqual(names, ['holds', 'answered', 'behind'])
})
