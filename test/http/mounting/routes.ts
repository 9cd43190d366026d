import ava, { type ExecutionContext } from 'ava'
import express, { type Express, Router } from 'express'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import {
  type CrudOptions,
  createCrud,
  crudController,
  crudRouter,
  type OperationName,
  Operations,
  Problem,
} from '../../../lib/index.js'
import { openDatabase } from '../../support/database.js'
import { FRAMEWORKS } from '../../support/frameworks.js'
import { serve, type TestServer } from '../../support/server.js'

// One table serves many tests, and what some of them write others would see.
const test = ava.serial

const database = await openDatabase()
const { sequelize } = database

const Player = sequelize.define('Player', { name: { type: DataTypes.STRING(50), allowNull: false } })
const Person = sequelize.define('Person', { name: DataTypes.STRING })
const OrderItem = sequelize.define('OrderItem', { name: DataTypes.STRING })
const Member = sequelize.define('Member', { name: DataTypes.STRING }, { name: { plural: 'Folk', singular: 'Member' } })
const Tag = sequelize.define('Tag', {
  slug: { type: DataTypes.STRING(80), primaryKey: true },
  label: DataTypes.STRING,
})
const Ticket = sequelize.define('Ticket', {
  code: { type: DataTypes.UUID, primaryKey: true, defaultValue: DataTypes.UUIDV4 },
  title: DataTypes.STRING,
})
const Short = sequelize.define('Short', { code: { type: DataTypes.STRING(3), primaryKey: true } })
const Mode = sequelize.define('Mode', {
  word: { type: DataTypes.ENUM('bulk', 'single'), primaryKey: true },
  label: DataTypes.STRING,
})
const Account = sequelize.define('Account', {
  number: { type: DataTypes.STRING(20), allowNull: false, unique: true },
  owner: DataTypes.STRING,
})

await sequelize.sync()
await Player.bulkCreate([{ name: 'Jan' }, { name: 'Anna' }, { name: 'Piotr' }])
await Tag.bulkCreate([
  { slug: 'red', label: 'Red' },
  { slug: 'bulk-delete', label: 'A tag with the name of a route' },
])
await Mode.create({ word: 'bulk', label: 'Many at once' })
await Account.bulkCreate([{ number: 'A-1', owner: 'Jan' }])
ava.after.always(() => database.close())

async function serving(
  t: ExecutionContext,
  mount: (app: Express) => void,
  create: () => Express = express,
): Promise<TestServer> {
  const app = create()
  mount(app)
  const server = await serve(app)
  t.teardown(server.close)
  return server
}

const ROUTES: readonly (readonly [what: string, model: ModelStatic<Model>, options: CrudOptions, route: string])[] = [
  ['the default route is api and the plural in lower case', Player, {}, '/api/players'],
  ['an irregular plural is the one of the model', Person, {}, '/api/people'],
  ['a name of two words is lower-cased as a whole', OrderItem, {}, '/api/orderitems'],
  ["a plural that the host chose is the route's", Member, {}, '/api/folk'],
  ['routePrefix stands between api and the plural', Player, { routePrefix: 'v2' }, '/api/v2/players'],
  ['routePrefix may have several parts and stray slashes', Player, { routePrefix: '/v2/eu/' }, '/api/v2/eu/players'],
  ['route replaces the whole path', Player, { route: 'api/v2/gamers' }, '/api/v2/gamers'],
  ['route may begin and end with a slash', Player, { route: '/gamers/' }, '/gamers'],
  ['route wins over routePrefix', Player, { route: 'gamers', routePrefix: 'v2' }, '/gamers'],
]

for (const [what, model, options, route] of ROUTES) {
  test(`${what}: ${route}`, async (t) => {
    const server = await serving(t, (app) => app.use(crudRouter(model, options)))
    t.is((await server.get(route)).status, 200)
    t.is((await server.get(`${route}/999999`)).body.title, 'Not Found')
    t.is(crudRouter(model, options).resource.route, route)
    if (route !== '/api/players') t.is((await server.get('/api/players')).status, 404)
  })
}

