// Hooks run in the write's transaction, once per record, and what they throw rolls it back: alone, together with the other
// behaviours and with the model's own hooks.

import test from 'ava'
import { DataTypes, type Model, type ModelOptions, type ModelStatic, Transaction } from 'sequelize'
import {
  CrudConfigError,
  type CrudOptions,
  crudRouter,
  type Hook,
  type Hooks,
  Operations,
  Problem,
} from '../../../lib/index.js'
import { openDatabase } from '../../support/database.js'
import type { Answer } from '../../support/server.js'
import { identityFromHeader, openStage, readStoredRow, type Stage, timeOf } from '../../support/stage.js'

const NAMES = [
  'beforeCreate',
  'afterCreate',
  'beforeUpdate',
  'afterUpdate',
  'beforeDelete',
  'afterDelete',
  'beforeRestore',
  'afterRestore',
] as const

type HookName = (typeof NAMES)[number]

interface Call {
  readonly hook: string
  readonly operation: string
  readonly id: unknown
  readonly name: unknown
  readonly user: string | null
  readonly inTransaction: boolean
}

/** One way of carrying writes out. The same must be true of all of them. */
interface Variant {
  readonly title: string
  readonly options: CrudOptions
  readonly model: ModelOptions
  readonly prepare?: (model: ModelStatic<Model>) => void
  readonly marks: boolean
  readonly versioned: boolean
}

const nothing = (): void => undefined
const EVERYTHING = { concurrency: true, audit: true } as const

const VARIANTS: readonly Variant[] = [
  { title: 'on a plain resource', options: {}, model: {}, marks: false, versioned: false },
  {
    title: 'with soft delete',
    options: { softDelete: true },
    model: { timestamps: false },
    marks: true,
    versioned: false,
  },
  {
    title: 'with soft delete, concurrency and audit',
    options: { softDelete: true, ...EVERYTHING },
    model: {},
    marks: true,
    versioned: true,
  },
  {
    title: 'with concurrency and audit',
    options: EVERYTHING,
    model: { timestamps: false },
    marks: false,
    versioned: true,
  },
  {
    title: 'with everything, on a paranoid model with hooks of its own',
    options: EVERYTHING,
    model: { paranoid: true },
    prepare: (model) => {
      const own = [
        'beforeCreate',
        'beforeUpdate',
        'beforeDestroy',
        'beforeRestore',
        'afterFind',
        'beforeBulkCreate',
      ] as const
      for (const hook of own) model.addHook(hook, nothing)
    },
    marks: true,
    versioned: true,
  },
]

interface World extends Stage {
  readonly Item: ModelStatic<Model>
  readonly Trace: ModelStatic<Model>
  /** What the hooks were called with in the request of that name. */
  readonly calls: (request: string) => readonly Call[]
  readonly errors: { readonly error: unknown; readonly request: string }[]
}

/**
 * Hooks that note what they see and leave a trace in the transaction. The header `x-do` tells one of them to do more:
 * `afterUpdate:problem`. The header `x-request` names the request.
 */
async function openWorld({ options, model, prepare }: Variant): Promise<World> {
  const noted: (Call & { readonly request: string })[] = []
  const errors: { error: unknown; request: string }[] = []
  const models: { Item: ModelStatic<Model>; Trace: ModelStatic<Model> }[] = []
  const stage = await openStage(({ sequelize }, app) => {
    const attributes = {
      name: { type: DataTypes.STRING(50), allowNull: false, validate: { len: [2, 50] as const } },
      level: DataTypes.INTEGER,
    }
    const Item = sequelize.define('Item', attributes, model)
    const Trace = sequelize.define('Trace', { text: DataTypes.STRING, request: DataTypes.STRING })
    prepare?.(Item)
    models.push({ Item, Trace })
    const hookNamed =
      (hook: HookName): Hook =>
      async ({ instance, transaction, request, identity, operation }) => {
        const named = String(request.headers['x-request'])
        await Trace.create({ text: hook, request: named }, { transaction })
        noted.push({
          request: named,
          hook,
          operation,
          id: instance.get('id') ?? null,
          name: instance.get('name'),
          user: identity?.name ?? null,
          inTransaction: transaction instanceof Transaction,
        })
        const [asked, what, which] = String(request.headers['x-do'] ?? '').split(':')
        if (asked !== hook || (which !== undefined && which !== instance.get('name'))) return
        await act(String(what), instance)
      }
    const hooks: Hooks = Object.fromEntries(NAMES.map((name) => [name, hookNamed(name)]))
    const operations = Operations.AllWithBulk | (options.softDelete || model.paranoid === true ? Operations.Restore : 0)
    const onError: NonNullable<CrudOptions['onError']> = (error, request) => {
      errors.push({ error, request: String(request.headers['x-request']) })
    }
    app.use(crudRouter(Item, { operations, identity: identityFromHeader, hooks, onError, ...options }))
  })
  const [first] = models
  if (first === undefined) throw new TypeError('no model was defined')
  return {
    ...stage,
    ...first,
    errors,
    calls: (request) => noted.filter((call) => call.request === request).map(({ request: _, ...call }) => call),
  }
}

class Secret extends Error {}

