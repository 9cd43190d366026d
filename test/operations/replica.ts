// A PostgreSQL primary and a streaming replica that applies each commit some seconds later. Everything that belongs to a write is read
// from the primary, and so are reads that ask for it. Other reads are counted that are older than an acknowledged write.

import { setTimeout as wait } from 'node:timers/promises'
import type { ExecutionContext } from 'ava'
import express from 'express'
import { ConnectionRefusedError, DataTypes, type Model, type ModelStatic, Sequelize } from 'sequelize'
import { Server } from 'socket.io'
import { io as connect } from 'socket.io-client'
import { ProblemError, resource } from '../../lib/client/index.js'
import { crudRouter, Operations } from '../../lib/index.js'
import { serve, type TestServer } from '../support/server.js'
import { type DatabaseServer, REPLICA, startPostgres, startReplica } from './servers/index.js'
import { rig, tell, using } from './servers/rig.js'

/** Milliseconds by which the replica is behind. */
const LAG = 2000
const ROUNDS = 40
const PRIMARY = { Prefer: 'read=primary' }

interface Row {
  readonly id: number
  readonly name: string
}

function defineModels(sequelize: Sequelize): Record<'Team' | 'Player', ModelStatic<Model>> {
  const define = (name: string, options: { readonly unique: boolean }): ModelStatic<Model> =>
    sequelize.define(
      name,
      { name: { type: DataTypes.STRING(50), ...options }, rowVersion: DataTypes.INTEGER },
      { timestamps: false },
    )
  const Team = define('Team', { unique: true })
  const Player = define('Player', { unique: false })
  Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
  Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  return { Team, Player }
}

async function startPrimary(t: ExecutionContext): Promise<DatabaseServer> {
  const primary = using(t, await startPostgres())
  const sequelize = new Sequelize(primary.options)
  defineModels(sequelize)
  await sequelize.sync()
  await sequelize.close()
  return primary
}

interface Serving {
  readonly replicas: readonly DatabaseServer[]
  readonly retry?: { readonly match: (typeof ConnectionRefusedError)[]; readonly max: number }
}

async function open(t: ExecutionContext, primary: DatabaseServer, { replicas, retry }: Serving): Promise<TestServer> {
  const replication = { write: primary.options, read: replicas.map(({ options }) => options) }
  const retried = retry === undefined ? {} : { retry }
  const sequelize = new Sequelize({ ...primary.options, replication, pool: { max: 5 }, ...retried })
  t.teardown(() => sequelize.close())
  const { Team, Player } = defineModels(sequelize)
  const app = express()
  const io = new Server()
  const shared = { operations: Operations.AllWithBulk, concurrency: true, onError: () => undefined }
  app.use(crudRouter(Team, { ...shared, push: { io }, relations: { players: { write: true, routes: true } } }))
  app.use(crudRouter(Player, { ...shared, relations: { team: { routes: true } } }))
  const server = await serve(app)
  io.attach(server.server)
  t.teardown(() => server.close())
  t.teardown(() => io.engine.close())
  return server
}

async function openWithLag(t: ExecutionContext): Promise<TestServer> {
  const primary = await startPrimary(t)
  const replica = using(t, await startReplica(primary, { recovery_min_apply_delay: LAG }))
  return open(t, primary, { replicas: [replica] })
}

rig(REPLICA)('behind a replica with lag, writes find what was written before them', async (t) => {
  const server = await openWithLag(t)
  const figures = { requests: 0, wrong: 0 }
  const expect = <A extends { readonly status: number; readonly text: string }>(status: number, answer: A): A => {
    figures.requests += 1
    if (answer.status !== status) figures.wrong += 1
    if (figures.wrong === 1) t.log(`${answer.status}: ${answer.text}`)
    return answer
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    const team = expect(201, await server.post('/api/teams', { name: `team ${round}` }))
    expect(409, await server.post('/api/teams', { name: `team ${round}` }))
    const below = expect(201, await server.post(`/api/teams/${team.body.id}/players`, { name: 'below' }))
    const beside = expect(201, await server.post('/api/players', { name: 'beside', teamId: team.body.id }))
    const player = `/api/players/${beside.body.id}`
    const changed = expect(
      200,
      await server.patch(player, { name: 'changed' }, { 'If-Match': beside.headers.get('etag') ?? '' }),
    )
    const again = await server.patch(player, { name: 'again' }, { 'If-Match': changed.headers.get('etag') ?? '' })
    if (expect(200, again).body.name !== 'again') figures.wrong += 1
    expect(412, await server.patch(player, { name: 'late' }, { 'If-Match': changed.headers.get('etag') ?? '' }))
    expect(204, await server.delete(`/api/players/${below.body.id}`, { 'If-Match': below.headers.get('etag') ?? '' }))
    expect(404, await server.delete(`/api/players/${below.body.id}`, { 'If-Match': '*' }))
  }
  tell(t, figures)
  t.is(figures.wrong, 0)
})

