// What is parsed once is kept, by resource and text.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter } from '../../../lib/index.js'
import { list } from '../../support/lists.js'
import { openStage } from '../../support/stage.js'

const server = await openStage(({ sequelize }, app) => {
  const attributes = { name: DataTypes.STRING, points: DataTypes.INTEGER }
  const Runner = sequelize.define('Runner', attributes, { timestamps: false })
  app.use(crudRouter(Runner))
  app.use(crudRouter(Runner, { route: 'narrow', limits: { clauses: 1, sortKeys: 1 } }))
  app.use(crudRouter(Runner, { route: 'closed', fields: { points: { exclude: true } } }))
  return { Runner }
})
const { Runner } = server
await Runner.bulkCreate([1, 2, 3, 4].map((points) => ({ name: `r${points}`, points })))
test.after.always(() => server.close())

const parameters = { filter: 'Points>1,Points<4', sort: '-Points,Name' }

test('the same filter and sort mean the same each time', async (t) => {
  for (const _ of [1, 2, 3]) {
    const { body } = await list(server, '/api/runners', parameters)
    t.deepEqual(
      body.items.map(({ name }: { name: string }) => name),
      ['r3', 'r2'],
    )
  }
})

test('what one resource takes another one refuses, whichever was asked first', async (t) => {
  for (const _ of [1, 2]) {
    t.is((await list(server, '/api/runners', parameters)).status, 200)
    const narrow = await list(server, '/narrow', { filter: parameters.filter })
    t.is(narrow.status, 400)
    t.regex(narrow.text, /clauses/)
    t.is((await list(server, '/narrow', { sort: parameters.sort })).status, 400)
    t.is((await list(server, '/closed', parameters)).status, 400, 'a field that is not there for anybody')
  }
})

test('a text that does not parse is refused each time, by the same words', async (t) => {
  const [first, second] = [
    await list(server, '/api/runners', { filter: 'Points>' }),
    await list(server, '/api/runners', { filter: 'Points>' }),
  ]
  t.is(first.status, 400)
  t.is(first.text, second.text)
})