for (const [framework, create] of FRAMEWORKS) {
  for (const [how, configure] of [
    ['', {}],
    [' with a router configured by the host', { configure: () => undefined }],
  ] as const) {
    test(`${framework}: a route of "/"${how} serves the mount point itself, its records and its bulk routes`, async (t) => {
      for (const route of ['/', '//']) {
        const router = crudRouter(Player, { route, operations: Operations.AllWithBulk, ...configure })
        t.is(router.resource.route, '/')
        const server = await serving(
          t,
          (app) => {
            app.use('/api/gamers', router)
            app.use(router)
          },
          create,
        )
        for (const mount of ['', '/api/gamers']) {
          const created = await server.post(`${mount}/`, { name: 'Rooted' })
          t.is(created.status, 201)
          t.is(created.headers.get('location'), `${mount}/${created.body.id}`)
          const record = created.headers.get('location') ?? ''
          t.is((await server.get(record)).body.name, 'Rooted')
          t.is((await server.patch(record, { name: 'Changed' })).body.name, 'Changed')
          t.is((await server.get(`${mount}/?count=true`)).status, 200)
          t.true((await server.get(`${mount}/?pageSize=1`)).headers.get('link')?.startsWith(`<${mount}/?`))
          t.is((await server.get(`${mount}/%zz`)).body.title, 'Not Found')
          t.is((await server.send('PUT', `${mount}/`)).headers.get('allow'), 'GET, HEAD, POST, QUERY, OPTIONS')
          const bulk = await server.post(`${mount}/bulk`, [{ name: 'One' }, { name: 'Two' }])
          t.is(bulk.status, 201)
          const ids = bulk.body.map(({ id }: { id: number }) => id)
          t.deepEqual((await server.post(`${mount}/bulk-delete`, ids)).body, { deleted: 2 })
          t.is((await server.delete(record)).status, 204)
        }
        t.is((await server.get('/api/gamers?count=true')).status, 200)
      }
    })
  }

  test(`${framework}: a mount path stands before the route, and Location has it`, async (t) => {
    const server = await serving(t, (app) => app.use('/tenant-a', crudRouter(Player)), create)
    const created = await server.post('/tenant-a/api/players', { name: 'Mounted' })
    t.is(created.status, 201)
    t.is(created.headers.get('location'), `/tenant-a/api/players/${created.body.id}`)
    t.is((await server.get(created.headers.get('location') ?? '')).body.name, 'Mounted')
    t.is((await server.get('/api/players')).status, 404)
  })

  test(`${framework}: one router under several paths gives each its own Location`, async (t) => {
    const router = crudRouter(Player)
    const server = await serving(
      t,
      (app) => {
        app.use('/a', router)
        app.use('/b', router)
        app.use('/c', Router().use('/deep', router))
      },
      create,
    )
    for (const mount of ['/a', '/b', '/c/deep']) {
      const { body, headers } = await server.post(`${mount}/api/players`, { name: 'Twin' })
      t.is(headers.get('location'), `${mount}/api/players/${body.id}`)
    }
  })

  test(`${framework}: where the host rewrites paths, Location is a path of the client, like Link`, async (t) => {
    const server = await serving(
      t,
      (app) => {
        app.use((req, _res, next) => {
          req.url = req.url.replace(/^\/v1(?=\/)/, '').replace(/^\/gamers/, '/api/players')
          next()
        })
        app.use(crudRouter(Player))
      },
      create,
    )
    for (const path of ['/v1/api/players', '/gamers', '/gamers/']) {
      const { body, headers } = await server.post(`${path}?from=/x/`, { name: 'Rewritten' })
      const location = headers.get('location') ?? ''
      t.is(location, `${path.replace(/\/$/, '')}/${body.id}`)
      t.is((await server.get(location)).body.name, 'Rewritten')
      t.regex((await server.get(path)).headers.get('link') ?? '', new RegExp(`^<${path}\\?page=1>`))
    }
  })

  test(`${framework}: parameters of the mount path reach the resource's handlers, and the key is still the key`, async (t) => {
    const seen: unknown[] = []
    const router = crudRouter(Player, {
      use: (req, _res, next) => {
        seen.push({ ...req.params })
        next()
      },
    })
    const server = await serving(t, (app) => app.use('/tenants/:tenant/:id', router), create)
    const { status, body } = await server.get('/tenants/eu/77/api/players/1')
    t.is(status, 200)
    t.is(body.id, 1)
    t.deepEqual(seen, [{ tenant: 'eu', id: '1' }])
  })

  test(`${framework}: a rejected write reaches the client as a problem, not the host's error handler`, async (t) => {
    const server = await serving(t, (app) => app.use(crudRouter(Player)), create)
    const { status, headers, body } = await server.post('/api/players', {})
    t.is(status, 400)
    t.is(headers.get('content-type'), 'application/problem+json')
    t.deepEqual(body, {
      type: 'https://tools.ietf.org/html/rfc9110#section-15.5.1',
      title: 'One or more validation errors occurred.',
      code: 'validation',
      status: 400,
      errors: { name: ['is required.'] },
    })
  })

  test(`${framework}: create, read, change, list and delete a record`, async (t) => {
    const server = await serving(t, (app) => app.use(crudRouter(Player, { operations: 127 })), create)
    const { body: created } = await server.post('/api/players', { name: 'Kasia' })
    const path = `/api/players/${created.id}`
    t.is((await server.get(path)).body.name, 'Kasia')
    t.is((await server.patch(path, { name: 'Katarzyna' })).body.name, 'Katarzyna')
    t.is((await server.get('/api/players?filter=Name=Katarzyna')).body.totalCount, 1)
    const gone = await server.delete(path)
    t.is(gone.status, 204)
    t.is(gone.text, '')
    t.is((await server.get(path)).status, 404)
    t.deepEqual((await server.post('/api/players/bulk', [])).body, [])
    t.deepEqual((await server.post('/api/players/bulk-delete', [created.id])).body, { deleted: 0 })
  })

  test(`${framework}: a reply that the host has sent already is left as it is, and the process goes on`, async (t) => {
    const errors: unknown[] = []
    const onError = (error: unknown) => errors.push(error)
    const handled = new Set<unknown>()
    const settled: Promise<unknown>[] = []
    const players = crudController(Player, { onError })
    const server = await serving(
      t,
      (app) => {
        const hasty: CrudOptions['use'] = (req, res, next) => {
          // What a handler's promise does is what an Express 4 application would have to survive.
          const handler = req.params.id === undefined ? players.getList : players.getById
          settled.push(Promise.resolve(handler(req, res, next)))
          res.status(503).json({ by: 'the host' })
        }
        app.get('/hasty', hasty)
        app.get('/hasty/:id', hasty)
        app.use(((error, _req, _res, next) => {
          handled.add(error)
          next(error)
        }) satisfies express.ErrorRequestHandler)
      },
      create,
    )
    for (const path of ['/hasty', '/hasty/1', '/hasty/999999']) {
      const { status, body } = await server.get(path)
      t.is(status, 503)
      t.deepEqual(body, { by: 'the host' })
    }
    t.is((await Promise.allSettled(settled)).filter(({ status }) => status === 'rejected').length, 0)
    t.deepEqual([...handled, ...errors], [])
  })
}

