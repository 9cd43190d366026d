// Actions: routes that the host adds to a resource, which are served by the same stages as its operations. What they find, read and answer.

import ava from 'ava'
import express from 'express'
import Joi from 'joi'
import {
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
  type Transaction,
} from 'sequelize'
import { type CrudOptions, createHandler, crudController, crudRouter, Problem } from '../../../lib/index.js'
import { asUser, identityFromHeader, openStage } from '../../support/stage.js'

// The classes of the models are those of one test at a time.
const test = ava.serial

class Author extends Model<InferAttributes<Author>, InferCreationAttributes<Author>> {
  declare id: number | null
  declare name: string
}

class Post extends Model<InferAttributes<Post>, InferCreationAttributes<Post>> {
  declare id: number | null
  declare title: string
  declare status: string
  declare rating: number | null
  declare memo: string | null
  declare tenantId: number
  declare authorId: number | null
}

function define(sequelize: Sequelize) {
  Author.init(
    { id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true }, name: DataTypes.STRING(30) },
    { sequelize, modelName: 'Author', timestamps: false },
  )
  Post.init(
    {
      id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true },
      title: { type: DataTypes.STRING(30), allowNull: false },
      status: { type: DataTypes.STRING(10), allowNull: false, validate: { isIn: [['draft', 'live']] } },
      rating: DataTypes.INTEGER,
      memo: DataTypes.STRING(30),
      tenantId: { type: DataTypes.INTEGER, allowNull: false },
      authorId: DataTypes.INTEGER,
    },
    { sequelize, modelName: 'Post', timestamps: false },
  )
  Post.belongsTo(Author, { as: 'author', foreignKey: 'authorId' })
  return { Post, Author }
}

async function fill(): Promise<void> {
  await Author.bulkCreate([{ id: null, name: 'Ann' }].map(({ name }) => ({ name }) as never))
  const rows = [
    { title: 'one', status: 'draft', rating: 3, memo: 'a', tenantId: 7, authorId: 1 },
    { title: 'two', status: 'draft', rating: 9, memo: 'b', tenantId: 7, authorId: 1 },
    { title: 'three', status: 'live', rating: 5, memo: 'c', tenantId: 8, authorId: null },
  ]
  for (const row of rows) await Post.create(row as never)
}

const ACTIONS = {
  publish: {
    on: 'record',
    method: 'post',
    input: Joi.object({ rating: Joi.number().integer().min(1), note: Joi.string() }),
    handler: ({ record, input }) => {
      const { rating } = input as { rating?: number }
      record.set({ status: 'live', ...(rating === undefined ? {} : { rating }) })
    },
  },
  publishAll: {
    on: 'collection',
    method: 'post',
    output: 'list',
    handler: async ({ transaction }) => {
      const drafts = await Post.findAll({ where: { status: 'draft' }, order: [['rating', 'DESC']], transaction })
      for (const draft of drafts) await draft.update({ status: 'live' }, { transaction })
      return drafts
    },
  },
  best: {
    on: 'collection',
    method: 'get',
    output: 'record',
    handler: () => Post.findOne({ order: [['rating', 'DESC']] }),
  },
  above: {
    on: 'collection',
    method: 'get',
    input: Joi.object({
      rating: Joi.number().required(),
      titles: Joi.array().items(Joi.string()),
      deep: Joi.boolean(),
    }),
    handler: async ({ input }) => {
      const { rating, titles } = input as { rating: number; titles?: string[] }
      const all = await Post.findAll({ order: [['rating', 'DESC']] })
      return all.filter((post) => Number(post.rating) > rating && (titles?.includes(post.title) ?? true))
    },
  },
  wordCount: {
    on: 'record',
    method: 'get',
    input: Joi.object({ factor: Joi.number().default(1) }),
    output: Joi.object({ words: Joi.number().integer().required() }),
    handler: ({ record, input }) => ({ words: record.title.length * (input as { factor: number }).factor }),
  },
  ping: { on: 'collection', method: 'post', handler: () => undefined },
} satisfies NonNullable<CrudOptions<Post>['actions']>

async function served(options: CrudOptions<Post> = {}) {
  const stage = await openStage(({ sequelize }, app) => {
    const models = define(sequelize)
    app.use(crudRouter(Author))
    app.use(crudRouter(Post, { identity: identityFromHeader, actions: ACTIONS, ...options }))
    return models
  })
  await fill()
  return stage
}

