// Identity and policies: 401 for anonymous callers and 403 for others, before anything is read. Nothing but true admits, and
// a relation into a resource whose policy refuses does not exist.

import test from 'ava'
import type { Request } from 'express'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import {
  type ActionOptions,
  anyOf,
  authenticated,
  CrudConfigError,
  type CrudOptions,
  createCrud,
  crudController,
  crudRouter,
  hasPermission,
  hasRole,
  type Identity,
  not,
  Operations,
  type Policy,
  type PolicyContext,
  Problem,
} from '../../../lib/index.js'
import { openDatabase } from '../../support/database.js'
import { listPath } from '../../support/league.js'
import type { Answer } from '../../support/server.js'
import { openStage } from '../../support/stage.js'
import { bearer, identity, withPermission, withRole } from '../../support/tokens.js'

const errors: unknown[] = []
const common: CrudOptions = {
  identity,
  operations: Operations.AllWithBulk,
  onError: (error) => errors.push(error),
}
const EVERYTHING = Operations.AllWithBulk | Operations.Restore
const plain = { timestamps: false }

/** What a policy in JavaScript may give by mistake. */
const MISTAKES: readonly unknown[] = [undefined, null, 1, 'true', {}, [], new Boolean(true)]

const contexts: PolicyContext[] = []

const stage = await openStage(({ sequelize }, app) => {
  const text = { type: DataTypes.STRING(50), allowNull: false }
  const Note = sequelize.define('Note', { text, code: { type: DataTypes.STRING(10), unique: true } }, plain)
  const mount = (path: string, options: CrudOptions): void => {
    app.use(path, crudRouter(Note, { ...common, ...options }))
  }
  mount('/open', {})
  mount('/members', { authorizePolicy: authenticated })
  mount('/each', {
    operations: EVERYTHING,
    softDelete: true,
    authorizePolicy: hasRole('default'),
    getByIdPolicy: hasRole('getById'),
    getListPolicy: hasRole('getList'),
    createPolicy: hasRole('create'),
    updatePolicy: hasRole('update'),
    deletePolicy: hasRole('delete'),
    restorePolicy: hasRole('restore'),
    includeDeletedPolicy: hasRole('includeDeleted'),
  })
  mount('/reading', { getListPolicy: authenticated })
  mount('/looser', { authorizePolicy: hasRole('admin'), getListPolicy: () => true })
  mount('/later', { authorizePolicy: async (context) => (await Promise.resolve(context)).identity?.name === 'jan' })
  MISTAKES.forEach((mistake, index) => {
    mount(`/mistake/${index}`, { authorizePolicy: (() => mistake) as Policy })
    mount(`/mistake/later/${index}`, { authorizePolicy: (async () => mistake) as unknown as Policy })
  })
  mount('/throws', {
    authorizePolicy: () => {
      throw new Error('the policy at /etc/policies is broken')
    },
  })
  mount('/rejects', { authorizePolicy: () => Promise.reject(new Error('the policy server is down')) })
  mount('/refuses', {
    authorizePolicy: () => {
      throw new Problem({ status: 402, title: 'Payment Required', detail: 'Pay first.', headers: { 'X-Price': '5' } })
    },
  })
  mount('/seen', {
    operations: Operations.AllWithBulk | Operations.BulkUpdate | Operations.Replace,
    authorizePolicy: (context) => {
      contexts.push(context)
      return true
    },
  })
  mount('/seen/restored', {
    operations: EVERYTHING,
    softDelete: true,
    authorizePolicy: (context) => {
      contexts.push(context)
      return true
    },
  })
  mount('/versioned', { authorizePolicy: hasRole('admin'), concurrency: true })
  mount('/writes', { createPolicy: authenticated, deletePolicy: hasRole('admin') })
  const listed: ActionOptions = { method: 'get', on: 'collection', handler: () => [], policy: authenticated }
  mount('/reports', { actions: { report: listed } })
  mount('/reminders', { actions: { remind: { ...listed, method: 'post' } } })
  mount('/deletes', { operations: EVERYTHING, softDelete: true })
  mount('/deletes/guarded', { operations: EVERYTHING, softDelete: true, createPolicy: authenticated })
  mount('/deletes/default', { operations: EVERYTHING, softDelete: true, authorizePolicy: hasRole('admin') })

  const { crudRouter: shared } = createCrud({
    identity,
    onError: (error) => errors.push(error),
    policies: { staff: hasRole('staff'), nobody: not(() => true) },
  })
  const named = (path: string, options: CrudOptions): void => {
    app.use(path, shared(Note, { operations: Operations.AllWithBulk, ...options }))
  }
  named('/named', { authorizePolicy: 'staff' })
  named('/named/more', { authorizePolicy: 'guest', policies: { guest: hasRole('guest') } })
  named('/named/over', { authorizePolicy: 'staff', policies: { staff: hasRole('boss') } })
  named('/named/kept', { authorizePolicy: 'staff', deletePolicy: 'nobody' })

  // Whoever is nobody, in the ways that JavaScript has of saying so.
  const NOBODIES: readonly unknown[] = [undefined, null, false, '', 0]
  NOBODIES.forEach((nobody, index) => {
    const nobodyAtAll = (() => nobody) as unknown as () => null
    mount(`/nobody/${index}`, { identity: nobodyAtAll, authorizePolicy: authenticated, mask: { text: 'look' } })
    mount(`/nobody/later/${index}`, { identity: async () => nobodyAtAll(), authorizePolicy: authenticated })
  })
  const lists = (): Identity => ({ name: 'jan', roles: ['admin'], permissions: [], claims: {} }) as unknown as Identity
  mount('/wrong-identity/lists', { identity: lists, authorizePolicy: authenticated })
  mount('/wrong-identity', { identity: (() => 'jan') as unknown as () => Identity, authorizePolicy: authenticated })
})
const Note = stage.sequelize.model('Note')
await Note.bulkCreate(Array.from({ length: 40 }, (_, index) => ({ text: `note ${index + 1}` })))
test.after.always(() => stage.close())