async function act(what: string, instance: Model): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
  switch (what) {
    case 'problem':
      throw new Problem({
        status: 409,
        title: 'Not today',
        detail: 'The host says no.',
        errors: { name: ['is refused.'] },
        headers: { 'Retry-After': '3600' },
      })
    case 'throw':
      throw new Secret('the host’s secret')
    case 'level':
      instance.set('level', 77)
      return
    case 'short':
      instance.set('name', 'x')
      return
    default:
      throw new TypeError(`nobody knows how to ${what}`)
  }
}

let serial = 0
const nextRequest = (): string => {
  serial += 1
  return `request-${serial}`
}

/** The level of the records that a request creates, by which they are found. */
const markOf = ({ request }: { readonly request: string }): number => 1000 + Number(request.split('-')[1])

const ANY = { 'if-match': '*' }

interface Sent extends Answer {
  readonly request: string
}

async function send(
  { send: over }: Stage,
  method: string,
  path: string,
  json?: unknown,
  headers: Record<string, string> = {},
  request = nextRequest(),
): Promise<Sent> {
  const sent = { 'x-request': request, 'x-user': 'ann', ...ANY, ...headers }
  const answer = await over(method, path, { headers: sent, ...(json === undefined ? {} : { json }) })
  return { ...answer, request }
}

async function newItem(stage: Stage, name = 'Item'): Promise<string> {
  const { status, body, text } = await send(stage, 'POST', '/api/items', { name, level: 1 })
  if (status !== 201) throw new Error(text)
  return `/api/items/${body.id}`
}

const idOf = (path: string): number => Number(path.slice(path.lastIndexOf('/') + 1))

async function deletedItem(stage: Stage, name: string): Promise<string> {
  const path = await newItem(stage, name)
  const { status } = await send(stage, 'DELETE', path)
  if (status !== 204) throw new Error(`${status}`)
  return path
}

async function tracesOf({ Trace }: World, request: string): Promise<unknown[]> {
  const rows = await Trace.findAll({ where: { request }, order: [['id', 'ASC']] })
  return rows.map((row) => row.get('text'))
}

/** A request whose hooks are asked, for each operation, on records that it makes itself. */
interface Scenario {
  readonly title: string
  readonly hook: 'Create' | 'Update' | 'Delete' | 'Restore'
  readonly bulk: boolean
  /** Sends it and gives the answer; the records that it is about are named Alpha, Beta and Gamma, or Alpha alone. */
  readonly run: (world: World, headers: Record<string, string>) => Promise<Sent & { readonly ids: readonly number[] }>
}

const THREE = ['Alpha', 'Beta', 'Gamma']

const SCENARIOS: readonly Scenario[] = [
  {
    title: 'create',
    hook: 'Create',
    bulk: false,
    run: async (world, headers) => {
      const request = nextRequest()
      const record = { name: 'Alpha', level: markOf({ request }) }
      const answer = await send(world, 'POST', '/api/items', record, headers, request)
      return { ...answer, ids: answer.status === 201 ? [answer.body.id] : [] }
    },
  },
  {
    title: 'bulkCreate',
    hook: 'Create',
    bulk: true,
    run: async (world, headers) => {
      const request = nextRequest()
      const bodies = THREE.map((name) => ({ name, level: markOf({ request }) }))
      const answer = await send(world, 'POST', '/api/items/bulk', bodies, headers, request)
      return { ...answer, ids: answer.status === 201 ? answer.body.map(({ id }: { id: number }) => id) : [] }
    },
  },
  {
    title: 'update',
    hook: 'Update',
    bulk: false,
    run: async (world, headers) => {
      const path = await newItem(world)
      return { ...(await send(world, 'PATCH', path, { name: 'Alpha' }, headers)), ids: [idOf(path)] }
    },
  },
  {
    title: 'delete',
    hook: 'Delete',
    bulk: false,
    run: async (world, headers) => {
      const path = await newItem(world, 'Alpha')
      return { ...(await send(world, 'DELETE', path, undefined, headers)), ids: [idOf(path)] }
    },
  },
  {
    title: 'bulkDelete',
    hook: 'Delete',
    bulk: true,
    run: async (world, headers) => {
      const ids: number[] = []
      for (const name of THREE) ids.push(idOf(await newItem(world, name)))
      const keys = [ids[0], 999999, ids[1], ids[1], ids[2], 'abc']
      return { ...(await send(world, 'POST', '/api/items/bulk-delete', keys, headers)), ids }
    },
  },
  {
    title: 'restore',
    hook: 'Restore',
    bulk: false,
    run: async (world, headers) => {
      const path = await deletedItem(world, 'Alpha')
      return { ...(await send(world, 'POST', `${path}/restore`, undefined, headers)), ids: [idOf(path)] }
    },
  },
]

