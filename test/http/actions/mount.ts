// What of the option `actions` is wrong is told when the resource is mounted.

import test from 'ava'
import Joi from 'joi'
import { DataTypes, Sequelize } from 'sequelize'
import {
  CrudConfigError,
  type CrudOptions,
  createCrud,
  crudController,
  crudHub,
  crudRouter,
  queryOf,
} from '../../../lib/index.js'
import { sqliteOptions } from '../../support/database.js'

const sequelize = new Sequelize({ ...sqliteOptions, storage: ':memory:', logging: false })
const Player = sequelize.define('Player', { name: DataTypes.STRING(20) }, { timestamps: false })
const Team = sequelize.define('Team', { name: DataTypes.STRING(20) }, { timestamps: false })
Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })

const handler = (): void => undefined
const record = { on: 'record', method: 'post', handler } as const

function messageOf(options: CrudOptions | Record<string, unknown>, model = Player): string {
  try {
    crudRouter(model, options as CrudOptions)
    return ''
  } catch (error) {
    if (error instanceof CrudConfigError) return error.message
    throw error
  }
}

const WRONG: readonly (readonly [title: string, options: Record<string, unknown>, message: RegExp])[] = [
  ['actions that are no object', { actions: [] }, /the option "actions" must be an object with actions as keys/],
  ['an action that is no object', { actions: { publish: handler } }, /Player: actions\.publish must be an object/],
  [
    'a misspelt member',
    { actions: { publish: { ...record, handlr: handler } } },
    /actions\.publish: the option "handlr" does not exist\. Did you mean "handler"\?/,
  ],
  [
    'a place that there is none',
    { actions: { publish: { ...record, on: 'list' } } },
    /the option "on" must be "record" or "collection"/,
  ],
  [
    'another method',
    { actions: { publish: { ...record, method: 'put' } } },
    /the option "method" must be "post" or "get"/,
  ],
  [
    'an action without a handler',
    { actions: { publish: { on: 'record', method: 'post' } } },
    /actions\.publish: the option "handler" is missing/,
  ],
  [
    'an input that is no schema',
    { actions: { publish: { ...record, input: {} } } },
    /"input" must be a joi schema of an object/,
  ],
  [
    'an input that is no object',
    { actions: { publish: { ...record, input: Joi.string() } } },
    /"input" must be a joi schema of an object/,
  ],
  [
    'an output that there is none',
    { actions: { publish: { ...record, output: 'records' } } },
    /"output" must be "record", "list", "none" or a joi schema/,
  ],
  [
    'a policy that is undefined',
    { actions: { publish: { ...record, policy: undefined } } },
    /the option "policy" is undefined/,
  ],
  [
    'a policy that nobody defined',
    { policies: { admins: () => true }, actions: { publish: { ...record, policy: 'admin' } } },
    /actions\.publish\.policy: the policy "admin" does not exist\. Did you mean "admins"\?/,
  ],
  [
    'the name of an operation',
    { actions: { update: record } },
    /the action "update" must not have the name of an operation/,
  ],
  [
    'the name of an operation in another case',
    { actions: { GetList: record } },
    /must not have the name of an operation/,
  ],
  [
    'the word bulk',
    { actions: { bulk: record } },
    /the action "bulk" must not have the name of an operation or of a route of an operation/,
  ],
  [
    'the route of an operation',
    { actions: { bulkDelete: record } },
    /must not have the name of an operation or of a route of an operation/,
  ],
  [
    'the word restore',
    { actions: { restore: record } },
    /must not have the name of an operation or of a route of an operation/,
  ],
  ['a name with a blank', { actions: { 'publish it': record } }, /must have a name of letters, digits and "_"/],
  ['a name that begins with a digit', { actions: { '2nd': record } }, /must have a name of letters, digits and "_"/],
  ['the name then', { actions: Object.fromEntries([['then', record]]) }, /is not "then"/],
  [
    'two actions of one route',
    { actions: { sendMail: record, send_mail: record } },
    /the action "send_mail" has the same route as the action "sendMail"\. Rename one of them/,
  ],
  [
    'a GET action with a transaction',
    { actions: { best: { ...record, method: 'get', transaction: true } } },
    /the action "best" cannot have a transaction: GET actions write nothing/,
  ],
  [
    'no transaction beside concurrency',
    { concurrency: true, actions: { publish: { ...record, transaction: false } } },
    /cannot have "transaction: false", because the option concurrency needs a transaction/,
  ],
  [
    'no transaction beside idempotency',
    { idempotency: true, actions: { publish: { ...record, on: 'collection', transaction: false } } },
    /cannot have "transaction: false", because the option idempotency needs a transaction/,
  ],
  [
    'an input named select of a GET action that answers records',
    { actions: { best: { ...record, method: 'get', input: Joi.object({ select: Joi.string() }) } } },
    /cannot have an input named "select"/,
  ],
  [
    'a policy that is required and missing',
    {
      requirePolicies: true,
      createPolicy: () => true,
      deletePolicy: () => true,
      getByIdPolicy: () => true,
      getListPolicy: () => true,
      operations: ['getById'],
      actions: { publish: record },
    },
    /no policy covers actions\.publish: set authorizePolicy or actions\.publish\.policy/,
  ],
]

for (const [title, options, message] of WRONG) {
  test(`refused at mount: ${title}`, (t) => {
    t.regex(messageOf(options), message)
  })
}

test('refused at mount: the name of a route of a relation', (t) => {
  const message = messageOf({ relations: { players: { routes: true } }, actions: { players: record } }, Team)
  t.regex(message, /Team: the action "players" must not have the name of the route of a relation/)
  t.is(messageOf({ actions: { players: record } }, Team), '')
})

test('everything that is wrong with actions is told at once', (t) => {
  const message = messageOf({ actions: { bulk: record, publish: { on: 'record' }, best: { ...record, hander: 1 } } })
  for (const part of [/"bulk"/, /"method" is missing/, /"handler" is missing/, /"hander"/]) t.regex(message, part)
})

test('an action with a policy of its own is covered where policies are required', (t) => {
  t.notThrows(() =>
    crudRouter(Player, {
      requirePolicies: true,
      authorizePolicy: () => true,
      actions: { publish: record },
    }),
  )
  t.notThrows(() =>
    crudRouter(Player, {
      requirePolicies: true,
      operations: ['getById'],
      getByIdPolicy: () => true,
      actions: { publish: { ...record, policy: () => true } },
    }),
  )
})

test('actions are about one model, and no default', (t) => {
  const error = t.throws(() => createCrud({ actions: {} } as object), { instanceOf: CrudConfigError })
  t.regex(error?.message ?? '', /the option "actions" applies to a single model and cannot be a default/)
})

test('queryOf takes options with actions, and a controller has them by name', (t) => {
  const options = { actions: { publish: record } } satisfies CrudOptions
  t.notThrows(() => queryOf(Player, options))
  const controller = crudController(Player, options)
  t.deepEqual(Object.keys(controller.actions), ['publish'])
  t.is(typeof controller.actions.publish, 'function')
  t.is(typeof crudHub, 'function')
})