const jan = bearer({ sub: 'jan' })

type Headers = Record<string, string>
interface Operation {
  readonly policy: string
  readonly title: string
  readonly status: number
  readonly send: (mount: string, headers: Headers) => Promise<Answer>
}

const OPERATIONS: readonly Operation[] = [
  {
    policy: 'getById',
    title: 'GET by id',
    status: 200,
    send: (mount, headers) => stage.get(`${mount}/api/notes/1`, headers),
  },
  {
    policy: 'getById',
    title: 'HEAD by id',
    status: 200,
    send: (mount, headers) => stage.send('HEAD', `${mount}/api/notes/1`, { headers }),
  },
  {
    policy: 'getList',
    title: 'GET list',
    status: 200,
    send: (mount, headers) => stage.get(`${mount}/api/notes`, headers),
  },
  {
    policy: 'getList',
    title: 'GET count',
    status: 200,
    send: (mount, headers) => stage.get(`${mount}/api/notes?count=true`, headers),
  },
  {
    policy: 'getList',
    title: 'GET by cursor',
    status: 200,
    send: (mount, headers) => stage.get(`${mount}/api/notes?cursor=`, headers),
  },
  {
    policy: 'create',
    title: 'POST',
    status: 201,
    send: (mount, headers) => stage.post(`${mount}/api/notes`, { text: 'new' }, headers),
  },
  {
    policy: 'create',
    title: 'POST bulk',
    status: 201,
    send: (mount, headers) => stage.post(`${mount}/api/notes/bulk`, [{ text: 'new' }], headers),
  },
  {
    policy: 'update',
    title: 'PATCH',
    status: 200,
    send: (mount, headers) => stage.patch(`${mount}/api/notes/1`, { text: 'note' }, headers),
  },
  {
    policy: 'delete',
    title: 'POST bulk-delete',
    status: 200,
    send: (mount, headers) => stage.post(`${mount}/api/notes/bulk-delete`, [99_999], headers),
  },
]

function isDenied(t: { is: (a: unknown, b: unknown, message?: string) => boolean }, answer: Answer, status: 401 | 403) {
  t.is(answer.status, status, answer.text)
  t.is(answer.headers.get('www-authenticate'), status === 401 ? 'Bearer' : null)
  // HEAD has no body.
  if (answer.body === undefined) return
  t.is(answer.headers.get('content-type'), 'application/problem+json')
  t.is(answer.body.title, status === 401 ? 'Unauthorized' : 'Forbidden')
  t.is(answer.body.status, status)
}

