// Pages in the order of floating point numbers, whose text is long where they are close to zero.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter } from '../../../lib/index.js'
import { keysOf, list } from '../../support/lists.js'
import { openStage } from '../../support/stage.js'

const VALUES = [1e-10, -1e-10, 1.2345678e-7, 1e-38, 3.4e38, 0.1, 16_777_216, 0]

const server = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const columns = { single: DataTypes.FLOAT, double: DataTypes.DOUBLE }
  const Measure = sequelize.define('Measure', columns, plain)
  const Sample = sequelize.define('Sample', { measureId: DataTypes.INTEGER }, plain)
  const Hooked = sequelize.define('Hooked', { measureId: DataTypes.INTEGER }, { ...plain, tableName: 'Samples' })
  Hooked.addHook('beforeFind', () => undefined)
  for (const model of [Sample, Hooked]) model.belongsTo(Measure, { foreignKey: 'measureId', as: 'measure' })
  for (const model of [Measure, Sample]) app.use(crudRouter(model))
  app.use(crudRouter(Hooked, { route: 'api/hooked' }))
  return { Measure, Sample, Hooked }
})
const { Measure, Sample } = server
await Measure.bulkCreate(VALUES.map((value) => ({ single: value, double: value })))
await Sample.bulkCreate(VALUES.flatMap((_, index) => [{ measureId: index + 1 }, { measureId: index + 1 }]))
test.after.always(() => server.close())

for (const path of ['/api/samples', '/api/hooked']) {
  for (const sort of ['measure.single', '-measure.single', 'measure.double', '-measure.double']) {
    test(`pages of ${path} by ${sort} have each record once`, async (t) => {
      const keys = await keysOf(server, path, { sort, pageSize: 100 })
      t.is(keys.length, VALUES.length * 2)
      const followed: number[] = []
      for (let after: string | null = ''; after !== null; ) {
        const { status, body, text } = await list(server, path, { sort, after, pageSize: 1 })
        t.is(status, 200, text)
        followed.push(body.items[0].id)
        t.true(followed.length <= keys.length, 'a record comes twice')
        after = body.nextCursor
      }
      t.deepEqual(followed, keys)
    })
  }
}
