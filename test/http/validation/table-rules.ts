// What the table minds and the model does not know of: the database refuses it, and the answer names the field where the
// client could have written it better.

import ava from 'ava'
import {
  DataTypes,
  type Model,
  type ModelAttributeColumnOptions,
  type ModelAttributes,
  type ModelStatic,
  Sequelize,
} from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { databaseName } from '../../support/database.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

const options = { tableName: 'strict', timestamps: false }

function attributes(type: ModelAttributeColumnOptions): ModelAttributes {
  // Sequelize writes each attribute's name into its own object.
  return { any: { ...type }, made: { ...type }, kept: { ...type }, inner: { ...type } }
}

const heard: unknown[] = []
interface Models {
  readonly Loose: ModelStatic<Model>
  readonly Named: ModelStatic<Model>
  readonly Member: ModelStatic<Model>
}

// MariaDB has no indexes over expressions.
const hasExpressions = databaseName === 'sqlite' || databaseName === 'postgres'

const served = await openStage<Models>(({ sequelize }, app) => {
  const Loose = sequelize.define('Loose', attributes({ type: DataTypes.STRING }), options)
  const text = { type: DataTypes.STRING, field: 'usr', unique: true, validate: { isNoBob } }
  const Named = sequelize.define('Named', { user_name: text }, { timestamps: false })
  const { fn, col, literal } = Sequelize
  const Member = sequelize.define(
    'Member',
    { mail: { type: DataTypes.STRING, field: 'e_mail' }, nick: DataTypes.STRING, lower: DataTypes.STRING },
    {
      timestamps: false,
      indexes: hasExpressions
        ? [
            { unique: true, name: 'members_mail', fields: [fn('lower', col('e_mail'))] },
            { unique: true, name: 'members_nick', fields: [literal("lower(nick || 'x')")] },
          ]
        : [],
    },
  )
  app.use(crudRouter(Member))
  app.use(
    crudRouter(Loose, {
      route: 'api/loose',
      fields: {
        made: { only: ['create', 'response'] },
        kept: { only: ['update', 'response'] },
        inner: { only: ['response'] },
      },
      hooks: {
        beforeUpdate: ({ instance }) => {
          if (instance.get('any') === 'break') instance.set('inner', null)
        },
      },
      onError: (error) => heard.push(error),
    }),
  )
  app.use(crudRouter(Named, { operations: Operations.AllWithBulk, route: 'api/named' }))
  return { Loose, Named, Member }
})
const { Loose } = served
const filled = { type: DataTypes.STRING, allowNull: false, defaultValue: 'x' }
const Strict = Loose.sequelize?.define('Strict', attributes(filled), options)
await Strict?.sync({ force: true })
await Strict?.create()
test.after.always(() => served.close())

function isNoBob(value: unknown): void {
  if (value === 'Bob') throw new Error('must not be Bob.')
}

const FULL = { any: 'a', made: 'a' }

test('a null where only the table forbids it is 400 for who may write the column, in a create or in a patch alone', async (t) => {
  const path = '/api/loose/1'
  for (const answer of [
    await served.post('/api/loose', { ...FULL, any: null }),
    await served.post('/api/loose', { ...FULL, made: null }),
    await served.patch(path, { any: null }),
    await served.patch(path, { kept: null }),
  ]) {
    t.is(answer.status, 400, answer.text)
    t.regex(JSON.stringify(answer.body.errors), /^\{"(any|made|kept)":\["cannot be null\."\]\}$/)
  }
  t.deepEqual(heard, [])
  // Not writable by it, and so ignored.
  t.is((await served.patch(path, { made: null })).status, 200)
  t.deepEqual((await served.get(path)).body, { id: 1, any: 'x', made: 'x', kept: 'x', inner: 'x' })
})

const withExpressions = hasExpressions ? test : test.skip

withExpressions('the 409 of an index over an expression names the fields in it', async (t) => {
  t.is((await served.post('/api/members', { mail: 'Ann@x.pl', nick: 'Ann', lower: 'a' })).status, 201)
  for (const [body, name] of [
    [{ mail: 'ANN@X.PL', nick: 'Bob' }, 'mail'],
    [{ mail: 'bob@x.pl', nick: 'ANN' }, 'nick'],
  ] as const) {
    const { status, body: told } = await served.post('/api/members', body)
    t.is(status, 409)
    t.deepEqual(Object.keys(told.errors ?? {}), [name])
  }
})

test('a null that the host put where its own table forbids it is 500, for nobody but onError', async (t) => {
  const { status, body } = await served.patch('/api/loose/1', { any: 'break' })
  t.is(status, 500)
  t.is(body.errors, undefined)
  t.is(heard.length, 1)
  t.is((await served.get('/api/loose/1')).body.any, 'x')
})

test('errors go by the name that the client knows, whatever those of the attribute and the column are', async (t) => {
  t.is((await served.post('/api/named', { userName: 'Ann' })).status, 201)
  const taken = await served.post('/api/named', { userName: 'Ann' })
  t.is(taken.status, 409)
  t.deepEqual(taken.body.errors, { userName: ['is already taken.'] })
  const refused = await served.post('/api/named', { userName: 'Bob' })
  t.is(refused.status, 400)
  t.deepEqual(refused.body.errors, { userName: ['must not be Bob.'] })
  const many = await served.post('/api/named/bulk', [{ userName: 'Cid' }, { userName: 'Bob' }])
  t.deepEqual(many.body.errors, { '[1].userName': ['must not be Bob.'] })
})

if (databaseName === 'sqlite') {
  test('a value that a STRICT table of SQLite does not take is 400', async (t) => {
    const strict = await openStage(({ sequelize }, app) => {
      const Count = sequelize.define('Count', { number: DataTypes.STRING }, { tableName: 'counts', timestamps: false })
      app.use(crudRouter(Count))
      return { Count }
    })
    const { Count } = strict
    await Count.drop()
    await Count.sequelize?.query('CREATE TABLE counts (id INTEGER PRIMARY KEY, number INTEGER) STRICT')
    t.teardown(() => strict.close())
    t.is((await strict.post('/api/counts', { number: '5' })).status, 201)
    const { status, body } = await strict.post('/api/counts', { number: 'five' })
    t.is(status, 400)
    t.is(body.detail, 'A value does not fit its column.')
  })
}
