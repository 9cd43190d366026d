// What of a record a subscriber hears: all that a GET of the record would show, or what lists show where a GET would not show
// every record that the subscriber hears of. Scopes may answer by operation.

import ava from 'ava'
import { DataTypes } from 'sequelize'
import { type CrudOptions, type CrudRouter, crudRouter, Operations, Problem, type Scope } from '../../../lib/index.js'
import { openPush } from '../../support/push.js'

const test = ava.serial

const refuse = (): never => {
  throw new Problem({ status: 403, detail: 'Not this.' })
}

/** A scope that answers otherwise about GET by the key. */
const byOperation =
  (lists: Scope | null, records: () => Scope | null): NonNullable<CrudOptions['scope']> =>
  ({ operation }) =>
    operation === 'getById' ? records() : lists

const DAY = '2026-01-01T00:00:00.250Z'

const VARIANTS: Readonly<Record<string, { options: CrudOptions; hears: 'all' | 'list' | 'nothing' }>> = {
  free: { options: {}, hears: 'all' },
  refused: { options: { scope: byOperation(null, refuse) }, hears: 'list' },
  refusedLater: { options: { scope: async (asked) => byOperation(null, refuse)(asked) }, hears: 'list' },
  narrower: { options: { scope: byOperation(null, () => ({ tenantId: 7 })) }, hears: 'list' },
  other: { options: { scope: byOperation({ tenantId: 1 }, () => ({ tenantId: 7 })) }, hears: 'list' },
  nobodys: { options: { scope: byOperation({ tenantId: 1 }, () => ({ tenantId: null })) }, hears: 'list' },
  more: { options: { scope: byOperation({ tenantId: 1 }, () => ({ tenantId: 1, code: 'b' })) }, hears: 'list' },
  same: { options: { scope: byOperation({ tenantId: 1 }, () => ({ tenantId: 1 })) }, hears: 'all' },
  wider: { options: { scope: byOperation({ tenantId: 1, code: 'a' }, () => ({ code: 'a' })) }, hears: 'all' },
  open: { options: { scope: byOperation({ tenantId: 1 }, () => null) }, hears: 'all' },
  sameDay: { options: { scope: byOperation({ day: DAY }, () => ({ day: DAY })) }, hears: 'all' },
  otherDay: {
    options: { scope: byOperation({ day: DAY }, () => ({ day: DAY.replace('250', '251') })) },
    hears: 'list',
  },
  keyed: { options: { operations: Operations.GetById | Operations.Create }, hears: 'all' },
  // No GET of the record shows anybody what lists exclude.
  listed: { options: { operations: Operations.GetList | Operations.Create }, hears: 'list' },
  // Where there are no lists, what the scope says of them is about nothing.
  keyedElsewhere: {
    options: {
      operations: Operations.GetById | Operations.Create,
      scope: ({ operation }) => (operation === 'getById' ? { tenantId: 7 } : null),
    },
    hears: 'nothing',
  },
}

const hubs = new Map<string, CrudRouter>()
const stage = await openPush(({ sequelize }, app, io) => {
  for (const [name, { options }] of Object.entries(VARIANTS)) {
    const attributes = {
      tenantId: DataTypes.INTEGER,
      code: DataTypes.STRING,
      day: DataTypes.DATE(3),
      text: DataTypes.STRING,
      secret: DataTypes.STRING,
    }
    const Note = sequelize.define(name, attributes, { timestamps: false, tableName: name })
    const fields = { secret: { exclude: 'list' } } as const
    const own = crudRouter(Note, { route: `api/${name}`, fields, push: { io }, ...options })
    hubs.set(name, own)
    app.use(own)
  }
})
test.after.always(() => stage.close())

for (const [name, { hears }] of Object.entries(VARIANTS)) {
  test(`${name}: a subscriber hears ${hears === 'nothing' ? 'nothing of it' : `what is for ${hears === 'all' ? 'GETs' : 'lists'}`}`, async (t) => {
    const hub = hubs.get(name)
    if (hub === undefined) throw new TypeError(`there is no hub ${name}`)
    const subscriber = await stage.subscribe(hub)
    t.is(subscriber.refusal, null)
    await stage.post(`/api/${name}`, { tenantId: 1, code: 'a', day: DAY, text: 'hi', secret: 'SECRET' })
    // Told to those who hear of the record, and to the others when it is deleted by a scope of theirs.
    const tenantId = hears === 'nothing' ? 7 : 1
    await stage.drain(hub, subscriber, (id) => ({ id, tenantId, code: 'a', day: DAY }))
    if (hears === 'nothing') return t.deepEqual(subscriber.received, [])
    t.is(subscriber.received.length, 1)
    const [, record] = subscriber.received[0] ?? []
    t.like(record, { text: 'hi', tenantId: 1 })
    t.is(Object.hasOwn(Object(record), 'secret'), hears === 'all')
    t.is(subscriber.frames.join().includes('SECRET'), hears === 'all')
  })
}