test('Location is sent where GetById is off', async (t) => {
  const server = await serving(t, (app) => app.use(crudRouter(Player, { operations: Operations.Create })))
  const { body, headers } = await server.post('/api/players', { name: 'Unreadable' })
  t.is(headers.get('location'), `/api/players/${body.id}`)
})

test('Location is sent where the key is in no response', async (t) => {
  const router = crudRouter(Player, { fields: { id: { exclude: true } } })
  const server = await serving(t, (app) => app.use(router))
  const { body, headers } = await server.post('/api/players', { name: 'Anonymous' })
  t.false('id' in body)
  t.regex(headers.get('location') ?? '', /^\/api\/players\/\d+$/)
  t.is((await server.get(headers.get('location') ?? '')).body.name, 'Anonymous')
})

test('Location escapes what a string key has of reserved characters, and leads back to the record', async (t) => {
  const server = await serving(t, (app) => app.use(crudRouter(Tag)))
  const slug = 'a/b c?d#e%f&ö'
  const { headers } = await server.post('/api/tags', { slug, label: 'Odd' })
  t.is(headers.get('location'), `/api/tags/${encodeURIComponent(slug)}`)
  t.is((await server.get(headers.get('location') ?? '')).body.slug, slug)
})

test('Location has no double slash where the request path ended with one', async (t) => {
  const server = await serving(t, (app) => app.use(crudRouter(Player)))
  const { body, headers } = await server.post('/api/players/', { name: 'Slashed' })
  t.is(headers.get('location'), `/api/players/${body.id}`)
})

test('keyProperty names the attribute that stands in paths', async (t) => {
  const server = await serving(t, (app) => app.use(crudRouter(Account, { keyProperty: 'number' })))
  t.is((await server.get('/api/accounts/A-1')).body.owner, 'Jan')
  t.is((await server.get('/api/accounts/1')).status, 404)
  const { headers, body } = await server.post('/api/accounts', { number: 'B-2', owner: 'Anna' })
  t.is(headers.get('location'), '/api/accounts/B-2')
  t.is(body.number, 'B-2')
  const patched = await server.patch('/api/accounts/B-2', { number: 'C-3', owner: 'Ola' })
  t.like(patched.body, { number: 'B-2', owner: 'Ola' }, 'the key of a record never changes')
  t.deepEqual((await server.post('/api/accounts', { owner: 'Nobody' })).body.errors, { number: ['is required.'] })
})

