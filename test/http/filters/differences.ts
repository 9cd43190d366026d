// What the differential test has found, each in the smallest form, so that it stays found with any seed.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter } from '../../../lib/index.js'
import { keysOf } from '../../support/lists.js'
import { serveRelations } from '../../support/relations.js'
import { openStage } from '../../support/stage.js'

const relations = await serveRelations()
const days = await openStage(({ sequelize }, app) => {
  const Day = sequelize.define('Day', { at: DataTypes.DATE(3) }, { timestamps: false })
  app.use(crudRouter(Day))
  return { Day }
})
const { Day } = days
await Day.bulkCreate([
  { at: '9999-12-30T23:59:59.999Z' },
  { at: '9999-12-31T00:00:00.000Z' },
  { at: '9999-12-31T23:59:59.999Z' },
  { at: null },
])
test.after.always(async () => {
  await relations.close()
  await days.close()
})

// SQLite 3.52 makes a join of EXISTS and skips elements instead of records.
test('a page further on of a filter over a collection skips records, not their elements', async (t) => {
  const page = (number: number): Promise<number[]> =>
    keysOf(relations, '/api/clubs', { filter: 'People.Name!=x', pageSize: 1, page: number })
  t.deepEqual([await page(1), await page(2), await page(3)], [[1], [2], []])
})

// SQLite 3.52 looks for an EXISTS in an EXISTS in a NOT EXISTS among the elements of the first record only.
test('None meets a to-one relation whose collection meets the condition', async (t) => {
  const clubs = (filter: string): Promise<number[]> => keysOf(relations, '/api/clubs', { filter })
  t.deepEqual(await clubs('People.Any(Mentor.Pupils.Name!=Eve)'), [1, 2])
  t.deepEqual(await clubs('People.None(Mentor.Pupils.Name!=Eve)'), [3])
})

test('the last day there is lasts to its end', async (t) => {
  const rows: readonly (readonly [filter: string, ids: readonly number[]])[] = [
    ['At=9999-12-31', [2, 3]],
    ['At!=9999-12-31', [1, 4]],
    ['At>9999-12-31', []],
    ['At>=9999-12-31', [2, 3]],
    ['At<9999-12-31', [1]],
    ['At<=9999-12-31', [1, 2, 3]],
    ['At=in=9999-12-31;null', [2, 3, 4]],
    ['At=out=9999-12-31', [1, 4]],
  ]
  for (const [filter, ids] of rows) t.deepEqual(await keysOf(days, '/api/days', { filter }), ids, filter)
})