for (const { policy, title, status, send } of OPERATIONS) {
  test(`${title} asks ${policy}Policy and no other, the default included`, async (t) => {
    isDenied(t, await send('/each', {}), 401)
    isDenied(t, await send('/each', jan), 403)
    const names = ['default', 'getById', 'getList', 'create', 'update', 'delete', 'restore', 'includeDeleted']
    isDenied(t, await send('/each', withRole(...names.filter((name) => name !== policy))), 403)
    isDenied(t, await send('/each', withPermission(policy)), 403)
    const { status: given, text } = await send('/each', withRole(policy))
    t.is(given, status, text)
  })

  test(`${title} asks the default policy where it has none of its own`, async (t) => {
    isDenied(t, await send('/members', {}), 401)
    t.is((await send('/members', jan)).status, status)
  })

  test(`${title} asks nobody where there are no policies, but a token that fails is 401 all the same`, async (t) => {
    t.is((await send('/open', {})).status, status)
    t.is((await send('/open', jan)).status, status)
    const answer = await send('/open', { authorization: 'Bearer nonsense' })
    t.is(answer.status, 401)
    t.is(answer.headers.get('www-authenticate'), 'Bearer error="invalid_token"')
    const expired = await send('/open', bearer({ sub: 'jan', exp: 1 }))
    t.is(expired.status, 401)
  })

  test(`${title} is denied by whatever is not true`, async (t) => {
    for (const index of MISTAKES.keys()) {
      isDenied(t, await send(`/mistake/${index}`, jan), 403)
      isDenied(t, await send(`/mistake/later/${index}`, jan), 403)
      isDenied(t, await send(`/mistake/${index}`, {}), 401)
    }
  })

  test(`${title} is 500 where the policy throws, and what it threw stays inside`, async (t) => {
    for (const [mount, message] of [
      ['/throws', 'the policy at /etc/policies is broken'],
      ['/rejects', 'the policy server is down'],
    ] as const) {
      const before = errors.length
      const answer = await send(mount, jan)
      t.is(answer.status, 500)
      t.false(answer.text.includes('polic'))
      t.true(errors.slice(before).some((error) => error instanceof Error && error.message === message))
    }
  })

  test(`${title} is denied by the Problem that the policy throws`, async (t) => {
    const answer = await send('/refuses', jan)
    t.is(answer.status, 402)
    t.is(answer.headers.get('x-price'), '5')
    if (answer.body !== undefined) t.like(answer.body, { title: 'Payment Required', detail: 'Pay first.' })
    t.false(errors.some((error) => error instanceof Problem && error.status === 402))
  })

  test(`${title} waits for a policy that takes its time`, async (t) => {
    t.is((await send('/later', jan)).status, status)
    isDenied(t, await send('/later', bearer({ sub: 'eva' })), 403)
    isDenied(t, await send('/later', {}), 401)
  })

  test(`${title} goes by the policies that were named through createCrud`, async (t) => {
    isDenied(t, await send('/named', {}), 401)
    isDenied(t, await send('/named', withRole('guest')), 403)
    t.is((await send('/named', withRole('staff'))).status, status)
    t.is((await send('/named/more', withRole('guest'))).status, status)
    isDenied(t, await send('/named/more', withRole('staff')), 403)
    isDenied(t, await send('/named/over', withRole('staff')), 403)
    t.is((await send('/named/over', withRole('boss'))).status, status)
  })

  test(`${title} takes an identity that is not one for nobody`, async (t) => {
    for (let index = 0; index < 5; index += 1) {
      isDenied(t, await send(`/nobody/${index}`, jan), 401)
      isDenied(t, await send(`/nobody/later/${index}`, jan), 401)
    }
    t.is((await send('/wrong-identity', jan)).status, 500)
    t.is((await send('/wrong-identity/lists', jan)).status, 500)
  })
}

test('DELETE asks deletePolicy, and restore restorePolicy', async (t) => {
  isDenied(t, await stage.delete('/each/api/notes/30'), 401)
  isDenied(t, await stage.delete('/each/api/notes/30', withRole('default', 'update', 'restore')), 403)
  t.is((await stage.get('/open/api/notes/30')).status, 200)
  t.is((await stage.delete('/each/api/notes/30', withRole('delete'))).status, 204)
  isDenied(t, await stage.post('/each/api/notes/30/restore', undefined), 401)
  isDenied(t, await stage.post('/each/api/notes/30/restore', undefined, withRole('default', 'update', 'delete')), 403)
  t.is((await stage.post('/each/api/notes/30/restore', undefined, withRole('restore'))).status, 200)
  isDenied(t, await stage.delete('/named/kept/api/notes/30', withRole('staff')), 403)
})

test('bulk-delete goes by the delete policy', async (t) => {
  isDenied(t, await stage.post('/each/api/notes/bulk-delete', [31], withRole('create', 'default')), 403)
  t.is((await stage.get('/open/api/notes/31')).status, 200)
  t.deepEqual((await stage.post('/each/api/notes/bulk-delete', [31], withRole('delete'))).body, { deleted: 1 })
})

test('a policy of one operation leaves the others open where there is no default', async (t) => {
  isDenied(t, await stage.get('/reading/api/notes'), 401)
  t.is((await stage.get('/reading/api/notes/1')).status, 200)
  t.is((await stage.post('/reading/api/notes', { text: 'x' })).status, 201)
})

