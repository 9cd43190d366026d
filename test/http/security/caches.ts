// What is kept from one request for the next must not depend on more than it is looked up by.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { type CrudOptions, crudRouter, Operations } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'
import { identity, withPermission } from '../../support/tokens.js'

const plain = { timestamps: false }
const common: CrudOptions = { identity, operations: Operations.AllWithBulk }

test('attributes whose names hold the marks that lists are written with hide each by itself', async (t) => {
  const stage = await openStage(({ sequelize }, app) => {
    const Note = sequelize.define(
      'Note',
      {
        north: DataTypes.STRING,
        between: DataTypes.STRING,
        south: DataTypes.STRING,
        'north,south': { type: DataTypes.STRING, field: 'both' },
      },
      plain,
    )
    app.use(crudRouter(Note, { ...common, mask: { north: 'n', south: 's', 'north,south': 'both' } }))
  })
  t.teardown(stage.close)
  const Note = stage.sequelize.model('Note')
  await Note.create({ north: 'N', south: 'S', 'north,south': 'NS' })
  const shown = async (...permissions: string[]): Promise<unknown> => {
    const { body } = await stage.get('/api/notes/1', withPermission(...permissions))
    return [body.north, body.south, body['north,south']]
  }
  t.deepEqual(await shown('n', 's'), ['N', 'S', null])
  t.deepEqual(await shown('both'), [null, null, 'NS'])
  t.deepEqual(await shown('n', 's'), ['N', 'S', null])
})