test('a POST action of a record changes it, and answers as PATCH does', async (t) => {
  const server = await served()
  t.teardown(server.close)
  const { status, body } = await server.post('/api/posts/1/publish', { rating: 4 })
  t.is(status, 200)
  t.deepEqual(body, { id: 1, title: 'one', status: 'live', rating: 4, memo: 'a', tenantId: 7, authorId: 1 })
  const stored = await server.get('/api/posts/1')
  t.deepEqual(stored.body, body)
})

test('an action without a body is one with no input', async (t) => {
  const server = await served()
  t.teardown(server.close)
  const { status, body } = await server.send('POST', '/api/posts/1/publish')
  t.is(status, 200)
  t.is(body.status, 'live')
  t.is(body.rating, 3)
})

test('the names of actions stand in paths in kebab-case', async (t) => {
  const server = await served()
  t.teardown(server.close)
  const { status, body } = await server.get('/api/posts/2/word-count?factor=3')
  t.is(status, 200)
  t.deepEqual(body, { words: 9 })
  t.is((await server.get('/api/posts/2/wordCount')).status, 404)
})

test('a POST action of the collection answers the records that it returns, in their order', async (t) => {
  const server = await served()
  t.teardown(server.close)
  const { status, body } = await server.send('POST', '/api/posts/publish-all')
  t.is(status, 200)
  t.deepEqual(Object.keys(body), ['items'])
  t.deepEqual(
    body.items.map(({ id, status }: { id: number; status: string }) => [id, status]),
    [
      [2, 'live'],
      [1, 'live'],
    ],
  )
})

test('an action that answers nothing is 204', async (t) => {
  const server = await served()
  t.teardown(server.close)
  const { status, text } = await server.send('POST', '/api/posts/ping')
  t.is(status, 204)
  t.is(text, '')
})

test('select chooses what actions answer, over relations as well', async (t) => {
  const server = await served()
  t.teardown(server.close)
  const one = await server.post('/api/posts/1/publish?select=status,author.name', {})
  t.deepEqual(one.body, { status: 'live', author: { name: 'Ann' } })
  const several = await server.send('POST', '/api/posts/publish-all?select=title')
  t.deepEqual(several.body, { items: [{ title: 'two' }] })
  const read = await server.get('/api/posts/best?select=title')
  t.deepEqual(read.body, { title: 'two' })
})

test('a select that means nothing is 400 before anything is done', async (t) => {
  const server = await served()
  t.teardown(server.close)
  const { status, body } = await server.post('/api/posts/1/publish?select=titel', {})
  t.is(status, 400)
  t.is(body.code, 'unknown-field')
  t.regex(body.errors.select[0], /Did you mean "title"\?/)
  t.is((await server.get('/api/posts/1')).body.status, 'draft')
})

test('GET actions take their input from parameters, converted', async (t) => {
  const server = await served()
  t.teardown(server.close)
  const all = await server.get('/api/posts/above?rating=4&deep=true')
  t.deepEqual(
    all.body.items.map(({ title }: { title: string }) => title),
    ['two', 'three'],
  )
  const some = await server.get('/api/posts/above?rating=2&titles=one&titles=three&select=title')
  t.deepEqual(some.body, { items: [{ title: 'three' }, { title: 'one' }] })
  const wrong = await server.get('/api/posts/above?rating=many')
  t.is(wrong.status, 400)
  t.is(wrong.body.code, 'validation')
  t.deepEqual(Object.keys(wrong.body.errors), ['rating'])
  const twice = await server.get('/api/posts/above?rating=1&rating=2')
  t.is(twice.status, 400)
  t.deepEqual(twice.body.errors, { rating: ['is given more than once.'] })
})

test('unknown parameters of GET actions are refused, with what was meant', async (t) => {
  const server = await served()
  t.teardown(server.close)
  const { status, body } = await server.get('/api/posts/above?rating=4&titels=one')
  t.is(status, 400)
  t.is(body.code, 'unknown-parameter')
  t.regex(body.errors.titels[0], /is not a parameter of this action\. Did you mean "titles"\?/)
  const none = await server.get('/api/posts/best?page=2')
  t.is(none.status, 400)
  t.is((await server.get('/api/posts/1/word-count?select=words')).status, 400)
})

