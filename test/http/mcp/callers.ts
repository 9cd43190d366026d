// Who asks by tools: which function says it, whether what it says lets a message in, and what is told of those who are refused.

import { setTimeout as wait } from 'node:timers/promises'
import test from 'ava'
import express, { type Request, type RequestHandler } from 'express'
import { DataTypes } from 'sequelize'
import {
  crudRouter,
  type Identity,
  type IdentityFunction,
  identityFromRequest,
  Operations,
  type PolicyContext,
  Problem,
} from '../../../lib/index.js'
import { crudMcp } from '../../../lib/mcp/index.js'
import { connectAgentInProcess, connectAgentOverHttp } from '../../support/mcp.js'
import { openStage, type Stage } from '../../support/stage.js'

function named(name: string): Identity {
  return { name, roles: new Set(), permissions: new Set(), claims: {} }
}

/** How often each function was asked. */
const asked = new Map<string, number>()

/** Takes a header at its word, the words by which it refuses and fails as well. */
function by(header: string): IdentityFunction {
  return (request) => {
    asked.set(header, (asked.get(header) ?? 0) + 1)
    const word = request.get(header)
    if (word === 'refused') throw new Problem({ status: 401, detail: `refused by ${header}` })
    if (word === 'broken') throw new Error(`broken by ${header}`)
    return word === undefined ? null : named(word)
  }
}

const errors: unknown[] = []
/** Errors that the `onError` of a resource has heard. */
const told: unknown[] = []

/** What a policy is asked about, and by whom. */
const heard: (readonly [operation: string, name: string | null])[] = []
function hear({ operation, identity }: PolicyContext): boolean {
  heard.push([operation, identity?.name ?? null])
  return true
}

/** The headers of answers, as a middleware of the host finds them. */
const challenges: unknown[] = []

const plain = { timestamps: false }
const stage: Stage = await openStage(({ sequelize }, app) => {
  const Note = sequelize.define('Note', { text: DataTypes.STRING }, plain)
  const [own, other] = [by('x-own'), by('x-other')]
  const routed = (route: string, options: object): ReturnType<typeof crudRouter> =>
    crudRouter(Note, { route: `api/${route}`, operations: Operations.Read, ...options })
  const noting: RequestHandler = (_req, res, next) => {
    res.once('finish', () => challenges.push(res.getHeader('www-authenticate')))
    next()
  }
  app.use((req: Request & { user?: unknown }, _res, next) => {
    const user = req.get('x-session')
    if (user !== undefined) req.user = { name: user }
    next()
  })
  // Of two functions, each of several resources.
  const resources = [
    routed('own', { identity: own, authorizePolicy: hear }),
    routed('own-too', { identity: own, authorizePolicy: hear }),
    routed('other', { identity: other, authorizePolicy: hear }),
  ]
  app.all('/two', crudMcp({ resources }))
  // Those of no function of their own, with policies and without, and of the default by its name.
  const guided = [
    routed('policed', { authorizePolicy: hear }),
    routed('free', { use: noting }),
    routed('default', { identity: identityFromRequest, authorizePolicy: hear }),
    routed('its-own', { identity: own, authorizePolicy: hear }),
  ]
  app.all('/given', crudMcp({ resources: guided, identity: other }))
  app.all('/session', crudMcp({ resources: guided.slice(0, 3) }))
  const refusing = routed('refusing', {
    getListPolicy: () => {
      throw new Problem({ status: 403, detail: 'no lists' })
    },
    getByIdPolicy: () => {
      throw new Problem({ status: 403, detail: 'no records' })
    },
  })
  const failing = routed('failing', {
    getListPolicy: () => {
      throw new Error('a secret of the policy')
    },
  })
  const telling = routed('telling', {
    getListPolicy: () => {
      throw new Error('another secret of the policy')
    },
    onError: (error: unknown, req: Request) => told.push(`${error} for ${req.get('x-other')}`),
  })
  const closed = routed('closed', {
    use: (_req: unknown, res: Parameters<RequestHandler>[1]) => {
      res.status(403).type('application/problem+json').send('{"detail":"closed for the day","code":"closed"}')
    },
  })
  for (const [name, isLate] of [
    ['soon', false],
    ['late', true],
  ] as const) {
    for (const refused of ['getList', 'create'] as const) {
      const scopeOf = ({ operation }: PolicyContext): { text: string } => {
        if (operation === refused) throw new Problem({ status: 403, detail: `no ${refused}` })
        return { text: 'x' }
      }
      const scoped = routed(`${name}-${refused}`, {
        operations: Operations.All,
        scope: isLate ? async (context: PolicyContext) => scopeOf(context) : scopeOf,
        authorizePolicy: hear,
      })
      app.all(`/${name}/${refused}`, crudMcp({ resources: [scoped], identity: other, write: true }))
    }
  }
  app.all('/refusing', crudMcp({ resources: [refusing, closed], identity: other }))
  app.all('/failing', crudMcp({ resources: [failing], identity: other }))
  app.all('/telling', crudMcp({ resources: [telling], identity: other }))
})
await stage.sequelize.model('Note').create({ text: 'x' })

