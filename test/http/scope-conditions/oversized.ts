// A condition that is too large for the database is a mistake of the host: 500, whose reason onError hears. What the client makes too
// large is 400.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter, filter, Operations } from '../../../lib/index.js'
import { databaseName } from '../../support/database.js'
import { isFast } from '../../support/speed.js'
import { openStage } from '../../support/stage.js'

/** More values than a statement takes; null for databases that take as many as fit into a packet. */
const MANY = { sqlite: 33_000, 'node-sqlite': 33_000, postgres: 66_000 }[String(databaseName)] ?? null

const errors: unknown[] = []
const numbers = Array.from({ length: MANY ?? 0 }, (_, index) => index + 1)
let scope: unknown = null

const stage = await openStage(({ sequelize }, app) => {
  const Node = sequelize.define('Node', { name: DataTypes.STRING(20), level: DataTypes.INTEGER }, { timestamps: false })
  Node.belongsTo(Node, { as: 'parent', foreignKey: 'parentId', constraints: false })
  const Bird = sequelize.define('Bird', { name: DataTypes.STRING(20) }, { timestamps: false })
  Node.hasMany(Bird, { as: 'birds', foreignKey: 'nodeId' })
  const written = { write: true, routes: true } as const
  const limits = {
    clauses: 1e6,
    listItems: 1e6,
    filterLength: 1e7,
    bodySize: 1e8,
    bulkItems: 1e6,
    cost: false,
    scopeJoins: 100,
  } as const
  app.use(
    crudRouter(Node, {
      route: 'nodes',
      limits,
      operations: Operations.AllWithBulk | Operations.BulkUpdate | Operations.Replace,
      onError: (error) => errors.push(error),
      scope: () => scope as never,
      relations: { birds: written },
    }),
  )
  const Leaf = sequelize.define('Leaf', { name: DataTypes.STRING(20) }, { timestamps: false })
  Leaf.belongsTo(Node, { as: 'node', foreignKey: 'nodeId', constraints: false })
  Leaf.belongsToMany(Node, { as: 'nodes', through: 'LeafNode', constraints: false, timestamps: false })
  const operations = Operations.All | Operations.Aggregate | Operations.Export
  const onError = (error: unknown): void => void errors.push(error)
  app.use(crudRouter(Leaf, { route: 'leaves', operations, onError }))
  app.use(crudRouter(Leaf, { route: 'flat', flatten: ['node'], onError }))
  const Egg = sequelize.define('Egg', { name: DataTypes.STRING(20) }, { timestamps: false })
  Bird.belongsTo(Node, { as: 'node', foreignKey: 'nodeId' })
  Bird.belongsToMany(Node, { as: 'nests', through: 'BirdNest', timestamps: false })
  Bird.hasMany(Egg, { as: 'eggs', foreignKey: 'birdId' })
  Egg.belongsTo(Node, { as: 'node', foreignKey: 'nodeId' })
  app.use(
    crudRouter(Bird, {
      limits,
      operations: Operations.AllWithBulk | Operations.BulkUpdate | Operations.Replace,
      relations: { nests: written, eggs: written },
      onError,
    }),
    crudRouter(Egg, { onError }),
  )
})
const Node = stage.sequelize.model('Node')
const Leaf = stage.sequelize.model('Leaf')
const made = await Node.create({ name: 'a', level: 1 })
const id = Number(made.get('id'))
await Leaf.create({ name: 'leaf', nodeId: id })

test.after.always(() => stage.close())

test.serial('a condition of a thousand values finds its records', async (t) => {
  scope = filter.in(
    'level',
    Array.from({ length: 1000 }, (_, index) => index + 1),
  )
  t.is((await stage.get('/nodes?count=true')).body.count, 1)
})

// Statements of Sequelize's have their values in their text.
const run = MANY === null || !isFast ? test.skip : test.serial

for (const [what, tooLarge] of [
  ['an array of values', () => ({ level: numbers })],
  ['a condition', () => filter.in('level', numbers)],
  ['a condition over a path', () => filter.or(filter.eq('level', 1), filter.in('parent.level', numbers))],
] as const) {
  run(`${what} that is too large is a 500`, async (t) => {
    scope = tooLarge()
    for (const [method, path, json] of [
      ['GET', '/nodes', undefined],
      ['GET', '/nodes?filter=name=a', undefined],
      ['GET', '/nodes?count=true', undefined],
      ['GET', `/nodes/${id}`, undefined],
      ['POST', '/nodes', { name: 'b', level: 1, parentId: id }],
      ['POST', '/nodes/bulk', [{ name: 'b', level: 1, parentId: id }]],
      ['PATCH', `/nodes/${id}`, { level: 2 }],
      ['PATCH', '/nodes/bulk', [{ id, level: 2 }]],
      ['PUT', `/nodes/${id}`, { name: 'x' }],
      ['DELETE', `/nodes/${id}`, undefined],
      ['POST', '/nodes/bulk-delete', [id]],
    ] as const) {
      const { status, text } = await stage.send(method, path, { json })
      t.is(status, 500, `${method} ${path} ${text}`)
      t.regex(
        String(errors[0]),
        /Node: the condition of its scope, or of a related resource's scope, is too large for the database\. Return a shorter condition/,
        `${method} ${path}`,
      )
      t.is(errors.splice(0).length, 1)
    }
    t.is(await Node.count(), 1)
  })
}

