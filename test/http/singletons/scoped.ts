// A singleton with a scope: the record of the caller is a record of the scope too.

import ava from 'ava'
import { DataTypes } from 'sequelize'
import { type CrudRouter, crudRouter, filter, Operations } from '../../../lib/index.js'
import { openPush } from '../../support/push.js'
import { asUser, identityFromHeader } from '../../support/stage.js'

const test = ava.serial

let hub: CrudRouter | undefined
const stage = await openPush(({ sequelize }, app, io) => {
  const Tenant = sequelize.define('Tenant', { name: DataTypes.STRING(20) }, { timestamps: false })
  const Desk = sequelize.define(
    'Desk',
    {
      tenantId: DataTypes.INTEGER,
      text: DataTypes.STRING(20),
      isOpen: { type: DataTypes.BOOLEAN, defaultValue: true },
    },
    { timestamps: false },
  )
  Desk.belongsTo(Tenant, { as: 'tenant', foreignKey: 'tenantId' })
  Tenant.hasMany(Desk, { as: 'desks', foreignKey: 'tenantId' })
  hub = crudRouter(Desk, {
    route: 'api/desk',
    identity: identityFromHeader,
    push: { io },
    idempotency: true,
    operations: Operations.All,
    singleton: ({ identity }) => (identity === null ? null : Number(identity.name)),
    scope: ({ request }) => ({
      fixed: { tenantId: Number(request.headers['x-tenant'] ?? 0) },
      where: filter.eq('isOpen', true),
    }),
  })
  const Note = sequelize.define('Note', { text: DataTypes.STRING(20) }, { timestamps: false })
  Note.belongsTo(Desk, { as: 'desk', foreignKey: 'deskId' })
  app.use(hub)
  app.use(crudRouter(Note, { identity: identityFromHeader }))
  app.use(crudRouter(Tenant, { relations: { desks: { routes: true, write: true } }, identity: identityFromHeader }))
})

test.after.always(() => stage.close())

/** Headers of a caller, and of the tenant of their scope. */
const as = (user: string, tenant: string): Record<string, string> => ({ ...asUser(user), 'x-tenant': tenant })

test('a singleton with a scope is found, written and told of only where both allow it', async (t) => {
  await stage.sequelize.model('Tenant').bulkCreate([{ name: 'one' }, { name: 'two' }])
  if (hub === undefined) throw new Error('no hub')
  const own = await stage.subscribe(hub, { headers: as('1', '1') })
  const other = await stage.subscribe(hub, { headers: as('1', '2') })
  t.deepEqual([own.refusal, other.refusal], [null, null])

  const created = await stage.post('/api/desk', { id: 9, text: 'new' }, as('1', '1'))
  t.deepEqual([created.status, created.body], [201, { id: 1, tenantId: 1, text: 'new', isOpen: true }])
  t.deepEqual((await stage.get('/api/desk', as('1', '1'))).body, created.body)
  t.is((await stage.get('/api/desk', as('1', '2'))).status, 404)
  t.is((await stage.patch('/api/desk', { text: 'taken' }, as('1', '2'))).status, 404)
  t.is((await stage.delete('/api/desk', as('1', '2'))).status, 404)
  t.is((await stage.patch('/api/desk', { isOpen: false }, as('1', '1'))).status, 403)
  t.is((await stage.post('/api/desk', { isOpen: false }, as('2', '1'))).status, 403)
  t.is((await stage.post('/api/desk', { tenantId: 2 }, as('2', '1'))).status, 403)
  t.is((await stage.patch('/api/desk', { text: 'changed' }, as('1', '1'))).status, 200)

  while (own.received.length < 2) await new Promise((resolve) => setTimeout(resolve, 20))
  t.deepEqual(own.received, [
    ['OnCreated', { id: 1, tenantId: 1, text: 'new', isOpen: true }],
    ['OnUpdated', { id: 1, tenantId: 1, text: 'changed', isOpen: true }],
  ])
  t.deepEqual(other.received, [])

  const third = await stage.subscribe(hub, { headers: as('3', '1') })
  t.is((await stage.post('/api/desk', { text: 'third' }, as('3', '1'))).status, 201)
  await stage.sequelize.model('Desk').update({ isOpen: false }, { where: { id: 1 } })
  hub.notify?.updated(1)
  hub.notify?.updated(3)
  // Events are sent in order, so the first event has been sent or dropped when the second arrives.
  while (third.received.length < 2) await new Promise((resolve) => setTimeout(resolve, 20))
  t.deepEqual(third.received, [
    ['OnCreated', { id: 3, tenantId: 1, text: 'third', isOpen: true }],
    ['OnUpdated', { id: 3, tenantId: 1, text: 'third', isOpen: true }],
  ])
  t.is(own.received.length, 2)
  t.deepEqual(other.received, [])
})

test('a foreign key refers to a singleton only where its scope allows it', async (t) => {
  t.is((await stage.post('/api/desk', { text: 'open' }, as('4', '1'))).status, 201)
  const refer = async (user: string, tenant: string) =>
    (await stage.post('/api/notes', { deskId: 4 }, as(user, tenant))).status
  t.deepEqual([await refer('4', '1'), await refer('4', '2'), await refer('3', '1')], [201, 409, 409])
  await stage.sequelize.model('Desk').update({ isOpen: false }, { where: { id: 4 } })
  t.is(await refer('4', '1'), 409)
})

test('a route and a filter of another resource find a singleton only where its scope allows it', async (t) => {
  t.is((await stage.post('/api/tenants/1/desks', { text: 'below' }, as('5', '1'))).status, 201)
  t.is((await stage.post('/api/tenants/1/desks', { text: 'below' }, as('6', '2'))).status, 403)
  for (const [user, tenant, count] of [
    ['5', '1', 1],
    ['5', '2', 0],
    ['1', '1', 0],
  ] as const) {
    const { body } = await stage.get('/api/tenants?filter=desks.any(text=below)', as(user, tenant))
    t.is(body.totalCount, count, `user ${user} of tenant ${tenant}`)
  }
})

test('an Idempotency-Key of a singleton belongs to the record and to its scope', async (t) => {
  const send = (tenant: string) =>
    stage.post('/api/desk', { text: 'once' }, { ...as('7', tenant), 'idempotency-key': 'k' })
  const [first, again, other] = [await send('1'), await send('1'), await send('2')]
  t.deepEqual([first.status, again.text, other.status], [201, first.text, 409])
})
