// Sequelize gives an association without `as` the name of its target: from a model to itself, that is the name of the model.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter } from '../../../lib/index.js'
import { list } from '../../support/lists.js'
import { openStage } from '../../support/stage.js'

const NODES = [
  { name: 'root', parentId: null },
  { name: 'branch', parentId: 1 },
  { name: 'leaf', parentId: 2 },
]

for (const [model, relation] of [
  ['Node', 'node'],
  ['node', 'Node'],
] as const) {
  const alias = model === 'Node' ? 'Node' : 'NODE'
  test(`the relation ${alias} from the model ${model} to itself is filtered by, sorted by, selected and flattened`, async (t) => {
    const served = await openStage(({ sequelize }, app) => {
      const Node = sequelize.define(model, { name: DataTypes.STRING }, { timestamps: false })
      Node.belongsTo(Node, { as: alias, foreignKey: 'parentId' })
      Node.hasMany(Node, { as: 'below', foreignKey: 'parentId' })
      app.use(crudRouter(Node, { flatten: [alias] }))
      return { Node }
    })
    const { Node } = served
    for (const node of NODES) await Node.create(node)
    t.teardown(() => served.close())
    const namesOf = async (parameters: Readonly<Record<string, string>>): Promise<unknown[]> => {
      const { status, text, body } = await list(served, '/api/nodes', { sort: 'id', ...parameters })
      t.is(status, 200, text)
      return body.items.map(({ name }: { name: string }) => name)
    }
    t.deepEqual(await namesOf({ filter: `${relation}.name=root` }), ['branch'])
    t.deepEqual(await namesOf({ filter: `${relation}.${relation}.name=root` }), ['leaf'])
    t.deepEqual(await namesOf({ filter: `${relation}=null` }), ['root'])
    t.deepEqual(await namesOf({ filter: `below.Any(${relation}.name=branch)` }), ['branch'])
    t.deepEqual(await namesOf({ sort: `-${relation}.name,name`, filter: `${relation}!=null` }), ['branch', 'leaf'])
    const { body } = await list(served, '/api/nodes', { select: `name,${relation}.name`, sort: '-id', pageSize: '1' })
    const [leaf] = body.items
    t.deepEqual(Object.values(leaf), ['leaf', { name: 'branch' }])
    const { body: record } = await served.get('/api/nodes/2')
    t.is(record.name, 'branch')
    t.true(Object.values(record).includes('root'), 'the name of the parent is flattened into the record')
    t.is((await served.patch('/api/nodes/3', { parentId: 1 })).status, 200)
    t.deepEqual(await namesOf({ filter: `${relation}.name=root` }), ['branch', 'leaf'])
  })
}
