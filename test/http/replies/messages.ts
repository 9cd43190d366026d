import ava from 'ava'
import express from 'express'
import { DataTypes } from 'sequelize'
import { CrudConfigError, createCrud, crudRouter, type Messages, Operations } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

const asked: unknown[] = []
const heard: unknown[] = []

/** The code and the parameters, so that a test sees both. */
const coded: Messages = (code, parameters) => {
  asked.push(code)
  return code === 'boolean' ? undefined : `${code} ${JSON.stringify(parameters)}`
}

const broken: Messages = (code) => {
  if (code === 'string') return 5 as never
  throw new Error('no words')
}

const served = await openStage(({ sequelize }, app) => {
  const Team = sequelize.define('Team', { name: DataTypes.STRING(20) }, { timestamps: false })
  const attributes = (unique: string) => ({
    name: { type: DataTypes.STRING(20), allowNull: false, validate: { len: [3, 9] as [number, number] } },
    code: { type: DataTypes.STRING(9), unique, validate: { is: /^[a-z]+$/ } },
    told: { type: DataTypes.STRING(9), validate: { is: { args: /^[a-z]+$/, msg: 'Own words.' } } },
    email: { type: DataTypes.STRING(40), validate: { isEmail: true } },
    level: { type: DataTypes.INTEGER, validate: { min: 1, max: 5 } },
    price: DataTypes.DECIMAL(5, 1),
    kind: DataTypes.ENUM('a', 'b'),
    open: DataTypes.BOOLEAN,
    day: DataTypes.DATEONLY,
    teamId: { type: DataTypes.INTEGER, references: { model: Team, key: 'id' } },
  })
  const Own = sequelize.define('Own', attributes('one'), { timestamps: false })
  const Shared = sequelize.define('Shared', attributes('two'), { timestamps: false })
  const Broken = sequelize.define('Broken', attributes('three'), { timestamps: false })
  const operations = Operations.AllWithBulk
  app.use(crudRouter(Own, { route: 'own', operations, messages: coded, unknownProperties: 'reject' }))
  app.use(createCrud({ messages: coded }).crudRouter(Shared, { route: 'shared', operations }))
  const onError = (error: unknown): void => {
    heard.push((error as Error).message)
    throw error
  }
  app.use(crudRouter(Broken, { route: 'broken', operations, messages: broken, onError }))
  return { Team, Own, Shared, Broken }
})

test.after.always(() => served.close())

test('a message of the package is what the function makes of its code and parameters', async (t) => {
  const wrong = {
    name: 'ab',
    code: 'A',
    told: 'A',
    email: 'x',
    level: 9,
    price: 1.25,
    kind: 'c',
    open: 1,
    day: 'x',
    more: 1,
  }
  const { status, body } = await served.post('/own', wrong)
  t.is(status, 400)
  t.is(body.title, 'One or more validation errors occurred.')
  t.deepEqual(body.errors, {
    name: ['length {"min":3,"max":9}'],
    code: ['pattern {}'],
    told: ['Own words.'],
    email: ['email {}'],
    level: ['range {"min":1,"max":5}'],
    price: ['scale {"scale":1}'],
    kind: ['enum {"values":["a","b"]}'],
    open: ['must be a boolean.'],
    day: ['date {}'],
    more: ['unknown-property {}'],
  })
})

for (const base of ['/own', '/shared']) {
  test(`absence, nulls, bulk and conflicts are told so too: ${base}`, async (t) => {
    t.deepEqual((await served.post(base, {})).body.errors, { name: ['required {}'] })
    t.deepEqual((await served.post(base, { name: null })).body.errors, { name: ['null {}'] })
    t.deepEqual((await served.post(`${base}/bulk`, [1, { name: 5 }])).body.errors, {
      '[0]': ['object {}'],
      '[1].name': ['string {}'],
    })
    t.is((await served.post(base, { name: 'first', code: 'taken' })).status, 201)
    const taken = await served.post(base, { name: 'second', code: 'taken' })
    t.is(taken.status, 409)
    t.deepEqual(taken.body.errors, { code: ['unique {}'] })
    const nowhere = await served.post(base, { name: 'third', teamId: 9999 })
    t.is(nowhere.status, 409)
    t.deepEqual(nowhere.body.errors, { teamId: ['foreign-key {}'] })
  })
}

test('the function is asked when a message is told, not before, and not for a body that is right', async (t) => {
  asked.length = 0
  t.is((await served.post('/own', { name: 'right' })).status, 201)
  t.deepEqual(asked, [])
  await served.post('/own', { name: 'ab' })
  await served.post('/own', { name: 'ab' })
  t.deepEqual(asked, ['length', 'length'])
})

test('where the function throws or gives no text the English words stay, and onError hears of it', async (t) => {
  heard.length = 0
  const { status, body } = await served.post('/broken', { name: 5, level: 9, price: 1.25 })
  t.is(status, 400)
  t.deepEqual(body.errors, {
    name: ['must be a string.'],
    level: ['must be between 1 and 5.'],
    price: ['must have at most 1 decimal place.'],
  })
  t.deepEqual(heard, [
    'the option "messages" must return a text or undefined for the code "string"',
    'no words',
    'no words',
  ])
})

test('messages must be a function', (t) => {
  const error = t.throws(() => express().use(crudRouter(served.Team, { messages: 'pl' as never })), {
    instanceOf: CrudConfigError,
  })
  t.is(error?.code, 'INVALID_OPTION')
})