test('a key that nobody assigns is required, whether or not its column takes null', async (t) => {
  const Loose = sequelize.define('Loose', {
    code: { type: DataTypes.STRING(10), unique: true },
    label: DataTypes.STRING,
  })
  await Loose.sync()
  const server = await serving(t, (app) => app.use(crudRouter(Loose, { keyProperty: 'code' })))
  t.deepEqual((await server.post('/api/looses', { label: 'x' })).body.errors, { code: ['is required.'] })
  t.deepEqual((await server.post('/api/looses', { code: null })).body.errors, { code: ['cannot be null.'] })
  t.is((await server.post('/api/looses', { code: 'a' })).headers.get('location'), '/api/looses/a')
})

test('the primary key of a model under another keyProperty is written by nobody', async (t) => {
  const Doc = sequelize.define('Doc', {
    id: { type: DataTypes.UUID, primaryKey: true, defaultValue: DataTypes.UUIDV4 },
    slug: { type: DataTypes.STRING(20), allowNull: false, unique: true },
    title: DataTypes.STRING,
  })
  await Doc.sync()
  const server = await serving(t, (app) => app.use(crudRouter(Doc, { keyProperty: 'slug' })))
  const mine = '11111111-1111-4111-8111-111111111111'
  const { body } = await server.post('/api/docs', { id: mine, slug: 'a', title: 'A' })
  t.not(body.id, mine)
  const patched = await server.patch('/api/docs/a', { id: mine, title: 'B' })
  t.is(patched.body.title, 'B')
  t.is(patched.body.id, body.id)
})

test('a single primary key of any name is the key without an option', async (t) => {
  const server = await serving(t, (app) => app.use(crudRouter(Ticket)))
  const { body, headers } = await server.post('/api/tickets', { title: 'Broken' })
  t.is(headers.get('location'), `/api/tickets/${body.code}`)
  t.is((await server.get(`/api/tickets/${body.code.toUpperCase()}`)).body.title, 'Broken')
})

// What each operation answers when it is on. A record that does not exist tells as much as one that does.
const REQUESTS: readonly (readonly [OperationName, method: string, path: string, json: unknown, status: number])[] = [
  ['getById', 'GET', '/1', undefined, 200],
  ['getList', 'GET', '', undefined, 200],
  ['create', 'POST', '', { name: 'New' }, 201],
  ['update', 'PATCH', '/2', { name: 'Anna' }, 200],
  ['delete', 'DELETE', '/999999', undefined, 404],
  ['bulkCreate', 'POST', '/bulk', [], 201],
  ['bulkDelete', 'POST', '/bulk-delete', [], 200],
]

const READ: readonly OperationName[] = ['getById', 'getList']
const WRITE: readonly OperationName[] = ['create', 'update', 'delete']
const BULK: readonly OperationName[] = ['bulkCreate', 'bulkDelete']

const OPERATIONS: readonly (readonly [
  name: keyof typeof Operations,
  flag: number,
  enabled: readonly OperationName[],
])[] = [
  ['GetById', 1, ['getById']],
  ['GetList', 2, ['getList']],
  ['Create', 4, ['create']],
  ['Update', 8, ['update']],
  ['Delete', 16, ['delete']],
  ['BulkCreate', 32, ['bulkCreate']],
  ['BulkDelete', 64, ['bulkDelete']],
  ['Read', 3, READ],
  ['Write', 28, WRITE],
  ['Bulk', 96, BULK],
  ['All', 31, [...READ, ...WRITE]],
  ['AllWithBulk', 127, [...READ, ...WRITE, ...BULK]],
]

async function assertOperations(
  t: ExecutionContext,
  operations: NonNullable<CrudOptions['operations']>,
  enabled: readonly OperationName[],
): Promise<void> {
  const server = await serving(t, (app) => app.use(crudRouter(Player, { operations })))
  for (const [operation, method, path, json, status] of REQUESTS) {
    const answer = await server.send(method, `/api/players${path}`, { json })
    if (enabled.includes(operation)) {
      t.is(answer.status, status, operation)
      if (status === 404) t.is(answer.body.title, 'Not Found', operation)
    } else {
      t.true(answer.status === 405 || (answer.status === 404 && answer.body === undefined), operation)
    }
  }
}

for (const [name, flag, enabled] of OPERATIONS) {
  test(`Operations.${name} is ${flag} and serves ${enabled.join(', ')}`, async (t) => {
    t.is(Number(Operations[name]), flag)
    await assertOperations(t, flag, enabled)
  })
}

