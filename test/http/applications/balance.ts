// A shop with a wallet for each customer: a record that its owner reads, and that nothing changes but actions, which write
// the ledger in the same transaction.

import ava from 'ava'
import Joi from 'joi'
import { DataTypes, type Model, type ModelStatic, type Sequelize } from 'sequelize'
import {
  type ActionContext,
  apiDocs,
  authenticated,
  createCrud,
  filter,
  hasRole,
  openApi,
  Problem,
} from '../../../lib/index.js'
import { crudMcp } from '../../../lib/mcp/index.js'
import { INFO } from '../../support/documented.js'
import { accountOf, addLogin, defineAccounts, identity, logIn } from '../../support/login.js'
import { connectAgentOverHttp } from '../../support/mcp.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

function define(sequelize: Sequelize) {
  const options = { timestamps: false, underscored: true }
  const cents = () => ({ type: DataTypes.INTEGER, allowNull: false, defaultValue: 0 })
  const Wallet = sequelize.define(
    'wallet',
    {
      account_id: { type: DataTypes.INTEGER, primaryKey: true },
      balance_cents: { ...cents(), validate: { min: 0 } },
      row_version: { type: DataTypes.BIGINT, allowNull: false, defaultValue: 0 },
    },
    options,
  )
  const Entry = sequelize.define(
    'ledger_entry',
    { account_id: { type: DataTypes.INTEGER, allowNull: false }, amount_cents: cents(), reason: DataTypes.STRING(40) },
    options,
  )
  Wallet.hasMany(Entry, { as: 'entries', foreignKey: 'account_id', sourceKey: 'account_id' })
  Entry.belongsTo(Wallet, { as: 'wallet', foreignKey: 'account_id', targetKey: 'account_id' })
  return { Wallet, Entry, Account: defineAccounts(sequelize) }
}

type Models = Readonly<Record<'Wallet' | 'Entry', ModelStatic<Model>>>

/** Moves money and says so in the ledger. */
async function move(
  models: Models,
  { record, transaction }: ActionContext<Model, unknown>,
  cents: number,
  reason: string,
) {
  const balance = Number(record.get('balance_cents')) + cents
  if (balance < 0) throw new Problem({ status: 409, code: 'too-little', detail: 'There is too little in the wallet.' })
  record.set('balance_cents', balance)
  await models.Entry.create({ account_id: record.get('account_id'), amount_cents: cents, reason }, { transaction })
}

const AMOUNT = Joi.object({ cents: Joi.number().integer().min(1).max(50_000).required() })

const crud = createCrud({ identity, authorizePolicy: authenticated })

function mounted(models: Models) {
  const { Wallet, Entry } = models
  return [
    crud.crudRouter(Wallet, {
      route: 'api/wallet',
      operations: ['getById'],
      concurrency: { rowVersion: 'row_version' },
      idempotency: true,
      singleton: ({ identity: caller }) => accountOf(caller) || null,
      relations: { entries: { routes: true } },
      updatePolicy: hasRole('nobody'),
      actions: {
        topUp: {
          on: 'record',
          method: 'post',
          policy: authenticated,
          input: AMOUNT,
          handler: (context: ActionContext<Model, { cents: number }>) =>
            move(models, context, context.input.cents, 'top up'),
        },
        pay: {
          on: 'record',
          method: 'post',
          policy: authenticated,
          input: AMOUNT,
          handler: (context: ActionContext<Model, { cents: number }>) =>
            move(models, context, -context.input.cents, 'payment'),
        },
        close: { on: 'record', method: 'post', handler: () => undefined },
        statement: {
          on: 'record',
          method: 'get',
          output: Joi.object({ spent: Joi.number().integer().required() }),
          handler: async ({ record }) => ({
            spent: -Number(
              (await Entry.sum('amount_cents', {
                where: { account_id: record.get('account_id'), reason: 'payment' },
              })) ?? 0,
            ),
          }),
        },
      },
    }),
    crud.crudRouter(Entry, {
      operations: ['getById', 'getList', 'aggregate'],
      scope: ({ identity: caller }) => filter.eq('account_id', accountOf(caller)),
    }),
  ]
}

