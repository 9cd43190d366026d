// Associations that are defined after the router of their model. Paths find them, but bodies lose their foreign keys.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

test('a foreign key that an association adds after the mount causes one warning, which names the remedy', async (t) => {
  const warnings: Error[] = []
  const listener = (warning: Error): unknown => warnings.push(warning)
  process.on('warning', listener)
  t.teardown(() => process.off('warning', listener))
  const stage = await openStage(({ sequelize }, app) => {
    const plain = { timestamps: false }
    const Note = sequelize.define('Note', { title: DataTypes.STRING }, plain)
    const Remark = sequelize.define('Remark', { text: DataTypes.STRING }, plain)
    const Early = sequelize.define('Early', { text: DataTypes.STRING }, plain)
    Early.belongsTo(Note, { as: 'note', foreignKey: 'noteId' })
    app.use(crudRouter(Note, { concurrency: true }), crudRouter(Remark), crudRouter(Early, { softDelete: true }))
    Remark.belongsTo(Note, { as: 'note', foreignKey: 'noteId' })
    Note.hasMany(Remark, { as: 'remarks', foreignKey: 'noteId' })
  })
  t.teardown(stage.close)
  await stage.post('/api/notes', { title: 'Milk' })
  t.deepEqual((await stage.post('/api/remarks', { text: 'Soon', noteId: 1 })).body, { id: 1, text: 'Soon' })
  for (const path of [
    'notes?select=title,remarks(text)',
    'earlies?select=text,note.title',
    'remarks?select=note.title',
  ]) {
    for (let round = 0; round < 2; round += 1) t.is((await stage.get(`/api/${path}`)).status, 200, path)
  }
  await new Promise(setImmediate)
  t.deepEqual(
    warnings.map(({ message }) => message),
    [
      'Remark: an association has added the foreign key "noteId" after the router was created, so that bodies, responses and filters do not have it. ' +
        'Define the associations of Remark before its router.',
    ],
  )
  t.is(Reflect.get(warnings[0] ?? {}, 'code'), 'CRUD_LATE_FOREIGN_KEY')
})
