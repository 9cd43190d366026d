// A reply that was kept goes to nobody who could not have it now. Each test is named after its rule.

import ava from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { crudRouter, type Identity, Operations } from '../../../../lib/index.js'
import { type HubOwner, openPush } from '../../../support/push.js'
import { bearer, identity } from '../../../support/tokens.js'

const test = ava.serial

let Account!: ModelStatic<Model>
let hub!: HubOwner
let open = true
let listed = true
const world = await openPush(({ sequelize }, app, io) => {
  const Team = sequelize.define('Team', { name: DataTypes.STRING, tenantId: DataTypes.INTEGER }, { timestamps: false })
  Account = sequelize.define(
    'Account',
    {
      code: { type: DataTypes.STRING(20), primaryKey: true },
      tenantId: { type: DataTypes.INTEGER, allowNull: false },
      name: DataTypes.STRING,
      salary: DataTypes.INTEGER,
    },
    { timestamps: false },
  )
  Account.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  app.use(crudRouter(Team, { identity, getListPolicy: () => listed }))
  const accounts = crudRouter(Account, {
    identity,
    operations: Operations.AllWithBulk | Operations.Replace,
    idempotency: true,
    mask: { salary: 'payroll' },
    flatten: ['team'],
    scope: ({ identity: caller }) => ({ tenantId: tenantOf(caller) }),
    createPolicy: ({ identity: caller }) => open && caller !== null,
    updatePolicy: ({ identity: caller }) => caller !== null,
    push: { io },
  })
  app.use(accounts)
  hub = accounts
})
await world.sequelize.model('Team').bulkCreate([{ name: 'Lakers', tenantId: 1 }])
test.after.always(() => world.close())

function tenantOf(caller: Identity | null): number {
  return Number(caller?.claims.tenant ?? 0)
}

const payer = { sub: 'ann', iss: 'one', tenant: 1, permissions: ['payroll'] }
let number = 0

/** Sends the same body under the same key as each of them, the first before the others. */
async function sent(...callers: readonly object[]) {
  number += 1
  const answers = []
  for (const [index, claims] of callers.entries()) {
    const headers = { ...bearer(claims), 'Idempotency-Key': `key ${number}` }
    // A code of its own, so that what is done anew is not refused for it: the same body all the same.
    if (index > 0) await Account.destroy({ where: { code: `c${number}` } })
    answers.push(await world.post('/api/accounts', { code: `c${number}`, name: 'x', salary: 5000, teamId: 1 }, headers))
  }
  return answers
}

const isReplay = ({ headers }: { headers: Headers }): boolean => headers.get('idempotency-replayed') === 'true'

test('the same caller is replayed, and nobody else: another name, subject, issuer or tenant has keys of its own', async (t) => {
  const [first, again] = await sent(payer, payer)
  t.is(first?.body.salary, 5000)
  t.true(again !== undefined && isReplay(again))
  for (const other of [{ sub: 'bob' }, { iss: 'two' }, { name: 'Ann', sub: 'other' }, { tenant: 2 }]) {
    const [, foreign] = await sent(payer, { ...payer, ...other })
    t.false(foreign === undefined || isReplay(foreign), JSON.stringify(other))
  }
})

test('callers who have neither a subject nor a name are told apart by what else says who they are', async (t) => {
  const nameless = { iss: 'one', tenant: 1, permissions: ['payroll'] }
  for (const claim of ['id', 'client_id', 'azp', 'username', 'email']) {
    const [, again] = await sent({ ...nameless, [claim]: 'a' }, { ...nameless, [claim]: 'a' })
    t.true(again !== undefined && isReplay(again), claim)
    const [, other] = await sent({ ...nameless, [claim]: 'a' }, { ...nameless, [claim]: 'b' })
    t.false(other === undefined || isReplay(other), claim)
  }
})

test('who shares a display name with another is not that one', async (t) => {
  const [, other] = await sent({ ...payer, name: 'Ann' }, { ...payer, name: 'Ann', sub: 'another' })
  t.false(other === undefined || isReplay(other))
})

test('a caller who has lost a permission is not shown what the first reply showed', async (t) => {
  const [first, after] = await sent(payer, { ...payer, permissions: [] })
  t.is(first?.body.salary, 5000)
  t.false(after === undefined || isReplay(after))
  t.is(after?.body.salary, null)
})

test('a caller who may no longer read what is flattened is not shown it', async (t) => {
  const [first] = await sent(payer)
  t.is(first?.body.teamName, 'Lakers')
  listed = false
  await Account.destroy({ where: { code: `c${number}` } })
  const headers = { ...bearer(payer), 'Idempotency-Key': `key ${number}` }
  const again = await world.post('/api/accounts', { code: `c${number}`, name: 'x', salary: 5000, teamId: 1 }, headers)
  listed = true
  t.false(isReplay(again))
  t.is(again.body.teamName, null)
})

test('identity and policies are asked again before a reply is replayed', async (t) => {
  const headers = { ...bearer(payer), 'Idempotency-Key': 'asked' }
  const body = { code: 'asked', name: 'x' }
  t.is((await world.post('/api/accounts', body, headers)).status, 201)
  open = false
  t.is((await world.post('/api/accounts', body, headers)).status, 403)
  t.is((await world.post('/api/accounts', body, { ...headers, authorization: 'Bearer x' })).status, 401)
  open = true
  t.true(isReplay(await world.post('/api/accounts', body, headers)))
  t.is((await world.post('/api/accounts', body, { 'Idempotency-Key': 'asked' })).status, 401)
})

test('a replacement that made a record is replayed to nobody who may no longer make one', async (t) => {
  const headers = { ...bearer(payer), 'Idempotency-Key': 'made' }
  const put = () => world.send('PUT', '/api/accounts/made', { json: { name: 'x' }, headers })
  t.is((await put()).status, 201)
  open = false
  t.is((await put()).status, 403)
  open = true
  t.true(isReplay(await put()))
})

test('an empty patch has its reply as well, with what it shows of others', async (t) => {
  await world.post('/api/accounts', { code: 'idle', teamId: 1 }, bearer(payer))
  const headers = { ...bearer(payer), 'Idempotency-Key': 'idle' }
  const first = await world.patch('/api/accounts/idle', {}, headers)
  t.is(first.body.teamName, 'Lakers')
  const again = await world.patch('/api/accounts/idle', {}, headers)
  t.true(isReplay(again))
  t.is(again.text, first.text)
})

test('nothing of a client is in the table but hashes, and no secret of a header', async (t) => {
  await sent(payer)
  const rows = await world.sequelize.model('crud_idempotency_keys').findAll()
  for (const row of rows) {
    t.regex(String(row.get('id')), /^[0-9a-f]{64}$/)
    t.regex(String(row.get('fingerprint')), /^[0-9a-f]{64}$/)
    t.notRegex(String(row.get('reply')), /Bearer|key \d/)
  }
})

test('a reply that is replayed is pushed to nobody', async (t) => {
  const mine = await world.subscribe(hub, { headers: bearer(payer) })
  const headers = { ...bearer(payer), 'Idempotency-Key': 'pushed' }
  const body = { code: 'pushed', name: 'x' }
  await world.post('/api/accounts', body, headers)
  await world.post('/api/accounts', body, headers)
  await world.drain(hub, mine, (code) => ({ code: String(code), tenantId: 1 }))
  t.deepEqual(
    mine.received.map(([event]) => event),
    ['OnCreated'],
  )
})
