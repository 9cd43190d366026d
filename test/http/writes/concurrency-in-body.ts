// `concurrency: { inBody: true }`: every answer and event shows the version, and no body sets it.

import test from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { CrudConfigError, type CrudOptions, type CrudRouter, crudRouter, Operations } from '../../../lib/index.js'
import { openDatabase } from '../../support/database.js'
import { openPush } from '../../support/push.js'

const VARIANTS = [
  { title: 'added', options: { inBody: true }, json: 'rowVersion', attributes: {} },
  {
    title: 'declared, of a custom name',
    options: { inBody: true, rowVersion: 'edit_count' },
    json: 'editCount',
    attributes: { edit_count: { type: DataTypes.INTEGER, field: 'edits' } },
  },
] as const

for (const { title, options, json, attributes } of VARIANTS) {
  test(`every answer and event shows the version, which every write raises and no body sets: ${title}`, async (t) => {
    let hub: CrudRouter | undefined
    const stage = await openPush(({ sequelize }, app, io) => {
      const Thing: ModelStatic<Model> = sequelize.define(
        'Thing',
        { name: DataTypes.STRING, ...attributes },
        { timestamps: false },
      )
      const Part = sequelize.define('Part', { name: DataTypes.STRING }, { timestamps: false })
      Part.belongsTo(Thing, { as: 'thing', foreignKey: 'thingId' })
      const given: CrudOptions = { operations: Operations.AllWithBulk, concurrency: options, push: { io } }
      hub = crudRouter(Thing, { ...given, unknownProperties: 'reject' })
      app.use([hub, crudRouter(Part, { flatten: ['thing'] })])
    })
    try {
      if (hub === undefined) throw new TypeError('nothing was mounted')
      const witness = await stage.subscribe(hub)
      const version = (body: object): unknown => Reflect.get(body, json)
      const created = await stage.post('/api/things', { name: 'a', [json]: 7 })
      t.is(created.status, 201, created.text)
      t.is(version(created.body), 0)
      t.is(created.headers.get('etag'), 'W/"0"')
      const path = `/api/things/${created.body.id}`
      const patched = await stage.patch(path, { name: 'b', [json]: 7 }, { 'if-match': 'W/"0"' })
      t.is(patched.status, 200, patched.text)
      t.is(version(patched.body), 1)
      t.is(version((await stage.get(path)).body), 1)
      const [first] = (await stage.post('/api/things/bulk', [{ name: 'c' }])).body
      t.is(version(first), 0)
      t.deepEqual((await stage.get('/api/things?sort=id')).body.items.map(version), [1, 0])
      t.deepEqual((await stage.get(`/api/things?filter=${json}=1&select=id`)).body.items, [{ id: created.body.id }])
      t.deepEqual((await stage.get(`/api/things?${json}=0&select=${json}`)).body.items, [{ [json]: 0 }])
      t.deepEqual((await stage.get(`/api/things?sort=${json}&select=${json}`)).body.items.map(version), [0, 1])
      await stage.post('/api/parts', { name: 'p', thingId: created.body.id })
      const { body } = await stage.get(`/api/parts?filter=thing.${json}=1&select=thing.${json}`)
      t.deepEqual(body.items, [{ thing: { [json]: 1 } }])
      await stage.drain(hub, witness)
      t.deepEqual(
        witness.received
          .filter(([event]) => event !== 'OnDeleted')
          .map(([event, record]) => [event, version(Object(record))]),
        [
          ['OnCreated', 0],
          ['OnUpdated', 1],
          ['OnCreated', 0],
        ],
      )
    } finally {
      await stage.close()
    }
  })
}

test('a row from before there were versions shows the first', async (t) => {
  const stage = await openPush(({ sequelize }, app) => {
    const version = { type: DataTypes.INTEGER, allowNull: true }
    const Old = sequelize.define('Old', { name: DataTypes.STRING, rowVersion: version }, { timestamps: false })
    app.use(crudRouter(Old, { concurrency: { inBody: true } }))
  })
  try {
    await stage.sequelize.model('Old').create({ name: 'a' })
    const { body, headers } = await stage.get('/api/olds/1')
    t.deepEqual(body, { id: 1, name: 'a', rowVersion: 0 })
    t.is(headers.get('etag'), 'W/"0"')
    t.is((await stage.patch('/api/olds/1', { name: 'b' }, { 'if-match': '0' })).body.rowVersion, 1)
  } finally {
    await stage.close()
  }
})

test('the version of a missing record is null, and forms one group', async (t) => {
  const stage = await openPush(({ sequelize }, app) => {
    const Box = sequelize.define('Box', { name: DataTypes.STRING }, { timestamps: false })
    const Item = sequelize.define('Item', { name: DataTypes.STRING }, { timestamps: false })
    Item.belongsTo(Box, { as: 'box', foreignKey: 'boxId' })
    const concurrency = { inBody: true }
    const operations = Operations.All | Operations.Aggregate | Operations.Export
    app.use(crudRouter(Box, { concurrency, operations }))
    app.use(crudRouter(Item, { flatten: ['box'], operations }))
  })
  try {
    t.is((await stage.get('/api/boxes?aggregate=max(rowVersion)')).body.items[0].max.rowVersion, null)
    await stage.post('/api/boxes', { name: 'b' })
    await stage.post('/api/items', { name: 'in', boxId: 1 })
    const lost = await stage.post('/api/items', { name: 'lost' })
    t.deepEqual(lost.body, { id: 2, name: 'lost', boxId: null, boxName: null, boxRowVersion: null })
    const versions = [{ boxRowVersion: null }, { boxRowVersion: 0 }]
    t.deepEqual((await stage.get('/api/items?select=boxRowVersion&sort=-id')).body.items, versions)
    t.like((await stage.get('/api/items?sort=-id')).body.items, versions)
    const csv = await stage.get('/api/items?format=csv&sort=-id')
    t.is(csv.text.split('\r\n')[1], '2,lost,,,')
    t.deepEqual((await stage.get('/api/items?aggregate=count&group=box.rowVersion')).body.items, [
      { group: { box: { rowVersion: null } }, count: 1 },
      { group: { box: { rowVersion: 0 } }, count: 1 },
    ])
    const walked: unknown[] = []
    for (let after: string | null = ''; after !== null; ) {
      const { body } = await stage.get(`/api/items?sort=boxRowVersion&pageSize=1&after=${after}`)
      walked.push(...body.items.map(({ name }: { readonly name: string }) => name))
      after = body.nextCursor
    }
    t.deepEqual(walked, ['lost', 'in'])
  } finally {
    await stage.close()
  }
})