test('the default operations are All', async (t) => {
  t.deepEqual([...crudRouter(Player).resource.operations], [...READ, ...WRITE])
  t.true(Object.isFrozen(Operations))
})

test('operations may be names', (t) => assertOperations(t, ['getList', 'create'], ['getList', 'create']))

test('operation names count in any case', (t) =>
  // The declared names are camelCase; JavaScript and configuration files know no better.
  assertOperations(t, ['GETLIST', 'BulkCreate'] as unknown as OperationName[], ['getList', 'bulkCreate']))

const ALLOWED: readonly (readonly [path: string, allow: string, refused: readonly string[], acceptsPatch: boolean])[] =
  [
    ['/api/players', 'GET, HEAD, POST, QUERY, OPTIONS', ['PUT', 'PATCH', 'DELETE'], false],
    ['/api/players/1', 'GET, HEAD, PATCH, DELETE, OPTIONS', ['PUT', 'POST'], true],
    ['/api/players/bulk', 'POST, OPTIONS', ['GET', 'PUT', 'PATCH', 'DELETE'], false],
    ['/api/players/bulk-delete', 'POST, OPTIONS', ['GET', 'PUT', 'PATCH', 'DELETE'], false],
  ]

for (const [framework, create] of FRAMEWORKS) {
  for (const [path, allow, refused, acceptsPatch] of ALLOWED) {
    test(`${framework}: ${path} answers OPTIONS with Allow: ${allow}${acceptsPatch ? ' and Accept-Patch' : ''}`, async (t) => {
      const server = await serving(t, (app) => app.use(crudRouter(Player, { operations: 127 })), create)
      const { status, headers, text } = await server.send('OPTIONS', path)
      t.is(status, 204)
      t.is(text, '')
      t.is(headers.get('allow'), allow)
      t.is(headers.get('accept-patch'), acceptsPatch ? 'application/json, application/merge-patch+json' : null)
    })

    test(`${framework}: ${path} answers ${refused.join(', ')} with 405 and Allow: ${allow}`, async (t) => {
      const server = await serving(t, (app) => app.use(crudRouter(Player, { operations: 127 })), create)
      for (const method of refused) {
        const { status, headers, body } = await server.send(method, path)
        t.is(status, 405, method)
        t.is(headers.get('allow'), allow, method)
        t.is(headers.get('content-type'), 'application/problem+json')
        t.like(body, {
          type: 'https://tools.ietf.org/html/rfc9110#section-15.5.6',
          title: 'Method Not Allowed',
          code: 'method-not-allowed',
          status: 405,
          detail: `This path does not support ${method}. It supports ${allow}.`,
        })
      }
    })
  }

  test(`${framework}: HEAD answers like GET, without the body`, async (t) => {
    const server = await serving(t, (app) => app.use(crudRouter(Player)), create)
    for (const path of ['/api/players', '/api/players?filter=Name=Jan', '/api/players/1', '/api/players/999999']) {
      const [head, get] = [await server.send('HEAD', path), await server.get(path)]
      t.is(head.status, get.status)
      t.is(head.text, '')
      for (const name of ['content-type', 'content-length', 'x-total-count', 'link', 'etag']) {
        t.is(head.headers.get(name), get.headers.get(name), `${path} ${name}`)
      }
    }
  })
}

test('OPTIONS names only the operations that are on, and Accept-Patch only with update', async (t) => {
  const server = await serving(t, (app) => app.use(crudRouter(Player, { operations: ['getById', 'create', 'delete'] })))
  t.is((await server.send('OPTIONS', '/api/players')).headers.get('allow'), 'POST, OPTIONS')
  const { headers } = await server.send('OPTIONS', '/api/players/1')
  t.is(headers.get('allow'), 'GET, HEAD, DELETE, OPTIONS')
  t.is(headers.get('accept-patch'), null)
})

test('a path below a record is none of the resource', async (t) => {
  const server = await serving(t, (app) => {
    app.use(crudRouter(Player))
    app.get('/api/players/:id/team', (req, res) => {
      res.json({ of: req.params.id })
    })
  })
  t.deepEqual((await server.get('/api/players/1/team')).body, { of: '1' })
})

test('GET /bulk is 404 where bulk could be a key, and the record where there is one', async (t) => {
  const server = await serving(t, (app) => app.use(crudRouter(Tag, { operations: 127 })))
  const missing = await server.get('/api/tags/bulk')
  t.is(missing.status, 404)
  t.is(missing.body.title, 'Not Found')
  t.is((await server.get('/api/tags/bulk-delete')).body.label, 'A tag with the name of a route')
  t.is((await server.patch('/api/tags/bulk-delete', { label: 'Changed' })).body.label, 'Changed')
  t.is((await server.delete('/api/tags/bulk')).status, 404)
  t.deepEqual((await server.post('/api/tags/bulk', [])).body, [])
})