const { error } = console
console.error = (text) => errors.push(text)
test.after.always(async () => {
  console.error = error
  await stage.close()
})

const accept = 'application/json, text/event-stream'
const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' }

test.serial('what holds for one of several functions gets in, and one that fails is no refusal', async (t) => {
  for (const [own, other, status, detail] of [
    ['ann', 'bob', 200, undefined],
    ['ann', 'refused', 200, undefined],
    ['refused', 'bob', 200, undefined],
    ['refused', 'refused', 401, 'refused by x-own'],
    ['broken', 'bob', 500, 'An unexpected error occurred.'],
    ['ann', 'broken', 500, 'An unexpected error occurred.'],
    ['refused', 'broken', 500, 'An unexpected error occurred.'],
  ] as const) {
    const at = `${own} ${other}`
    asked.clear()
    errors.length = 0
    const answer = await stage.post('/two', message, { accept, 'x-own': own, 'x-other': other })
    t.is(answer.status, status, at)
    t.is(answer.body.detail, detail, at)
    t.is(errors.length, status === 500 ? 1 : 0, at)
    // However many resources have it.
    t.deepEqual([...asked].toSorted(), [
      ['x-other', 1],
      ['x-own', 1],
    ])
  }
  errors.length = 0
})

test.serial(
  'a function of the resource itself says who asks, else the one given, else what the host has found',
  async (t) => {
    const askedBy = async (path: string, resource: string): Promise<unknown> => {
      heard.length = 0
      const agent = await connectAgentOverHttp(stage.url + path, {
        'x-own': 'own',
        'x-other': 'other',
        'x-session': 'session',
      })
      const { isError, body } = await agent.call('get_record', { resource, key: 1 })
      t.false(isError, JSON.stringify(body))
      return heard.map(([, name]) => name)
    }
    t.deepEqual(await askedBy('/given', 'policed'), ['other'])
    t.deepEqual(await askedBy('/given', 'default'), ['other'])
    t.deepEqual(await askedBy('/given', 'its-own'), ['own'])
    t.deepEqual(await askedBy('/given', 'free'), [])
    t.deepEqual(await askedBy('/session', 'policed'), ['session'])
    t.deepEqual(await askedBy('/session', 'default'), ['session'])
    t.deepEqual(await askedBy('/session', 'free'), [])
  },
)

test.serial('where no policy decides, agents have to be somebody by the same function, and are told so', async (t) => {
  for (const [path, header] of [
    ['/given', 'x-other'],
    ['/session', 'x-session'],
  ] as const) {
    const nobody = await connectAgentOverHttp(stage.url + path, { 'x-own': 'own' })
    challenges.length = 0
    const { isError, body } = await nobody.call('get_record', { resource: 'free', key: 1 })
    t.true(isError)
    t.like(body, {
      status: 401,
      code: 'unauthorized',
      detail: 'This operation requires authentication. Sign in, or send valid credentials.',
    })
    t.deepEqual(challenges, ['Bearer'])
    const somebody = await connectAgentOverHttp(stage.url + path, { [header]: 'ann' })
    t.deepEqual((await somebody.call('get_record', { resource: 'free', key: 1 })).body, {
      record: { id: 1, text: 'x' },
    })
  }
  // Where one decides, it decides of nobody as well.
  const unknown = await connectAgentOverHttp(`${stage.url}/given`)
  heard.length = 0
  t.false((await unknown.call('get_record', { resource: 'policed', key: 1 })).isError)
  t.deepEqual(heard, [['getById', null]])
})

test.serial('an identity that is given stands for whoever asks, before the functions of resources', async (t) => {
  const Own = stage.sequelize.define('Own', { text: DataTypes.STRING }, plain)
  await Own.sync()
  const router = crudRouter(Own, { identity: by('x-own'), authorizePolicy: hear })
  const local = await connectAgentInProcess(crudMcp({ resources: [router], identity: named('the operator') }))
  heard.length = 0
  t.deepEqual((await local.call('query_records', { resource: 'owns' })).body.items, [])
  t.deepEqual(heard, [['getList', 'the operator']])
  await local.close()
  await router.close()
})

test.serial('what reads bodies in front of the routes waits for none that a call without HTTP lacks', async (t) => {
  const Read = stage.sequelize.define('Read', { text: DataTypes.STRING }, plain)
  await Read.sync()
  const readAll: RequestHandler = (req, _res, next) => {
    req.once('end', next).resume()
  }
  for (const use of [express.json(), express.text({ type: '*/*' }), readAll]) {
    const router = crudRouter(Read, { use, authorizePolicy: () => true })
    const local = await connectAgentInProcess(
      crudMcp({ resources: [router], identity: named('the operator'), write: true }),
    )
    const created = await Promise.race([
      local.call('create_record', { resource: 'reads', values: { text: 'a' } }),
      wait(5000).then(() => null),
    ])
    t.is(created?.body.record.text, 'a')
    await local.close()
    await router.close()
  }
})