test('unknown parameters that the host has for its own, or ignores, do not reach the input', async (t) => {
  const own = await served({ query: { unknownParameters: ['utm_*'] } })
  t.teardown(own.close)
  t.is((await own.get('/api/posts/above?rating=4&utm_source=x')).status, 200)
  t.is((await own.get('/api/posts/above?rating=4&other=x')).status, 400)
})

test('GET actions write nothing, whatever their handler does to the record', async (t) => {
  const server = await served({
    actions: {
      peek: {
        on: 'record',
        method: 'get',
        handler: ({ record, transaction }) => {
          record.title = 'changed'
          t.is(transaction, null)
        },
      },
    },
  })
  t.teardown(server.close)
  const { status, body } = await server.get('/api/posts/1/peek')
  t.is(status, 200)
  t.is(body.title, 'one')
  t.is((await server.get('/api/posts/1')).body.title, 'one')
})

test('GET actions answer HEAD, and other methods are 405 with those that there are', async (t) => {
  const server = await served()
  t.teardown(server.close)
  const head = await server.send('HEAD', '/api/posts/best')
  t.is(head.status, 200)
  t.is(head.text, '')
  t.truthy(head.headers.get('content-length'))
  const wrong = await server.get('/api/posts/1/publish')
  t.is(wrong.status, 405)
  t.is(wrong.headers.get('allow'), 'POST, OPTIONS')
  const options = await server.send('OPTIONS', '/api/posts/best')
  t.is(options.status, 204)
  t.is(options.headers.get('allow'), 'GET, HEAD, OPTIONS')
  t.is((await server.send('HEAD', '/api/posts/1/publish')).status, 405)
})

test('a record that is not there is 404 before the input is looked at', async (t) => {
  const server = await served()
  t.teardown(server.close)
  const missing = await server.post('/api/posts/99/publish', { rating: 'none' })
  t.is(missing.status, 404)
  t.is((await server.post('/api/posts/none/publish', { rating: 'none' })).status, 404)
  const wrong = await server.post('/api/posts/1/publish', { rating: 'none', other: 1 })
  t.is(wrong.status, 400)
  t.deepEqual(Object.keys(wrong.body.errors).sort(), ['other', 'rating'])
  t.is((await server.get('/api/posts/99/word-count?factor=x')).status, 404)
  t.is((await server.get('/api/posts/1/word-count?factor=x')).status, 400)
})

test('bodies of actions are read as those of operations: content type, form and size', async (t) => {
  const server = await served()
  t.teardown(server.close)
  const path = '/api/posts/1/publish'
  const text = await server.send('POST', path, { body: 'x', headers: { 'content-type': 'text/plain' } })
  t.is(text.status, 415)
  const broken = await server.send('POST', path, { body: '{', headers: { 'content-type': 'application/json' } })
  t.is(broken.status, 400)
  t.is(broken.body.code, 'malformed-body')
  t.is((await server.post(path, [])).status, 400)
  const large = await server.post(path, { note: 'x'.repeat(2 * 1024 * 1024) })
  t.is(large.status, 413)
})

test('what the handler changes is validated as a PATCH is', async (t) => {
  const server = await served({
    actions: {
      spoil: { on: 'record', method: 'post', handler: ({ record }) => record.set({ status: 'lost' }) },
      clear: { on: 'record', method: 'post', handler: ({ record }) => record.set({ title: null as never }) },
    },
  })
  t.teardown(server.close)
  const { status, body } = await server.send('POST', '/api/posts/1/spoil')
  t.is(status, 400)
  t.deepEqual(body.errors, { status: ['must be one of: draft, live.'] })
  const cleared = await server.send('POST', '/api/posts/1/clear')
  t.is(cleared.status, 400)
  t.deepEqual(cleared.body.errors, { title: ['cannot be null.'] })
  t.is((await server.get('/api/posts/1')).body.status, 'draft')
})

test('a handler refuses by a Problem, and what else it throws is 500 and told to onError', async (t) => {
  const told: unknown[] = []
  const server = await served({
    onError: (error) => told.push(error),
    actions: {
      refuse: {
        on: 'record',
        method: 'post',
        handler: () => {
          throw new Problem({ status: 409, code: 'already-live', detail: 'It is live already.' })
        },
      },
      fail: {
        on: 'record',
        method: 'post',
        handler: () => {
          throw new Error('out of paper')
        },
      },
    },
  })
  t.teardown(server.close)
  const refused = await server.send('POST', '/api/posts/1/refuse')
  t.is(refused.status, 409)
  t.is(refused.body.code, 'already-live')
  const failed = await server.send('POST', '/api/posts/1/fail')
  t.is(failed.status, 500)
  t.notRegex(failed.text, /paper/)
  t.is(told.length, 1)
  t.regex(String(told[0]), /out of paper/)
})

