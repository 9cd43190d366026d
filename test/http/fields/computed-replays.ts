// Callers whom nobody knows share their idempotency keys. A replay shows none of them what was computed for another one.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter, type Identity, Operations } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'
import { identity, withPermission } from '../../support/tokens.js'

/** The identity of all who send requests for torches. */
let caller: Partial<Identity> = {}

const stage = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const House = sequelize.define('House', { name: DataTypes.STRING }, plain)
  const Lamp = sequelize.define('Lamp', { name: DataTypes.STRING }, plain)
  House.hasMany(Lamp, { as: 'lamps', foreignKey: 'houseId' })
  const computed = {
    color: {
      type: 'string' as const,
      perCaller: true,
      resolve: (records: readonly object[], { request }: { request: { headers: object } | null }) =>
        records.map(() => String(Reflect.get(request?.headers ?? {}, 'x-color'))),
    },
    size: { type: 'integer' as const, resolve: (records: readonly object[]) => records.map(() => 3) },
  }
  const common = { identity, idempotency: true, computed, operations: Operations.AllWithBulk }
  app.use(crudRouter(Lamp, common), crudRouter(House, { ...common, relations: { lamps: { write: true } } }))
  const Torch = sequelize.define('Torch', { name: DataTypes.STRING }, plain)
  const nobody = { name: null, roles: new Set<string>(), permissions: new Set<string>(), claims: {} }
  app.use(crudRouter(Torch, { ...common, identity: () => ({ ...nobody, ...caller }) }))
})

test.after.always(() => stage.close())

let keys = 0

test.serial('a replay for an unknown caller has null for what is the own of a caller', async (t) => {
  for (const [path, json] of [
    ['/api/lamps', { name: 'a' }],
    ['/api/lamps/bulk', [{ name: 'a' }, { name: 'b' }]],
    ['/api/houses', { name: 'h', lamps: [{ name: 'a' }] }],
  ] as const) {
    keys += 1
    const send = (color: string) => stage.post(path, json, { 'idempotency-key': `k${keys}`, 'x-color': color })
    const [first, second] = [await send('red'), await send('blue')]
    t.is(first.status, 201, first.text)
    t.regex(first.text, /"color":"red"/)
    t.is(second.status, 201)
    t.is(second.headers.get('idempotency-replayed'), 'true')
    t.notRegex(second.text, /red|blue/)
    t.is(second.text, first.text.replaceAll('"color":"red"', '"color":null'), path)
  }
})

test.serial('a replay for a known caller has the values of the write', async (t) => {
  const send = (color: string) =>
    stage.post(
      '/api/lamps',
      { name: 'a' },
      { ...withPermission('service'), 'idempotency-key': 'known', 'x-color': color },
    )
  const first = await send('red')
  const second = await send('blue')
  t.is(second.headers.get('idempotency-replayed'), 'true')
  t.is(second.text, first.text)
})

test.serial('an identity without a name and without claims is that of an unknown caller', async (t) => {
  for (const [given, isKnown] of [
    [{}, false],
    [{ name: '' }, false],
    [{ claims: { email: '', tenant: null } }, false],
    [{ name: 'Ann' }, true],
    [{ claims: { sub: 's' } }, true],
    [{ name: 'Ann', claims: { sub: 's' } }, true],
    [{ claims: { sub: 's', email: '' } }, true],
  ] as const) {
    caller = given
    keys += 1
    const send = (color: string) =>
      stage.post('/api/torches', { name: 'a' }, { 'idempotency-key': `k${keys}`, 'x-color': color })
    const [first, second] = [await send('red'), await send('blue')]
    t.is(first.body.color, 'red', first.text)
    t.is(second.headers.get('idempotency-replayed'), 'true')
    t.is(second.body.color, isKnown ? 'red' : null, JSON.stringify(given))
  }
})
