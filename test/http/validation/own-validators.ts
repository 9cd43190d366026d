// What Sequelize's validators say of values that no rule of a body has looked at, beside others that rules have accepted.

import ava from 'ava'
import Joi from 'joi'
import { DataTypes } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

const served = await openStage(({ sequelize }, app) => {
  const Note = sequelize.define(
    'Note',
    {
      title: { type: DataTypes.STRING(40), allowNull: false, validate: { len: [2, 40] } },
      email: { type: DataTypes.STRING(60), validate: { isEmail: true } },
      rank: { type: DataTypes.INTEGER, defaultValue: 500, validate: { max: 100 } },
      nick: { type: DataTypes.STRING(40), validate: { len: [1, 5] } },
      owner: { type: DataTypes.STRING(40), validate: { len: [1, 5] } },
    },
    { timestamps: false },
  )
  app.use(
    crudRouter(Note, {
      route: 'api/notes',
      operations: Operations.AllWithBulk,
      fields: { nick: { schema: Joi.string().allow(null) } },
    }),
  )
  app.use(
    crudRouter(Note, {
      route: 'api/owned',
      operations: Operations.AllWithBulk,
      scope: ({ request }) => ({ owner: request.get('x-owner') ?? 'anna' }),
    }),
  )
  return { Note }
})

test.after.always(() => served.close())

const FINE = { title: 'a note', email: 'ann@example.com', rank: 1, nick: 'ann', owner: 'ann' }

test('a record is written whose values the rules and validators accept', async (t) => {
  t.is((await served.post('/api/notes', FINE)).status, 201)
  t.is((await served.post('/api/notes/bulk', [FINE, FINE])).status, 201)
})

test('a default that breaks a validator is refused, beside values that rules have accepted', async (t) => {
  const { rank, ...rest } = FINE
  const { status, body } = await served.post('/api/notes', rest)
  t.is(status, 400)
  t.deepEqual(Object.keys(body.errors), ['rank'])
  const several = await served.post('/api/notes/bulk', [FINE, rest])
  t.is(several.status, 400)
  t.deepEqual(Object.keys(several.body.errors), ['[1].rank'])
})

test('a value that the schema of a field lets through meets the validators of the model', async (t) => {
  const nick = 'far too long'
  const { status, body } = await served.post('/api/notes', { ...FINE, nick })
  t.is(status, 400)
  t.deepEqual(Object.keys(body.errors), ['nick'])
  t.is((await served.post('/api/notes/bulk', [{ ...FINE, nick }])).status, 400)
  const { id } = (await served.post('/api/notes', FINE)).body
  t.is((await served.patch(`/api/notes/${id}`, { nick, title: 'another' })).status, 400)
  t.is((await served.patch(`/api/notes/${id}`, { nick: 'bea', title: 'another' })).status, 200)
})

test('a value of the scope meets the validators of the model', async (t) => {
  const headers = { 'x-owner': 'far too long' }
  const { owner, ...rest } = FINE
  t.is((await served.post('/api/owned', rest)).status, 201)
  t.is((await served.post('/api/owned', rest, headers)).status, 400)
  t.is((await served.post('/api/owned/bulk', [rest], headers)).status, 400)
})
