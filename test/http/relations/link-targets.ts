// The `scope` of a many-to-many association restricts its targets: only records with these values can be linked.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

const stage = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const Post = sequelize.define('Post', { title: DataTypes.STRING(20) }, plain)
  const Tag = sequelize.define('Tag', { name: DataTypes.STRING(20), kind: DataTypes.STRING(9) }, plain)
  Post.belongsToMany(Tag, {
    as: 'colours',
    through: 'PostColour',
    foreignKey: 'postId',
    otherKey: 'tagId',
    scope: { kind: 'colour' },
  })
  const operations = Operations.AllWithBulk | Operations.BulkUpdate | Operations.Replace
  app.use(crudRouter(Post, { operations, relations: { colours: { routes: true, write: true } } }), crudRouter(Tag))
})
const { sequelize } = stage
await sequelize
  .model('Tag')
  .bulkCreate([
    { name: 'red', kind: 'colour' },
    { name: 'blue', kind: 'colour' },
    { name: 'large', kind: 'size' },
    { name: 'none' },
  ])
test.after.always(() => stage.close())

const gone = ['does not exist.']

/** A post that is linked to the first tag. */
async function post(): Promise<number> {
  const { body } = await stage.post('/api/posts', { title: 'x', colours: [1] })
  return body.id
}

async function linkedTo(postId: number): Promise<readonly unknown[]> {
  const rows = await sequelize.model('PostColour').findAll({ where: { postId }, order: ['tagId'] })
  return rows.map((row) => row.get('tagId'))
}

test('a body links only records that meet the scope of the association', async (t) => {
  const id = await post()
  t.deepEqual(await linkedTo(id), [1])
  for (const [method, path, body, errors] of [
    ['POST', '', { title: 'x', colours: [2, 3] }, { 'colours[1]': gone }],
    ['POST', '/bulk', [{ title: 'x' }, { title: 'x', colours: [4] }], { '[1].colours[0]': gone }],
    ['PATCH', `/${id}`, { colours: [2, 3] }, { 'colours[1]': gone }],
    ['PUT', `/${id}`, { title: 'x', colours: [4] }, { 'colours[0]': gone }],
    ['PATCH', '/bulk', [{ id, colours: [3, 1] }], { '[0].colours[0]': gone }],
  ] as const) {
    const answer = await stage.send(method, `/api/posts${path}`, { json: body })
    t.deepEqual([answer.status, answer.body.errors], [400, errors], `${method} ${path}`)
  }
  t.deepEqual(await linkedTo(id), [1])
  const { status, body } = await stage.patch(`/api/posts/${id}`, { colours: [2] })
  t.deepEqual([status, body.colours], [200, [2]])
})

test('the routes of links link only records that meet the scope of the association', async (t) => {
  const id = await post()
  const path = `/api/posts/${id}/colours`
  for (const key of [3, 4]) t.is((await stage.send('PUT', `${path}/${key}`)).status, 404)
  for (const method of ['PUT', 'POST']) {
    const { status, body } = await stage.send(method, path, { json: [2, 3] })
    t.deepEqual([status, body.errors], [400, { '[1]': gone }], method)
  }
  t.deepEqual(await linkedTo(id), [1])
  t.deepEqual((await stage.send('PUT', path, { json: [2] })).body, { linked: 1, unlinked: 1 })
})
