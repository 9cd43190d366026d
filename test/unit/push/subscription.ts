import test from 'ava'
import { DataTypes, Sequelize } from 'sequelize'
import { queryOf } from '../../../lib/index.js'
import {
  planSubscriptionScope,
  readSubscription,
  type Subscription,
  serializeSubscription,
} from '../../../lib/push/subscription.js'
import type { Resource } from '../../../types/resource.js'
import { sqliteOptions } from '../../support/database.js'

const SUBSCRIPTIONS: readonly Subscription[] = [
  { shape: 'response', permissions: [], fixedAttributes: [], relatedLimits: [], condition: [] },
  {
    shape: 'list',
    permissions: ['a', '__proto__', '"],["'],
    fixedAttributes: ['tenantId', 'ownerId'],
    relatedLimits: [],
    condition: [],
  },
  {
    shape: 'response',
    permissions: [],
    fixedAttributes: ['tenantId'],
    relatedLimits: [
      ['Team /api/teams', [], []],
      ['Club /api/clubs', [['tenantId', ['tenantId']]], []],
      ['Cup /api/cups', [], [{ tenantId: [1, 2] }, 'open=true']],
      [
        'Vault /api/vaults',
        [
          ['owner', 'x'],
          ['number', 1],
          ['open', false],
          ['tenantId', null],
        ],
        [],
      ],
    ],
    condition: [],
  },
  {
    shape: 'list',
    permissions: [],
    fixedAttributes: [],
    relatedLimits: [],
    condition: ['ownerId=1', { ownerId: [1, 'a', true, null] }],
  },
]

test('a subscription is the same again when another server has read its text', (t) => {
  for (const subscription of SUBSCRIPTIONS)
    t.deepEqual(readSubscription(serializeSubscription(subscription)), subscription)
})

test('equal subscriptions have equal texts, and others have others', (t) => {
  const texts = SUBSCRIPTIONS.map(serializeSubscription)
  t.is(new Set(texts).size, texts.length)
  t.deepEqual(
    SUBSCRIPTIONS.map((subscription) => serializeSubscription({ ...subscription })),
    texts,
  )
})

test('what is no text of a subscription is none', (t) => {
  const wrong = [
    ...[undefined, null, 1, {}, [], '', 'x', '{}', '[]', 'null', '["response"]', '["response",[],[]]'],
    ...['["all",[],[],[]]', '[null,[],[],[]]', '["list",[1],[],[]]', '["list","a",[],[]]', '["list",[],[null],[]]'],
    ...['["list",[],[],[1]]', '["list",[],[],[["x"]]]', '["list",[],[],[["x",1]]]', '["list",[],[],[[1,[]]]]'],
    ...['["list",[],[],[["x",[["a",{}]]]]]', '["list",[],[],[["x",[["a",[1]]]]]]'],
    ...['["list",[],[],[["x",[[1,2]]]]]', '["list",[],[],[]]', '["list",[],[],[],"a"]', '["list",[],[],[],[1]]'],
    ...[
      '["list",[],[],[["x",[]]],[]]',
      '["list",[],[],[["x",[],[1]]],[]]',
      '["list",[],[],[],[[1]]]',
      '["list",[],[],[],[{"a":1}]]',
      '["list",[],[],[],[{"a":[{}]}]]',
    ],
  ]
  for (const text of wrong) t.is(readSubscription(text), null, String(text))
})

test('a limit that cannot be held against a record leaves none of them to be met', (t) => {
  const sequelize = new Sequelize({ ...sqliteOptions, logging: false })
  const attributes = { tenantId: DataTypes.INTEGER, at: DataTypes.DATE(3) }
  const resource = queryOf(sequelize.define('Order', attributes, { timestamps: false })).resource as Resource
  const limited = (within: readonly string[], values: Readonly<Record<string, unknown>>): unknown =>
    planSubscriptionScope(
      resource,
      { shape: 'response', permissions: [], fixedAttributes: within, relatedLimits: [], condition: [] },
      (name) => values[name] as never,
    )
  // As a server of another version may tell of.
  t.is(limited(['ownerId'], { ownerId: 1 }), false)
  t.is(limited(['tenantId', 'ownerId'], { tenantId: 1, ownerId: 1 }), false)
  // What the change does not know, and what no scope is of.
  t.is(limited(['tenantId'], {}), false)
  t.is(limited(['tenantId'], { tenantId: { gt: 0 } }), false)
  t.is(limited(['tenantId'], { tenantId: [1] }), false)
  t.is(limited([], {}), null)
  for (const tenantId of [0, 1, null]) t.truthy(limited(['tenantId'], { tenantId }))
})
