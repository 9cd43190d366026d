// Computed fields in what is pushed: resolved without a caller, and without those that are for one caller.

import ava from 'ava'
import { DataTypes } from 'sequelize'
import { type ComputedContext, type CrudRouter, crudRouter } from '../../../lib/index.js'
import { openPush } from '../../support/push.js'
import { identity, withPermission } from '../../support/tokens.js'

const test = ava.serial

const contexts: (readonly [field: string, context: ComputedContext])[] = []
let isBroken = false
let hub: CrudRouter | undefined
const errors: unknown[] = []

const stage = await openPush(({ sequelize }, app, io) => {
  const Lamp = sequelize.define('Lamp', { name: DataTypes.STRING, serial: DataTypes.STRING }, { timestamps: false })
  hub = crudRouter(Lamp, {
    identity,
    push: { io },
    onError: (error) => errors.push(error),
    fields: { serial: { exclude: true } },
    mask: { load: 'service', mine: 'service' },
    computed: {
      load: {
        type: 'integer',
        nullable: true,
        needs: ['serial'],
        resolve: (records, context) => {
          contexts.push(['load', context])
          if (isBroken) return []
          return records.map(({ serial }) => String(serial).length)
        },
      },
      mine: { type: 'boolean', perCaller: true, resolve: (records) => records.map(() => true) },
    },
  })
  app.use(hub)
})

test.after.always(() => stage.close())

test('a push has them without what is for one caller, as the masks of its clients say', async (t) => {
  if (hub === undefined) throw new Error('no hub')
  const anonymous = await stage.subscribe(hub)
  const service = await stage.subscribe(hub, { headers: withPermission('service') })
  contexts.length = 0
  const { body } = await stage.post('/api/lamps', { name: 'desk', serial: 'abc' }, withPermission('service'))
  t.deepEqual(body, { id: body.id, name: 'desk', load: 4, mine: true })
  await stage.drain(hub, service)
  t.deepEqual(service.received, [['OnCreated', { id: body.id, name: 'desk', load: 4 }]])
  t.deepEqual(anonymous.received, [['OnCreated', { id: body.id, name: 'desk', load: null }]])
  const [own, ...pushed] = contexts.map(([, context]) => context)
  t.not(own?.request ?? null, null)
  t.deepEqual(pushed, [{ request: null, identity: null, transaction: null }])
})

test('a push whose field fails is left out, and the host is told', async (t) => {
  if (hub === undefined) throw new Error('no hub')
  const service = await stage.subscribe(hub, { headers: withPermission('service') })
  const { body } = await stage.post('/api/lamps', { name: 'hall' })
  isBroken = true
  await stage.patch(`/api/lamps/${body.id}`, { name: 'attic' })
  await stage.drain(hub, service)
  isBroken = false
  t.false(service.received.some(([event]) => event === 'OnUpdated'))
  t.regex(String(Object(errors[0]).cause), /Lamp: computed\.load: resolve returned 0 values for 1 records/)
})