test('what a handler returns that its output does not allow is 500', async (t) => {
  const told: unknown[] = []
  const server = await served({
    onError: (error) => told.push(error),
    actions: {
      value: {
        on: 'collection',
        method: 'get',
        output: Joi.object({ n: Joi.number() }),
        handler: () => ({ n: 1, m: 2 }),
      },
      list: { on: 'collection', method: 'get', handler: () => 'none' },
      record: { on: 'collection', method: 'get', output: 'record', handler: () => undefined },
      other: { on: 'collection', method: 'get', output: 'record', handler: () => Author.findOne() },
    },
  })
  t.teardown(server.close)
  for (const name of ['value', 'list', 'record', 'other']) {
    t.is((await server.get(`/api/posts/${name}`)).status, 500, name)
  }
  t.regex(
    String(told[0]),
    /the action "value" returned a value that its option "output" does not allow: m is not allowed/,
  )
  t.is(told.length, 4)
})

test('a handler may return an array of promises, whose writes end before the transaction does', async (t) => {
  const publishEach =
    (rating: number) =>
    async ({ transaction }: { transaction: Transaction | null }) => {
      const posts = await Post.findAll({ order: ['id'], transaction })
      return posts.map((post) => post.update({ status: post.id === rating ? 'lost' : 'live' }, { transaction }))
    }
  const server = await served({
    onError: () => undefined,
    actions: {
      each: { on: 'collection', method: 'post', output: 'list', handler: publishEach(0) },
      failing: { on: 'collection', method: 'post', output: 'list', handler: publishEach(2) },
      silent: { on: 'collection', method: 'post', output: 'none', handler: publishEach(2) },
    },
  })
  t.teardown(server.close)
  for (const name of ['failing', 'silent']) t.is((await server.post(`/api/posts/${name}`, {})).status, 400, name)
  const { body } = await server.get('/api/posts?select=status&sort=id')
  t.deepEqual(body.items, [{ status: 'draft' }, { status: 'draft' }, { status: 'live' }])
  const { items } = (await server.post('/api/posts/each?select=status', {})).body
  t.deepEqual(items, [{ status: 'live' }, { status: 'live' }, { status: 'live' }])
})

test('a router over a scope of a model takes records of the model and of each of its scopes', async (t) => {
  const server = await openStage(({ sequelize }, app) => {
    const models = define(sequelize)
    Post.addScope('live', { where: { status: 'live' } })
    const list = { on: 'collection', method: 'get' } as const
    app.use(
      crudRouter(Post.scope('live'), {
        actions: {
          plain: { ...list, handler: () => Post.findAll({ order: ['id'] }) },
          scoped: { ...list, handler: () => Post.scope('live').findAll() },
          again: { on: 'record', method: 'get', handler: ({ record }) => Post.unscoped().findByPk(Number(record.id)) },
        },
      }),
    )
    return models
  })
  t.teardown(server.close)
  await fill()
  for (const name of ['plain', 'scoped'])
    t.deepEqual((await server.get(`/api/posts/${name}?select=title`)).body, { items: [{ title: 'three' }] }, name)
  t.deepEqual((await server.get('/api/posts/3/again?select=title')).body, { title: 'three' })
})

test('handlers may return keys, another record, and null for none', async (t) => {
  const server = await served({
    actions: {
      next: { on: 'record', method: 'get', handler: ({ record }) => Number(record.id) + 1 },
      none: { on: 'collection', method: 'get', output: 'record', handler: () => null },
      keys: { on: 'collection', method: 'get', handler: () => [3, '1', 99] },
      scalar: { on: 'collection', method: 'get', output: Joi.number(), handler: () => 5 },
      empty: { on: 'collection', method: 'get', output: Joi.any(), handler: () => undefined },
    },
  })
  t.teardown(server.close)
  t.is((await server.get('/api/posts/1/next')).body.title, 'two')
  t.is((await server.get('/api/posts/3/next')).status, 404)
  t.is((await server.get('/api/posts/none')).status, 404)
  const { items } = (await server.get('/api/posts/keys')).body
  t.deepEqual(
    items.map(({ id }: { id: number }) => id),
    [3, 1],
  )
  t.is((await server.get('/api/posts/scalar')).body, 5)
  t.is((await server.get('/api/posts/empty')).body, null)
})