for (const variant of VARIANTS) {
  const { title, marks, versioned } = variant
  const opened = openWorld(variant)
  test.after.always(async () => (await opened).close())
  const scenarios = SCENARIOS.filter(({ hook }) => marks || hook !== 'Restore')

  for (const scenario of scenarios) {
    const { hook, bulk } = scenario
    const names = bulk ? THREE : ['Alpha']

    test(`${title}, ${scenario.title} calls before and after${hook} once per record, in order`, async (t) => {
      const world = await opened
      const { request, ids, status } = await scenario.run(world, {})
      t.true(status < 300)
      if (hook === 'Create') t.is(await world.Item.count({ where: { level: markOf({ request }) } }), ids.length)
      const common = { operation: scenario.title, user: 'ann', inTransaction: true }
      const expected = names.flatMap((name, index) => [
        { ...common, hook: `before${hook}`, name, id: hook === 'Create' ? null : ids[index] },
        { ...common, hook: `after${hook}`, name, id: ids[index] },
      ])
      t.deepEqual(world.calls(request), expected as Call[])
      t.deepEqual(
        await tracesOf(world, request),
        names.flatMap(() => [`before${hook}`, `after${hook}`]),
      )
    })

    for (const when of ['before', 'after'] as const) {
      // In bulk the second of three is refused, when the first has been written.
      const which = bulk ? ':Beta' : ''

      test(`${title}, a Problem from ${when}${hook} is the answer to ${scenario.title}, and nothing is written`, async (t) => {
        const world = await opened
        const answer = await scenario.run(world, { 'x-do': `${when}${hook}:problem${which}` })
        t.is(answer.status, 409)
        t.is(answer.headers.get('content-type'), 'application/problem+json')
        t.is(answer.headers.get('retry-after'), '3600')
        t.like(answer.body, {
          title: 'Not today',
          status: 409,
          detail: 'The host says no.',
          errors: { name: ['is refused.'] },
        })
        t.true(world.calls(answer.request).length > 0)
        t.deepEqual(await tracesOf(world, answer.request), [])
        t.is(world.errors.filter(({ request }) => request === answer.request).length, 0)
        if (hook === 'Create') t.is(await world.Item.count({ where: { level: markOf(answer) } }), 0)
        for (const id of answer.ids) {
          const { status, body } = await world.get(`/api/items/${id}`)
          t.is(status, hook === 'Restore' ? 404 : 200)
          if (hook === 'Update') t.is(body.name, 'Item')
        }
      })

      test(`${title}, another error from ${when}${hook} is 500 to ${scenario.title}, and reaches onError alone`, async (t) => {
        const world = await opened
        const answer = await scenario.run(world, { 'x-do': `${when}${hook}:throw${which}` })
        t.is(answer.status, 500)
        t.is(answer.headers.get('content-type'), 'application/problem+json')
        t.is(answer.body.title, 'Internal Server Error')
        t.false(answer.text.includes('secret'))
        t.deepEqual(await tracesOf(world, answer.request), [])
        const heard = world.errors.filter(({ request }) => request === answer.request)
        t.is(heard.length, 1)
        t.true(heard[0]?.error instanceof Secret)
        if (hook === 'Create') t.is(await world.Item.count({ where: { level: markOf(answer) } }), 0)
        for (const id of answer.ids) {
          t.is((await world.get(`/api/items/${id}`)).status, hook === 'Restore' ? 404 : 200)
        }
      })
    }

    if (hook !== 'Delete') {
      test(`${title}, what before${hook} changes is written by ${scenario.title} and in its answer`, async (t) => {
        const world = await opened
        const { status, body, ids } = await scenario.run(world, { 'x-do': `before${hook}:level` })
        t.true(status < 300)
        const records: { level: number }[] = bulk ? body : [body]
        t.deepEqual(
          records.map(({ level }) => level),
          ids.map(() => 77),
        )
        for (const id of ids) t.is((await readStoredRow(world.Item, id))?.level, 77)
      })

      test(`${title}, what before${hook} changes is validated by the model in ${scenario.title}`, async (t) => {
        const world = await opened
        const answer = await scenario.run(world, { 'x-do': `before${hook}:short${bulk ? ':Beta' : ''}` })
        t.is(answer.status, 400)
        t.is(answer.body.title, 'One or more validation errors occurred.')
        t.deepEqual(await tracesOf(world, answer.request), [])
        for (const id of answer.ids) t.not((await readStoredRow(world.Item, id))?.name, 'x')
      })
    }
  }

  test(`${title}, a request that is refused before it writes calls no hook, and neither does reading`, async (t) => {
    const world = await opened
    const path = await newItem(world)
    const gone = await deletedItem(world, 'Gone')
    const answers = [
      await send(world, 'POST', '/api/items', { name: 'x' }),
      await send(world, 'POST', '/api/items/bulk', [{ name: 'Fine' }, { name: 'x' }]),
      await send(world, 'POST', '/api/items/bulk', []),
      await send(world, 'PATCH', path, { name: 'x' }),
      await send(world, 'PATCH', '/api/items/999999', { name: 'Fine' }),
      await send(world, 'PATCH', gone, { name: 'Fine' }),
      await send(world, 'DELETE', '/api/items/999999'),
      await send(world, 'DELETE', gone),
      await send(world, 'POST', '/api/items/bulk-delete', [999999, idOf(gone)]),
      await send(world, 'POST', '/api/items/bulk-delete', []),
      await send(world, 'POST', `${path}/restore`),
      await send(world, 'GET', path),
      await send(world, 'GET', '/api/items'),
    ]
    const restore = 404
    t.deepEqual(
      answers.map(({ status }) => status),
      [400, 400, 201, 400, 404, 404, 404, 404, 200, 200, restore, 200, 200],
    )
    for (const { request } of answers) t.deepEqual(world.calls(request), [])
  })

  test(`${title}, a hook knows an anonymous caller and the values that change`, async (t) => {
    const seen: unknown[] = []
    const stage = await openStage(({ sequelize }, app) => {
      const Item = sequelize.define('Item', { name: DataTypes.STRING, level: DataTypes.INTEGER }, variant.model)
      const hooks: Hooks = {
        beforeUpdate: ({ instance, identity, operation }) => {
          seen.push([
            operation,
            identity,
            instance.changed('level' as never),
            instance.previous('level'),
            instance.get('level'),
          ])
        },
      }
      app.use(crudRouter(Item, { ...variant.options, hooks }))
    })
    try {
      const { body } = await stage.post('/api/items', { name: 'Item', level: 1 })
      t.is((await stage.patch(`/api/items/${body.id}`, { level: 2 }, ANY)).status, 200)
      t.deepEqual(seen, [['update', null, true, 1, 2]])
    } finally {
      await stage.close()
    }
  })

  if (versioned) {
    test(`${title}, a stale or missing If-Match calls no hook, and a hook that throws leaves the version`, async (t) => {
      const world = await opened
      const path = await newItem(world)
      const stale = await send(world, 'PATCH', path, { level: 2 }, { 'if-match': 'W/"7"' })
      t.is(stale.status, 412)
      const unread = await send(world, 'DELETE', path, undefined, { 'if-match': 'W/"7"' })
      t.is(unread.status, 412)
      const missing = await world.patch(path, { level: 2 }, { 'x-request': 'missing', 'x-user': 'ann' })
      t.is(missing.status, 428)
      for (const request of [stale.request, unread.request, 'missing']) t.deepEqual(world.calls(request), [])
      for (const hook of ['beforeUpdate', 'afterUpdate']) {
        const headers = { 'if-match': 'W/"0"', 'x-do': `${hook}:problem` }
        t.is((await send(world, 'PATCH', path, { level: 2 }, headers)).status, 409)
        t.is((await world.get(path)).headers.get('etag'), 'W/"0"')
      }
      const written = await send(world, 'PATCH', path, { level: 2 }, { 'if-match': 'W/"0"' })
      t.is(written.headers.get('etag'), 'W/"1"')
      t.is((await send(world, 'DELETE', path, undefined, { 'if-match': 'W/"1"' })).status, 204)
      if (marks) t.is((await send(world, 'POST', `${path}/restore`)).headers.get('etag'), 'W/"3"')
    })

    test(`${title}, a hook that changes values leaves the stamps and the version right`, async (t) => {
      const world = await opened
      const path = await newItem(world)
      const { status, headers } = await send(
        world,
        'PATCH',
        path,
        {},
        { 'x-do': 'beforeUpdate:level', 'x-user': 'bob' },
      )
      t.is(status, 200)
      t.is(headers.get('etag'), 'W/"1"')
      t.like(await readStoredRow(world.Item, idOf(path)), { level: 77, createdBy: 'ann', updatedBy: 'bob' })
      t.is(Number((await readStoredRow(world.Item, idOf(path)))?.rowVersion), 1)
    })
  }
}

