// Within a transaction of the host's a refusal undoes the write alone. What others commit meanwhile is seen by the statement that
// reads back.

import test from 'ava'
import { DataTypes, Sequelize } from 'sequelize'
import { crudRouter, filter, type Hooks, Operations, type RecordActionOptions } from '../../../lib/index.js'
import { Namespace } from '../../support/continuation.js'
import { openStage } from '../../support/stage.js'

Sequelize.useCLS(new Namespace())

/** The end of the transaction of the latest request. */
let committed: Promise<void> = Promise.resolve()

/** What happened in the latest request, in its order. */
const steps: string[] = []

/** Lets the hook of a slow write go on. `outcome` is what became of its statement. */
const late = { goOn: (): void => undefined, outcome: '' }

const stage = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const Ticket = sequelize.define('Ticket', { title: DataTypes.STRING, ownerId: DataTypes.INTEGER }, plain)
  const Log = sequelize.define('Log', { text: DataTypes.STRING }, plain)
  Ticket.hasMany(Log, { as: 'logs', foreignKey: 'ticketId', constraints: false })
  app.use('/hosted', async (request, response, next) => {
    const transaction = sequelize.transaction(async () => {
      await Log.create({ text: request.method })
      const end = new Promise((resolve) => response.once('finish', resolve))
      next()
      await end
      steps.push('the host ends')
      if (request.headers['x-end'] === 'rollback') throw new Error('the host rolls back')
    })
    committed = transaction.then(
      () => undefined,
      () => undefined,
    )
    await committed
  })
  // The host has a savepoint in its transaction, which it rolls back.
  app.use('/undone', (request, response, next) => {
    committed = sequelize.transaction(async (transaction) => {
      await Log.create({ text: 'outside of the savepoint' })
      const undone = sequelize.transaction({ transaction }, async () => {
        await Log.create({ text: request.method })
        const end = new Promise((resolve) => response.once('finish', resolve))
        next()
        await end
        throw new Error('the host rolls back')
      })
      await undone.catch(() => undefined)
    })
  })
  const isShown = () => filter.or(filter.eq('ownerId', 1), filter.any('logs', filter.eq('text', 'x')))
  const router = crudRouter(Ticket, {
    route: 'tickets',
    operations: Operations.AllWithBulk,
    scope: isShown,
    relations: { logs: { write: true } },
  })
  app.use(['/hosted', '/undone'], router)
  const give: RecordActionOptions = {
    on: 'record',
    method: 'post',
    handler: ({ record }) => void record?.set('ownerId', 2),
  }
  const actions = { give, giveLater: { ...give, transaction: false } }
  for (const [route, scope] of Object.entries({ shown: isShown, owned: () => ({ ownerId: 1 }) }))
    app.use('/hosted', crudRouter(Ticket, { route, scope, actions }))
  const hooks: Hooks = {
    afterUpdate: ({ transaction }) => transaction.afterCommit(() => void steps.push('after the commit')),
  }
  app.use('/hosted', crudRouter(Ticket, { route: 'hooked', scope: isShown, hooks }))
  app.use('/hosted', crudRouter(Ticket, { route: 'once', scope: isShown, idempotency: true }))
  const slow: Hooks = {
    beforeUpdate: async ({ transaction }) => {
      await new Promise<void>((resolve) => {
        late.goOn = resolve
      })
      late.outcome = await Log.create({ text: 'late' }, { transaction }).then(
        () => 'written',
        () => 'refused',
      )
    },
  }
  const slowOptions = { scope: isShown, hooks: slow, limits: { writeTime: 100 }, onError: () => undefined }
  app.use('/hosted', crudRouter(Ticket, { route: 'slow', ...slowOptions }))
  app.use(crudRouter(Log, { route: 'logs' }))
})
const { sequelize } = stage
const [Ticket, Log] = [sequelize.model('Ticket'), sequelize.model('Log')]
await Ticket.bulkCreate([
  { title: 'a', ownerId: 1 },
  { title: 'b', ownerId: 1 },
])

test.after.always(async () => {
  await stage.close()
})

test.serial('a refusal goes back to a savepoint of the transaction of the host, whose own writes stay', async (t) => {
  const detail = 'You may not store this record.'
  for (const [method, path, json] of [
    ['POST', '/hosted/tickets', { title: 'n', ownerId: 2 }],
    [
      'POST',
      '/hosted/tickets/bulk',
      [
        { title: 'n', ownerId: 1 },
        { title: 'm', ownerId: 2 },
      ],
    ],
    ['POST', '/hosted/tickets', { title: 'n', logs: [{ text: 'y' }] }],
    ['PATCH', '/hosted/tickets/1', { ownerId: 2 }],
    ['PATCH', '/hosted/tickets/1', { ownerId: null, logs: [{ text: 'y' }] }],
    ['POST', '/hosted/shown/1/give', {}],
    ['POST', '/hosted/shown/1/give-later', {}],
    ['POST', '/hosted/owned/1/give', {}],
    ['POST', '/hosted/owned/1/give-later', {}],
  ] as const) {
    const before = await Log.count()
    const answer = await stage.send(method, path, { json })
    await committed
    t.like(answer, { status: 403, body: { detail } }, `${method} ${answer.text}`)
    t.is(await Log.count(), before + 1)
    t.is(await Ticket.count(), 2)
    t.is((await Ticket.findByPk(1))?.get('ownerId'), 1)
  }
  t.is((await stage.patch('/hosted/tickets/1', { ownerId: 2, logs: [{ text: 'x' }] })).status, 200)
  await committed
  t.is((await stage.post('/hosted/tickets', { title: 'n', logs: [{ text: 'x' }] })).status, 201)
  await committed
  t.is((await stage.delete('/hosted/tickets/2')).status, 204)
  await committed
  t.is(await Ticket.count(), 2)
})

test.serial(
  "afterCommit of a hook runs after the commit of the host's transaction, and not after a rollback",
  async (t) => {
    for (const [end, expected] of [
      ['commit', ['the host ends', 'after the commit']],
      ['rollback', ['the host ends']],
    ] as const) {
      steps.length = 0
      const { status } = await stage.patch('/hosted/hooked/1', { title: 'h' }, { 'x-end': end })
      t.is(status, 200)
      await committed
      t.deepEqual(steps, expected)
    }
  },
)

test.serial("a write that takes too long in the host's transaction is a 503, and writes nothing later", async (t) => {
  for (const end of ['rollback', 'commit']) {
    late.outcome = ''
    t.is((await stage.patch('/hosted/slow/1', { title: 'late' }, { 'x-end': end })).status, 503)
    await committed
    const logs = await Log.count()
    late.goOn()
    while (late.outcome === '') await new Promise(setImmediate)
    t.is(late.outcome, 'refused')
    t.is(await Log.count(), logs)
  }
})

test.serial('a refused write in the transaction of the host leaves its Idempotency-Key free', async (t) => {
  const headers = { 'idempotency-key': 'refused' }
  for (const _ of ['first', 'again']) {
    t.is((await stage.post('/hosted/once', { title: 'n', ownerId: 2 }, headers)).status, 403)
    await committed
  }
})

test.serial('a savepoint of the host undoes what it has written before and in a write under a condition', async (t) => {
  const [logs, tickets] = [await Log.count(), await Ticket.count()]
  t.is((await stage.post('/undone/tickets', { title: 'n', ownerId: 1 })).status, 201)
  await committed
  t.is(await Log.count(), logs + 1)
  t.is(await Ticket.count(), tickets)
})