/** Options of the typed client. */
interface Reading {
  readonly readYourWrites?: true
}

interface Old {
  missing: number
  old: number
  ghosts: number
}

/** Reads what it has just written, and counts what the reads do not have. The replica has the records of these keys. */
async function readOwnWrites(
  server: TestServer,
  known: readonly number[],
  headers: Record<string, string>,
): Promise<Old> {
  const counts = { missing: 0, old: 0, ghosts: 0 }
  const any = { 'If-Match': '*' }
  for (const key of known) {
    const made = await server.post('/api/players', { name: 'new' })
    if ((await server.get(`/api/players/${made.body.id}`, headers)).status === 404) counts.missing += 1
    const list = await server.get(`/api/players?keys=${made.body.id}`, headers)
    if (list.body.items.length === 0) counts.missing += 1
    const path = `/api/players/${key}`
    await server.patch(path, { name: 'changed' }, any)
    if ((await server.get(path, headers)).body.name !== 'changed') counts.old += 1
    await server.delete(path, any)
    if ((await server.get(path, headers)).status === 200) counts.ghosts += 1
  }
  return counts
}

/** The same by the typed client. */
async function readByClient({ url }: TestServer, known: readonly number[], settings: Reading): Promise<Old> {
  const counts = { missing: 0, old: 0, ghosts: 0 }
  const players = resource<Row>(`${url}/api/players`, settings)
  const find = async (key: number): Promise<Row | null> => {
    try {
      return await players.get(key)
    } catch (error) {
      if (error instanceof ProblemError && error.status === 404) return null
      throw error
    }
  }
  for (const key of known) {
    const made = await players.create({ name: 'new' })
    if ((await find(made.id)) === null) counts.missing += 1
    const { items } = await players.list({ keys: [made.id] })
    if (items.length === 0) counts.missing += 1
    await players.update(key, { name: 'changed' }, { ifMatch: '*' })
    if ((await find(key))?.name !== 'changed') counts.old += 1
    await players.delete(key, { ifMatch: '*' })
    if ((await find(key)) !== null) counts.ghosts += 1
  }
  return counts
}

rig(REPLICA)('behind a replica with lag, reads that prefer the primary have all that was written', async (t) => {
  const server = await openWithLag(t)
  const keys: number[] = []
  for (let mode = 0; mode < 4; mode += 1) {
    const bodies = Array.from({ length: ROUNDS }, () => ({ name: 'known' }))
    const { body } = await server.post('/api/players/bulk', bodies)
    keys.push(...body.map(({ id }: Row) => id))
  }
  await wait(LAG + 1000)
  const part = (at: number): readonly number[] => keys.slice(at * ROUNDS, (at + 1) * ROUNDS)
  const reads = [
    { by: 'plain reads', counts: await readOwnWrites(server, part(0), {}) },
    { by: 'the client', counts: await readByClient(server, part(1), {}) },
    { by: 'Prefer: read=primary', counts: await readOwnWrites(server, part(2), PRIMARY) },
    { by: 'the client with readYourWrites', counts: await readByClient(server, part(3), { readYourWrites: true }) },
  ]
  for (const { by, counts } of reads) tell(t, { by, rounds: ROUNDS, ...counts })
  const [plain, client, ...preferred] = reads.map(({ counts }) => counts)
  const none = { missing: 0, old: 0, ghosts: 0 }
  t.deepEqual(preferred, [none, none])
  // The replica answers without the preference. It is behind.
  for (const counts of [plain, client]) {
    for (const count of Object.values(counts ?? none)) t.true(count > ROUNDS / 2)
  }
})

interface Follower {
  readonly by: string
  readonly names: () => readonly string[]
  readonly stop: () => void
}