let routers: ReturnType<typeof mounted> = []
let models: ReturnType<typeof define> | null = null
const server = await openStage(({ sequelize }, app) => {
  models = define(sequelize)
  addLogin(app, models.Account)
  routers = mounted(models)
  app.use(routers)
  app.use(apiDocs({ resources: routers, info: INFO }))
  app.use('/mcp', crudMcp({ resources: routers, write: true }))
})
test.after.always(() => server.close())

let ann: Record<string, string> = {}
let bob: Record<string, string> = {}
let eve: Record<string, string> = {}
test.before(async () => {
  for (const user_name of ['ann', 'bob', 'eve']) {
    await models?.Account.create({ user_name, password: `${user_name} 1` })
  }
  await models?.Wallet.bulkCreate([{ account_id: 1, balance_cents: 500 }, { account_id: 2 }])
  ann = await logIn(server, 'ann', 'ann 1')
  bob = await logIn(server, 'bob', 'bob 1')
  eve = await logIn(server, 'eve', 'eve 1')
})

const any = { 'if-match': '*' }
const balance = async (headers: Record<string, string>): Promise<unknown> =>
  (await server.get('/api/wallet', headers)).body.balanceCents
const ledger = async (headers: Record<string, string>): Promise<unknown> =>
  (await server.get('/api/wallet/entries?sort=id&select=amountCents,reason', headers)).body.items

test('each customer reads the balance of his own wallet, and nobody changes it by hand', async (t) => {
  const { status, body, headers } = await server.get('/api/wallet', ann)
  t.is(status, 200)
  t.deepEqual(body, { accountId: 1, balanceCents: 500, rowVersion: 0 })
  t.is(headers.get('cache-control'), 'private')
  t.is(await balance(bob), 0)
  t.is((await server.get('/api/wallet', eve)).status, 404)
  t.is((await server.get('/api/wallet')).status, 401)
  for (const method of ['PATCH', 'PUT', 'DELETE', 'POST']) {
    t.is((await server.send(method, '/api/wallet', { json: { balanceCents: 9 }, headers: ann })).status, 405, method)
  }
  t.is((await server.get('/api/wallet/1', ann)).status, 404)
})

test('an action of the wallet is below its route, changes it and writes the ledger', async (t) => {
  const { status, text, body, headers } = await server.post(
    '/api/wallet/top-up',
    { cents: 250 },
    { ...ann, 'if-match': 'W/"0"' },
  )
  t.is(status, 200, text)
  t.deepEqual(body, { accountId: 1, balanceCents: 750, rowVersion: 1 })
  t.is(headers.get('etag'), 'W/"1"')
  t.is(headers.get('cache-control'), 'private')
  t.regex(headers.get('vary') ?? '', /Authorization, Cookie/)
  t.deepEqual(await ledger(ann), [{ amountCents: 250, reason: 'top up' }])
  t.deepEqual(await ledger(bob), [])
})

test('what is refused leaves neither a balance nor an entry', async (t) => {
  const over = await server.post('/api/wallet/pay', { cents: 800 }, { ...ann, ...any })
  t.is(over.status, 409)
  t.deepEqual(over.body, {
    type: 'https://tools.ietf.org/html/rfc9110#section-15.5.10',
    title: 'Conflict',
    detail: 'There is too little in the wallet.',
    status: 409,
    code: 'too-little',
  })
  const wrong = await server.post('/api/wallet/pay', { cents: 0, to: 'Bob' }, { ...ann, ...any })
  t.is(wrong.status, 400)
  t.deepEqual(wrong.body.errors, { cents: ['must be greater than or equal to 1'], to: ['is not allowed'] })
  t.is((await server.post('/api/wallet/pay', { cents: 1 }, ann)).status, 428)
  t.is((await server.post('/api/wallet/pay', { cents: 1 }, { ...ann, 'if-match': 'W/"0"' })).status, 412)
  t.is((await server.post('/api/wallet/pay', { cents: 'x' }, { ...eve, ...any })).status, 404)
  t.is((await server.post('/api/wallet/pay', { cents: 1 })).status, 401)
  t.is((await server.send('POST', '/api/wallet/close', { headers: { ...ann, ...any } })).status, 403)
  t.is(await balance(ann), 750)
  t.deepEqual(await ledger(ann), [{ amountCents: 250, reason: 'top up' }])
})

