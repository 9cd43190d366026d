// A pattern may take time that grows with the square of a text, or worse: no text beyond its bound meets one.

import test, { type ExecutionContext } from 'ava'
import Joi from 'joi'
import { DataTypes } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

const SLOW = /\S+@\S+\.\S+/
const LONG = 'a'.repeat(100_000)
// More than the bound that a pattern implies, and less than a TEXT of MariaDB holds.
const UNBOUND = 'a'.repeat(60_000)
const MATCHING = 'a@b.c'
const MOST = 'must be at most 50 characters.'
const IMPLIED = 'must be at most 10000 characters.'

const world = await openStage(({ sequelize }, app) => {
  const options = { timestamps: false }
  const operations = Operations.AllWithBulk
  const text = DataTypes.STRING(50)
  // Its validators are rules, and Sequelize's own never run.
  const Derived = sequelize.define(
    'Derived',
    {
      is: { type: text, validate: { is: SLOW } },
      regex: { type: text, validate: { regex: SLOW } },
      match: text,
      limited: { type: DataTypes.TEXT, validate: { is: SLOW } },
      open: { type: DataTypes.TEXT, validate: { is: SLOW } },
      free: DataTypes.TEXT,
    },
    options,
  )
  app.use(
    crudRouter(Derived, {
      operations,
      fields: { match: { rules: { match: SLOW } }, limited: { rules: { maxLength: 20_000 } } },
    }),
  )
  // Validators that only Sequelize knows, each by itself.
  const Known = sequelize.define(
    'Known',
    {
      not: { type: text, validate: { not: SLOW } },
      notRegex: { type: text, validate: { notRegex: { args: SLOW, msg: 'no address' } } },
      isEmail: { type: text, validate: { isEmail: true } },
      isUrl: { type: DataTypes.TEXT, validate: { isUrl: true } },
      openNot: { type: DataTypes.TEXT, validate: { not: SLOW } },
      json: { type: DataTypes.JSON, validate: { is: SLOW } },
      bytes: { type: DataTypes.BLOB, validate: { is: SLOW } },
      member: { type: DataTypes.TEXT, validate: { isIn: [[MATCHING, UNBOUND]] } },
    },
    options,
  )
  app.use(crudRouter(Known, { operations }))
  // Code of the host's own between the body and the validators.
  const Hosted = sequelize.define(
    'Hosted',
    {
      schema: { type: text, validate: { is: SLOW } },
      virtual: { type: DataTypes.VIRTUAL, validate: { is: SLOW } },
      password: { type: DataTypes.VIRTUAL, validate: { is: SLOW, len: [3, 20] } },
      doubled: {
        type: text,
        validate: { is: SLOW },
        set(value: unknown) {
          this.setDataValue('doubled', `${value}${value}`)
        },
      },
    },
    options,
  )
  app.use(crudRouter(Hosted, { operations, fields: { schema: { schema: Joi.string() } } }))
  // Hooks make every write a `save`, which validates by itself.
  const Hooked = sequelize.define('Hooked', { code: { type: text, validate: { is: SLOW, not: /^$/ } } }, options)
  app.use(crudRouter(Hooked, { operations, hooks: { beforeCreate: () => undefined, beforeUpdate: () => undefined } }))
})
test.after.always(() => world.close())

const CASES: readonly (readonly [resource: string, field: string, value: unknown, message: string])[] = [
  ['deriveds', 'is', LONG, MOST],
  ['deriveds', 'regex', LONG, MOST],
  ['deriveds', 'match', LONG, MOST],
  ['deriveds', 'open', LONG, IMPLIED],
  ['deriveds', 'limited', LONG, 'must be at most 20000 characters.'],
  ['knowns', 'not', LONG, MOST],
  ['knowns', 'notRegex', LONG, MOST],
  ['knowns', 'isEmail', LONG, MOST],
  ['knowns', 'isUrl', LONG, IMPLIED],
  ['knowns', 'openNot', LONG, IMPLIED],
  ['knowns', 'json', LONG, IMPLIED],
  ['knowns', 'json', [['a', LONG]], IMPLIED],
  ['knowns', 'bytes', Buffer.from(LONG).toString('base64'), IMPLIED],
  ['hosteds', 'schema', LONG, MOST],
  ['hosteds', 'virtual', LONG, IMPLIED],
  ['hosteds', 'password', LONG, 'must be between 3 and 20 characters.'],
  ['hosteds', 'doubled', `a@b.${'c'.repeat(26)}`, MOST],
  ['hookeds', 'code', LONG, MOST],
]

/** What a write answers, which takes no time. */
async function errorsOf(t: ExecutionContext, method: string, path: string, json: unknown): Promise<unknown> {
  const start = performance.now()
  const { status, body } = await world.send(method, path, { json })
  t.is(status, 400, `${method} ${path}`)
  const taken = performance.now() - start
  t.true(taken < 3000, `${method} ${path} took ${taken} ms`)
  return body.errors
}

for (const [resource, field, value, message] of CASES) {
  const about = `${resource} ${field}${Array.isArray(value) ? ' in an array' : ''}`
  test.serial(
    `a text beyond its bound is refused for its length alone, and no pattern sees it: ${about}`,
    async (t) => {
      const path = `/api/${resource}`
      const created = await world.post(path, {})
      t.is(created.status, 201)
      const body = { [field]: value }
      t.deepEqual(await errorsOf(t, 'POST', path, body), { [field]: [message] })
      t.deepEqual(await errorsOf(t, 'PATCH', `${path}/${created.body.id}`, body), { [field]: [message] })
      t.deepEqual(await errorsOf(t, 'POST', `${path}/bulk`, [{}, body, body]), {
        [`[1].${field}`]: [message],
        [`[2].${field}`]: [message],
      })
    },
  )
}

test.serial('a text within its bound meets its pattern, and one without a pattern has no bound', async (t) => {
  const { status } = await world.post('/api/deriveds', {
    is: MATCHING,
    limited: `${'a'.repeat(12_000)}@b.c`,
    open: `${'a'.repeat(9_000)}@b.c`,
    free: UNBOUND,
  })
  t.is(status, 201)
  for (const [resource, field] of [
    ['deriveds', 'is'],
    ['deriveds', 'open'],
    ['hosteds', 'schema'],
    ['hosteds', 'virtual'],
    ['hosteds', 'doubled'],
    ['hookeds', 'code'],
  ] as const) {
    const { status, body } = await world.post(`/api/${resource}`, { [field]: 'none' })
    t.is(status, 400, field)
    t.false(body.errors[field][0].includes('characters'), field)
  }
  t.is((await world.post('/api/knowns', { member: UNBOUND, json: { a: LONG, toString: 1 } })).status, 400)
  t.is(
    (await world.post('/api/knowns', { member: UNBOUND })).status,
    201,
    'a validator without a pattern sets no bound',
  )
})

test.serial('what a typed parameter or a filter says meets no pattern of a field', async (t) => {
  const start = performance.now()
  const text = 'a'.repeat(4000)
  t.is((await world.get(`/api/deriveds?is=${text}&open=${text}`)).status, 200)
  t.is((await world.get(`/api/deriveds?filter=Is=${text}`)).status, 200)
  t.true(performance.now() - start < 1000)
})