test('a policy of its own may be looser than the default', async (t) => {
  t.is((await stage.get('/looser/api/notes')).status, 200)
  isDenied(t, await stage.get('/looser/api/notes/1'), 401)
  isDenied(t, await stage.post('/looser/api/notes', { text: 'x' }, jan), 403)
})

test.serial('policies see the request, the identity, the operation and the resource', async (t) => {
  contexts.length = 0
  await stage.get('/seen/api/notes?page=1', bearer({ sub: 'jan', roles: ['user'] }))
  await stage.post('/seen/api/notes/bulk', [], {})
  await stage.post('/seen/api/notes/bulk-delete', [], {})
  t.deepEqual(
    contexts.map(({ operation }) => operation),
    ['getList', 'bulkCreate', 'bulkDelete'],
  )
  const [first, second] = contexts
  t.is(first?.identity?.name, 'jan')
  t.true(first?.identity?.roles.has('user'))
  t.is(first?.request.originalUrl, '/seen/api/notes?page=1')
  t.is(first?.resource.name, 'Note')
  t.is(second?.identity, null)
  t.false(contexts.some((context) => 'action' in context))
})

test.serial('restoring a record evaluates one policy, and evaluates it once', async (t) => {
  const { body: note } = await stage.post('/seen/restored/api/notes', { text: 'Restored' })
  await stage.delete(`/seen/restored/api/notes/${note.id}`)
  contexts.length = 0
  t.is((await stage.post(`/seen/restored/api/notes/${note.id}/restore`, {})).status, 200)
  t.deepEqual(
    contexts.map(({ operation }) => operation),
    ['restore'],
  )
})

test.serial('a nested record that a body adds evaluates the policy of creating, and no other one', async (t) => {
  const asked: string[] = []
  const own = await openStage(({ sequelize }, app) => {
    const Parent = sequelize.define('Parent', { name: DataTypes.STRING }, plain)
    const Child = sequelize.define('Child', { name: DataTypes.STRING }, plain)
    Parent.hasMany(Child, { as: 'children', foreignKey: 'parentId' })
    app.use([
      crudRouter(Parent, { operations: Operations.All, relations: { children: { write: true } } }),
      crudRouter(Child, {
        operations: Operations.All,
        authorizePolicy: ({ operation }) => {
          asked.push(operation)
          return true
        },
      }),
    ])
  })
  t.teardown(() => own.close())
  t.is((await own.post('/api/parents', { name: 'P', children: [{ name: 'C' }] })).status, 201)
  t.deepEqual(asked, ['create'])
})

test.serial('a policy is asked once a request, of the operation that it is', async (t) => {
  const { body: note } = await stage.post('/seen/api/notes', { text: 'Seen' })
  contexts.length = 0
  await stage.post('/seen/api/notes', { text: 'Seen' })
  await stage.get(`/seen/api/notes/${note.id}`)
  await stage.patch(`/seen/api/notes/${note.id}`, { text: 'Seen again' })
  await stage.post('/seen/api/notes/bulk', [{ text: 'Seen as well' }, { text: 'And more' }])
  await stage.send('PATCH', '/seen/api/notes/bulk', { json: [{ id: note.id, text: 'Seen by many' }] })
  await stage.send('PUT', `/seen/api/notes/${note.id}`, { json: { text: 'Seen anew' } })
  await stage.send('PUT', '/seen/api/notes/bulk?by=text', { json: [{ text: 'Seen anew' }] })
  await stage.delete(`/seen/api/notes/${note.id}`)
  await stage.post('/seen/api/notes/bulk-delete', [note.id])
  t.deepEqual(
    contexts.map(({ operation }) => operation),
    ['create', 'getById', 'update', 'bulkCreate', 'bulkUpdate', 'replace', 'upsert', 'delete', 'bulkDelete'],
  )
})

const BROKEN: readonly (readonly [what: string, method: string, path: string, options: object])[] = [
  ['another media type', 'POST', '', { body: 'x', headers: { 'content-type': 'text/plain' } }],
  ['a malformed body', 'POST', '', { body: '{', headers: { 'content-type': 'application/json' } }],
  ['no body', 'POST', '', {}],
  ['an oversized body', 'POST', '', { json: { text: 'x'.repeat(1_100_000) } }],
  ['a body that is not valid', 'POST', '', { json: {} }],
  ['a malformed filter', 'GET', '?filter=((', {}],
  ['an unknown field', 'GET', '?filter=nothing=1', {}],
  ['a wrong page', 'GET', '?page=0', {}],
  ['a foreign cursor', 'GET', '?cursor=abc', {}],
  ['a missing record', 'GET', '/99999', {}],
  ['a key that cannot be one', 'GET', '/abc', {}],
  ['a missing precondition', 'PATCH', '/1', { json: { text: 'x' } }],
  ['a stale precondition', 'PATCH', '/1', { json: { text: 'x' }, headers: { 'if-match': '"99"' } }],
  ['a missing record to delete', 'DELETE', '/99999', {}],
]