/** Follows by bare Socket.IO: connects, lists, takes events for newer than its list, and lists at an event of an unknown record. */
async function followBare({ url, get }: TestServer, by: string, headers: Record<string, string>): Promise<Follower> {
  let records = new Map<number, string>()
  const list = async (): Promise<void> => {
    const { body } = await get('/api/teams?pageSize=100', headers)
    records = new Map(body.items.map(({ id, name }: Row) => [id, name]))
  }
  const hub = connect(`${url}/api/teams/hub`, { transports: ['websocket'], forceNew: true })
  hub.on('OnUpdated', ({ id, name }: Row) => {
    if (records.has(id)) records.set(id, name)
    else void list()
  })
  await new Promise<void>((resolve) => hub.once('connect', resolve))
  await list()
  return { by, names: () => [...records.values()], stop: () => hub.disconnect() }
}

/** Follows by the array of the typed client. */
async function followRecords({ url }: TestServer, by: string, settings: Reading): Promise<Follower> {
  let names: readonly string[] = []
  let stop = (): void => undefined
  await new Promise<void>((resolve) => {
    stop = resource<Row>(`${url}/api/teams`, settings).live.records({ pageSize: 100 }, (records) => {
      names = records.map(({ name }) => name)
      resolve()
    })
  })
  return { by, names: () => names, stop }
}

rig(REPLICA)('behind a replica with lag, followers of a hub have what events say', async (t) => {
  const server = await openWithLag(t)
  const records = 5
  const keys: number[] = []
  for (let number = 0; number < records; number += 1) {
    keys.push((await server.post('/api/teams', { name: `team ${number}` })).body.id)
  }
  // All of these list while the replica has none of the teams.
  const followers = [
    await followBare(server, 'bare', {}),
    await followBare(server, 'bare with read=primary', PRIMARY),
    await followRecords(server, 'live.records', {}),
    await followRecords(server, 'live.records with readYourWrites', { readYourWrites: true }),
  ]
  t.teardown(() => {
    for (const follower of followers) follower.stop()
  })
  for (const key of keys) await server.patch(`/api/teams/${key}`, { name: `changed ${key}` }, { 'If-Match': '*' })
  const missing = ({ names }: Follower): number => keys.filter((key) => !names().includes(`changed ${key}`)).length
  await wait(1000)
  const soon = followers.map(missing)
  // No event comes any more: what a follower lacks it lacks for good, though the replica has it by now.
  await wait(LAG + 1000)
  const late = followers.map(missing)
  for (const [at, { by }] of followers.entries()) {
    tell(t, { by, records, 'missing after 1 s': soon[at] ?? -1, 'for good': late[at] ?? -1 })
  }
  t.deepEqual([late[1], late[3]], [0, 0])
  t.true((late[0] ?? 0) > 0 && (late[2] ?? 0) > 0)
})

rig(REPLICA)('where one of two replicas is down, reads are tried on the other one', async (t) => {
  const primary = await startPrimary(t)
  const replicas = [using(t, await startReplica(primary)), using(t, await startReplica(primary))]
  const [first] = replicas
  if (first === undefined) throw new TypeError('there are two replicas')
  const plain = await open(t, primary, { replicas })
  const tried = await open(t, primary, { replicas, retry: { match: [ConnectionRefusedError], max: 8 } })
  await plain.post('/api/teams', { name: 'first' })
  await wait(500)
  for (const server of [plain, tried]) t.is((await server.get('/api/teams/1')).status, 200)
  for (const [by, server] of [
    ['without retry', plain],
    ['with retry', tried],
  ] as const) {
    const figures = { reads: 0, '503': 0, other: 0, writes: 0, 'refused writes': 0 }
    if (server === plain) first.signal('SIGKILL')
    for (let round = 0; round < ROUNDS; round += 1) {
      const answers = await Promise.all(Array.from({ length: 10 }, () => server.get('/api/teams/1')))
      for (const { status } of answers) {
        figures.reads += 1
        if (status !== 200) figures[status === 503 ? '503' : 'other'] += 1
      }
      figures.writes += 1
      const { status } = await server.post('/api/players', { name: 'new' })
      if (status !== 201) figures['refused writes'] += 1
    }
    tell(t, { by, ...figures })
    t.is(figures.other, 0)
    t.is(figures['refused writes'], 0)
    if (server === tried) t.is(figures['503'], 0)
  }
})
