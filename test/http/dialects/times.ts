// Instants, days and times of day are the same whatever the time zone of Sequelize, of the database's session and of the
// process.

import { fileURLToPath } from 'node:url'
import ava, { type ExecutionContext } from 'ava'
import type { Options, Sequelize } from 'sequelize'
import { serveClock } from '../../support/clock.js'
import { databaseName } from '../../support/database.js'
import { keysOf } from '../../support/lists.js'
import { likeThis, start } from '../../support/program.js'
import { clientOf, type TestClient } from '../../support/server.js'
import { serverOptions } from '../../support/servers.js'
import { onConnect } from '../../support/session.js'

const test = ava.serial

const isMysql = databaseName === 'mysql' || databaseName === 'mariadb'

/** Around midnight, around changes of the clocks (but for the hour there is twice), long ago and far ahead. */
const INSTANTS: readonly string[] = [
  '1000-01-01T12:00:00.000Z',
  '1969-12-31T23:59:59.999Z',
  '2024-02-28T23:30:00.000Z',
  '2024-02-29T00:30:00.000Z',
  '2024-02-29T12:34:56.789Z',
  '2024-03-31T00:59:59.999Z',
  '2024-03-31T01:00:00.000Z',
  '2024-06-30T20:15:00.001Z',
  '2024-10-27T02:30:00.000Z',
  '9999-12-31T12:00:00.000Z',
]

/** The same instant in a place five and a half hours to the east. */
function eastern(instant: string): string {
  return new Date(Date.parse(instant) + 19_800_000).toISOString().replace('Z', '+05:30')
}

async function assertSame(t: ExecutionContext, server: TestClient, instants: readonly string[]): Promise<void> {
  await assertKeys(t, server, instants)
  for (const path of ['/api/events', '/api/hooked']) {
    for (const instant of instants) {
      const [day, clock] = [instant.slice(0, 10), instant.slice(11, 19)]
      const now = Date.now()
      const { status, body } = await server.post(path, { moment: instant, coarse: instant, day, clock })
      t.is(status, 201)
      const coarse = isMysql ? `${instant.slice(0, 19)}.000Z` : instant
      t.like(body, { moment: instant, coarse, day, clock })
      // Columns of whole seconds may round up.
      for (const stamp of [body.createdAt, body.today]) t.true(Math.abs(Date.parse(stamp) - now) < 60_000, stamp)
      const { id } = body
      t.deepEqual((await server.get(`${path}/${id}`)).body, body)
      t.like((await server.patch(`${path}/${id}`, { moment: eastern(instant), day, clock })).body, {
        moment: instant,
        day,
        clock,
      })
      const filters: readonly (readonly [filter: string, isFound: boolean])[] = [
        [`moment=${eastern(instant)}`, true],
        [`moment!=${instant}`, false],
        [`moment>${instant}`, false],
        [`moment=${day}`, true],
        [`coarse=in=${coarse};2020-01-01`, true],
        [`day=${day}`, true],
        [`day>${day}`, false],
        [`clock<=${clock}`, true],
      ]
      for (const [filter, isFound] of filters) {
        t.deepEqual(await keysOf(server, path, { filter, keys: id }), isFound ? [id] : [], `${path} ${filter}`)
      }
    }
    const items = instants.map((instant) => ({ moment: eastern(instant) }))
    const bulk = await server.post(`${path}/bulk`, items)
    t.deepEqual(
      bulk.body.map(({ moment }: { moment: string }) => moment),
      instants,
    )
    const { body } = await server.get(`${path}?sort=moment&pageSize=1000`)
    const order: readonly string[] = body.items.map(({ moment }: { moment: string }) => moment)
    t.deepEqual(order, [...order].sort())
  }
}

/** Records whose keys are instants have the same collections, by every way to them. */
async function assertSameOwners(t: ExecutionContext, server: TestClient, instants: readonly string[]): Promise<void> {
  for (const path of ['/api/owners', '/api/hookedowners']) {
    for (const at of instants) {
      const things = [{ name: `${at} a` }, { name: `${at} b` }]
      const { status, text } = await server.post(path, { at, name: 'new', things })
      t.is(status, 201, text)
      const one = `${path}/${encodeURIComponent(at)}`
      const select = 'select=at,things(name,ownerAt,owner(at))&things.sort=name'
      const expected = { at, things: things.map((thing) => ({ ...thing, ownerAt: at, owner: { at } })) }
      t.deepEqual((await server.get(`${one}?${select}`)).body, expected)
      t.deepEqual((await server.get(`${path}?${select}&keys=${encodeURIComponent(at)}`)).body.items, [expected])
      t.is((await server.get(`${one}/things`)).body.totalCount, 2)
      t.is((await server.patch(one, { name: 'changed' })).body.name, 'changed')
    }
    const { body } = await server.get(`${path}?select=at,things(name)&pageSize=100`)
    const counts = body.items.map(({ at, things }: { at: string; things: [] }) => [at, things.length])
    t.deepEqual(
      counts,
      [...instants].sort().map((at) => [at, 2]),
    )
    t.is((await server.get(`${path}?filter=things.Count=2&count=true`)).body.count, instants.length)
  }
}