test.serial(
  'a description asks for the tools that there are, and tells the first refusal of one that allows none',
  async (t) => {
    const agent = await connectAgentOverHttp(`${stage.url}/refusing`, { 'x-other': 'ann' })
    const { isError, body } = await agent.call('describe_resource', { resource: 'refusing' })
    t.true(isError)
    t.is(body.detail, 'no lists')
    t.deepEqual((await agent.call('list_resources')).body, { resources: [] })
    const own = await connectAgentOverHttp(`${stage.url}/two`, { 'x-own': 'ann' })
    heard.length = 0
    t.false((await own.call('describe_resource', { resource: 'own' })).isError)
    t.deepEqual(heard, [
      ['getList', 'ann'],
      ['getById', 'ann'],
    ])
  },
)

test.serial('a refusal that a middleware has written is told as it was written', async (t) => {
  const agent = await connectAgentOverHttp(`${stage.url}/refusing`, { 'x-other': 'ann' })
  for (const [tool, given] of [
    ['describe_resource', {}],
    ['get_record', { key: 1 }],
  ] as const) {
    const { isError, body } = await agent.call(tool, { resource: 'closed', ...given })
    t.true(isError)
    t.like(body, { status: 403, code: 'closed', detail: 'closed for the day' })
  }
})

test.serial('a policy that fails is no refusal: nothing is listed, and the host hears of it', async (t) => {
  const agent = await connectAgentOverHttp(`${stage.url}/failing`, { 'x-other': 'ann' })
  for (const tool of ['list_resources', 'describe_resource']) {
    errors.length = 0
    const { isError, body } = await agent.call(tool, tool === 'list_resources' ? {} : { resource: 'failing' })
    t.true(isError)
    t.like(body, { status: 500, detail: 'An unexpected error occurred.' })
    t.is(errors.length, 1)
    t.regex(String(errors[0]), /a secret of the policy/)
  }
  errors.length = 0
})

test.serial("an error of a resource's policy is told to its own onError", async (t) => {
  const agent = await connectAgentOverHttp(`${stage.url}/telling`, { 'x-other': 'ann' })
  for (const [tool, given] of [
    ['list_resources', {}],
    ['describe_resource', { resource: 'telling' }],
  ] as const) {
    told.length = 0
    errors.length = 0
    t.like((await agent.call(tool, given)).body, { status: 500, detail: 'An unexpected error occurred.' })
    t.deepEqual(told, ['Error: another secret of the policy for ann'])
    t.deepEqual(errors, [])
  }
})

test.serial(
  'a name that is null is that of the path, and what is at the root of a mount point has that of its record',
  async (t) => {
    const City = stage.sequelize.define('City', { name: DataTypes.STRING }, plain)
    const rooted = crudRouter(City, { route: '/', names: { response: 'Town' } })
    const below = crudRouter(City, { route: 'api/a.b/c-d' })
    const resources = [rooted, { resource: below, name: null as never }]
    const local = await connectAgentInProcess(crudMcp({ resources, identity: named('ann') }))
    const { body } = await local.call('list_resources')
    t.deepEqual(
      body.resources.map(({ name }: { name: string }) => name),
      ['Town', 'c-d'],
    )
    await local.close()
    for (const { close } of [rooted, below]) await close()
  },
)

for (const name of ['soon', 'late']) {
  test.serial(
    `what a scope refuses ${name} for one operation is the tool that is not offered, and no other`,
    async (t) => {
      for (const [refused, tool] of [
        ['getList', 'query_records'],
        ['create', 'create_record'],
      ] as const) {
        const agent = await connectAgentOverHttp(`${stage.url}/${name}/${refused}`, { 'x-other': 'bob' })
        const { body } = await agent.call('list_resources')
        const [{ tools }] = body.resources
        const offered = ['get_record', 'query_records', 'create_record', 'update_record', 'delete_record'].filter(
          (one) => tools.includes(one),
        )
        t.deepEqual(
          offered,
          ['get_record', 'query_records', 'create_record', 'update_record', 'delete_record'].filter(
            (one) => one !== tool,
          ),
        )
        const resource = body.resources[0].name
        const described = await agent.call('describe_resource', { resource })
        t.false(described.isError)
        const asked = await agent.call(tool, {
          resource,
          ...(tool === 'create_record' ? { values: { text: 'x' } } : {}),
        })
        t.true(asked.isError)
        t.is(asked.body.status, 403)
        await agent.close()
      }
    },
  )
}