test('records are found and shown under scope and masks', async (t) => {
  const server = await served({
    scope: ({ identity }) => ({ tenantId: identity?.name === 'eve' ? 8 : 7 }),
    mask: { memo: 'memos' },
  })
  t.teardown(server.close)
  const own = await server.post('/api/posts/1/publish', {}, asUser('bob'))
  t.is(own.status, 200)
  t.is(own.body.memo, null)
  t.is((await server.post('/api/posts/1/publish', {}, asUser('eve'))).status, 404)
  t.is((await server.get('/api/posts/1/word-count', asUser('eve'))).status, 404)
  const best = await server.get('/api/posts/best', asUser('eve'))
  t.is(best.status, 404)
  const above = await server.get('/api/posts/above?rating=0', asUser('eve'))
  t.deepEqual(
    above.body.items.map(({ id, memo }: { id: number; memo: unknown }) => [id, memo]),
    [[3, null]],
  )
  t.is((await server.get('/api/posts/best?select=memo', asUser('bob'))).status, 200)
  t.is(above.headers.get('vary'), 'Authorization')
})

test('policies and scope see the operation that an action stands for, and its name', async (t) => {
  const asked: unknown[] = []
  const server = await served({
    authorizePolicy: ({ operation, action }) => {
      asked.push(['policy', operation, action])
      return true
    },
    scope: (context) => {
      asked.push(['scope', context.operation, context.action])
      t.is('action' in context, context.action !== undefined)
      return { tenantId: 7 }
    },
  })
  t.teardown(server.close)
  const calls = [
    ['POST', '/api/posts/1/publish', 'update', 'publish'],
    ['POST', '/api/posts/ping', 'create', 'ping'],
    ['GET', '/api/posts/1/word-count', 'getById', 'wordCount'],
    ['GET', '/api/posts/best', 'getList', 'best'],
    ['GET', '/api/posts/1', 'getById', undefined],
  ] as const
  for (const [method, path, operation, action] of calls) {
    asked.length = 0
    await server.send(method, path)
    t.deepEqual(
      asked,
      [
        ['policy', operation, action],
        ['scope', operation, action],
      ],
      path,
    )
  }
})

test("an action's own policy decides in place of its operation's", async (t) => {
  const server = await served({
    updatePolicy: () => false,
    policies: { bob: ({ identity }) => identity?.name === 'bob' },
    actions: {
      publish: { on: 'record', method: 'post', policy: 'bob', handler: ({ record }) => record.set({ status: 'live' }) },
      hide: { on: 'record', method: 'post', handler: ({ record }) => record.set({ status: 'draft' }) },
    },
  })
  t.teardown(server.close)
  t.is((await server.send('POST', '/api/posts/1/publish')).status, 401)
  t.is((await server.send('POST', '/api/posts/1/publish', { headers: asUser('eve') })).status, 403)
  t.is((await server.send('POST', '/api/posts/1/publish', { headers: asUser('bob') })).status, 200)
  t.is((await server.send('POST', '/api/posts/1/hide', { headers: asUser('bob') })).status, 403)
  t.is((await server.send('POST', '/api/posts/99/publish', { headers: asUser('eve') })).status, 403)
})

test('an action is there though its operation is off', async (t) => {
  const server = await served({ operations: ['getById'] })
  t.teardown(server.close)
  t.is((await server.patch('/api/posts/1', { title: 'x' })).status, 405)
  t.is((await server.post('/api/posts/1/publish', {})).status, 200)
})

test('a handler is given the request, the identity and the resource', async (t) => {
  const server = await served({
    actions: {
      look: {
        on: 'collection',
        method: 'get',
        output: Joi.any(),
        handler: ({ record, request, identity, resource, input }) => ({
          record,
          header: request.headers['x-user'],
          name: identity?.name,
          resource: resource.name,
          hasInput: input !== undefined,
        }),
      },
    },
  })
  t.teardown(server.close)
  const { body } = await server.get('/api/posts/look', asUser('bob'))
  t.deepEqual(body, { record: null, header: 'bob', name: 'bob', resource: 'Post', hasInput: false })
})