test('GET /bulk is the record where bulk is a value of an enumerated key', async (t) => {
  const server = await serving(t, (app) => app.use(crudRouter(Mode, { operations: 127 })))
  t.is((await server.get('/api/modes/bulk')).body.label, 'Many at once')
  t.is((await server.patch('/api/modes/bulk', { label: 'Several' })).body.label, 'Several')
  t.is((await server.send('PATCH', '/api/modes/bulk-delete', { json: {} })).status, 405)
})

test('GET /bulk is 405 where keys are too short to be bulk', async (t) => {
  const server = await serving(t, (app) => app.use(crudRouter(Short, { operations: 127 })))
  const { status, headers } = await server.get('/api/shorts/bulk')
  t.is(status, 405)
  t.is(headers.get('allow'), 'POST, OPTIONS')
})

test('a path that is a bulk route and a record allows the methods of both', async (t) => {
  const server = await serving(t, (app) => app.use(crudRouter(Tag, { operations: 127 })))
  const allow = 'POST, GET, HEAD, PATCH, DELETE, OPTIONS'
  const options = await server.send('OPTIONS', '/api/tags/bulk')
  t.is(options.headers.get('allow'), allow)
  t.is(options.headers.get('accept-patch'), 'application/json, application/merge-patch+json')
  const refused = await server.send('PUT', '/api/tags/bulk')
  t.is(refused.status, 405)
  t.is(refused.headers.get('allow'), allow)
})

test('a bulk route of string keys is 405 to other methods where no record has a path', async (t) => {
  const server = await serving(t, (app) => app.use(crudRouter(Tag, { operations: Operations.BulkCreate })))
  const { status, headers } = await server.get('/api/tags/bulk')
  t.is(status, 405)
  t.is(headers.get('allow'), 'POST, OPTIONS')
})

test('where the bulk routes are off their words are keys like any other', async (t) => {
  const server = await serving(t, (app) => {
    app.use(crudRouter(Player))
    app.use(crudRouter(Tag))
  })
  t.is((await server.get('/api/players/bulk')).status, 404)
  t.is((await server.post('/api/players/bulk', [])).status, 405)
  t.is((await server.get('/api/tags/bulk-delete')).status, 200)
})

const NO_KEYS: readonly (readonly [what: string, model: ModelStatic<Model>, path: string])[] = [
  ...['abc', '1.0', '01', '+1', '-0', '1e0', '0x1', '%201', '9999999999999999999', '1,2', '1%00', 'null', 'NaN'].map(
    (key) => [`${key} is no key of an integer resource`, Player, `/api/players/${key}`] as const,
  ),
  ...['abc', '1', '11111111-1111-4111-8111-11111111111', '%7B11111111-1111-4111-8111-111111111111%7D'].map(
    (key) => [`${key} is no key of a UUID resource`, Ticket, `/api/tickets/${key}`] as const,
  ),
  ['text with a NUL is no key of a string resource', Tag, '/api/tags/red%00'],
  ['text with a blank at its end is another key', Tag, '/api/tags/red%20'],
  ['text in another case is another key', Tag, '/api/tags/RED'],
  ['text longer than its column is no key', Tag, `/api/tags/${'x'.repeat(81)}`],
]

for (const [what, model, path] of NO_KEYS) {
  test(`${what}: 404 for GET, PATCH and DELETE, like any missing record`, async (t) => {
    const server = await serving(t, (app) => app.use(crudRouter(model)))
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      const { status, body, headers } = await server.send(method, path, method === 'PATCH' ? { json: {} } : {})
      t.is(status, 404, method)
      t.is(headers.get('content-type'), 'application/problem+json')
      t.deepEqual(body, {
        type: 'https://tools.ietf.org/html/rfc9110#section-15.5.5',
        title: 'Not Found',
        code: 'not-found',
        status: 404,
      })
    }
  })
}

