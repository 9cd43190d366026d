// Requests with as many bodies as are allowed: what is made of them lets other requests run in between.

import test from 'ava'
import Joi from 'joi'
import { DataTypes } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

/** Bodies that are validated at once, at the most: fifty, and an upsert validates each up to three times. */
const MOST = 150
const COUNT = 1000

let atOnce = 0
let most = 0

/** Counts the validations between two turns of the event loop. */
const counted = Joi.string().custom((value: unknown) => {
  if (atOnce === 0) {
    setImmediate(() => {
      atOnce = 0
    })
  }
  atOnce += 1
  most = Math.max(most, atOnce)
  return value
})

const server = await openStage(({ sequelize }, app) => {
  const Word = sequelize.define(
    'Word',
    {
      code: { type: DataTypes.STRING(20), unique: true },
      text: DataTypes.STRING(20),
      level: DataTypes.INTEGER,
    },
    { timestamps: false },
  )
  const operations = Operations.AllWithBulk | Operations.BulkUpdate | Operations.Replace
  app.use(crudRouter(Word, { operations, fields: { text: { schema: counted } } }))
  return { Word }
})
test.after.always(() => server.close())

const all = Array.from({ length: COUNT }, (_, index) => index + 1)

for (const [title, method, path, make, status] of [
  [
    'a bulk create that is refused',
    'POST',
    '/bulk',
    (id: number): object => ({ text: 'a', level: `no number ${id}` }),
    400,
  ],
  ['a bulk create', 'POST', '/bulk', (id: number): object => ({ code: `c${id}`, text: 'a' }), 201],
  ['a bulk update', 'PATCH', '/bulk', (id: number): object => ({ id, text: 'b' }), 200],
  ['an upsert', 'PUT', '/bulk?by=code', (id: number): object => ({ code: `c${id}`, text: 'c' }), 200],
] as const) {
  test.serial(`${title} of a thousand records lets others run while its bodies are validated`, async (t) => {
    most = 0
    const answer = await server.send(method, `/api/words${path}`, { json: all.map(make) })
    t.is(answer.status, status, answer.text.slice(0, 300))
    t.true(most > 0)
    t.true(most <= MOST, `${most} at once`)
  })
}
