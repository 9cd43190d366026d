// A ticket desk: tickets wait in queues, and each agent sees those of the queues that he works in. Who works where is a
// many-to-many with a role; the scope of tickets is a quantifier over it.

import ava from 'ava'
import { DataTypes, type Model, type ModelStatic, type Sequelize } from 'sequelize'
import { authenticated, createCrud, filter, hasRole, Operations } from '../../../lib/index.js'
import { accountOf, addLogin, defineAccounts, identity, logIn } from '../../support/login.js'
import type { Answer } from '../../support/server.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

function define(sequelize: Sequelize) {
  const options = { timestamps: false, underscored: true }
  const Account = defineAccounts(sequelize)
  const Queue = sequelize.define('queue', { queue_key: { type: DataTypes.STRING(10), primaryKey: true } }, options)
  const Seat = sequelize.define(
    'queue_member',
    {
      queue_key: { type: DataTypes.STRING(10), primaryKey: true },
      account_id: { type: DataTypes.INTEGER, primaryKey: true },
      member_role: { type: DataTypes.STRING(10), allowNull: false, defaultValue: 'agent' },
    },
    options,
  )
  const Ticket = sequelize.define(
    'ticket',
    {
      subject: { type: DataTypes.STRING(60), allowNull: false },
      queue_key: { type: DataTypes.STRING(10), allowNull: false },
      reporter_id: DataTypes.INTEGER,
      ticket_state: {
        type: DataTypes.STRING(10),
        allowNull: false,
        defaultValue: 'open',
        validate: { isIn: [['open', 'closed']] },
      },
    },
    options,
  )
  const Comment = sequelize.define('comment', { body: DataTypes.TEXT, ticket_id: DataTypes.INTEGER }, options)
  Ticket.belongsTo(Queue, { as: 'queue', foreignKey: 'queue_key' })
  Queue.hasMany(Ticket, { as: 'tickets', foreignKey: 'queue_key' })
  Ticket.hasMany(Comment, { as: 'comments', foreignKey: 'ticket_id' })
  Comment.belongsTo(Ticket, { as: 'ticket', foreignKey: 'ticket_id' })
  Queue.belongsToMany(Account, { as: 'members', through: Seat, foreignKey: 'queue_key', otherKey: 'account_id' })
  Account.belongsToMany(Queue, { as: 'queues', through: Seat, foreignKey: 'account_id', otherKey: 'queue_key' })
  Seat.belongsTo(Queue, { as: 'queue', foreignKey: 'queue_key' })
  Queue.hasMany(Seat, { as: 'seats', foreignKey: 'queue_key' })
  return { Account, Queue, Seat, Ticket, Comment }
}

const crud = createCrud({ identity, authorizePolicy: authenticated })
type Caller = Parameters<typeof accountOf>[0]
const isMember = (path: string, caller: Caller) => filter.any(path, filter.eq('id', accountOf(caller)))

function mounted(models: Readonly<Record<'Account' | 'Queue' | 'Seat' | 'Ticket' | 'Comment', ModelStatic<Model>>>) {
  const admin = hasRole('admin')
  const unlessAdmin = (caller: (Caller & { roles?: ReadonlySet<string> }) | null, condition: string) =>
    caller?.roles?.has('admin') ? null : condition
  return [
    crud.crudRouter(models.Account, {
      fields: { password_hash: { exclude: true }, password: { only: ['create', 'update'] } },
      createPolicy: admin,
      updatePolicy: admin,
      deletePolicy: admin,
    }),
    crud.crudRouter(models.Queue, {
      relations: { members: { routes: true }, tickets: { routes: true } },
      createPolicy: admin,
      updatePolicy: admin,
      deletePolicy: admin,
      scope: ({ identity: caller }) => unlessAdmin(caller, isMember('members', caller)),
    }),
    crud.crudRouter(models.Seat, {
      route: 'api/seats',
      createPolicy: admin,
      updatePolicy: admin,
      deletePolicy: admin,
      scope: ({ identity: caller }) => unlessAdmin(caller, isMember('queue.members', caller)),
    }),
    crud.crudRouter(models.Ticket, {
      operations: Operations.AllWithBulk | Operations.Aggregate | Operations.Export,
      relations: { comments: { routes: true, write: true } },
      // Those of his queues, and those that he has reported.
      scope: ({ identity: caller }) =>
        unlessAdmin(caller, filter.or(filter.eq('reporter_id', accountOf(caller)), isMember('queue.members', caller))),
    }),
    crud.crudRouter(models.Comment, {
      scope: ({ identity: caller }) => unlessAdmin(caller, isMember('ticket.queue.members', caller)),
    }),
  ]
}

