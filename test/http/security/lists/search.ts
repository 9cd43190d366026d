// What a search could tell of what its caller may not see. Each test is named after its rule.

import test from 'ava'
import { DataTypes, type ModelAttributes } from 'sequelize'
import { type CrudOptions, crudRouter, hasRole } from '../../../../lib/index.js'
import { listPath } from '../../../support/league.js'
import type { Answer } from '../../../support/server.js'
import { openStage } from '../../../support/stage.js'
import { bearer, identity, withPermission, withRole } from '../../../support/tokens.js'

const stage = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const define = (name: string, attributes: ModelAttributes): ReturnType<typeof sequelize.define> =>
    sequelize.define(name, attributes, plain)
  const text = { name: DataTypes.STRING, pin: DataTypes.STRING }
  const Agent = define('Agent', { ...text, tenant: DataTypes.INTEGER })
  const Vault = define('Vault', text)
  const Home = define('Home', { ...text, tenant: DataTypes.INTEGER })
  const Pet = define('Pet', text)
  const Bare = define('Bare', text)
  for (const [target, as] of [
    [Vault, 'vault'],
    [Home, 'home'],
    [Pet, 'pet'],
    [Bare, 'bare'],
  ] as const) {
    Agent.belongsTo(target, { as, foreignKey: `${as}Id`, constraints: false })
  }
  const common: CrudOptions = { identity }
  const tenant: CrudOptions = { scope: ({ identity: caller }) => ({ tenant: Number(caller?.claims.tenant ?? 1) }) }
  const behind = ['vault.name', 'home.name', 'home.pin', 'pet.name', 'pet.pin', 'bare.name']
  const of = (search: readonly string[]): CrudOptions => ({ ...common, query: { search } })
  app.use(crudRouter(Vault, { ...common, authorizePolicy: hasRole('keeper') }))
  app.use(crudRouter(Home, { ...common, ...tenant, fields: { pin: { exclude: true } } }))
  app.use(crudRouter(Pet, { ...common, softDelete: true, mask: { pin: 'vet' } }))
  app.use(
    crudRouter(Agent, {
      ...of(['name', 'pin', ...behind]),
      ...tenant,
      softDelete: true,
      mask: { pin: 'staff' },
      route: 'agents',
    }),
  )
  app.use(crudRouter(Agent, { ...of(['pin']), mask: { pin: 'staff' }, route: 'pins' }))
  app.use(crudRouter(Agent, { ...of(['home.name']), mask: { homeId: 'staff' }, route: 'homes' }))
})
const { sequelize } = stage
await sequelize.model('Vault').bulkCreate([{ name: 'fort', pin: '1' }])
await sequelize.model('Home').bulkCreate([
  { name: 'castle', pin: 'hidden', tenant: 1 },
  { name: 'palace', pin: 'hidden', tenant: 2 },
])
await sequelize.model('Pet').bulkCreate([
  { name: 'rex', pin: 'chip' },
  { name: 'ghost', pin: 'chip', isDeleted: true },
])
await sequelize.model('Bare').bulkCreate([{ name: 'nude', pin: 'x' }])
const links = { vaultId: 1, homeId: 1, petId: 1, bareId: 1 }
await sequelize.model('Agent').bulkCreate([
  { name: 'Jan', pin: 'aaa', tenant: 1, ...links },
  { name: 'Anna', pin: 'bbb', tenant: 1, ...links, homeId: 2, petId: 2 },
  { name: 'Foreign', pin: 'aaa', tenant: 2, ...links },
  { name: 'Gone', pin: 'aaa', tenant: 1, isDeleted: true, ...links },
])
test.after.always(() => stage.close())

const search = (path: string, words: string, headers: Record<string, string> = {}, more = {}): Promise<Answer> =>
  stage.get(listPath(path, { search: words, ...more }), headers)

async function found(path: string, words: string, headers?: Record<string, string>, more?: object): Promise<string[]> {
  const { body, text } = await search(path, words, headers, more)
  if (body?.items === undefined) throw new Error(text)
  return body.items.map(({ name }: { name: string }) => name)
}

test('nothing searches columns that the query shape lacks for this caller (CVE-2025-64748)', async (t) => {
  t.deepEqual(await found('/agents', 'aaa'), [])
  t.deepEqual(await found('/agents', 'aaa', withPermission('staff')), ['Jan'])
  t.deepEqual(await found('/agents', 'aaa Jan'), [])
  t.deepEqual(await found('/agents', 'aaa Jan', withPermission('staff')), ['Jan'])
  // Excluded from everything over there.
  t.deepEqual(await found('/agents', 'hidden', withPermission('staff')), [])
})

test('with no field left that the caller may read, nothing is found, whatever the mode', async (t) => {
  t.deepEqual(await found('/pins', 'aaa'), [])
  t.is((await found('/pins', 'aaa', withPermission('staff'))).length, 3)
  t.deepEqual((await search('/pins', 'aaa', {}, { count: 'true' })).body, { count: 0 })
  t.deepEqual((await search('/pins', 'aaa', {}, { cursor: '' })).body.items, [])
  t.deepEqual((await search('/pins', 'aaa', {}, { select: 'name' })).body.items, [])
  // A search that finds nothing and one that may look at nothing are the same to see.
  const [closed, empty] = await Promise.all([search('/pins', 'aaa'), search('/pins', 'zzz')])
  t.is(closed.text, empty.text)
})

test('a search crosses relations only as far as its caller may: policy, masks, resource (CVE-2026-27886)', async (t) => {
  t.deepEqual(await found('/agents', 'fort'), [])
  t.deepEqual(await found('/agents', 'fort', withRole('keeper')), ['Jan', 'Anna'])
  t.deepEqual(await found('/agents', 'chip'), [])
  t.deepEqual(await found('/agents', 'chip', withPermission('vet')), ['Jan'])
  // A table without a resource has no way through.
  t.deepEqual(await found('/agents', 'nude'), [])
  // A masked foreign key closes its relation.
  t.deepEqual(await found('/homes', 'castle'), [])
  t.deepEqual(await found('/homes', 'castle', withPermission('staff')), ['Jan', 'Foreign', 'Gone'])
})

test('records that are deleted or out of scope are not found, neither themselves nor by what they hold', async (t) => {
  t.deepEqual(await found('/agents', 'gone'), [])
  t.deepEqual(await found('/agents', 'foreign'), [])
  t.deepEqual(await found('/agents', 'ghost'), [])
  t.deepEqual(await found('/agents', 'rex'), ['Jan'])
  t.deepEqual(await found('/agents', 'palace'), [])
  t.deepEqual(await found('/agents', 'castle'), ['Jan'])
  t.deepEqual(await found('/agents', 'castle', bearer({ sub: 'x', tenant: 2 })), [])
})