run('a scope that is too large for a statement of another resource is a 500', async (t) => {
  scope = filter.in('level', numbers)
  const before = await Leaf.count()
  for (const [method, path, json] of [
    ['GET', '/leaves?select=node(name)', undefined],
    ['GET', '/leaves/1?select=node(name)', undefined],
    ['GET', '/leaves?select=nodes(name)', undefined],
    ['GET', '/leaves?select=nodes.Count', undefined],
    ['GET', '/leaves?filter=node.name=a', undefined],
    ['GET', '/leaves?sort=node.name', undefined],
    ['GET', '/leaves?sort=nodes.Count', undefined],
    ['GET', '/leaves?after=&sort=node.name', undefined],
    ['GET', '/leaves?aggregate=count&group=node.name', undefined],
    ['GET', '/leaves?format=csv&select=node.name', undefined],
    ['GET', '/flat', undefined],
    ['GET', '/flat/1', undefined],
    ['POST', '/flat', { name: 'new' }],
    ['PATCH', '/flat/1', { name: 'changed' }],
  ] as const) {
    const { status, text } = await stage.send(method, path, { json })
    t.is(status, 500, `${method} ${path} ${text}`)
    t.regex(
      String(errors[0]),
      /Leaf: the condition of its scope, or of a related resource's scope, is too large for the database\./,
      `${method} ${path}`,
    )
    t.is(errors.splice(0).length, 1)
  }
  t.is(await Leaf.count(), before)
  t.is((await Leaf.findByPk(1))?.get('name'), 'leaf')
})

run('a scope of a record to which a body refers that is too large for the database is a 500', async (t) => {
  scope = null
  const bird = (await stage.post('/api/birds', { name: 'b', nodeId: id, eggs: [{ name: 'e' }], nests: [id] })).body
  const [{ id: egg }] = bird.eggs
  const path = `/api/birds/${bird.id}`
  scope = filter.in('level', numbers)
  const before = [await stage.sequelize.model('Bird').count(), await stage.sequelize.model('Egg').count()]
  const other = Number((await Node.create({ name: 'other', level: 1 })).get('id'))
  for (const [method, at, json] of [
    ['POST', '/api/birds', { name: 'c', nodeId: id }],
    ['POST', '/api/birds/bulk', [{ name: 'c' }, { name: 'c', nodeId: id }]],
    ['PATCH', path, { nodeId: other }],
    ['PATCH', '/api/birds/bulk', [{ id: bird.id, nodeId: other }]],
    ['PUT', path, { name: 'c', nodeId: other }],
    ['POST', '/api/birds', { eggs: [{ name: 'e', nodeId: id }] }],
    ['PATCH', path, { eggs: [{ id: egg, nodeId: other }] }],
    ['PATCH', path, { eggs: [{ id: egg }, { nodeId: id }] }],
    ['POST', '/api/birds', { nests: [id] }],
    ['PATCH', path, { nests: [other] }],
    ['PATCH', '/api/birds/bulk', [{ id: bird.id, nests: [other] }]],
    ['GET', `${path}/nests`, undefined],
    ['PUT', `${path}/nests`, [other]],
    ['POST', `${path}/nests`, [other]],
    ['PUT', `${path}/nests/${other}`, undefined],
    ['DELETE', `${path}/nests/${id}`, undefined],
    ['POST', `${path}/eggs`, { nodeId: id }],
    ['GET', `/nodes/${id}/birds`, undefined],
    ['POST', `/nodes/${id}/birds`, { name: 'c' }],
    ['PATCH', `/nodes/${id}`, { birds: [{ id: bird.id, name: 'c' }] }],
  ] as const) {
    const { status, text } = await stage.send(method, at, { json })
    const what = `${method} ${at} ${JSON.stringify(json)} ${text}`
    t.is(status, 500, what)
    t.regex(String(errors[0]), /the condition of its scope, or of a related resource's scope, is too large/, what)
    t.is(errors.splice(0).length, 1)
  }
  t.deepEqual([await stage.sequelize.model('Bird').count(), await stage.sequelize.model('Egg').count()], before)
})

run('what the client makes too large is a 400 under a condition as well', async (t) => {
  scope = filter.or(filter.eq('level', 1), filter.eq('parent.level', 1))
  t.is((await stage.post('/nodes/bulk-delete', numbers)).status, 400)
  const birds = numbers.map((nodeId) => ({ nodeId }))
  t.is((await stage.post('/api/birds/bulk', birds)).status, 400)
  t.deepEqual(errors, [])
})
