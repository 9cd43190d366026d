// Callers who may not read as many fields, but others, one after the other: what was found out about one holds for nobody else.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'
import { bearer, identity } from '../../support/tokens.js'

const FIELDS = ['alpha', 'beta', 'gamma'] as const

const stage = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const attributes = Object.fromEntries(FIELDS.map((name) => [name, DataTypes.STRING(10)]))
  const mask = Object.fromEntries(FIELDS.map((name) => [name, name]))
  const Open = sequelize.define('Open', attributes, plain)
  app.use(crudRouter(Open, { identity, mask, operations: Operations.AllWithBulk }))
})
await stage.sequelize.model('Open').create(Object.fromEntries(FIELDS.map((name) => [name, name])))
test.after.always(() => stage.close())

/** Every set of permissions, behind every other. */
const SETS = Array.from({ length: 8 }, (_, bits) => FIELDS.filter((_name, place) => bits & (1 << place)))

test('callers with every set of permissions see their own fields, whoever asked before', async (t) => {
  for (const before of SETS) {
    for (const held of SETS) {
      await stage.get('/api/opens/1', bearer({ sub: 'before', permissions: before }))
      const headers = bearer({ sub: 'caller', permissions: held })
      const shown = Object.fromEntries(FIELDS.map((name) => [name, held.includes(name) ? name : null]))
      const what = `${held} after ${before}`
      t.like((await stage.get('/api/opens/1', headers)).body, shown, what)
      t.like((await stage.get('/api/opens', headers)).body.items[0], shown, what)
      for (const name of FIELDS) {
        const { status } = await stage.get(`/api/opens?filter=${name}=${name}`, headers)
        t.is(status, held.includes(name) ? 200 : 400, `${name} of ${what}`)
      }
    }
  }
})