interface OwnHooks {
  readonly title: string
  readonly hooks: Hooks | undefined
  readonly softDelete: boolean
  readonly paranoid: boolean
}

const OWN: readonly OwnHooks[] = [true, false].flatMap((given) =>
  [
    { kind: 'a plain', softDelete: false, paranoid: false },
    { kind: 'a soft-deleting', softDelete: true, paranoid: false },
    { kind: 'a paranoid', softDelete: true, paranoid: true },
  ].map(({ kind, ...rest }) => ({
    ...rest,
    title: `${kind} resource ${given ? 'with' : 'without'} hooks in the options`,
    hooks: given ? ({ beforeCreate: nothing, afterUpdate: nothing, afterDelete: nothing } as const) : undefined,
  })),
)

const MODEL_HOOKS = [
  'beforeBulkCreate',
  'afterBulkCreate',
  'beforeValidate',
  'beforeCreate',
  'afterCreate',
  'beforeUpdate',
  'afterUpdate',
  'beforeDestroy',
  'afterDestroy',
  'beforeRestore',
  'afterRestore',
  'beforeBulkDestroy',
  'afterBulkDestroy',
] as const

for (const { title, hooks, softDelete, paranoid } of OWN) {
  test(`the model's own hooks run on every write of ${title}, as often as Sequelize runs them, in the transaction`, async (t) => {
    let ran: string[] = []
    let outside = 0
    const stage = await openStage(({ sequelize }, app) => {
      const Item = sequelize.define('Item', { name: DataTypes.STRING }, { paranoid })
      for (const name of MODEL_HOOKS) {
        Item.addHook(name, (...given: unknown[]) => {
          ran.push(name)
          const options = given.at(-1) as { transaction?: unknown }
          if (options.transaction === undefined || options.transaction === null) outside += 1
        })
      }
      const operations = Operations.AllWithBulk | (softDelete ? Operations.Restore : 0)
      app.use(crudRouter(Item, { operations, softDelete, ...(hooks === undefined ? {} : { hooks }) }))
    })
    const counted = (): Record<string, number> => {
      const counts: Record<string, number> = {}
      for (const name of ran) counts[name] = (counts[name] ?? 0) + 1
      ran = []
      return counts
    }
    try {
      const { body } = await stage.post('/api/items', { name: 'One' })
      t.deepEqual(counted(), { beforeValidate: 1, beforeCreate: 1, afterCreate: 1 })
      const { body: bulk } = await stage.post('/api/items/bulk', [{ name: 'Two' }, { name: 'Three' }])
      t.deepEqual(counted(), {
        beforeBulkCreate: 1,
        beforeValidate: 2,
        beforeCreate: 2,
        afterCreate: 2,
        afterBulkCreate: 1,
      })
      await stage.patch(`/api/items/${body.id}`, { name: 'Uno' })
      // Sequelize validates an update once more behind its own hook.
      t.deepEqual(counted(), { beforeValidate: 2, beforeUpdate: 1, afterUpdate: 1 })
      t.is((await stage.delete(`/api/items/${body.id}`)).status, 204)
      // A mark that is not the model's own is an update of the row, and a delete all the same.
      const destroyed = (n: number): Record<string, number> => ({
        beforeDestroy: n,
        afterDestroy: n,
        ...(softDelete && !paranoid ? { beforeUpdate: n, afterUpdate: n } : {}),
      })
      t.deepEqual(counted(), destroyed(1))
      const keys = bulk.map(({ id }: { id: number }) => id)
      t.deepEqual((await stage.post('/api/items/bulk-delete', keys)).body, { deleted: 2 })
      t.deepEqual(counted(), { beforeBulkDestroy: 1, ...destroyed(2), afterBulkDestroy: 1 })
      if (softDelete) {
        t.is((await stage.send('POST', `/api/items/${body.id}/restore`)).status, 200)
        t.deepEqual(
          counted(),
          paranoid ? { beforeRestore: 1, afterRestore: 1 } : { beforeValidate: 2, beforeUpdate: 1, afterUpdate: 1 },
        )
      }
      t.is(outside, 0)
    } finally {
      await stage.close()
    }
  })

  test(`a model's own hook that refuses stops the delete and the bulk delete of ${title}`, async (t) => {
    const stage = await openStage(({ sequelize }, app) => {
      const Item = sequelize.define('Item', { name: DataTypes.STRING }, { paranoid })
      Item.addHook('beforeDestroy', (instance: Model) => {
        if (instance.get('name') === 'Locked') throw new Problem({ status: 409, detail: 'It is locked.' })
      })
      const operations = Operations.AllWithBulk
      app.use(crudRouter(Item, { operations, softDelete, ...(hooks === undefined ? {} : { hooks }) }))
    })
    try {
      const { body } = await stage.post('/api/items/bulk', [{ name: 'Free' }, { name: 'Locked' }])
      const [free, locked] = body.map(({ id }: { id: number }) => id)
      t.is((await stage.delete(`/api/items/${locked}`)).status, 409)
      t.is((await stage.post('/api/items/bulk-delete', [free, locked])).status, 409)
      t.deepEqual((await stage.get('/api/items?count=true')).body, { count: 2 })
      t.is((await stage.delete(`/api/items/${free}`)).status, 204)
    } finally {
      await stage.close()
    }
  })

  test(`a model's own bulk hook may spare records from the bulk delete of ${title}`, async (t) => {
    const stage = await openStage(({ sequelize }, app) => {
      const Item = sequelize.define('Item', { name: DataTypes.STRING }, { paranoid })
      Item.addHook('beforeBulkDestroy', (options: { where?: object }) => {
        options.where = { ...options.where, name: 'Free' }
      })
      const more: CrudOptions = { softDelete, concurrency: true, ...(hooks === undefined ? {} : { hooks }) }
      app.use(crudRouter(Item, { operations: Operations.AllWithBulk, ...more }))
    })
    try {
      const { body } = await stage.post('/api/items/bulk', [{ name: 'Free' }, { name: 'Locked' }])
      const keys = body.map(({ id }: { id: number }) => id)
      t.deepEqual((await stage.post('/api/items/bulk-delete', keys)).body, { deleted: 1 })
      t.is((await stage.get(`/api/items/${keys[0]}`)).status, 404)
      const spared = await stage.get(`/api/items/${keys[1]}`)
      t.is(spared.status, 200)
      t.is(spared.headers.get('etag'), 'W/"0"')
      t.deepEqual((await stage.post('/api/items/bulk-delete', [keys[1]])).body, { deleted: 0 })
    } finally {
      await stage.close()
    }
  })
}

