// The typed client runs actions by their names, where its options say of each where it is.

import test from 'ava'
import Joi from 'joi'
import { DataTypes, type InferAttributes, type InferCreationAttributes, Model } from 'sequelize'
import { resource } from '../../../lib/client/actions.js'
import { ProblemError, resource as plainResource } from '../../../lib/client/index.js'
import { type ActionContext, crudRouter } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

class Player extends Model<InferAttributes<Player>, InferCreationAttributes<Player>> {
  declare id: number | null
  declare name: string
  declare level: number
  declare rowVersion: number | null
}

const sent: (string | undefined)[][] = []

function mounted() {
  return crudRouter(Player, {
    concurrency: true,
    idempotency: true,
    actions: {
      promote: {
        on: 'record',
        method: 'post',
        input: Joi.object<{ by: number }>({ by: Joi.number().required() }),
        handler: ({ record, input }: ActionContext<Player, { by: number }>) => {
          record.level += input.by
        },
      },
      restAll: { on: 'collection', method: 'post', handler: () => undefined },
      bestOf: {
        on: 'collection',
        method: 'get',
        input: Joi.object<{ names?: string[]; level?: number }>({
          names: Joi.array().items(Joi.string()),
          level: Joi.number(),
        }),
        handler: async ({ input: { names, level = 0 } }: ActionContext<null, { names?: string[]; level?: number }>) => {
          const all = await Player.findAll({ order: [['level', 'DESC'], 'id'] })
          return all.filter((each) => each.level >= level && (names?.includes(each.name) ?? true))
        },
      },
      rank: {
        on: 'record',
        method: 'get',
        output: Joi.object<{ rank: number }>({ rank: Joi.number().required() }),
        handler: ({ record }) => ({ rank: record.level * 2 }),
      },
    },
    use: (req, _res, next) => {
      sent.push([
        req.method,
        req.url,
        req.get('if-match'),
        req.get('idempotency-key') === undefined ? undefined : 'key',
      ])
      next()
    },
  })
}

const stage = await openStage(({ sequelize }, app) => {
  Player.init(
    {
      id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true },
      name: { type: DataTypes.STRING(20), allowNull: false },
      level: { type: DataTypes.INTEGER, allowNull: false },
      rowVersion: { type: DataTypes.BIGINT, defaultValue: 0 },
    },
    { sequelize, modelName: 'Player', timestamps: false },
  )
  app.use(mounted())
})
for (const [index, name] of ['Ann', 'Bob', 'Eve'].entries()) await Player.create({ name, level: index + 1 } as never)
test.after.always(() => stage.close())

const places = {
  promote: { on: 'record', method: 'post' },
  restAll: { on: 'collection', method: 'post' },
  bestOf: { on: 'collection', method: 'get' },
  rank: { on: 'record', method: 'get' },
} as const

const players = resource<ReturnType<typeof mounted>>(`${stage.url}/api/players`, {
  versions: true,
  actions: places,
})

test.serial('an action of a record takes the record, and sends its version', async (t) => {
  const one = await players.get(1)
  sent.length = 0
  const promoted = await players.actions.promote(one, { by: 4 })
  t.is(promoted.level, 5)
  t.deepEqual(sent, [['POST', '/api/players/1/promote', 'W/"0"', undefined]])
  // The tag of the answer is remembered, and the old one has passed.
  t.is((await players.actions.promote(promoted, { by: 1 })).level, 6)
  const error = await t.throwsAsync(players.actions.promote(one, { by: 1 }), { instanceOf: ProblemError })
  t.is(error.status, 412)
})

test.serial('by a key it is done as it is asked, and a copy of a record has no version', async (t) => {
  const error = await t.throwsAsync(players.actions.promote(2, { by: 1 }), { instanceOf: ProblemError })
  t.is(error.status, 428)
  t.is((await players.actions.promote(2, { by: 1 }, { ifMatch: '*' })).level, 3)
  const copy = { ...(await players.get(2)) }
  await t.throwsAsync(players.actions.promote(copy, { by: 1 }), { instanceOf: TypeError, message: /no version tag/ })
})

test.serial('what is wrong is a ProblemError with the errors of the input', async (t) => {
  const error = await t.throwsAsync(players.actions.promote(2, { by: 'x' as never }, { ifMatch: '*' }), {
    instanceOf: ProblemError,
  })
  t.is(error.status, 400)
  t.deepEqual(Object.keys(error.errors ?? {}), ['by'])
  await t.throwsAsync(players.actions.promote('..', { by: 1 }), { instanceOf: TypeError })
})

test.serial('actions of collections take their input first', async (t) => {
  t.is(await players.actions.restAll(), undefined)
  const { items } = await players.actions.bestOf({ names: ['Eve', 'Bob'], level: 3 })
  t.deepEqual(
    items.map(({ name }) => name),
    ['Bob', 'Eve'],
  )
  const all = await players.actions.bestOf(undefined, { select: ['name'] })
  t.deepEqual(all.items[0], { name: 'Ann' } as never)
})

test.serial('values are answered as they are', async (t) => {
  t.deepEqual(await players.actions.rank(3), { rank: 6 })
})

test.serial('a client without actions has none, and the option idempotency gives writes a key', async (t) => {
  const plain = plainResource(`${stage.url}/api/players`)
  t.false('actions' in plain)
  const once = resource<ReturnType<typeof mounted>>(`${stage.url}/api/players`, {
    versions: true,
    idempotency: true,
    actions: places,
  })
  sent.length = 0
  await once.actions.restAll()
  await once.actions.rank(3)
  t.deepEqual(
    sent.map(([method, , , key]) => [method, key]),
    [
      ['POST', 'key'],
      ['GET', undefined],
    ],
  )
})
