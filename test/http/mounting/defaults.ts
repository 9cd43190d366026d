import ava, { type ExecutionContext } from 'ava'
import express, { type RequestHandler } from 'express'
import { DataTypes } from 'sequelize'
import {
  type CrudDefaults,
  type CrudOptions,
  createCrud,
  crudController,
  crudRouter,
  Operations,
  type Policy,
  queryOf,
} from '../../../lib/index.js'
import { openDatabase } from '../../support/database.js'
import { serve, type TestServer } from '../../support/server.js'

const test = ava.serial

const { sequelize, close } = await openDatabase()
const Item = sequelize.define('Item', { name: DataTypes.STRING, level: DataTypes.INTEGER }, { timestamps: false })
await sequelize.sync()
await Item.bulkCreate(['a', 'b', 'c'].map((name, level) => ({ name, level })))

test.after.always(() => close())

async function served(t: ExecutionContext, defaults: CrudDefaults, options: CrudOptions = {}): Promise<TestServer> {
  const app = express()
  app.use(createCrud(defaults).crudRouter(Item, options))
  const server = await serve(app)
  t.teardown(server.close)
  return server
}

const admit: Policy = () => true
const refuse: Policy = () => false

test('operations, the prefix of routes and unknown properties may be defaults', async (t) => {
  const defaults: CrudDefaults = { operations: Operations.Read + 4, routePrefix: 'v2', unknownProperties: 'reject' }
  const server = await served(t, defaults)
  t.is((await server.get('/api/v2/items/1')).status, 200)
  t.is((await server.delete('/api/v2/items/1')).status, 405)
  t.is((await server.post('/api/v2/items', { name: 'd', other: 1 })).status, 400)
  const own = await served(t, defaults, { operations: ['getList'], route: 'things' })
  t.is((await own.get('/things')).status, 200)
  t.is((await own.post('/things', {})).status, 405)
})

test('objects are merged by member, and what a resource says wins', async (t) => {
  const defaults: CrudDefaults = { query: { pageSize: 1, defaultSort: '-Level' } }
  const names = async (options: CrudOptions): Promise<readonly string[]> => {
    const { body } = await (await served(t, defaults, options)).get('/api/items')
    return body.items.map(({ name }: { name: string }) => name)
  }
  t.deepEqual(await names({}), ['c'])
  t.deepEqual(await names({ query: { pageSize: 2 } }), ['c', 'b'])
  t.deepEqual(await names({ query: { defaultSort: 'Level' } }), ['a'])
  t.deepEqual(await names({ query: undefined } as unknown as CrudOptions), ['c'])
  t.deepEqual(await names({ query: { pageSize: undefined } } as unknown as CrudOptions), ['c'])
})

test('a member that is undefined does not undo that of the default', async (t) => {
  const own = { idempotency: { required: undefined } } as unknown as CrudOptions
  const server = await served(t, { idempotency: { required: true } }, own)
  t.is((await server.post('/api/items', { name: 'x' })).status, 400)
  const policies = { policies: { staff: undefined } } as unknown as CrudOptions
  t.throws(() => createCrud({ policies: { staff: refuse }, authorizePolicy: 'staff' }).crudRouter(Item, policies), {
    code: 'INVALID_OPTION',
  })
})

test('handlers in `use` add up, those of the defaults first', async (t) => {
  const seen: string[] = []
  const tell =
    (word: string): RequestHandler =>
    (_req, _res, next) => {
      seen.push(word)
      next()
    }
  const server = await served(t, { use: tell('first') }, { use: [tell('second'), tell('third')] })
  t.is((await server.get('/api/items/1')).status, 200)
  t.deepEqual(seen, ['first', 'second', 'third'])
})

test('a default for one operation beats a resource’s authorizePolicy, and its own policy for it beats both', async (t) => {
  const statusOf = async (defaults: CrudDefaults, options: CrudOptions): Promise<number> =>
    (await (await served(t, defaults, options)).get('/api/items')).status
  t.is(await statusOf({ authorizePolicy: refuse }, {}), 401)
  t.is(await statusOf({ authorizePolicy: refuse }, { authorizePolicy: admit }), 200)
  t.is(await statusOf({ getListPolicy: refuse }, { authorizePolicy: admit }), 401)
  t.is(await statusOf({ getListPolicy: refuse }, { authorizePolicy: admit, getListPolicy: admit }), 200)
  t.is(await statusOf({ getListPolicy: 'staff' }, { policies: { staff: admit } }), 200)
})