test('the host’s hooks stand around the model’s own', async (t) => {
  const order: string[] = []
  const stage = await openStage(({ sequelize }, app) => {
    const Item = sequelize.define('Item', { name: DataTypes.STRING })
    for (const name of ['beforeSave', 'afterSave', 'beforeDestroy', 'afterDestroy'] as const) {
      Item.addHook(name, () => {
        order.push(name)
      })
    }
    const hooks = Object.fromEntries(NAMES.map((name) => [name, () => order.push(name)])) as Hooks
    app.use(crudRouter(Item, { hooks }))
  })
  try {
    const { body } = await stage.post('/api/items', { name: 'Item' })
    await stage.patch(`/api/items/${body.id}`, { name: 'Changed' })
    await stage.delete(`/api/items/${body.id}`)
    const around = (inner: string, outer: string): string[] => [
      `before${outer}`,
      `before${inner}`,
      `after${inner}`,
      `after${outer}`,
    ]
    t.deepEqual(order, [...around('Save', 'Create'), ...around('Save', 'Update'), ...around('Destroy', 'Delete')])
  } finally {
    await stage.close()
  }
})

for (const name of ['beforeSave', 'beforeUpdate'] as const) {
  test(`a model that has but a ${name} of its own has its say in the soft delete of a record, which is an update`, async (t) => {
    const stage = await openStage(({ sequelize }, app) => {
      const Item = sequelize.define('Item', { name: DataTypes.STRING, level: DataTypes.INTEGER })
      Item.addHook(name, (instance: Model) => {
        if (instance.get('name') === 'Locked' && !instance.isNewRecord) throw new Problem({ status: 423 })
        instance.set('level', 9)
      })
      app.use(crudRouter(Item, { operations: Operations.AllWithBulk, softDelete: true }))
    })
    try {
      const { body } = await stage.post('/api/items/bulk', [{ name: 'Free' }, { name: 'Free' }, { name: 'Locked' }])
      const [one, two, locked] = body.map(({ id }: { id: number }) => id)
      t.is((await stage.delete(`/api/items/${locked}`)).status, 423)
      t.is((await stage.post('/api/items/bulk-delete', [one, locked])).status, 423)
      t.deepEqual((await stage.get('/api/items?count=true')).body, { count: 3 })
      t.is((await stage.delete(`/api/items/${one}`)).status, 204)
      t.deepEqual((await stage.post('/api/items/bulk-delete', [two])).body, { deleted: 1 })
      const { body: all } = await stage.get('/api/items?includeDeleted=true&filter=Name=Free')
      t.deepEqual(
        all.items.map(({ level }: { level: number }) => level),
        [9, 9],
      )
    } finally {
      await stage.close()
    }
  })
}