test('Prefer: return=minimal leaves the record out', async (t) => {
  const server = await served()
  t.teardown(server.close)
  const { status, headers, text } = await server.post('/api/posts/1/publish', {}, { prefer: 'return=minimal' })
  t.is(status, 204)
  t.is(text, '')
  t.is(headers.get('preference-applied'), 'return=minimal')
})

test('controllers have handlers of actions, behind use', async (t) => {
  const seen: string[] = []
  const server = await openStage(({ sequelize }, app) => {
    const models = define(sequelize)
    const posts = crudController(Post, {
      actions: ACTIONS,
      use: (req, _res, next) => {
        seen.push(req.path)
        next()
      },
    })
    app.post('/anything/:id', posts.actions.publish)
    app.get('/first', posts.actions.best)
    return models
  })
  await fill()
  t.teardown(server.close)
  t.is((await server.post('/anything/1', {})).body.status, 'live')
  t.is((await server.get('/first')).body.title, 'two')
  t.deepEqual(seen, ['/anything/1', '/first'])
})

test('createHandler serves actions as well', async (t) => {
  const server = await openStage(({ sequelize }, app) => {
    const models = define(sequelize)
    const posts = createHandler(Post, { actions: ACTIONS })
    app.use(async (req, res) => {
      const reply = await posts.handle(req)
      if (reply === null) return res.sendStatus(404)
      res.writeHead(reply.status, reply.headers)
      return reply.body.pipe(res)
    })
    return models
  })
  await fill()
  t.teardown(server.close)
  t.is((await server.post('/api/posts/1/publish', {})).body.status, 'live')
  t.is((await server.send('HEAD', '/api/posts/best')).status, 200)
  t.is((await server.get('/api/posts/1/publish')).status, 405)
})

test('use runs in front of the routes of actions', async (t) => {
  const server = await served({ use: (_req, res) => void res.sendStatus(429) })
  t.teardown(server.close)
  t.is((await server.post('/api/posts/1/publish', {})).status, 429)
})

test('where a text key is the name of an action of the collection, the action wins', async (t) => {
  const server = await openStage(({ sequelize }, app) => {
    const Page = sequelize.define(
      'page',
      { slug: { type: DataTypes.STRING(30), primaryKey: true }, text: DataTypes.STRING(30) },
      { timestamps: false },
    )
    app.use(
      crudRouter(Page, {
        actions: {
          newest: { on: 'collection', method: 'get', output: Joi.any(), handler: () => 'the action' },
          touch: { on: 'record', method: 'post', handler: ({ record }) => record.set({ text: 'touched' }) },
        },
      }),
    )
    return { Page }
  })
  const { Page } = server
  await Page.bulkCreate([
    { slug: 'newest', text: 'a page' },
    { slug: 'other', text: 'another' },
  ])
  t.teardown(server.close)
  t.is((await server.get('/api/pages/newest')).body, 'the action')
  t.is((await server.get('/api/pages/other')).body.text, 'another')
  // The methods that the action lacks are for the record of that key.
  t.is((await server.patch('/api/pages/newest', { text: 'changed' })).body.text, 'changed')
  t.is((await server.send('POST', '/api/pages/newest/touch')).body.text, 'touched')
  t.is((await server.delete('/api/pages/newest')).status, 204)
})

test('records with keys of several parts have actions', async (t) => {
  const server = await openStage(({ sequelize }, app) => {
    const Seat = sequelize.define(
      'seat',
      {
        row: { type: DataTypes.INTEGER, primaryKey: true },
        place: { type: DataTypes.INTEGER, primaryKey: true },
        taken: DataTypes.BOOLEAN,
      },
      { timestamps: false },
    )
    app.use(
      crudRouter(Seat, {
        keyProperty: ['row', 'place'],
        actions: {
          take: { on: 'record', method: 'post', handler: ({ record }) => record.set({ taken: true }) },
          free: { on: 'collection', method: 'get', handler: () => Seat.findAll({ where: { taken: false } }) },
          some: { on: 'collection', method: 'get', handler: () => ['2~1'] },
        },
      }),
    )
    return { Seat }
  })
  const { Seat } = server
  await Seat.bulkCreate([
    { row: 1, place: 2, taken: false },
    { row: 2, place: 1, taken: false },
  ])
  t.teardown(server.close)
  t.deepEqual((await server.send('POST', '/api/seats/1~2/take')).body, { row: 1, place: 2, taken: true })
  t.deepEqual((await server.get('/api/seats/free')).body.items, [{ row: 2, place: 1, taken: false }])
  t.deepEqual((await server.get('/api/seats/some')).body.items, [{ row: 2, place: 1, taken: false }])
})

