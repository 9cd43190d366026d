// A to-one relation whose target may have several rows for one record, since nothing in the database forbids it: a
// record is still one record, and the relation leads to the first of those that the caller may meet.

import ava from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter, Operations, type Scope } from '../../../lib/index.js'
import { listPath } from '../../support/league.js'
import type { Answer } from '../../support/server.js'
import { openStage } from '../../support/stage.js'
import { bearer, identity } from '../../support/tokens.js'

// What one of them asks of the database is looked at.
const test = ava.serial

const plain = { timestamps: false }
const owners = (claims: object): Record<string, string> => bearer({ sub: 'x', ...claims })

const stage = await openStage(({ sequelize }, app) => {
  const House = sequelize.define('House', { street: DataTypes.STRING }, plain)
  const Holder = sequelize.define('Holder', { name: DataTypes.STRING, code: DataTypes.STRING }, plain)
  const Badge = sequelize.define(
    'Badge',
    { id: { type: DataTypes.UUID, primaryKey: true }, label: DataTypes.STRING, owner: DataTypes.STRING },
    plain,
  )
  Holder.hasOne(Badge, { as: 'badge', foreignKey: 'holderId' })
  Badge.belongsTo(Holder, { as: 'holder', foreignKey: 'holderId' })
  // A key that is none: several holders may have the code of a house.
  House.belongsTo(Holder, { as: 'keeper', foreignKey: 'keeperCode', targetKey: 'code', constraints: false })
  House.hasMany(Holder, { as: 'people', foreignKey: 'houseId' })
  Holder.belongsTo(House, { as: 'house', foreignKey: 'houseId' })
  // Here the models say that there is one at most: by an attribute, and by an index of two of which one is fixed.
  const Locker = sequelize.define(
    'Locker',
    { label: DataTypes.STRING, holderId: { type: DataTypes.INTEGER, unique: true } },
    plain,
  )
  const Note = sequelize.define(
    'Note',
    { text: DataTypes.STRING, kind: DataTypes.STRING },
    { ...plain, indexes: [{ unique: true, fields: ['kind', 'holderId'] }] },
  )
  Holder.hasOne(Locker, { as: 'locker', foreignKey: 'holderId' })
  Holder.hasOne(Note, { as: 'note', foreignKey: 'holderId', scope: { kind: 'short' } })
  const everything = { identity, operations: Operations.AllWithBulk }
  app.use(
    crudRouter(Badge, {
      ...everything,
      softDelete: true,
      scope: ({ identity: who }): Scope | null =>
        who?.claims.owner === undefined ? null : { owner: String(who.claims.owner) },
    }),
  )
  app.use(crudRouter(Holder, { ...everything, flatten: ['badge'] }))
  app.use(crudRouter(House, everything))
  app.use([crudRouter(Locker), crudRouter(Note)])
  app.use(
    '/hooked',
    crudRouter(Holder, { ...everything, flatten: ['badge'], hooks: { beforeUpdate: () => undefined } }),
  )
})
const { models } = stage.sequelize
const uuid = (digit: number): string => `${String(digit).repeat(8)}-0000-4000-8000-000000000000`
await models.House?.bulkCreate([{ street: 'a', keeperCode: 'x' }, { street: 'b', keeperCode: 'y' }, { street: 'c' }])
await models.Holder?.bulkCreate([
  { name: 'one', code: 'x', houseId: 1 },
  { name: 'two', code: 'x', houseId: 2 },
  { name: 'none', houseId: 1 },
])
await models.Badge?.bulkCreate([
  { id: uuid(3), label: 'third', holderId: 1, owner: 'jan' },
  { id: uuid(1), label: 'first', holderId: 1, owner: 'eva' },
  { id: uuid(2), label: 'second', holderId: 1, owner: 'jan' },
  { id: uuid(4), label: 'fourth', holderId: 2, owner: 'eva' },
  { id: uuid(0), label: 'deleted', holderId: 1, owner: 'jan', isDeleted: true },
])
test.after.always(() => stage.close())