test('use runs first, once for every request to the resource, whatever the answer', async (t) => {
  const seen: string[] = []
  const use: CrudOptions['use'] = (req, _res, next) => {
    seen.push(`${req.method} ${req.originalUrl}`)
    next()
  }
  const server = await serving(t, (app) => {
    app.use(crudRouter(Player, { use, operations: 127 }))
    app.use(crudRouter(Tag, { use, operations: 127 }))
    app.get('/elsewhere', (_req, res) => {
      res.json({})
    })
  })
  const requests: readonly (readonly [method: string, path: string])[] = [
    ['GET', '/api/players'],
    ['GET', '/api/players/1'],
    ['GET', '/api/players/abc'],
    ['POST', '/api/players/bulk'],
    ['PUT', '/api/players/1'],
    ['OPTIONS', '/api/players'],
    ['GET', '/api/tags/bulk'],
    ['DELETE', '/api/tags/bulk'],
  ]
  for (const [method, path] of requests) await server.send(method, path)
  await server.get('/elsewhere')
  t.deepEqual(
    seen,
    requests.map(([method, path]) => `${method} ${path}`),
  )
})

test('several handlers in use run in order, and one that answers ends the request', async (t) => {
  const order: number[] = []
  const server = await serving(t, (app) =>
    app.use(
      crudRouter(Player, {
        use: [
          (_req, _res, next) => {
            order.push(1)
            next()
          },
          (req, res, next) => {
            order.push(2)
            if (req.headers['x-limit'] === undefined) next()
            else res.status(429).json({ slow: 'down' })
          },
        ],
      }),
    ),
  )
  t.is((await server.get('/api/players/1')).status, 200)
  t.is((await server.get('/api/players/1', { 'x-limit': 'yes' })).status, 429)
  t.deepEqual(order, [1, 2, 1, 2])
})

test('an error that use passes on goes to the host, not into a reply of the resource', async (t) => {
  const server = await serving(t, (app) => {
    app.use(
      crudRouter(Player, {
        use: (_req, _res, next) => next(new Problem({ status: 418, title: 'Teapot' })),
      }),
    )
    app.use(((error, _req, res, _next) => {
      res.status(error.status).json({ host: error.title })
    }) satisfies express.ErrorRequestHandler)
  })
  const { status, body } = await server.get('/api/players')
  t.is(status, 418)
  t.deepEqual(body, { host: 'Teapot' })
})

for (const [framework, create] of FRAMEWORKS) {
  test(`${framework}: configure adds to the router before its routes, and sees only this resource's requests`, async (t) => {
    const seen: string[] = []
    const configure: CrudOptions['configure'] = (router) => {
      router.use((req, res, next) => {
        seen.push(`${req.method} ${req.url}`)
        res.setHeader('X-Configured', 'yes')
        next()
      })
      router.get('/top', (_req, res) => {
        res.json({ top: true })
      })
    }
    const server = await serving(
      t,
      (app) => {
        app.use('/v1', crudRouter(Player, { configure }))
        app.use('/v1', crudRouter(Tag))
        app.get('/v1/other', (_req, res) => {
          res.json({})
        })
      },
      create,
    )
    t.is((await server.get('/v1/api/players/1')).headers.get('x-configured'), 'yes')
    t.deepEqual((await server.get('/v1/api/players/top')).body, { top: true })
    const { body, headers } = await server.post('/v1/api/players', { name: 'Configured' })
    t.is(headers.get('location'), `/v1/api/players/${body.id}`)
    t.is((await server.get('/v1/api/players?pageSize=1')).headers.get('x-configured'), 'yes')
    t.is((await server.get('/v1/api/tags')).headers.get('x-configured'), null)
    t.is((await server.get('/v1/other')).headers.get('x-configured'), null)
    t.is((await server.get('/v1/api/playersmore')).headers.get('x-configured'), null)
    t.deepEqual(seen, ['GET /1', 'GET /top', 'POST /', 'GET /?pageSize=1'])
  })

  test(`${framework}: crudController behaves like crudRouter under the host's own routes`, async (t) => {
    const players = crudController(Player, { operations: 127 })
    const server = await serving(
      t,
      (app) => {
        app.get('/controller', players.getList)
        app.post('/controller', players.create)
        app.post('/controller/bulk', players.bulkCreate)
        app.post('/controller/bulk-delete', players.bulkDelete)
        app.get('/controller/:id', players.getById)
        app.patch('/controller/:id', players.update)
        app.delete('/controller/:id', players.delete)
        app.use(crudRouter(Player, { route: 'router', operations: 127 }))
      },
      create,
    )
    const requests: readonly (readonly [method: string, path: string, json?: unknown])[] = [
      ['GET', ''],
      ['GET', '?filter=Name=Jan&sort=-Name&pageSize=1'],
      ['GET', '?select=Name'],
      ['GET', '?count=true'],
      ['GET', '?cursor=&pageSize=1'],
      ['GET', '?filter=Nope=1'],
      ['GET', '/1'],
      ['GET', '/abc'],
      ['POST', '', {}],
      ['POST', '', []],
      ['POST', '', { name: 5 }],
      ['POST', '/bulk', [{ name: 'A' }, {}]],
      ['POST', '/bulk-delete', [999999]],
      ['PATCH', '/1', { name: 'Jan' }],
      ['PATCH', '/1', { name: null }],
      ['DELETE', '/999999'],
    ]
    for (const [method, path, json] of requests) {
      const [one, other] = [
        await server.send(method, `/controller${path}`, { json }),
        await server.send(method, `/router${path}`, { json }),
      ]
      t.is(one.status, other.status, `${method} ${path}`)
      // A PATCH moves updatedAt, which is all that may differ.
      t.deepEqual({ ...one.body, updatedAt: null }, { ...other.body, updatedAt: null }, `${method} ${path}`)
      t.is(one.headers.get('content-type'), other.headers.get('content-type'))
      t.is(one.headers.get('x-total-count'), other.headers.get('x-total-count'))
      t.is(one.headers.get('link')?.replaceAll('/controller', '/router'), other.headers.get('link') ?? undefined)
    }
    const { body, headers, status } = await server.post('/controller', { name: 'By hand' })
    t.is(status, 201)
    t.is(headers.get('location'), `/controller/${body.id}`)
    t.is((await server.delete(`/controller/${body.id}`)).status, 204)
  })
}