test('a payment with an Idempotency-Key is made once, and the key of another customer is another one', async (t) => {
  const once = { ...any, 'idempotency-key': 'order-17' }
  const first = await server.post('/api/wallet/pay', { cents: 100 }, { ...ann, ...once })
  const again = await server.post('/api/wallet/pay', { cents: 100 }, { ...ann, ...once })
  t.is(first.status, 200, first.text)
  t.is(again.text, first.text)
  t.is(again.headers.get('idempotency-replayed'), 'true')
  t.is(await balance(ann), 650)
  t.is((await server.post('/api/wallet/pay', { cents: 200 }, { ...ann, ...once })).status, 422)
  const other = await server.post('/api/wallet/top-up', { cents: 5 }, { ...bob, ...once })
  t.is(other.status, 200, other.text)
  t.is(await balance(bob), 5)
})

test('payments that race take what there is, and no more', async (t) => {
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => server.post('/api/wallet/pay', { cents: 100 }, { ...ann, ...any })),
  )
  t.deepEqual(
    answers.map(({ status }) => status).toSorted((one, other) => one - other),
    [200, 200, 200, 200, 200, 200, 409, 409],
  )
  t.is(await balance(ann), 50)
  t.is(((await ledger(ann)) as unknown[]).length, 8)
})

test('a GET action reads the wallet of the caller, and is never 304', async (t) => {
  const { status, body, headers } = await server.get('/api/wallet/statement', ann)
  t.is(status, 200)
  t.deepEqual(body, { spent: 700 })
  t.is((await server.get('/api/wallet/statement', bob)).body.spent, 0)
  t.is((await server.get('/api/wallet/statement', { ...ann, 'if-none-match': headers.get('etag') ?? '*' })).status, 200)
  t.is((await server.get('/api/wallet/statement', eve)).status, 404)
  t.is((await server.send('HEAD', '/api/wallet/statement', { headers: ann })).status, 200)
  const wrong = await server.get('/api/wallet/pay', ann)
  t.is(wrong.status, 405)
  t.is(wrong.headers.get('allow'), 'POST, OPTIONS')
})

test('documents have the actions without a key, and agents run them so', async (t) => {
  const { paths } = openApi({ resources: routers, info: INFO })
  t.deepEqual(Object.keys(paths).slice(0, 6), [
    '/api/wallet',
    '/api/wallet/top-up',
    '/api/wallet/pay',
    '/api/wallet/close',
    '/api/wallet/statement',
    '/api/wallet/entries',
  ])
  t.is(paths['/api/wallet/top-up']?.post?.operationId, 'topUpWallet')
  const agent = await connectAgentOverHttp(`${server.url}/mcp`, bob)
  const described = await agent.call('describe_resource', { resource: 'wallet' })
  t.deepEqual(
    described.body.actions.map(({ name }: { name: string }) => name),
    ['topUp', 'pay', 'statement'],
  )
  const { body } = await agent.call('get_record', { resource: 'wallet' })
  const ran = await agent.call('run_action', {
    resource: 'wallet',
    action: 'topUp',
    input: { cents: 7 },
    version: body.version,
  })
  t.is(ran.body.record?.balanceCents ?? ran.body.balanceCents, 12)
  t.true((await agent.call('run_action', { resource: 'wallet', action: 'statement', key: '1' })).isError)
  await agent.close()
})

test('an action of the collection is refused at mount, since there is one record', (t) => {
  t.throws(
    () =>
      crud.crudRouter(server.sequelize.model('ledger_entry'), {
        route: 'api/mine',
        singleton: () => 1,
        actions: { all: { on: 'collection', method: 'get', handler: () => [] } },
      }),
    { message: /the action "all" must have on: "record", because a singleton is a single record/ },
  )
})
