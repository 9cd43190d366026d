// The hub of a singleton: clients hear of their own record, and of no other.

import ava from 'ava'
import { DataTypes } from 'sequelize'
import { type CrudRouter, crudRouter, Operations } from '../../../lib/index.js'
import { openPush } from '../../support/push.js'
import { asUser, identityFromHeader } from '../../support/stage.js'

const test = ava.serial

let hub: CrudRouter | undefined
const stage = await openPush(({ sequelize }, app, io) => {
  const Wish = sequelize.define('Wish', { text: DataTypes.STRING }, { timestamps: false })
  hub = crudRouter(Wish, {
    route: 'api/wish',
    identity: identityFromHeader,
    push: { io },
    softDelete: true,
    operations: Operations.All | Operations.Restore,
    actions: { shout: { on: 'record', method: 'post', handler: ({ record }) => record.set('text', 'SNOW') } },
    singleton: ({ identity }) => (identity === null ? null : Number(identity.name)),
  })
  app.use(hub)
})

test.after.always(() => stage.close())

test('a client hears of the record of its caller, and a caller without one is refused', async (t) => {
  if (hub === undefined) throw new Error('no hub')
  const one = await stage.subscribe(hub, { headers: asUser('1') })
  const two = await stage.subscribe(hub, { headers: asUser('2') })
  const nobody = await stage.subscribe(hub)
  t.not(nobody.refusal, null)
  t.is((await stage.post('/api/wish', { text: 'rain' }, asUser('1'))).status, 201)
  t.is((await stage.patch('/api/wish', { text: 'snow' }, asUser('1'))).status, 200)
  t.is((await stage.post('/api/wish', { text: 'sun' }, asUser('2'))).status, 201)
  t.is((await stage.send('POST', '/api/wish/shout', { headers: asUser('1') })).status, 200)
  t.is((await stage.delete('/api/wish', asUser('1'))).status, 204)
  t.is((await stage.post('/api/wish', { text: 'wind' }, asUser('1'))).status, 201)
  while (one.received.length < 5 || two.received.length < 1) await new Promise((resolve) => setTimeout(resolve, 20))
  t.deepEqual(one.received, [
    ['OnCreated', { id: 1, text: 'rain' }],
    ['OnUpdated', { id: 1, text: 'snow' }],
    ['OnUpdated', { id: 1, text: 'SNOW' }],
    ['OnDeleted', 1],
    ['OnCreated', { id: 1, text: 'wind' }],
  ])
  t.deepEqual(two.received, [['OnCreated', { id: 2, text: 'sun' }]])
})