const server = await openStage(({ sequelize }, app) => {
  const models = define(sequelize)
  addLogin(app, models.Account)
  app.use(mounted(models))
  return models
})
const { Account, Queue, Seat, Ticket, Comment } = server
for (const user_name of ['ann', 'bob', 'eve']) await Account.create({ user_name, password: `${user_name} 1` })
await Account.create({ user_name: 'root', password: 'root 1', user_role: 'admin' })
for (const queue_key of ['BILL', 'TECH', 'VIP']) await Queue.create({ queue_key })
await Seat.bulkCreate([
  { queue_key: 'BILL', account_id: 1, member_role: 'lead' },
  { queue_key: 'TECH', account_id: 1 },
  { queue_key: 'TECH', account_id: 2 },
])
const tickets = [
  ['Invoice', 'BILL', 3],
  ['Printer', 'TECH', 3],
  ['Screen', 'TECH', null],
  ['Jet', 'VIP', 2],
]
for (const [subject, queue_key, reporter_id] of tickets) await Ticket.create({ subject, queue_key, reporter_id })
for (const ticket_id of [1, 2, 3, 4]) await Comment.create({ body: `on ${ticket_id}`, ticket_id })
test.after.always(() => server.close())

const callers: Record<string, Record<string, string>> = {}
test.before(async () => {
  for (const name of ['ann', 'bob', 'eve', 'root']) callers[name] = await logIn(server, name, `${name} 1`)
})
const by = (name: string) => callers[name] ?? {}
const subjects = ({ status, text, body }: Answer): unknown =>
  status === 200 ? body.items.map(({ subject }: { subject: string }) => subject) : text

test('each agent lists the tickets of his queues, and those that he has reported', async (t) => {
  const expected = {
    ann: ['Invoice', 'Printer', 'Screen'],
    bob: ['Jet', 'Printer', 'Screen'],
    eve: ['Invoice', 'Printer'],
    root: ['Invoice', 'Jet', 'Printer', 'Screen'],
  }
  for (const [name, all] of Object.entries(expected)) {
    t.deepEqual(subjects(await server.get('/api/tickets?sort=subject', by(name))), all, name)
  }
  const groups = await server.get('/api/tickets?aggregate=count&group=queueKey&sort=queueKey', by('bob'))
  t.deepEqual(groups.body.items, [
    { group: { queueKey: 'TECH' }, count: 2 },
    { group: { queueKey: 'VIP' }, count: 1 },
  ])
})

test('a queue is filtered by who works in it and how, as far as the caller sees it', async (t) => {
  const lead = 'filter=Queue.Members.Any(UserName=ann,QueueMember.MemberRole=lead)'
  t.deepEqual(subjects(await server.get(`/api/tickets?${lead}`, by('ann'))), ['Invoice'])
  t.deepEqual(subjects(await server.get(`/api/tickets?${lead}`, by('bob'))), [])
  const queues = await server.get('/api/queues?select=queueKey,members(userName,queueMember.memberRole)', by('bob'))
  t.deepEqual(queues.body.items, [
    {
      queueKey: 'TECH',
      members: [
        { userName: 'ann', queueMember: { memberRole: 'agent' } },
        { userName: 'bob', queueMember: { memberRole: 'agent' } },
      ],
    },
  ])
  const hidden = await server.get('/api/queues?filter=Members.Any(PasswordHash^a)', by('bob'))
  t.is(hidden.status, 400)
  t.is(hidden.body.code, 'unknown-field')
})

