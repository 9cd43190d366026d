// A behaviour of one's own has its say in requests for what is behind a relation as in any other: it is told of them and may
// answer in their stead. What it may not make of them is an error of the host's.

import ava from 'ava'
import { DataTypes } from 'sequelize'
import { BEHAVIOURS } from '../../../lib/behaviours.js'
import { projectOwnFields } from '../../../lib/common/columns.js'
import { TABLES } from '../../../lib/compile/index.js'
import { createRouter } from '../../../lib/http/router.js'
import { crudRouter } from '../../../lib/index.js'
import type { BehaviourDefinition } from '../../../types/behaviour.js'
import type { Behaviour } from '../../../types/resource.js'
import { allowUndocumented } from '../../support/replies.js'
import { openStage } from '../../support/stage.js'

// What was heard is looked at.
const test = ava.serial

const told: unknown[] = []
const errors: unknown[] = []

const tablesWith = (behaviour: Behaviour) => {
  const added: BehaviourDefinition = { options: {}, prepare: () => ({ behaviour: () => behaviour }) }
  return { ...TABLES, behaviours: [...BEHAVIOURS, added] }
}

const listening = tablesWith({
  around: ({ resource, operation, intent, caller }, reply) => {
    told.push([resource.name, operation, intent])
    return caller.request.headers['x-instead'] === undefined
      ? reply()
      : Promise.resolve({ status: 200, headers: {}, content: { kind: 'document', value: { instead: true } } })
  },
})

const turning = tablesWith({
  amend: ({ keys }) => ({ kind: 'get', where: { kind: 'always' }, projection: projectOwnFields(keys) }),
})

const stage = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const Post = sequelize.define('Post', { title: DataTypes.STRING(20) }, plain)
  const Tag = sequelize.define('Tag', { name: DataTypes.STRING(20) }, plain)
  const Note = sequelize.define('Note', { text: DataTypes.STRING(20) }, plain)
  Post.belongsToMany(Tag, { as: 'tags', through: 'PostTag', foreignKey: 'postId', otherKey: 'tagId' })
  Post.hasMany(Note, { as: 'notes', foreignKey: 'postId' })
  allowUndocumented(app)
  const routes = { routes: true } as const
  const onError = (error: unknown): void => {
    errors.push(error)
  }
  app.use(createRouter(listening, Post, { relations: { tags: routes, notes: { routes: true, write: true } }, onError }))
  app.use(createRouter(TABLES, Tag))
  app.use(createRouter(turning, Note))
  const Node = sequelize.define('Node', { owner: DataTypes.STRING(20), text: DataTypes.STRING(20) }, plain)
  Node.hasMany(Node, { as: 'children', foreignKey: 'parentId' })
  const scope = ({ operation }: { readonly operation: string }) => ({ owner: `who ${operation}s` })
  app.use(crudRouter(Node, { scope, identity: () => null, relations: { children: { write: true } } }))
})
const { sequelize } = stage
await sequelize.model('Post').create({ title: 'one' })
await sequelize.model('Tag').bulkCreate([{ name: 'red' }, { name: 'blue' }])
test.after.always(() => stage.close())

const REQUESTS = [
  ['PUT', '/api/posts/1/tags/1', undefined, 204],
  ['PUT', '/api/posts/1/tags', [1, 2], 200],
  ['POST', '/api/posts/1/tags', [1], 200],
  ['DELETE', '/api/posts/1/tags/1', undefined, 204],
] as const

test('a change of links is told to the behaviours of the owner as a change of the owner that writes nothing of it', async (t) => {
  for (const [method, path, json, status] of REQUESTS) {
    told.length = 0
    const answer = await stage.send(method, path, { json })
    t.is(answer.status, status, `${method} ${path}`)
    t.deepEqual(
      told,
      [['Post', 'update', { kind: 'update', key: '1', match: null, body: {}, minimal: false }]],
      `${method} ${path}`,
    )
  }
})

test('what a behaviour answers in the stead of a change of several links is the answer, and nothing is changed', async (t) => {
  const before = await sequelize.model('PostTag').count()
  for (const [method, path] of REQUESTS.slice(1, 3)) {
    const { status, body } = await stage.send(method, path, { json: [], headers: { 'x-instead': 'yes' } })
    t.deepEqual([status, body], [200, { instead: true }], `${method} ${path}`)
  }
  t.is(await sequelize.model('PostTag').count(), before)
})

test('a behaviour that makes something else of a list, or of a new record, behind a relation is a 500 that names both', async (t) => {
  errors.length = 0
  t.is((await stage.get('/api/posts/1/notes')).status, 500)
  t.is((await stage.post('/api/posts/1/notes', { text: 'new' })).status, 500)
  t.deepEqual(errors.map(String), [
    'TypeError: Internal error of sequelize-crud-router: a behaviour of Note replaced the plan of a list by one of kind "get". Please report it with the stack trace.',
    'TypeError: Internal error of sequelize-crud-router: a behaviour of Note replaced a plan of kind "create" by one of kind "get". Please report it with the stack trace.',
  ])
  t.is(await sequelize.model('Note').count(), 0)
})

test('a behaviour that makes something else of new records in a body is a 500 that names it', async (t) => {
  errors.length = 0
  const before = await sequelize.model('Post').count()
  t.is((await stage.post('/api/posts', { title: 'two', notes: [{ text: 'new' }] })).status, 500)
  t.deepEqual(errors.map(String), [
    'TypeError: Internal error of sequelize-crud-router: a behaviour of Note replaced the plan of a nested write by one of kind "get". Please report it with the stack trace.',
  ])
  t.is(await sequelize.model('Post').count(), before)
})

test('a scope answers by itself for each thing that one request does to records of the same resource', async (t) => {
  const Node = sequelize.model('Node')
  const parent = await Node.create({ owner: 'who updates', text: 'one' })
  const id = Number(parent.get('id'))
  const { status, text } = await stage.patch(`/api/nodes/${id}`, { text: 'two', children: [{ text: 'new' }] })
  t.is(status, 200, text)
  const owners = (await Node.findAll({ order: ['id'] })).map((node) => [node.get('text'), node.get('owner')])
  t.deepEqual(owners, [
    ['two', 'who updates'],
    ['new', 'who creates'],
  ])
})