for (const [what, method, path, options] of BROKEN) {
  test(`who may not is told so before ${what} is looked at`, async (t) => {
    const send = (headers: Headers): Promise<Answer> => {
      const given = options as { headers?: Headers }
      return stage.send(method, `/versioned/api/notes${path}`, { ...given, headers: { ...given.headers, ...headers } })
    }
    isDenied(t, await send({}), 401)
    isDenied(t, await send(jan), 403)
    t.is((await send({ authorization: 'Bearer x' })).status, 401)
    const { status } = await send(withRole('admin'))
    t.true(status >= 400 && status !== 401 && status !== 403, String(status))
  })
}

test('a denial is byte for byte the same whether or not there is a record', async (t) => {
  const texts = await Promise.all(
    ['1', '99999', 'abc', '__proto__'].map(async (key) => (await stage.get(`/versioned/api/notes/${key}`, jan)).text),
  )
  t.is(new Set(texts).size, 1)
})

test('a method that the path does not have is 405 before anybody is asked, and OPTIONS answers everybody', async (t) => {
  t.is((await stage.send('PUT', '/members/api/notes/1')).status, 405)
  t.is((await stage.send('OPTIONS', '/members/api/notes')).status, 204)
})

test('includeDeleted and restore are open where no policy is set, and for known callers where any is', async (t) => {
  t.is((await stage.get('/deletes/api/notes?includeDeleted=true')).status, 200)
  t.is((await stage.delete('/deletes/api/notes/32')).status, 204)
  t.is((await stage.post('/deletes/api/notes/32/restore', undefined)).status, 200)

  t.is((await stage.get('/deletes/guarded/api/notes')).status, 200)
  for (const query of ['', '&count=true', '&cursor=', '&select=text']) {
    isDenied(t, await stage.get(`/deletes/guarded/api/notes?includeDeleted=true${query}`), 401)
    t.is((await stage.get(`/deletes/guarded/api/notes?includeDeleted=true${query}`, jan)).status, 200)
  }
  t.is((await stage.delete('/deletes/guarded/api/notes/33')).status, 204)
  isDenied(t, await stage.post('/deletes/guarded/api/notes/33/restore', undefined), 401)
  t.is((await stage.post('/deletes/guarded/api/notes/33/restore', undefined, jan)).status, 200)

  t.is((await stage.delete('/deletes/default/api/notes/34', withRole('admin'))).status, 204)
  isDenied(t, await stage.post('/deletes/default/api/notes/34/restore', undefined, jan), 403)
  t.is((await stage.post('/deletes/default/api/notes/34/restore', undefined, withRole('admin'))).status, 200)
})

test('includeDeleted asks its own policy on top of the list policy', async (t) => {
  t.is((await stage.get('/each/api/notes?includeDeleted=false', withRole('getList'))).status, 200)
  isDenied(t, await stage.get('/each/api/notes?includeDeleted=true', withRole('getList')), 403)
  isDenied(t, await stage.get('/each/api/notes?includeDeleted=true', withRole('includeDeleted')), 403)
  t.is((await stage.get('/each/api/notes?includeDeleted=true', withRole('getList', 'includeDeleted'))).status, 200)
})

test('names that nobody defined are refused while mounting', async (t) => {
  const database = await openDatabase()
  try {
    const Thing = database.sequelize.define('Thing', { name: DataTypes.STRING }, plain)
    const policies = { admin: hasRole('admin') }
    const { crudRouter: shared, crudController: controller } = createCrud({ policies })
    const names = ['authorizePolicy', 'getByIdPolicy', 'getListPolicy', 'createPolicy', 'updatePolicy'] as const
    const more = ['deletePolicy', 'includeDeletedPolicy', 'restorePolicy'] as const
    for (const option of [...names, ...more]) {
      for (const name of ['admn', 'toString', '__proto__', 'constructor']) {
        for (const mount of [shared, controller]) {
          const error = t.throws(() => mount(Thing, { [option]: name }), { instanceOf: CrudConfigError })
          t.is(error?.code, 'UNKNOWN_POLICY')
          t.true(error?.message.includes(option))
        }
      }
    }
    t.throws(() => shared(Thing, { authorizePolicy: 'admn' }), { message: /Thing.*"admn".*"admin"/ })
    t.throws(() => crudRouter(Thing, { authorizePolicy: 'admin' }), { instanceOf: CrudConfigError })
    t.throws(() => crudRouter(Thing, { authorizePolicy: '' }), { instanceOf: CrudConfigError })
    t.throws(() => crudRouter(Thing, { authorizePolicy: true as unknown as Policy }), { instanceOf: CrudConfigError })
    t.throws(() => crudRouter(Thing, { authorizePolicy: null as unknown as Policy }), { instanceOf: CrudConfigError })
    t.throws(() => crudRouter(Thing, { policies: { admin: 'yes' as unknown as Policy } }), {
      instanceOf: CrudConfigError,
    })
    t.throws(() => createCrud({ policies: { admin: 5 as unknown as Policy } }).crudRouter(Thing), {
      instanceOf: CrudConfigError,
    })
  } finally {
    await database.close()
  }
})