test('without it an added version is in no answer, also where another router of the model shows it', async (t) => {
  const stage = await openPush(({ sequelize }, app) => {
    const Thing = sequelize.define('Thing', { name: DataTypes.STRING }, { timestamps: false })
    app.use('/shown', crudRouter(Thing, { concurrency: { inBody: true } }))
    app.use('/plain', crudRouter(Thing, { concurrency: true }))
  })
  try {
    t.deepEqual((await stage.post('/plain/api/things', { name: 'a' })).body, { id: 1, name: 'a' })
    t.deepEqual((await stage.get('/shown/api/things/1')).body, { id: 1, name: 'a', rowVersion: 0 })
    t.is((await stage.get('/plain/api/things?filter=rowVersion=0')).status, 400)
  } finally {
    await stage.close()
  }
})

test('what cannot be honoured is refused when it is mounted', async (t) => {
  const { sequelize, close } = await openDatabase()
  try {
    const Thing = sequelize.define('Thing', { rowVersion: DataTypes.INTEGER })
    const refused = (options: object): string | undefined => {
      const error = t.throws(() => crudRouter(Thing, options), { instanceOf: CrudConfigError })
      t.is(error?.code, 'INVALID_OPTION')
      return error?.message
    }
    t.regex(refused({ concurrency: { inBody: 'yes' } }) ?? '', /inBody/)
    const hidden = { concurrency: { inBody: true }, fields: { rowVersion: { exclude: 'list' } } }
    t.regex(refused(hidden) ?? '', /fields\.rowVersion/)
  } finally {
    await close()
  }
})

for (const [kind, softDelete, hooks] of [
  ['hard', false, {}],
  ['soft', true, {}],
  ['hooked hard', false, { beforeDestroy: () => undefined }],
  ['hooked soft', true, { beforeDestroy: () => undefined }],
] as const) {
  test(`the event of a ${kind} delete has the version behind the key, of each record of a bulk delete too`, async (t) => {
    let hub: CrudRouter | undefined
    const stage = await openPush(({ sequelize }, app, io) => {
      const Thing = sequelize.define('Thing', { name: DataTypes.STRING }, { timestamps: false, hooks })
      const options: CrudOptions = { operations: Operations.AllWithBulk, push: { io }, softDelete }
      hub = crudRouter(Thing, { ...options, concurrency: { inBody: true } })
      app.use(hub)
    })
    try {
      if (hub === undefined) throw new TypeError('nothing was mounted')
      const witness = await stage.subscribe(hub)
      const gone: unknown[] = []
      witness.socket.on('OnDeleted', (...given: unknown[]) => gone.push(given))
      for (const name of ['a', 'b', 'c']) await stage.post('/api/things', { name })
      await stage.patch('/api/things/1', { name: 'd' }, { 'if-match': '*' })
      await stage.patch('/api/things/1', { name: 'e' }, { 'if-match': '*' })
      await stage.delete('/api/things/1', { 'if-match': '*' })
      await stage.patch('/api/things/3', { name: 'f' }, { 'if-match': '*' })
      await stage.post('/api/things/bulk-delete', [2, 3])
      hub.notify?.deleted({ id: 7, name: 'of the host', rowVersion: 5 })
      hub.notify?.deleted({ id: 8, name: 'without' })
      await stage.drain(hub, witness)
      t.deepEqual(gone.slice(0, 5), [[1, 2], [2, 0], [3, 1], [7, 5], [8]])
    } finally {
      await stage.close()
    }
  })
}

test('the event of a delete has no version where answers show none, or not to everybody', async (t) => {
  const hubs: CrudRouter[] = []
  const stage = await openPush(({ sequelize }, app, io) => {
    const define = (name: string) => sequelize.define(name, { name: DataTypes.STRING }, { timestamps: false })
    hubs.push(
      crudRouter(define('Plain'), { push: { io }, concurrency: true }),
      crudRouter(define('Masked'), { push: { io }, concurrency: { inBody: true }, mask: { rowVersion: 'audit' } }),
    )
    app.use(hubs)
  })
  try {
    for (const hub of hubs) {
      const witness = await stage.subscribe(hub)
      const gone: unknown[] = []
      witness.socket.on('OnDeleted', (...given: unknown[]) => gone.push(given))
      await stage.post(hub.resource.route, { name: 'a' })
      await stage.delete(`${hub.resource.route}/1`, { 'if-match': '*' })
      await stage.drain(hub, witness)
      t.deepEqual(gone[0], [1])
    }
  } finally {
    await stage.close()
  }
})
