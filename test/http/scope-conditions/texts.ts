// Texts of any characters are compared with those of a condition before they are stored.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter, filter } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

let scope = ''

const stage = await openStage(({ sequelize }, app) => {
  const fields = { name: DataTypes.STRING(40), level: DataTypes.INTEGER }
  const Note = sequelize.define('Note', fields, { timestamps: false })
  app.use(crudRouter(Note, { route: 'notes', scope: () => scope }))
})
test.after.always(async () => {
  await stage.close()
})

const TEXTS = ['plain', 'a\\b', "\\' OR 1=1 -- ", "it's", '\\', '$1', '?', ':name', 'żółć', '😀', 'PLAIN', 'plain ']

for (const text of TEXTS) {
  test.serial(`a condition admits the text ${JSON.stringify(text)} and no other one`, async (t) => {
    scope = filter.or(filter.eq('name', text), filter.gt('level', 5))
    const own = await stage.post('/notes', { name: text, level: 1 })
    t.is(own.status, 201)
    for (const name of TEXTS) {
      if (name === text) continue
      t.is((await stage.post('/notes', { name, level: 1 })).status, 403, name)
      t.is((await stage.patch(`/notes/${own.body.id}`, { name })).status, 403, name)
      t.like(await stage.post('/notes', { name, level: 6 }), { status: 201, body: { name } })
    }
  })
}