const list = (
  path: string,
  parameters: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Answer> => stage.get(listPath(path, parameters), headers)

const found = async (
  path: string,
  parameters: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<unknown> => {
  const { body } = await list(path, parameters, headers)
  return { names: body.items.map(({ name, street }: Record<string, string>) => name ?? street), total: body.totalCount }
}

test('a record with several rows behind a to-one relation is one record, in lists, pages and counts', async (t) => {
  for (const sort of ['name', '-badge.label', 'badge.label,name', 'id']) {
    const { body } = await list('/api/holders', { sort })
    t.is(body.items.length, 3, sort)
    t.is(body.totalCount, 3, sort)
  }
  t.deepEqual(await found('/api/holders', { filter: 'badge!=null' }), { names: ['one', 'two'], total: 2 })
  t.deepEqual((await stage.get('/api/holders?filter=badge.label!=x&count=true')).body, { count: 3 })
  t.is((await stage.get('/api/holders?cursor=&pageSize=2')).body.items[1].name, 'two')
  t.deepEqual(await found('/api/holders', { pageSize: '1', page: '2' }), { names: ['two'], total: 3 })
})

test('it leads to the first by key that the caller may meet, wherever the path stands', async (t) => {
  const expected: readonly (readonly [claims: object, label: string | null])[] = [
    [{}, 'first'],
    [{ owner: 'eva' }, 'first'],
    [{ owner: 'jan' }, 'second'],
    [{ owner: 'ida' }, null],
  ]
  for (const [claims, label] of expected) {
    const headers = owners(claims)
    const { body } = await stage.get('/api/holders/1', headers)
    t.is(body.badgeLabel, label)
    const selected = await list('/api/holders', { select: 'badge.label', sort: 'id' }, headers)
    t.deepEqual(selected.body.items[0], { badge: label === null ? null : { label } })
    for (const each of ['first', 'second', 'third', 'deleted']) {
      const isIt = each === label
      const own = await found('/api/holders', { filter: `badge.label=${each}` }, headers)
      t.deepEqual(own, { names: isIt ? ['one'] : [], total: isIt ? 1 : 0 }, each)
      const far = await found('/api/houses', { filter: `people.badge.label=${each}` }, headers)
      t.deepEqual(far, { names: isIt ? ['a'] : [], total: isIt ? 1 : 0 }, each)
    }
  }
})

test('a key that several records share leads to the first of them', async (t) => {
  t.deepEqual(await found('/api/houses', { sort: 'keeper.name,id' }), { names: ['b', 'c', 'a'], total: 3 })
  t.deepEqual(await found('/api/houses', { filter: 'keeper.name=one' }), { names: ['a'], total: 1 })
  t.deepEqual(await found('/api/houses', { filter: 'keeper.name=two' }), { names: [], total: 0 })
  t.deepEqual(await found('/api/houses', { filter: 'people.house.keeper.name=one' }), { names: ['a'], total: 1 })
  t.deepEqual(await found('/api/houses', { filter: 'keeper.badge.label=first' }), { names: ['a'], total: 1 })
})

test('writes answer with it too', async (t) => {
  for (const path of ['/api/holders', '/hooked/api/holders']) {
    const { body, status } = await stage.patch(`${path}/1`, { name: 'one' }, owners({ owner: 'jan' }))
    t.is(status, 200)
    t.is(body.badgeLabel, 'second')
  }
})

test('where the models say that there is one at most, the database is not asked which is the first', async (t) => {
  const asked = async (path: string, filter: string): Promise<string> => {
    const before = stage.statements.length
    t.is((await list(path, { filter })).status, 200)
    return stage.statements.slice(before).join()
  }
  const first = /ORDER BY [`"]_q\d+[`"]\.[`"]id[`"] LIMIT 1\)/
  t.regex(await asked('/api/holders', 'badge.label!=x'), first)
  t.regex(await asked('/api/houses', 'keeper.name!=x'), first)
  for (const path of ['locker.label', 'note.text', 'house.street', 'house.people.name']) {
    t.notRegex(await asked('/api/houses', `people.${path}!=x`), first, path)
  }
})
