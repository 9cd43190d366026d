// What CONTRIBUTING.md says of adding things, done: a row in a table and a file, seen to work over HTTP. Nothing of lib/
// knows of what is added here.

import test from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { BEHAVIOURS } from '../lib/behaviours.js'
import { fieldNamed } from '../lib/common/columns.js'
import { both, compared } from '../lib/common/predicates.js'
import { TABLES } from '../lib/compile/index.js'
import { flag } from '../lib/config/checks.js'
import { routerWith } from '../lib/http/router.js'
import { type CrudOptions, hasRole, Operations } from '../lib/index.js'
import { OPERATIONS } from '../lib/operations.js'
import type { BehaviourDefinition } from '../types/behaviour.js'
import { as, identityFromHeader, openStage } from './support/stage.js'

type Define = (name: string) => ModelStatic<Model>

// ---------------------------------------------------------------- a behaviour

declare module '../types/options.js' {
  interface CrudOptions<M extends Model = Model> {
    /** Records can be locked: a locked one is not written. */
    readonly locks?: boolean
  }
}

const locks: BehaviourDefinition = {
  options: { locks: flag },
  prepare: (_, { locks: isOn = false }) =>
    isOn
      ? {
          attributes: [{ name: 'locked', kind: 'mark' }],
          behaviour: () => ({
            headers: { 'X-Locks': 'on', Vary: 'X-Lock' },
            amend: ({ fields }, plan) =>
              plan.kind === 'update'
                ? { ...plan, where: both(plan.where, compared(fieldNamed(fields, 'locked'), true, true)) }
                : plan,
            around: async ({ operation, caller }, reply) => {
              if (caller.request.headers['x-dry'] !== undefined)
                return { status: 200, headers: {}, body: { operation } }
              const sent = await reply()
              return { ...sent, headers: { ...sent.headers, 'X-Operation': operation } }
            },
          }),
        }
      : null,
}

test('a behaviour is a definition and a row: its option, check, attribute, headers, plans and replies', async (t) => {
  const tables = { ...TABLES, behaviours: [...BEHAVIOURS, locks] }
  let Note!: ModelStatic<Model>
  const stage = await openStage(({ sequelize }, app) => {
    const define: Define = (name) => sequelize.define(name, { text: DataTypes.STRING }, { timestamps: false })
    Note = define('Note')
    app.use(routerWith(tables, Note, { locks: true }))
    app.use(routerWith(tables, define('Plain'), {}))
    t.throws(() => routerWith(tables, define('Wrong'), { locks: 'yes' as never }), { code: 'INVALID_OPTION' })
    t.throws(() => routerWith(TABLES, define('Without'), { locks: true }), { code: 'UNKNOWN_OPTION' })
  })
  t.teardown(stage.close)
  const created = await stage.post('/api/notes', { text: 'a', locked: true })
  t.is(created.status, 201)
  t.deepEqual(created.body, { id: 1, text: 'a' }, 'an attribute of a behaviour is in no shape')
  t.is(created.headers.get('x-operation'), 'create')
  t.is(created.headers.get('x-locks'), 'on')
  t.is(created.headers.get('vary'), 'X-Lock')
  t.is((await stage.patch('/api/notes/1', { text: 'b' })).status, 200)
  await Note.update({ locked: true }, { where: { id: 1 } })
  t.is((await stage.patch('/api/notes/1', { text: 'c' })).status, 404)
  t.is((await stage.get('/api/notes/1')).body.text, 'b')
  t.deepEqual((await stage.delete('/api/notes/1', { 'x-dry': '1' })).body, { operation: 'delete' })
  t.is(
    (await stage.get('/api/notes?count=true')).body.count,
    1,
    'who answers in the stead of a reply does nothing else',
  )
  const plain = await stage.post('/api/plains', { text: 'a' })
  t.is(plain.status, 201)
  t.is(plain.headers.get('x-operation'), null, 'a resource without the behaviour pays nothing for it')
})

// ---------------------------------------------------------------- an operation

test('an operation is a row: its number, name, route, policy, 405, OPTIONS and documents follow from it', async (t) => {
  const peek = {
    flag: 1 << 20,
    method: 'get',
    path: '/:id/peek',
    intent: 'get',
    body: null,
    policy: 'getByIdPolicy',
    unset: null,
    hook: null,
    status: 200,
  } as const
  const tables = { ...TABLES, operations: { ...OPERATIONS, peek } }
  const options: CrudOptions = {
    identity: identityFromHeader,
    authorizePolicy: () => true,
    getByIdPolicy: ({ operation, identity }) => (operation as string) !== 'peek' || identity !== null,
  }
  const stage = await openStage(({ sequelize }, app) => {
    const define: Define = (name) => sequelize.define(name, { text: DataTypes.STRING }, { timestamps: false })
    app.use(routerWith(tables, define('Note'), { ...options, operations: Operations.All + peek.flag }))
    app.use(routerWith(tables, define('Named'), { operations: ['create', 'peek' as never] }))
    app.use(routerWith(tables, define('Without'), {}))
    t.throws(() => routerWith(TABLES, define('Unknown'), { operations: ['peek' as never] }), {
      code: 'UNKNOWN_OPERATION',
    })
    t.throws(() => routerWith(tables, define('Wrong'), { operations: 1 << 21, deletePolicy: hasRole('x') }), {
      code: 'INVALID_OPTION',
    })
  })
  t.teardown(stage.close)
  await stage.post('/api/notes', { text: 'a' })
  await stage.post('/api/nameds', { text: 'a' })
  await stage.post('/api/withouts', { text: 'a' })
  t.deepEqual((await stage.get('/api/notes/1/peek', as('jan'))).body, { id: 1, text: 'a' })
  t.is((await stage.get('/api/notes/2/peek', as('jan'))).status, 404)
  t.is((await stage.get('/api/notes/1/peek')).status, 401)
  const wrong = await stage.post('/api/notes/1/peek', {}, as('jan'))
  t.is(wrong.status, 405)
  t.is(wrong.headers.get('allow'), 'GET, HEAD, OPTIONS')
  t.is((await stage.get('/api/nameds/1/peek')).status, 200)
  t.is((await stage.get('/api/nameds/1')).status, 404)
  t.is((await stage.get('/api/withouts/1/peek')).status, 404)
})