test("without an identity function the host's own middleware says who is asking", async (t) => {
  const server = await openStage()
  const { app, sequelize } = server
  const Thing = sequelize.define('Thing', { name: DataTypes.STRING }, plain)
  await sequelize.sync()
  app.use((req, _, next) => {
    const user = req.headers['x-role']
    if (user !== undefined) Object.assign(req, { user: { name: 'jan', roles: [user] } })
    next()
  })
  app.use(crudRouter(Thing, { authorizePolicy: hasRole('admin') }))
  t.teardown(server.close)
  isDenied(t, await server.get('/api/things'), 401)
  isDenied(t, await server.get('/api/things', { 'x-role': 'user' }), 403)
  isDenied(t, await server.get('/api/things', bearer({ roles: ['admin'] })), 401)
  t.is((await server.get('/api/things', { 'x-role': 'admin' })).status, 200)
})

test("masks and scopes without an identity function go by the host's own middleware too", async (t) => {
  const isAdmin = ({ identity: who }: PolicyContext): boolean => who?.roles.has('admin') === true
  const own = await openStage(({ sequelize }, app) => {
    app.use((req, _, next) => {
      if (req.headers['x-role'] !== undefined) Object.assign(req, { user: { roles: [req.headers['x-role']] } })
      next()
    })
    const Masked = sequelize.define('Masked', { name: DataTypes.STRING }, plain)
    const Scoped = sequelize.define('Scoped', { name: DataTypes.STRING }, plain)
    app.use(crudRouter(Masked, { mask: { name: 'admin' } }))
    app.use(crudRouter(Scoped, { scope: (context) => (isAdmin(context) ? null : { name: 'open' }) }))
  })
  t.teardown(() => own.close())
  for (const model of Object.values(own.sequelize.models)) await model.bulkCreate([{ name: 'open' }, { name: 'shut' }])
  const names = async (path: string, headers: Headers): Promise<unknown> =>
    (await own.get(path, headers)).body.items.map(({ name }: { name: unknown }) => name)
  for (const headers of [{}, { 'x-role': 'user' }, bearer({ roles: ['admin'] })]) {
    t.deepEqual(await names('/api/maskeds', headers), [null, null])
    t.deepEqual(await names('/api/scopeds', headers), ['open'])
  }
  for (const path of ['/api/maskeds', '/api/scopeds']) {
    t.deepEqual(await names(path, { 'x-role': 'admin' }), ['open', 'shut'])
  }
})

test('a controller guards like a router', async (t) => {
  const server = await openStage()
  const { app, sequelize } = server
  const Thing = sequelize.define('Thing', { name: DataTypes.STRING }, plain)
  await sequelize.sync()
  await Thing.create({ name: 'one' })
  const controller = crudController(Thing, {
    identity,
    authorizePolicy: anyOf(hasPermission('things'), hasRole('admin')),
  })
  app.get('/things', controller.getList)
  app.get('/things/:id', controller.getById)
  app.patch('/things/:id', controller.update)
  app.delete('/things', controller.delete)
  app.get('/thing', controller.getById)
  t.teardown(server.close)
  for (const path of ['/things', '/things/1', '/thing']) {
    isDenied(t, await server.get(path), 401)
    isDenied(t, await server.get(path, jan), 403)
  }
  t.is((await server.get('/things/1', withRole('admin'))).status, 200)
  t.is((await server.patch('/things/1', { name: 'two' }, withPermission('things'))).status, 200)
  // A route without an id has no record.
  t.is((await server.get('/thing', withRole('admin'))).status, 404)
  t.is((await server.delete('/things', withRole('admin'))).status, 404)
  t.is(await Thing.count(), 1)
})

/** Players who point at a team under a policy. */
interface Related {
  readonly Player: ModelStatic<Model>
  readonly Team: ModelStatic<Model>
}