test('a PATCH that changes no value is a write with hooks as well: the model’s updatedAt moves', async (t) => {
  const models: ModelStatic<Model>[] = []
  const stage = await openStage(({ sequelize }, app) => {
    const Item = sequelize.define('Item', { name: DataTypes.STRING })
    models.push(Item)
    app.use(crudRouter(Item, { hooks: { afterUpdate: nothing } }))
  })
  try {
    const { body } = await stage.post('/api/items', { name: 'Item' })
    const longAgo = new Date('2001-02-03T04:05:06.000Z')
    const stamps = { createdAt: longAgo, updatedAt: longAgo }
    for (const Item of models) await Item.update(stamps, { where: { id: body.id }, silent: true })
    t.is((await stage.get(`/api/items/${body.id}`)).body.updatedAt, longAgo.toISOString())
    const patched = await stage.patch(`/api/items/${body.id}`, { name: 'Item' })
    t.is(patched.status, 200)
    t.not(patched.body.updatedAt, longAgo.toISOString())
  } finally {
    await stage.close()
  }
})

test('a unique value that a hook repeats in another table is no error of a field of the body', async (t) => {
  const calls: unknown[] = []
  const stage = await openStage(({ sequelize }, app) => {
    const code = { type: DataTypes.STRING(20), unique: true }
    const Entry = sequelize.define('Entry', { code }, { timestamps: false })
    const Item = sequelize.define('Item', { code, name: DataTypes.STRING }, { timestamps: false })
    const afterCreate: Hook = async ({ instance, transaction }) => {
      calls.push(instance.get('code'))
      await Entry.create({ code: 'same' }, { transaction })
    }
    const operations = Operations.AllWithBulk | Operations.Replace
    app.use(crudRouter(Item, { operations, hooks: { afterCreate } }))
  })
  t.teardown(() => stage.close())
  t.is((await stage.post('/api/items', { code: 'a' })).status, 201)
  for (const [method, path, json] of [
    ['POST', '/api/items', { code: 'b' }],
    ['POST', '/api/items/bulk', [{ code: 'b' }]],
    ['PUT', '/api/items/bulk?by=code', [{ code: 'b' }]],
  ] as const) {
    const { status, body } = await stage.send(method, path, { json })
    t.deepEqual([status, body.code, body.errors], [409, 'conflict', undefined])
  }
  t.deepEqual(calls, ['a', 'b', 'b', 'b'])
  const taken = await stage.post('/api/items', { code: 'a' })
  t.deepEqual([taken.status, taken.body.errors], [409, { code: ['is already taken.'] }])
})