test('crudController carries its resource and is frozen', (t) => {
  const controller = crudController(Player)
  t.is(controller.resource.name, 'Player')
  t.true(Object.isFrozen(controller))
  t.true(Object.isFrozen(controller.resource))
})

test('createCrud shares defaults, and what a call says itself wins', async (t) => {
  const heard: string[] = []
  const crud = createCrud({ limits: { bulkItems: 2, bodySize: 200 }, onError: () => heard.push('shared') })
  const Broken = sequelize.define('Broken', { name: DataTypes.STRING })
  const server = await serving(t, (app) => {
    app.use(crud.crudRouter(Player, { operations: 127 }))
    app.use('/wide', crud.crudRouter(Player, { operations: 127, limits: { bulkItems: 3 } }))
    app.use('/shared', crud.crudRouter(Broken))
    app.use('/own', crud.crudRouter(Broken, { onError: () => heard.push('own') }))
    app.get('/controller', crud.crudController(Broken).getList)
  })
  const names = ['A', 'B', 'C'].map((name) => ({ name }))
  t.is((await server.post('/api/players/bulk', names)).status, 400)
  t.is((await server.post('/wide/api/players/bulk', names)).status, 201)
  t.is((await server.post('/wide/api/players', { name: 'x'.repeat(250) })).status, 413, 'other limits stay shared')
  // The table was never made: whatever touches it fails unexpectedly.
  for (const path of ['/shared/api/brokens', '/own/api/brokens', '/controller']) {
    t.is((await server.get(path)).status, 500)
  }
  t.deepEqual(heard, ['shared', 'own', 'shared'])
})

test('crudRouter carries its frozen resource', (t) => {
  const { resource } = crudRouter(Player)
  t.is(resource.name, 'Player')
  t.is(resource.model, Player)
  t.true(Object.isFrozen(resource))
})

test('two resources over one model live side by side, each with its own shapes', async (t) => {
  const server = await serving(t, (app) => {
    app.use(crudRouter(Player))
    app.use(
      crudRouter(Player, { route: 'public/players', operations: Operations.Read, fields: { name: { exclude: true } } }),
    )
  })
  t.is((await server.get('/api/players/1')).body.name, 'Jan')
  t.false('name' in (await server.get('/public/players/1')).body)
  t.is((await server.post('/public/players', { name: 'x' })).status, 405)
})

test('the route counts in any case, as in the rest of an Express application', async (t) => {
  const server = await serving(t, (app) => app.use(crudRouter(Player)))
  t.is((await server.get('/API/Players/1')).status, 200)
})

test('a router passes on other paths, and what the host adds to it is asked all the same', async (t) => {
  const server = await serving(t, (app) => {
    const players = crudRouter(Player)
    players.get('/health', (_req, res) => void res.json('up'))
    app.use(crudRouter(Tag), players)
    app.use((req, res) => void res.status(404).json({ url: req.url, baseUrl: req.baseUrl }))
  })
  t.is((await server.get('/health')).body, 'up')
  t.is((await server.get('/api/players/')).status, 200)
  t.is((await server.get('/api/players?pageSize=1')).status, 200)
  for (const path of ['/api/playersx', '/api', '/api/player', '/', '/api/tagss?x=1']) {
    t.deepEqual((await server.get(path)).body, { url: path, baseUrl: '' })
  }
})