/** Models with hooks find the record of an instance by its key. */
async function assertKeys(t: ExecutionContext, server: TestClient, instants: readonly string[]): Promise<void> {
  for (const at of instants) t.is((await server.post('/api/ticks', { at })).status, 201)
  for (const at of instants) {
    const patched = await server.patch(`/api/ticks/${at}`, { name: at })
    t.deepEqual([patched.status, patched.body], [200, { at, name: at }], patched.text)
  }
  for (const [index, at] of instants.entries()) {
    t.is((await server.delete(`/api/ticks/${at}`)).status, 204)
    const left = await server.get('/api/ticks?sort=at')
    t.deepEqual(
      left.body.items.map((tick: { readonly at: string }) => tick.at),
      instants.slice(index + 1),
    )
  }
}

interface Zone {
  readonly title: string
  readonly options: Options & { readonly keepDefaultTimezone?: boolean }
  readonly session?: string
  /** Sequelize writes the seconds of an offset such as +05:53:28, which towns had before there were zones, as none. */
  readonly since?: string
}

const DRIVER = databaseName === 'sqlite' ? {} : serverOptions(databaseName).dialectOptions

const ZONES: readonly Zone[] = [
  { title: 'UTC', options: {} },
  // Sequelize refuses any other on SQLite.
  ...(databaseName === 'sqlite' ? [] : (['+05:30', '-08:00'] as const)).map((timezone) => ({
    title: `Sequelize at ${timezone}`,
    options: { timezone },
  })),
  ...(databaseName === 'sqlite' ? [] : (['Europe/Warsaw', 'America/New_York'] as const)).map((timezone) => ({
    title: `Sequelize in ${timezone}`,
    options: { timezone },
    since: '1960',
  })),
  ...(isMysql
    ? [
        { title: 'a session at +09:00', options: {}, session: "SET time_zone = '+09:00'" },
        { title: 'a session that keeps its own zone', options: { timezone: '+02:00', keepDefaultTimezone: true } },
        {
          title: 'a driver that hands dates on as text',
          options: { dialectOptions: { ...DRIVER, dateStrings: true, typeCast: true } },
        },
      ]
    : []),
  ...(databaseName === 'postgres'
    ? [
        {
          title: 'a session in Kathmandu',
          options: { keepDefaultTimezone: true, dialectOptions: { options: '-c timezone=Asia/Kathmandu' } },
          since: '1960',
        },
        {
          title: 'a session in New York of a Sequelize in India',
          options: {
            timezone: '+05:30',
            keepDefaultTimezone: true,
            dialectOptions: { options: '-c timezone=America/New_York' },
          },
          since: '1960',
        },
        { title: 'a session that reads dates the European way', options: {}, session: "SET DateStyle = 'ISO, DMY'" },
      ]
    : []),
]

for (const { title, options, session, since = '' } of ZONES) {
  test(`dates and times are the same: ${title}`, async (t) => {
    const prepare = (sequelize: Sequelize): void => {
      if (session !== undefined) onConnect(sequelize, session)
    }
    // Sequelize hands the zone's name to a driver that knows offsets only and says so on the console.
    const { error } = console
    console.error = () => undefined
    const server = await serveClock(options, prepare)
    t.teardown(async () => {
      console.error = error
      await server.close()
    })
    const instants = INSTANTS.filter((instant) => instant > since)
    await assertSame(t, server, instants)
    await assertSameOwners(t, server, instants)
  })
}

const PROGRAM = fileURLToPath(new URL('../../support/clockServer.js', import.meta.url))

for (const zone of ['America/Los_Angeles', 'Asia/Kolkata', 'Pacific/Kiritimati']) {
  test(`dates and times are the same in a process in ${zone}`, async (t) => {
    const program = start([...likeThis, PROGRAM], { env: { TZ: zone } })
    t.teardown(() => program.stop())
    const [url] = await program.waitForOutput(/http:\S+/)
    await assertSame(t, clientOf(url), INSTANTS)
    await assertSameOwners(t, clientOf(url), INSTANTS)
  })
}