test('an invalid value that a hook writes to another table names nothing of that table', async (t) => {
  const stage = await openStage(({ sequelize }, app) => {
    const Entry = sequelize.define(
      'Entry',
      {
        secret: { type: DataTypes.STRING(20), validate: { len: { args: [5, 9], msg: 'secret is too short.' } } },
        pin: { type: DataTypes.STRING(20), allowNull: false },
      },
      { timestamps: false },
    )
    const Item = sequelize.define('Item', { code: { type: DataTypes.STRING(20), unique: true } }, { timestamps: false })
    Item.addHook('beforeValidate', async (item) => {
      if (item.get('code') === 'validate') await Entry.create({ secret: 'x' })
    })
    const write: Hook = async ({ instance, transaction }) => {
      if (instance.get('code') !== 'validate') await Entry.create({ secret: 'x' }, { transaction })
    }
    const operations = Operations.AllWithBulk | Operations.Replace
    app.use(crudRouter(Item, { operations, hooks: { afterCreate: write } }))
    return { Item }
  })
  t.teardown(() => stage.close())
  for (const code of ['hook', 'validate']) {
    for (const [method, path, json, place] of [
      ['POST', '/api/items', { code }, ''],
      ['POST', '/api/items/bulk', [{ code }], '[0]'],
      ['PUT', '/api/items/bulk?by=code', [{ code }], '[0]'],
    ] as const) {
      const { status, text, body } = await stage.send(method, path, { json })
      t.deepEqual([status, body.code], [400, 'validation'])
      t.notRegex(text, /secret|pin/)
      t.deepEqual(Object.values(body.errors), [['is not valid.']], `${method} ${path} ${place}`)
    }
  }
  t.is(await stage.Item.count(), 0)
})

test('an invalid value that a hook writes to an excluded field does not name the field', async (t) => {
  const stage = await openStage(({ sequelize }, app) => {
    const Item = sequelize.define(
      'Item',
      {
        code: DataTypes.STRING(20),
        secret: { type: DataTypes.STRING(20), validate: { len: { args: [5, 9], msg: 'secret is too short.' } } },
      },
      { timestamps: false },
    )
    Item.addHook('beforeValidate', (item) => void item.set('secret', 'x'))
    const operations = Operations.AllWithBulk
    app.use(crudRouter(Item, { operations, fields: { secret: { exclude: true } } }))
    return { Item }
  })
  t.teardown(() => stage.close())
  for (const [path, json, place] of [
    ['/api/items', { code: 'a' }, ''],
    ['/api/items/bulk', [{ code: 'a' }], '[0]'],
  ] as const) {
    const { status, text, body } = await stage.send('POST', path, { json })
    t.deepEqual([status, body.code, body.errors], [400, 'validation', { [place]: ['is not valid.'] }])
    t.notRegex(text, /secret/)
  }
  t.is(await stage.Item.count(), 0)
})

test('a validator that a soft-deleted record would break does not stop its deletion', async (t) => {
  for (const paranoid of [true, false]) {
    const models: ModelStatic<Model>[] = []
    const stage = await openStage(({ sequelize }, app) => {
      const validate = {
        complete(this: Model) {
          if (this.get('name') === null) throw new Error('has no name.')
        },
      }
      const Item = sequelize.define('Item', { name: DataTypes.STRING }, { paranoid, validate })
      Item.addHook('afterDestroy', nothing)
      models.push(Item)
      app.use(crudRouter(Item, { operations: Operations.AllWithBulk, softDelete: true }))
    })
    try {
      for (const Item of models) {
        const [one, two] = await Item.bulkCreate([{ name: null }, { name: null }])
        t.is((await stage.post('/api/items', { name: null })).status, 400)
        t.is((await stage.delete(`/api/items/${one?.get('id')}`)).status, 204)
        t.deepEqual((await stage.post('/api/items/bulk-delete', [two?.get('id')])).body, { deleted: 1 })
      }
    } finally {
      await stage.close()
    }
  }
})

test('a hook sees the stamps, the version and the mark on the record', async (t) => {
  const seen: Record<string, Record<string, unknown>> = {}
  const stage = await openStage(({ sequelize }, app) => {
    const Item = sequelize.define('Item', { name: DataTypes.STRING }, { timestamps: false })
    const note =
      (hook: string): Hook =>
      ({ instance }) => {
        seen[hook] = { ...instance.get({ plain: true }) }
      }
    const hooks = Object.fromEntries(NAMES.map((name) => [name, note(name)])) as Hooks
    const options: CrudOptions = {
      softDelete: true,
      concurrency: true,
      audit: true,
      identity: identityFromHeader,
      hooks,
    }
    app.use(crudRouter(Item, { operations: Operations.AllWithBulk | Operations.Restore, ...options }))
  })
  try {
    const as = { 'x-user': 'ann', ...ANY }
    const { body } = await stage.post('/api/items', { name: 'Item' }, as)
    const path = `/api/items/${body.id}`
    t.like(seen.beforeCreate, { name: 'Item', createdBy: 'ann', updatedBy: 'ann', isDeleted: false, rowVersion: 0 })
    t.is(timeOf(seen.beforeCreate?.createdAt), timeOf(seen.afterCreate?.updatedAt))
    await stage.patch(path, { name: 'Changed' }, { ...as, 'x-user': 'bob' })
    t.like(seen.beforeUpdate, { name: 'Changed', createdBy: 'ann', updatedBy: 'bob' })
    t.is(Number(seen.beforeUpdate?.rowVersion), 1)
    await stage.delete(path, { 'x-user': 'cid' })
    t.false(seen.beforeDelete?.isDeleted)
    t.like(seen.afterDelete, { isDeleted: true, updatedBy: 'cid' })
    t.is(Number(seen.afterDelete?.rowVersion), 2)
    await stage.send('POST', `${path}/restore`, { headers: { 'x-user': 'dan' } })
    t.like(seen.afterRestore, { isDeleted: false, deletedAt: null, updatedBy: 'dan' })
    t.is(Number(seen.afterRestore?.rowVersion), 3)
  } finally {
    await stage.close()
  }
})

