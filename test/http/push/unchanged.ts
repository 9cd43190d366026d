// What is told of a record that somebody else has given the very values meanwhile that a write gives it, so that this
// one changes nothing. On SQLite, where only one writes at a time, they have done so before.

import ava from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { type CrudOptions, type CrudRouter, crudRouter, Operations } from '../../../lib/index.js'
import { databaseName } from '../../support/database.js'
import { openPush } from '../../support/push.js'

const test = ava.serial

const VARIANTS: Readonly<Record<string, { hooks?: object; options?: CrudOptions }>> = {
  plain: {},
  flattened: { options: { flatten: ['group'] } },
  hooked: { hooks: { beforeSave: () => undefined } },
  both: { hooks: { beforeSave: () => undefined }, options: { flatten: ['group'] } },
}

const isAlone = databaseName === 'sqlite'

/** Resources whose records a request without values changes as well. */
const WRITTEN = { stamped: { audit: true }, versioned: { concurrency: true } } as const

const hubs = new Map<string, CrudRouter>()
const stage = await openPush(({ sequelize }, app, io) => {
  const Group = sequelize.define('group', { name: DataTypes.STRING(20) }, { timestamps: false })
  for (const [name, { hooks = {}, options }] of Object.entries(VARIANTS)) {
    const attributes = {
      sku: { type: DataTypes.STRING(20), unique: `${name}_sku` },
      name: DataTypes.STRING(20),
      level: DataTypes.INTEGER,
    }
    const Thing = sequelize.define(name, attributes, { timestamps: false, tableName: `${name}_things`, hooks })
    Thing.belongsTo(Group, { as: 'group', foreignKey: 'groupId' })
    const operations = Operations.AllWithBulk | Operations.Replace
    const hub = crudRouter(Thing, { route: `api/${name}`, operations, push: { io }, ...options })
    hubs.set(name, hub)
    app.use(hub)
  }
  for (const [name, options] of Object.entries(WRITTEN)) {
    const Thing = sequelize.define(name, { level: DataTypes.INTEGER }, { timestamps: false })
    const hub = crudRouter(Thing, { route: `api/${name}`, push: { io }, ...options })
    hubs.set(name, hub)
    app.use(hub)
  }
  app.use(crudRouter(Group))
})
const { sequelize } = stage
test.after.always(() => stage.close())

for (const [name, { options: { flatten: flattens } = {} }] of Object.entries(VARIANTS)) {
  test(`${name}: an upsert that changes nothing tells what another one has just made of the record`, async (t) => {
    const Thing: ModelStatic<Model> = sequelize.model(name)
    const group = await sequelize.model('group').create({ name: 'g' })
    await Thing.create({ sku: 'a', name: 'one', level: 1, groupId: group.get('id') })
    const hub = hubs.get(name)
    if (hub === undefined) throw new Error(`${name} is not mounted`)
    const subscriber = await stage.subscribe(hub)
    const meanwhile = () => Thing.update({ name: 'later', level: 2 }, { where: { sku: 'a' }, hooks: false })
    if (isAlone) await meanwhile()
    // The first two begin the transaction and look which records are there.
    let queries = 0
    sequelize.addHook('beforeQuery', 'between', async () => {
      queries += 1
      if (queries === 3 && !isAlone) await meanwhile()
    })
    const sent = await stage.send('PUT', `/api/${name}/bulk?by=sku`, { json: [{ sku: 'a', name: 'later' }] })
    sequelize.removeHook('beforeQuery', 'between')
    t.deepEqual(sent.body, { created: 0, updated: 1 })
    t.true(queries > 4)
    await stage.drain(hub, subscriber)
    t.is(subscriber.received.length, 1)
    t.like(subscriber.received[0]?.[1], { sku: 'a', name: 'later', level: 2, ...(flattens && { groupName: 'g' }) })
  })
}

for (const name of [...Object.keys(VARIANTS), ...Object.keys(WRITTEN)]) {
  const isWritten = name in WRITTEN
  test(`${name}: a PATCH of the stored values is told, one without values ${isWritten ? 'too' : 'is not'}`, async (t) => {
    const hub = hubs.get(name)
    if (hub === undefined) throw new Error(`${name} is not mounted`)
    const record = await sequelize.model(name).create({ level: 3 })
    const subscriber = await stage.subscribe(hub)
    for (const change of [{ level: 3 }, {}]) {
      const { status } = await stage.patch(`/api/${name}/${record.get('id')}`, change, { 'if-match': '*' })
      t.is(status, 200)
    }
    await stage.drain(hub, subscriber)
    t.deepEqual(
      subscriber.received.map(([event]) => event),
      Array(isWritten ? 2 : 1).fill('OnUpdated'),
    )
  })
}