async function withRelated(
  options: { player?: CrudOptions; team: readonly CrudOptions[] },
  use: (get: (path: string, headers?: Headers) => Promise<Answer>, models: Related) => Promise<void>,
): Promise<void> {
  const own = await openStage(({ sequelize }, app) => {
    const Team = sequelize.define('Team', { name: DataTypes.STRING, motto: DataTypes.STRING }, plain)
    const Player = sequelize.define('Player', { name: DataTypes.STRING }, plain)
    Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
    Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
    app.use(crudRouter(Player, { ...common, flatten: ['team'], ...options.player }))
    options.team.forEach((team, index) => {
      app.use(`/${index}`, crudRouter(Team, { ...common, ...team }))
    })
  })
  try {
    const [Player, Team] = [own.sequelize.model('Player'), own.sequelize.model('Team')]
    await Team.bulkCreate([{ name: 'Lakers', motto: 'Win' }])
    await Player.bulkCreate([{ name: 'Jan', teamId: 1 }, { name: 'Eva' }])
    await use(own.get, { Player, Team })
  } finally {
    await own.close()
  }
}

const refusing: Policy = () => {
  throw new Problem({ status: 403, detail: 'Ask the owner.' })
}

const CLOSED: readonly (readonly [title: string, team: readonly CrudOptions[]])[] = [
  ['whose list policy denies', [{ getListPolicy: hasRole('admin') }]],
  ['whose default policy denies', [{ authorizePolicy: hasRole('admin'), getByIdPolicy: () => true }]],
  [
    'whose list policy throws a Problem',
    [{ getListPolicy: (context) => hasRole('admin')(context) || refusing(context) }],
  ],
  ['that only serves GET by id, whose policy denies', [{ operations: ['getById'], getByIdPolicy: hasRole('admin') }]],
  ['one of whose two resources denies', [{}, { authorizePolicy: hasRole('admin') }]],
  [
    'one of whose two resources denies, and the other has a scope',
    [{ scope: () => ({ name: 'Lakers' }) }, { authorizePolicy: hasRole('admin') }],
  ],
  [
    'whose list policy is not quite true',
    [{ getListPolicy: (context) => (hasRole('admin')(context) || 'yes') as boolean }],
  ],
]

for (const [title, team] of CLOSED) {
  test(`a relation to a resource ${title} does not exist for the caller`, async (t) => {
    await withRelated({ team }, async (get) => {
      const answers = async (path: string, headers: Headers): Promise<readonly [number, string]> => {
        const { status, text } = await get(path, headers)
        // As near to `teamId`, which both are told of.
        return [status, text.replaceAll('team', 'tead')]
      }
      const queries = ['filter=team.motto=Win', 'filter=team=null', 'sort=team.name', 'select=name,team.motto']
      for (const headers of [{}, jan]) {
        for (const query of queries) {
          const denied = await answers(`/api/players?${query}`, headers)
          t.is(denied[0], 400, query)
          t.deepEqual(denied, await answers(`/api/players?${query.replace('team', 'tead')}`, headers))
        }
        t.deepEqual((await get('/api/players/1', headers)).body, {
          id: 1,
          name: 'Jan',
          teamId: 1,
          teamName: null,
          teamMotto: null,
        })
      }
      for (const query of queries) t.is((await get(`/api/players?${query}`, withRole('admin'))).status, 200, query)
      t.is((await get('/api/players/1', withRole('admin'))).body.teamMotto, 'Win')
    })
  })
}

test('no shared cache stores a response that a policy allowed or denied', async (t) => {
  const admin = withRole('admin')
  for (const [path, headers, status] of [
    ['/members/api/notes', jan, 200],
    ['/members/api/notes', {}, 401],
    ['/members/api/notes/1', jan, 200],
    ['/versioned/api/notes/99', admin, 404],
    ['/reading/api/notes', jan, 200],
    ['/deletes/guarded/api/notes?includeDeleted=true', jan, 200],
    ['/reports/api/notes/report', jan, 200],
  ] as const) {
    const answer = await stage.get(path, headers)
    t.is(answer.status, status, `${path}: ${answer.text}`)
    t.is(answer.headers.get('cache-control'), 'private', path)
    t.regex(answer.headers.get('vary') ?? '', /\bAuthorization\b/, path)
  }
  for (const mounted of ['open', 'writes', 'reminders', 'deletes']) {
    const path = `/${mounted}/api/notes`
    const { headers, status } = await stage.get(path)
    t.is(status, 200)
    t.is(headers.get('cache-control'), null, path)
    t.notRegex(headers.get('vary') ?? '', /Authorization/, path)
  }
})