test('keys that a handler returns are read as in paths, and a key that no record can have is a missing record', async (t) => {
  const uid = 'aaaaaaaa-1111-4111-8111-111111111111'
  const samples = {
    uid: { type: DataTypes.UUID, given: [uid, uid.toUpperCase()], missing: ['nope', 5, `${uid}0`] },
    whole: { type: DataTypes.INTEGER, given: [7, '7', 7n], missing: ['x', '07', 1.5, 2 ** 53, 2n ** 40n, ''] },
    long: { type: DataTypes.BIGINT, given: ['9007199254740993', 9007199254740993n], missing: [2 ** 53, '1.0'] },
    price: { type: DataTypes.DECIMAL(20, 2), given: ['1.10', '1.1', 1.1], missing: ['one'] },
    start: { type: DataTypes.TIME, given: ['10:00:00', '10:00'], missing: ['10', '25:00', 10] },
    day: { type: DataTypes.DATEONLY, given: ['2020-01-01'], missing: ['2020-02-30', 'today', 1] },
  } as const
  for (const [name, { type, given, missing }] of Object.entries(samples)) {
    let returned: unknown
    const server = await openStage(({ sequelize }, app) => {
      const Sample = sequelize.define('sample', { [name]: { type, primaryKey: true } }, { timestamps: false })
      const shared = { on: 'collection', method: 'get', handler: () => returned } as const
      app.use(crudRouter(Sample, { actions: { one: { ...shared, output: 'record' }, some: shared } }))
      return { Sample }
    })
    const { body: sample } = await server.post('/api/samples', { [name]: given[0] })
    for (const key of [...given, ...missing]) {
      const isThere = (given as readonly unknown[]).includes(key)
      returned = key
      const one = await server.get('/api/samples/one')
      t.is(one.status, isThere ? 200 : 404, `${name} ${key}: ${one.text}`)
      if (isThere) t.deepEqual(one.body, sample)
      returned = [key, null]
      const some = await server.get('/api/samples/some')
      t.deepEqual(some.body, { items: isThere ? [sample] : [] }, `${name} ${key}: ${some.text}`)
    }
    await server.close()
  }
})

test('actions are served on Express without a router of their own under configure', async (t) => {
  const server = await openStage(({ sequelize }, app) => {
    const models = define(sequelize)
    app.use('/tenants', crudRouter(Post, { actions: ACTIONS, configure: () => undefined }))
    app.use(express.json())
    return models
  })
  await fill()
  t.teardown(server.close)
  t.is((await server.post('/tenants/api/posts/1/publish', {})).body.status, 'live')
})

test('computed fields are in the answers of actions, resolved within their transaction', async (t) => {
  const resolved: unknown[] = []
  const server = await served({
    computed: {
      stars: {
        type: 'string',
        needs: ['rating'],
        resolve: (records, { transaction }) => {
          resolved.push([records.length, transaction !== null])
          return records.map(({ rating }) => '*'.repeat(Number(rating)))
        },
      },
    },
    actions: { ...ACTIONS, apart: { ...ACTIONS.publish, transaction: false } },
  })
  t.teardown(server.close)
  const { body } = await server.post('/api/posts/1/publish', { rating: 4 })
  t.is(body.stars, '****')
  t.is((await server.get('/api/posts/best?select=stars')).body.stars, '*********')
  t.is((await server.send('POST', '/api/posts/publish-all')).body.items.length, 1)
  t.is((await server.post('/api/posts/1/apart', { rating: 2 })).body.stars, '**')
  t.deepEqual(resolved, [
    [1, true],
    [1, false],
    [1, true],
    [1, false],
  ])
  const minimal = await server.post('/api/posts/1/publish', {}, { prefer: 'return=minimal' })
  t.is(minimal.status, 204)
  t.is(resolved.length, 4)
})

test('GET actions find records under a scope with a condition', async (t) => {
  const server = await served({ scope: () => 'rating>4' })
  t.teardown(server.close)
  t.is((await server.get('/api/posts/2/word-count')).status, 200)
  t.is((await server.get('/api/posts/1/word-count')).status, 404)
})