test('a ticket of another queue is missing, and cannot be put there', async (t) => {
  t.is((await server.get('/api/tickets/4', by('ann'))).status, 404)
  t.is((await server.patch('/api/tickets/4', { ticketState: 'closed' }, by('ann'))).status, 404)
  t.is((await server.get('/api/queues/VIP/tickets', by('ann'))).status, 404)
  const away = await server.patch('/api/tickets/3', { queueKey: 'VIP' }, by('bob'))
  t.is(away.status, 403, away.text)
  t.is(away.body.detail, 'You may not store this record.')
  t.is((await server.get('/api/tickets/3', by('bob'))).body.queueKey, 'TECH')
  // Her own report may be anywhere that she sees.
  const own = await server.patch('/api/tickets/3', { queueKey: 'BILL' }, by('ann'))
  t.is(own.status, 200, own.text)
  t.is((await server.get('/api/tickets/3', by('bob'))).status, 404)
  t.is((await server.patch('/api/tickets/3', { queueKey: 'TECH' }, by('ann'))).status, 200)
})

test('nobody lets himself into a queue', async (t) => {
  const seat = await server.post('/api/seats', { queueKey: 'VIP', accountId: 1 }, by('ann'))
  t.is(seat.status, 403)
  t.is((await server.send('PUT', '/api/queues/VIP/members/1', { headers: by('ann') })).status, 403)
  t.is((await server.send('PUT', '/api/queues/TECH/members/3', { headers: by('bob') })).status, 403)
  t.is((await server.get('/api/tickets/4', by('ann'))).status, 404)
})

test('who is let into a queue sees its tickets at once, and who leaves it does not', async (t) => {
  const joined = await server.send('PUT', '/api/queues/VIP/members/1', {
    json: { memberRole: 'lead' },
    headers: by('root'),
  })
  t.is(joined.status, 204, joined.text)
  t.is((await server.get('/api/tickets/4', by('ann'))).status, 200)
  t.is((await server.get('/api/queues/VIP/members?select=queueMember.memberRole', by('ann'))).body.items.length, 1)
  t.is((await server.delete('/api/queues/VIP/members/1', by('root'))).status, 204)
  t.is((await server.get('/api/tickets/4', by('ann'))).status, 404)
})

test('comments follow the queue of their ticket, below it and beside it', async (t) => {
  const bodies = async (path: string, name: string) =>
    (await server.get(path, by(name))).body.items.map(({ body }: { body: string }) => body)
  t.deepEqual(await bodies('/api/comments?sort=id', 'bob'), ['on 2', 'on 3'])
  // Eve has reported the ticket, and does not work in its queue.
  t.deepEqual(await bodies('/api/tickets/2/comments', 'eve'), [])
  const made = await server.post(
    '/api/tickets',
    { subject: 'Mouse', queueKey: 'TECH', comments: [{ body: 'Hi' }] },
    by('bob'),
  )
  t.is(made.status, 201, made.text)
  const refused = await server.post(
    '/api/tickets',
    { subject: 'Car', queueKey: 'VIP', reporterId: 2, comments: [{ body: 'Hi' }] },
    by('bob'),
  )
  t.not(refused.status, 201)
  t.is((await server.get('/api/tickets?filter=Subject=Car&count=true', by('root'))).body.count, 0)
})

test("bulk writes name every ticket that is not of the caller's queues", async (t) => {
  const records = ['TECH', 'VIP', 'BILL'].map((queueKey) => ({ subject: `to ${queueKey}`, queueKey, reporterId: 3 }))
  const { status, body } = await server.post('/api/tickets/bulk', records, by('bob'))
  t.is(status, 403)
  t.deepEqual(body.errors, { '[1]': ['may not be stored.'], '[2]': ['may not be stored.'] })
  // Who has reported a ticket is known when it is stored. Queues of others do not exist for the caller before that.
  const open = records.map(({ reporterId: _, ...record }) => record)
  const missing = await server.post('/api/tickets/bulk', open, by('bob'))
  t.is(missing.status, 409)
  t.deepEqual(missing.body.errors, { queueKey: ['does not exist.'] })
  const gone = await server.post('/api/tickets/bulk-delete', { keys: [1, 4] }, by('ann'))
  t.true(gone.status < 500)
  t.is((await server.get('/api/tickets/4', by('bob'))).status, 200)
})
