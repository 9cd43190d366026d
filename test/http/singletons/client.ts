// The typed client of a singleton: the caller's one record, without a key.

import test from 'ava'
import { expectTypeOf } from 'expect-type'
import Joi from 'joi'
import { DataTypes, type InferAttributes, type InferCreationAttributes, Model } from 'sequelize'
import { singleton } from '../../../lib/client/actions.js'
import { ProblemError } from '../../../lib/client/index.js'
import { type ActionContext, crudRouter, Operations } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

class Account extends Model<InferAttributes<Account>, InferCreationAttributes<Account>> {
  declare id: number
  declare name: string
  declare balance: number | null
  declare rowVersion: number | null
}

class Note extends Model<InferAttributes<Note>, InferCreationAttributes<Note>> {
  declare id: number | null
  declare text: string
  declare accountId: number | null
}

const sent: (string | undefined)[][] = []

function mounted(notes: ReturnType<typeof crudRouter>) {
  return crudRouter(Account, {
    route: 'api/me',
    operations: Operations.All | Operations.Replace | Operations.Restore,
    singleton: ({ request }) => Number(request.headers['x-account']) || null,
    softDelete: true,
    concurrency: true,
    idempotency: true,
    relations: { notes: { routes: true, resource: notes } },
    actions: {
      topUp: {
        on: 'record',
        method: 'post',
        input: Joi.object<{ by: number }>({ by: Joi.number().required() }),
        handler: ({ record, input }: ActionContext<Account, { by: number }>) => {
          record.balance = (record.balance ?? 0) + input.by
        },
      },
    },
    use: (req, _res, next) => {
      const hasKey = req.get('idempotency-key') !== undefined
      sent.push([req.method, req.originalUrl, req.get('if-match'), hasKey ? 'key' : undefined])
      next()
    },
  })
}

const stage = await openStage(({ sequelize }, app) => {
  const plain = { sequelize, timestamps: false }
  Account.init(
    {
      id: { type: DataTypes.INTEGER, primaryKey: true },
      name: { type: DataTypes.STRING(20), allowNull: false },
      balance: DataTypes.INTEGER,
      rowVersion: { type: DataTypes.BIGINT, defaultValue: 0 },
    },
    { ...plain, modelName: 'Account' },
  )
  Note.init(
    {
      id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true },
      text: DataTypes.STRING(20),
      accountId: DataTypes.INTEGER,
    },
    { ...plain, modelName: 'Note' },
  )
  Account.hasMany(Note, { as: 'notes', foreignKey: 'accountId' })
  const notes = crudRouter(Note)
  app.use(notes, mounted(notes))
})
test.after.always(() => stage.close())

const clientOf = (account: number, idempotency = false) =>
  singleton<ReturnType<typeof mounted>>(`${stage.url}/api/me`, {
    versions: true,
    idempotency,
    headers: { 'X-Account': String(account) },
    actions: { topUp: { on: 'record', method: 'post' } },
  })

test.serial('the record is created, read, changed and replaced at the address itself', async (t) => {
  const me = clientOf(7, true)
  const missing = await t.throwsAsync(me.get(), { instanceOf: ProblemError })
  t.is(missing.status, 404)
  sent.length = 0
  const created = await me.create({ name: 'Ann', balance: 1 })
  t.like(created, { id: 7, name: 'Ann' })
  const read = await me.get({ select: ['name', 'balance'] })
  t.deepEqual(read as object, { name: 'Ann', balance: 1 })
  const whole = await me.get()
  const updated = await me.update(whole, { name: 'Anna' })
  t.is(updated.name, 'Anna')
  t.is((await me.replace(updated, { name: 'Anne', balance: 2 })).balance, 2)
  t.deepEqual(sent, [
    ['POST', '/api/me', undefined, 'key'],
    ['GET', '/api/me?select=name%2Cbalance', undefined, undefined],
    ['GET', '/api/me', undefined, undefined],
    ['PATCH', '/api/me', 'W/"0"', undefined],
    ['PUT', '/api/me', 'W/"1"', undefined],
  ])
  expectTypeOf(updated.name).toEqualTypeOf<string>()
})

test.serial('a version that has passed is 412, and a copy has none', async (t) => {
  const me = clientOf(7)
  const old = await me.get()
  await me.update(old, { balance: 3 })
  const error = await t.throwsAsync(me.update(old, { balance: 4 }), { instanceOf: ProblemError })
  t.is(error.status, 412)
  await t.throwsAsync(me.update({ ...old }, { balance: 4 }), { instanceOf: TypeError, message: /no version tag/ })
  t.is((await me.update(null, { balance: 4 }, { ifMatch: '*' })).balance, 4)
})

test.serial('actions take the record and then their input, and relations are below the address', async (t) => {
  const me = clientOf(7)
  const one = await me.get()
  const changed = await me.actions.topUp(one, { by: 5 })
  t.is(changed.balance, 9)
  expectTypeOf(changed.name).toEqualTypeOf<string>()
  const notes = me.related<{ readonly text: string }>('notes')
  t.is((await notes.create({ text: 'first' })).text, 'first')
  const { items } = await notes.list()
  t.is(items.length, 1)
})

test.serial('a deleted record is restored, and another caller has none', async (t) => {
  const me = clientOf(7)
  t.is(await me.delete(await me.get()), undefined)
  await t.throwsAsync(me.get(), { instanceOf: ProblemError })
  t.is((await me.restore()).name, 'Anne')
  const other = await t.throwsAsync(clientOf(8).get(), { instanceOf: ProblemError })
  t.is(other.status, 404)
  t.throws(() => singleton('/api/me?x=1'), { instanceOf: TypeError })
})