for (const title of ['create', 'bulkCreate', 'update', 'delete']) {
  test(`a deadlock is tried once more with everything as it was at first: ${title}`, async (t) => {
    let calls = 0
    const stage = await openStage(({ sequelize }, app) => {
      const Item = sequelize.define('Item', { name: DataTypes.STRING, level: DataTypes.INTEGER })
      const hook: Hook = ({ instance }) => {
        calls += 1
        instance.set('level', Number(instance.get('level')) + 1)
      }
      const deadlock: Hook = () => {
        if (calls % 2 === 1) throw Object.assign(new Error('deadlock detected'), { code: '40P01' })
      }
      const hooks: Hooks = {
        beforeCreate: hook,
        afterCreate: deadlock,
        beforeUpdate: hook,
        afterUpdate: deadlock,
        beforeDelete: hook,
        afterDelete: deadlock,
      }
      app.use(crudRouter(Item, { operations: Operations.AllWithBulk, hooks, softDelete: title === 'delete' }))
    })
    try {
      const bulk = await stage.post('/api/items/bulk', [{ name: 'Item', level: 1 }])
      t.is(bulk.status, 201)
      t.is(bulk.body[0].level, 2)
      t.is(calls, 2)
      const path = `/api/items/${bulk.body[0].id}`
      t.is((await stage.get(path)).body.level, 2)
      if (title === 'create') {
        const { status, body } = await stage.post('/api/items', { name: 'Item', level: 1 })
        t.is(status, 201)
        t.is(calls, 4)
        t.is((await stage.get(`/api/items/${body.id}`)).body.level, 2)
      }
      if (title === 'update') {
        t.is((await stage.patch(path, { name: 'Changed' })).body.level, 3)
        t.is(calls, 4)
      }
      if (title === 'delete') {
        t.is((await stage.delete(path)).status, 204)
        t.is(calls, 4)
        t.is((await stage.get('/api/items?includeDeleted=true')).body.items[0].level, 3)
      }
      t.deepEqual((await stage.get('/api/items?count=true')).body, {
        count: title === 'create' ? 2 : title === 'delete' ? 0 : 1,
      })
    } finally {
      await stage.close()
    }
  })
}

test('a patch that writes no field runs hooks only where a version or stamps are written with it', async (t) => {
  const ran: string[] = []
  const stage = await openStage(({ sequelize }, app) => {
    const Tag = sequelize.define('Tag', { name: DataTypes.STRING }, { timestamps: false })
    app.use(crudRouter(Tag))
    for (const [name, options] of Object.entries({
      Plain: {},
      Versioned: { concurrency: true },
      Stamped: { audit: true },
    })) {
      const Item = sequelize.define(name, { name: DataTypes.STRING })
      Item.belongsToMany(Tag, { as: 'tags', through: `${name}Tag` })
      Item.addHook('beforeUpdate', () => void ran.push('model'))
      const hooks: Hooks = { beforeUpdate: () => void ran.push('before'), afterUpdate: () => void ran.push('after') }
      app.use(crudRouter(Item, { ...options, hooks, relations: { tags: { write: true, routes: true } } }))
    }
  })
  t.teardown(() => stage.close())
  const { id } = (await stage.post('/api/tags', { name: 'a' })).body
  const ALL = ['before', 'model', 'after']
  for (const [path, idle] of [
    ['plains', []],
    ['versioneds', ALL],
    ['stampeds', ALL],
  ] as const) {
    const made = (await stage.post(`/api/${path}`, { name: 'x' })).body
    for (const [body, expected] of [
      [{}, idle],
      [{ nothing: 1 }, idle],
      [{ tags: [id] }, idle],
      [{ name: 'x' }, ALL],
    ] as const) {
      ran.length = 0
      t.is((await stage.patch(`/api/${path}/${made.id}`, body, ANY)).status, 200)
      t.deepEqual(ran, expected, `${path} ${JSON.stringify(body)}`)
    }
    ran.length = 0
    t.is((await stage.send('DELETE', `/api/${path}/${made.id}/tags/${id}`)).status, 204)
    t.deepEqual(ran, [])
  }
})

for (const [hooks, hint] of [
  [{ beforeInsert: nothing }, /hooks/],
  [{ beforeCreate: 'nothing' }, /beforeCreate/],
  [{ beforecreate: nothing }, /beforeCreate/],
] as const) {
  test(`hooks: ${JSON.stringify(Object.entries(hooks).map(String))} is a CrudConfigError`, async (t) => {
    const { sequelize, close } = await openDatabase()
    try {
      const Item = sequelize.define('Item', { name: DataTypes.STRING })
      const options = { hooks } as object as CrudOptions
      const error = t.throws(() => crudRouter(Item, options), { instanceOf: CrudConfigError })
      t.regex(error?.message ?? '', hint)
    } finally {
      await close()
    }
  })
}
