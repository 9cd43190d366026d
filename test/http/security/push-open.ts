// One thing alone that tells callers apart, a scope, a policy or a guard on one of two records that are flattened, is enough:
// nothing of it is told to everybody.

import ava from 'ava'
import type { RequestHandler } from 'express'
import { DataTypes } from 'sequelize'
import { authenticated, type CrudRouter, crudRouter, hasRole } from '../../../lib/index.js'
import { openPush, plainToken } from '../../support/push.js'
import { identity } from '../../support/tokens.js'

// One after the other: those who listen to a hub hear what all of them write.
const test = ava.serial

/** Finds the user of a session. */
const session: RequestHandler = (req, _res, next) => {
  const name = req.headers['x-session']
  if (name !== undefined) Object.assign(req, { user: { sub: name } })
  next()
}

const hubs: CrudRouter[] = []
const stage = await openPush(({ sequelize }, app, io) => {
  const plain = { timestamps: false }
  const name = DataTypes.STRING(9)
  const Scoped = sequelize.define('Scoped', { name, tenantId: DataTypes.INTEGER }, plain)
  const Policed = sequelize.define('Policed', { name, secret: name }, plain)
  const [Club, Coach] = ['Club', 'Coach'].map((each) => sequelize.define(each, { name, secret: name }, plain))
  const Player = sequelize.define('Player', { name }, plain)
  const Inner = sequelize.define('Inner', { name }, plain)
  if (Club === undefined || Coach === undefined) throw new TypeError()
  Player.belongsTo(Club, { as: 'club', foreignKey: 'clubId' })
  Player.belongsTo(Coach, { as: 'coach', foreignKey: 'coachId' })
  const push = { io }
  hubs.push(
    crudRouter(Scoped, {
      push,
      identity,
      scope: ({ identity: who }) => ({ tenantId: Number(who?.claims.tenant ?? 0) }),
    }),
    crudRouter(Policed, {
      push,
      identity,
      getByIdPolicy: hasRole('reader'),
      fields: { secret: { only: ['response', 'create'] } },
    }),
    crudRouter(Player, { push, identity, flatten: ['club', 'coach'] }),
    // Who asks is what the host's middleware has found.
    crudRouter(Inner, { push, authorizePolicy: authenticated, use: session }),
  )
  app.use(hubs, crudRouter(Club, { identity }), crudRouter(Coach, { identity, mask: { secret: 'see' } }))
})
const { sequelize } = stage
await sequelize.model('Club').create({ name: 'club', secret: 'CLUB' })
await sequelize.model('Coach').create({ name: 'coach', secret: 'COACH' })
const [scoped, policed, players, inner] = hubs
if (scoped === undefined || policed === undefined || players === undefined || inner === undefined)
  throw new TypeError('nothing was mounted')
test.after.always(() => stage.close())

test('where a scope is all that tells callers apart, records are told of to those whose they are', async (t) => {
  const [one, two] = await Promise.all(
    [1, 2].map((tenant) => stage.subscribe(scoped, { token: plainToken({ sub: 'x', tenant }) })),
  )
  if (one === undefined || two === undefined) throw new TypeError('nobody has subscribed')
  const headers = { authorization: `Bearer ${plainToken({ sub: 'x', tenant: 2 })}` }
  const { body, text, status } = await stage.post('/api/scopeds', { name: 'two' }, headers)
  t.is(status, 201, text)
  await stage.drain(scoped, two, (id) => ({ id, tenantId: 2 }))
  t.deepEqual(two.received, [['OnCreated', body]])
  t.deepEqual(one.received, [])
  t.notRegex(one.frames.join(), /two/)
})

test('where the policy of GET by id is, who may only list is told what lists show', async (t) => {
  const [lister, reader] = await Promise.all(
    [[], ['reader']].map((roles) => stage.subscribe(policed, { token: plainToken({ sub: 'x', roles }) })),
  )
  if (lister === undefined || reader === undefined) throw new TypeError('nobody has subscribed')
  const { body, text, status } = await stage.post('/api/policeds', { name: 'a', secret: 'SECRET' })
  t.is(status, 201, text)
  await stage.drain(policed, lister)
  t.deepEqual(reader.received, [['OnCreated', { ...body, secret: 'SECRET' }]])
  t.deepEqual(lister.received, [['OnCreated', { id: body.id, name: 'a' }]])
  t.notRegex(lister.frames.join(), /SECRET/)
})

test('where the mask of one record that is flattened is, it is told to those who hold what it asks for', async (t) => {
  const [anybody, holder] = await Promise.all(
    [[], ['see']].map((permissions) => stage.subscribe(players, { token: plainToken({ sub: 'x', permissions }) })),
  )
  if (anybody === undefined || holder === undefined) throw new TypeError('nobody has subscribed')
  const { text, status } = await stage.post('/api/players', { name: 'a', clubId: 1, coachId: 1 })
  t.is(status, 201, text)
  await stage.drain(players, anybody)
  t.like(holder.received.at(-1)?.[1], { clubSecret: 'CLUB', coachSecret: 'COACH' })
  t.like(anybody.received.at(-1)?.[1], { clubSecret: 'CLUB', coachSecret: null })
  t.notRegex(anybody.frames.join(), /COACH/)
})

test('a failed authentication gives nobody more, and no message changes who a socket is (CVE-2026-126539)', async (t) => {
  const of = (tenant: number, more: object = {}): string => plainToken({ sub: 'x', tenant, ...more })
  for (const token of ['nonsense', of(2, { exp: 1 }), `${of(2)}x`, of(2).replace(/[^.]*$/, '')]) {
    const { refusal, socket } = await stage.subscribe(scoped, { token })
    t.like(refusal?.data, { status: 401 }, token)
    t.false(socket.connected)
  }
  const [one, two] = await Promise.all([1, 2].map((tenant) => stage.subscribe(scoped, { token: of(tenant) })))
  if (one === undefined || two === undefined) throw new TypeError('nobody has subscribed')
  for (const event of ['auth', 'authenticate', 'login', 'token']) {
    for (const token of ['nonsense', '', null, of(2)]) one.socket.emit(event, { token, type: event })
  }
  await stage.post('/api/scopeds', { name: 'after' }, { authorization: `Bearer ${of(2)}` })
  await stage.drain(scoped, two, (id) => ({ id, tenantId: 2 }))
  t.is(two.received.length, 1)
  t.deepEqual(one.received, [])
  t.true(one.socket.connected)
})

test('a socket that has not passed the middleware is nobody, and one that has is somebody (CVE-2026-32594)', async (t) => {
  const headers = { 'x-session': 'ann' }
  t.is((await stage.get('/api/inners', headers)).status, 200)
  t.is((await stage.get('/api/inners')).status, 401)
  const by = { extraHeaders: headers, transport: 'websocket' as const }
  t.like((await stage.subscribe(inner, by)).refusal?.data, { status: 401 })
  stage.io.engine.use(session)
  t.is((await stage.subscribe(inner, by)).refusal, null)
  t.like((await stage.subscribe(inner, { transport: 'websocket' })).refusal?.data, { status: 401 })
})
