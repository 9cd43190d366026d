// Instants as they are stored, whatever the zone of the connection and the digits of the column.

import ava, { type ExecutionContext } from 'ava'
import { DataTypes, type Model, type ModelStatic, type Options } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { databaseName } from '../../support/database.js'
import type { TestServer } from '../../support/server.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial
const onMySql = databaseName === 'mysql' || databaseName === 'mariadb' ? ava.serial : ava.serial.skip
const onPostgres = databaseName === 'postgres' ? ava.serial : ava.serial.skip

interface Served extends TestServer {
  readonly Event: ModelStatic<Model>
}

async function served(t: ExecutionContext, more: Options = {}): Promise<Served> {
  const server = await openStage({ sequelize: more })
  const { app, sequelize } = server
  const Event = sequelize.define('Event', {
    at: DataTypes.DATE(3),
    exact: DataTypes.DATE(6),
    day: DataTypes.DATEONLY,
  })
  await sequelize.sync()
  app.use(crudRouter(Event, { operations: Operations.All | Operations.Aggregate }))
  t.teardown(server.close)
  return { ...server, Event }
}

const INSTANTS = [
  '2024-02-29T23:59:59.999Z',
  '2024-12-31T00:00:00.000Z',
  '1999-01-01T00:00:00.010Z',
  '1970-01-01T00:00:01.100Z',
  '9999-12-31T23:59:59.001Z',
  '1000-01-01T00:00:00.120Z',
]

test('instants are told to the millisecond, whatever their digits', async (t) => {
  const { get, post } = await served(t)
  for (const [index, at] of INSTANTS.entries()) {
    const { status, body } = await post('/api/events', { at, exact: at, day: at.slice(0, 10) })
    t.is(status, 201)
    t.like(body, { at, exact: at })
    t.like((await get(`/api/events/${index + 1}`)).body, { at, exact: at, day: at.slice(0, 10) })
  }
  const { body } = await get('/api/events?sort=at&after=&pageSize=2')
  t.like(body, { items: [{ at: '1000-01-01T00:00:00.120Z' }, { at: '1970-01-01T00:00:01.100Z' }] })
  const next = await get(`/api/events?sort=at&pageSize=2&after=${Object(body).nextCursor}`)
  t.like(next.body, { items: [{ at: '1999-01-01T00:00:00.010Z' }, { at: '2024-02-29T23:59:59.999Z' }] })
})

onMySql('where the host stores times of another zone, they are told in UTC', async (t) => {
  const { get, Event } = await served(t, { timezone: '+02:00' })
  await Event.bulkCreate(INSTANTS.slice(0, 4).map((at) => ({ at })) as never)
  for (const [index, at] of INSTANTS.slice(0, 4).entries()) t.like((await get(`/api/events/${index + 1}`)).body, { at })
})

for (const timezone of ['+05:30', '-08:00']) {
  onMySql(`parts of dates are in UTC, long ago and far ahead too: ${timezone}`, async (t) => {
    const { get, Event } = await served(t, { timezone })
    const instants = [
      '1000-01-01T21:00:00.000Z',
      '1965-07-01T02:30:00.000Z',
      '2024-02-29T23:59:59.999Z',
      '9998-12-31T22:00:00.000Z',
    ]
    await Event.bulkCreate(instants.map((at) => ({ at })) as never)
    for (const [unit, length] of [
      ['hour', 13],
      ['day', 10],
      ['month', 7],
      ['year', 4],
    ] as const) {
      const { body } = await get(`/api/events?group=${unit}(at)`)
      const groups = body.items.map(({ group }: { group: { at: Record<string, string> } }) => group.at[unit])
      t.deepEqual(
        groups,
        instants.map((at) => at.slice(0, length)),
      )
    }
  })
}

onPostgres('instants that are none to JavaScript are told as before, and other zones are minded', async (t) => {
  const { get, Event } = await served(t, { timezone: '+05:30' })
  const { sequelize } = Event
  const zones = [
    "'infinity'",
    "'2024-05-06 07:08:09.123456+00'",
    "'0044-03-15 12:00:00+00 BC'",
    "'12024-01-02 03:04:05+00'",
  ]
  for (const at of zones) {
    await sequelize?.query(`INSERT INTO "Events" ("at", "createdAt", "updatedAt") VALUES (${at}, now(), now())`)
  }
  t.like((await get('/api/events/1')).body, { at: null })
  t.like((await get('/api/events/2')).body, { at: '2024-05-06T07:08:09.123Z' })
})