test('a path into a closed resource has the headers of one that does not exist', async (t) => {
  const team = [{ authorizePolicy: hasRole('admin'), mask: { motto: 'admin' } }]
  await withRelated({ team, player: { flatten: [] } }, async (get) => {
    const told = async (path: string, headers: Headers): Promise<unknown> => {
      const answer = await get(path, headers)
      return [...answer.headers].filter(([name]) => name !== 'date')
    }
    for (const query of ['filter=team.motto=Win', 'filter=team=null', 'sort=team.name', 'select=name,team.motto']) {
      const path = `/api/players?${query}`
      t.deepEqual(await told(path, jan), await told(path.replace('team', 'tead'), jan), query)
      t.is((await get(path, withRole('admin'))).headers.get('cache-control'), 'private')
    }
  })
})

test('a list policy that fails on the way over a relation is 500 and lets nothing through', async (t) => {
  const failing: Policy = () => {
    throw new Error('no policy server')
  }
  await withRelated({ team: [{ getListPolicy: failing }], player: { flatten: [] } }, async (get) => {
    t.is((await get('/api/players')).status, 200)
    t.is((await get('/api/players?select=team.motto')).status, 500)
    t.is((await get('/api/players?filter=team.motto=Win')).status, 500)
    t.is(errors.filter((error) => error instanceof Error && error.message === 'no policy server').length, 2)
  })
})

test('a policy decides for each request anew', async (t) => {
  const asked: string[] = []
  const policy = ({ identity: caller }: { identity: Identity | null }): boolean => {
    asked.push(caller?.name ?? '')
    return caller?.name === 'jan'
  }
  await withRelated({ team: [{ getListPolicy: policy }] }, async (get) => {
    const path = listPath('/api/players', { filter: 'team.motto=Win' })
    t.is((await get(path, jan)).status, 200)
    t.is((await get(path, bearer({ sub: 'eva' }))).status, 400)
    t.is((await get(path, jan)).status, 200)
    t.deepEqual(asked, ['jan', 'eva', 'jan'])
  })
})

test('only what a request uses is asked: a default sort by pages in its order, what is flattened by full records', async (t) => {
  const asked: string[] = []
  const policy: Policy = ({ request }) => asked.push(request.url) > 0
  const askedBy = async (player: CrudOptions, path: string): Promise<readonly unknown[]> => {
    asked.length = 0
    let headers = new Headers()
    await withRelated(
      { team: [{ getListPolicy: policy, mask: { motto: 'admin' } }], player },
      async (get, { Player }) => {
        t.is(await Player.count(), 2)
        headers = (await get(path)).headers
      },
    )
    return [asked.length, headers.get('cache-control')]
  }
  const sorted: CrudOptions = { flatten: [], query: { defaultSort: 'team.name' } }
  const flat: CrudOptions = { flatten: ['team'] }
  const CASES: readonly (readonly [player: CrudOptions, query: string, isAsked: boolean])[] = [
    [sorted, '', true],
    [sorted, '?sortDirection=desc', true],
    [sorted, '?select=name', true],
    [sorted, '?sort=name', false],
    [sorted, '?sortBy=name', false],
    [sorted, '?sortBy=nobody', false],
    [sorted, '?count=true', false],
    [sorted, '?cursor=', false],
    [sorted, '/1', false],
    [flat, '', true],
    [flat, '?cursor=', true],
    [flat, '/1', true],
    [flat, '/1?select=name', false],
    [flat, '/1?select=team.name', true],
    [flat, '?select=name', false],
    [flat, '?select=team.name', true],
    [flat, '?count=true', false],
    [flat, '?count=true&filter=team.name=Lakers', true],
  ]
  for (const [player, query, isAsked] of CASES) {
    const told = await askedBy(player, `/api/players${query}`)
    t.deepEqual(told, isAsked ? [1, 'private'] : [0, null], `${JSON.stringify(player)} ${query}`)
  }
})

test('the identity function is asked once a request, and what it throws is a 500 or its Problem', async (t) => {
  let asked = 0
  const counting = (request: Request): Identity | null => {
    asked += 1
    if (request.headers['x-fail'] === 'error') throw new Error('no session store')
    if (request.headers['x-fail'] === 'problem') throw new Problem({ status: 503, detail: 'Later.' })
    return null
  }
  await withRelated({ player: { identity: counting, mask: { name: 'look' } }, team: [{}] }, async (get) => {
    const path = listPath('/api/players', { filter: 'team.motto=Win', sort: 'team.name', select: 'team.name' })
    t.is((await get(path)).status, 200)
    t.is(asked, 1)
    const failed = await get(path, { 'x-fail': 'error' })
    t.is(failed.status, 500)
    t.false(failed.text.includes('session'))
    t.is((await get(path, { 'x-fail': 'problem' })).status, 503)
  })
})
