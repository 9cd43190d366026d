import ava from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { openPush } from '../../support/push.js'

const test = ava.serial

const OPERATIONS = Operations.AllWithBulk | Operations.BulkUpdate | Operations.Replace

for (const hooks of [{}, { beforeSave: () => undefined, beforeDestroy: () => undefined }]) {
  const isHooked = Object.keys(hooks).length > 0
  test(`a BOOLEAN is a key like any other, with hooks: ${isHooked}`, async (t) => {
    const stage = await openPush(({ sequelize }, app, io) => {
      const Flag = sequelize.define(
        'Flag',
        { flag: { type: DataTypes.BOOLEAN, primaryKey: true, field: 'is_set' }, note: DataTypes.STRING },
        { timestamps: false, hooks },
      )
      const Child = sequelize.define('Child', { name: DataTypes.STRING }, { timestamps: false })
      Flag.hasMany(Child, { as: 'children', foreignKey: 'flagKey' })
      Child.belongsTo(Flag, { as: 'flag', foreignKey: 'flagKey' })
      app.use(crudRouter(Child))
      const scope = (): string => 'note!=hidden|note=null'
      const relations = { children: { write: true, routes: true } }
      app.use(crudRouter(Flag, { operations: OPERATIONS, relations, scope, push: { io } }))
    })
    t.teardown(stage.close)
    const { received, socket } = await stage.subscribe('/api/flags/hub')
    // Events of different records may come in any order.
    const deletions = new Promise<ReadonlySet<unknown>>((resolve) => {
      const keys = new Set<unknown>()
      socket.on('OnDeleted', (key) => {
        if (keys.add(key).size === 2) resolve(keys)
      })
    })
    const made = await stage.post('/api/flags', { flag: true, note: 'a' })
    t.deepEqual([made.status, made.headers.get('location')], [201, '/api/flags/true'], made.text)
    t.deepEqual((await stage.get('/api/flags/true')).body, { flag: true, note: 'a' })
    for (const key of ['false', 'TRUE', '1', 't', 'null']) t.is((await stage.get(`/api/flags/${key}`)).status, 404, key)
    t.is((await stage.send('PUT', '/api/flags/false', { json: { flag: false, note: 'b' } })).status, 201)
    t.is((await stage.send('PUT', '/api/flags/false', { json: { flag: true, note: 'b' } })).status, 400)
    t.deepEqual((await stage.patch('/api/flags/true', { note: 'c' })).body, { flag: true, note: 'c' })
    const twice = await stage.patch('/api/flags/bulk', [{ flag: true }, { flag: true }])
    t.deepEqual(twice.body.errors, { '[1].flag': ['is there twice.'] })
    const all = [
      { flag: true, note: 'd' },
      { flag: false, note: 'e' },
    ]
    t.deepEqual((await stage.patch('/api/flags/bulk', all)).body, all)
    t.deepEqual((await stage.send('PUT', '/api/flags/bulk?by=flag', { json: all })).body, { created: 0, updated: 2 })
    t.deepEqual((await stage.get('/api/flags?keys=true')).body.items, [all[0]])
    const first = await stage.get('/api/flags?pageSize=1&after=')
    t.deepEqual(first.body.items, [all[1]])
    t.deepEqual((await stage.get(`/api/flags?pageSize=1&after=${first.body.nextCursor}`)).body.items, [all[0]])

    t.is((await stage.post('/api/flags/true/children', { name: 'x' })).body.flagKey, true)
    const written = await stage.patch('/api/flags/true', { children: [{ id: 1, name: 'y' }, { name: 'z' }] })
    t.deepEqual(
      written.body.children.map(({ name }: { name: string }) => name),
      ['y', 'z'],
      written.text,
    )
    t.is((await stage.patch('/api/flags/true', { children: [] })).status, 200)

    t.deepEqual((await stage.post('/api/flags/bulk-delete', [true])).body, { deleted: 1 })
    t.is((await stage.delete('/api/flags/false')).status, 204)
    t.is((await stage.delete('/api/flags/false')).status, 404)
    t.deepEqual(await deletions, new Set([true, false]))
    t.is(received.filter(([event]) => event === 'OnDeleted').length, 2)
  })
}