test('a behaviour that is a default is on, as the default or the resource describes it, or off', async (t) => {
  const Versioned = sequelize.define('Versioned', { name: DataTypes.STRING }, { timestamps: false })
  const crud = createCrud({ concurrency: { rowVersion: 'revision' }, softDelete: { deletedAt: 'gone' } })
  const attributes = (): readonly string[] => Object.keys(Versioned.getAttributes())
  crud.crudRouter(Versioned, { concurrency: false, softDelete: false })
  t.deepEqual(attributes(), ['id', 'name'])
  crud.crudRouter(Versioned, { concurrency: true, softDelete: { isDeleted: 'dead' }, route: 'other' })
  t.deepEqual(attributes(), ['id', 'name', 'dead', 'gone', 'revision'])
})

test('a controller has the defaults as well', async (t) => {
  const app = express()
  app.get('/list', createCrud({ getListPolicy: refuse }).crudController(Item).getList)
  const server = await serve(app)
  t.teardown(server.close)
  t.is((await server.get('/list')).status, 401)
})

class Policies {
  deletePolicy(): boolean {
    return false
  }
}

class Paging {
  readonly pageSize = 2
}

/** Objects whose members come from a class or from another object, at each place where options stand. */
const INHERITING: readonly (readonly [message: RegExp, options: () => unknown])[] = [
  [/^\w+: the option "deletePolicy" is inherited/, () => Object.create({ deletePolicy: refuse })],
  [/^\w+: the option "deletePolicy" is inherited/, () => new Policies()],
  [/^\w+: query: the option "pageSize" is inherited/, () => ({ query: Object.create({ pageSize: 5 }) })],
  [/^\w+: limits: the option "bulkItems" is inherited/, () => ({ limits: Object.create({ bulkItems: 5 }) })],
  [/^\w+: policies: the option "deletePolicy" is inherited/, () => ({ policies: new Policies() })],
  [/^\w+: idempotency: the option "required" is inherited/, () => ({ idempotency: Object.create({ required: true }) })],
]
const OF_ONE_MODEL: typeof INHERITING = [
  [/^Item: mask: the option "name" is inherited/, () => ({ mask: Object.create({ name: 'staff' }) })],
  [/^Item: mask\.name: the option "read" is inherited/, () => ({ mask: { name: Object.create({ read: 'staff' }) } })],
  [/^Item: fields: the option "name" is inherited/, () => ({ fields: Object.create({ name: { exclude: true } }) })],
  [
    /^Item: fields\.name: the option "exclude" is inherited/,
    () => ({ fields: { name: Object.create({ exclude: true }) } }),
  ],
  [
    /^Item: fields\.name\.rules: the option "maxLength" is inherited/,
    () => ({ fields: { name: { rules: Object.create({ maxLength: 3 }) } } }),
  ],
  [/^Item: hooks: the option "deletePolicy" is inherited/, () => ({ hooks: new Policies() })],
  [/^Item: relations: the option "team" is inherited/, () => ({ relations: Object.create({ team: false }) })],
]

test('options that are inherited are refused, since going without them would open a resource', (t) => {
  const refused = (message: RegExp, mount: () => unknown): void => {
    t.throws(mount, { code: 'INVALID_OPTION', message })
  }
  for (const [message, options] of [...INHERITING, ...OF_ONE_MODEL]) {
    refused(message, () => crudRouter(Item, options() as CrudOptions))
    refused(message, () => crudController(Item, options() as CrudOptions))
    refused(message, () => createCrud({ policies: { staff: refuse } }).crudRouter(Item, options() as CrudOptions))
    refused(message, () => createCrud({ requirePolicies: false }).routers([Item], { Item: options() as CrudOptions }))
  }
  for (const [message, options] of INHERITING) refused(message, () => createCrud(options() as CrudDefaults))
  refused(/routers: options: the option "Item" is inherited/, () =>
    createCrud().routers([Item], Object.create({ Item: false })),
  )
  refused(/"deletePolicy" is inherited/, () => queryOf(Item, new Policies() as CrudOptions))
})

test('options of a class or without a prototype are read where all members are their own', async (t) => {
  const bare: CrudOptions = Object.assign(Object.create(null), { query: new Paging() })
  const server = await served(t, {}, bare)
  t.is((await server.get('/api/items')).body.pageSize, 2)
})
