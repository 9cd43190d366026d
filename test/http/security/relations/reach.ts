// Attacks over relations: two mounts, self-joins, scoped associations, default scopes, masked foreign keys, deleted
// targets.

import { Agent } from 'node:http'
import test from 'ava'
import { DataTypes, Op } from 'sequelize'
import { type CrudOptions, crudRouter, hasRole, Operations } from '../../../../lib/index.js'
import { listPath } from '../../../support/league.js'
import type { Answer } from '../../../support/server.js'
import { openStage } from '../../../support/stage.js'
import { bearer, identity, withPermission, withRole } from '../../../support/tokens.js'
import { describeResponse } from '../../../support/told.js'

const plain = { timestamps: false }
const common: CrudOptions = { identity, operations: Operations.AllWithBulk, onError: () => undefined }

const stage = await openStage(({ sequelize }, app) => {
  // Every model mounted twice, and relations that lead in circles.
  const Boss = sequelize.define(
    'Boss',
    { name: DataTypes.STRING, wage: DataTypes.INTEGER, code: DataTypes.STRING },
    plain,
  )
  const Desk = sequelize.define('Desk', { name: DataTypes.STRING, inventory: DataTypes.STRING }, plain)
  const Office = sequelize.define('Office', { name: DataTypes.STRING }, plain)
  Boss.belongsTo(Boss, { as: 'above', foreignKey: 'aboveId' })
  Boss.hasMany(Boss, { as: 'below', foreignKey: 'aboveId' })
  Boss.belongsTo(Desk, { as: 'desk', foreignKey: 'deskId' })
  Boss.belongsTo(Office, { as: 'office', foreignKey: 'officeId' })
  Desk.hasMany(Boss, { as: 'users', foreignKey: 'deskId' })
  Office.hasMany(Boss, { as: 'people', foreignKey: 'officeId' })
  app.use('/a', crudRouter(Boss, { ...common, mask: { wage: 'payroll' }, flatten: ['desk', 'office'] }))
  app.use(
    '/b',
    crudRouter(Boss, {
      ...common,
      fields: { code: { exclude: true } },
      relations: { desk: { fields: ['name'] }, office: false },
      flatten: ['desk'],
    }),
  )
  app.use('/a', crudRouter(Desk, common))
  app.use('/b', crudRouter(Desk, common))
  app.use('/a', crudRouter(Office, common))
  app.use('/b', crudRouter(Office, common))
  const Room = sequelize.define('Room', { name: DataTypes.STRING }, plain)
  Room.belongsTo(Boss, { as: 'boss', foreignKey: 'bossId' })
  app.use(crudRouter(Room, { ...common, flatten: ['boss'], limits: { pathDepth: 5 } }))

  // Associations with a scope of their own: a tag of a post is not the tag of the user with the same number.
  const Tag = sequelize.define(
    'Tag',
    { label: DataTypes.STRING, kind: DataTypes.STRING, ownerId: DataTypes.INTEGER },
    plain,
  )
  const Post = sequelize.define('Post', { title: DataTypes.STRING }, plain)
  const Author = sequelize.define('Author', { name: DataTypes.STRING }, plain)
  const tagged = { foreignKey: 'ownerId', constraints: false, scope: { kind: 'post' } }
  Post.hasOne(Tag, { as: 'badge', ...tagged })
  Post.hasMany(Tag, { as: 'tags', ...tagged })
  Author.hasMany(Post, { as: 'posts', foreignKey: 'authorId' })
  Author.belongsTo(Post, { as: 'best', foreignKey: 'bestId', constraints: false })
  for (const model of [Tag, Post, Author]) app.use(crudRouter(model, common))

  // Default scopes beside what the package adds: neither may replace the other, on the way over instances either.
  const hide = { [Op.and]: [{ visible: true }] }
  const paper = { text: DataTypes.STRING, owner: DataTypes.STRING, visible: DataTypes.BOOLEAN }
  const loud = { type: DataTypes.VIRTUAL, get: () => 'LOUD' }
  const Paper = sequelize.define('Paper', paper, { ...plain, defaultScope: { where: hide } })
  const Sheet = sequelize.define('Sheet', { ...paper, loud }, { ...plain, defaultScope: { where: hide } })
  const File = sequelize.define('File', { name: DataTypes.STRING }, plain)
  const Binder = sequelize.define('Binder', { name: DataTypes.STRING, loud }, plain)
  for (const holder of [File, Binder]) {
    holder.belongsTo(Paper, { as: 'paper', foreignKey: 'paperId' })
    holder.belongsTo(Sheet, { as: 'sheet', foreignKey: 'sheetId', constraints: false })
  }
  Paper.hasMany(File, { as: 'files', foreignKey: 'paperId' })
  const scope = (): { owner: string } => ({ owner: 'jan' })
  for (const model of [Paper, Sheet]) app.use(crudRouter(model, { ...common, softDelete: true, scope }))
  for (const model of [File, Binder]) app.use(crudRouter(model, common))

  // A foreign key that is masked, and the relation that hangs on it.
  const Bank = sequelize.define('Bank', { name: DataTypes.STRING }, plain)
  const Client = sequelize.define('Client', { name: DataTypes.STRING }, plain)
  Client.belongsTo(Bank, { as: 'bank', foreignKey: 'bankId' })
  Bank.hasMany(Client, { as: 'clients', foreignKey: 'bankId' })
  Client.belongsTo(Boss, { as: 'adviser', foreignKey: 'adviserId' })
  Bank.belongsTo(Boss, { as: 'chief', foreignKey: 'chiefId' })
  app.use(crudRouter(Bank, { ...common, query: { search: ['name', 'chief.name'] } }))
  app.use(crudRouter(Client, { ...common, mask: { bankId: 'audit' }, flatten: ['bank'] }))

  // Deleted targets.
  const Crew = sequelize.define('Crew', { name: DataTypes.STRING }, plain)
  const Ship = sequelize.define('Ship', { name: DataTypes.STRING }, { ...plain, timestamps: true, paranoid: true })
  const Sailor = sequelize.define('Sailor', { name: DataTypes.STRING }, plain)
  Sailor.belongsTo(Crew, { as: 'crew', foreignKey: 'crewId' })
  Sailor.belongsTo(Ship, { as: 'ship', foreignKey: 'shipId' })
  Sailor.belongsTo(Sailor, { as: 'captain', foreignKey: 'captainId' })
  Crew.hasMany(Sailor, { as: 'sailors', foreignKey: 'crewId' })
  for (const model of [Crew, Ship, Sailor]) {
    app.use(
      crudRouter(model, { ...common, softDelete: true, ...(model === Sailor ? { flatten: ['crew', 'ship'] } : {}) }),
    )
  }

  // A quantifier's word as the name of a relation, with something to protect behind it.
  const Store = sequelize.define('Store', { name: DataTypes.STRING }, plain)
  const Good = sequelize.define('Good', { name: DataTypes.STRING }, plain)
  const Cellar = sequelize.define('Cellar', { wine: DataTypes.STRING }, plain)
  Store.hasMany(Good, { as: 'goods', foreignKey: 'storeId' })
  Good.belongsTo(Cellar, { as: 'any', foreignKey: 'anyId' })
  Good.belongsTo(Cellar, { as: 'all', foreignKey: 'allId' })
  Good.belongsTo(Store, { as: 'store', foreignKey: 'storeId' })
  app.use(crudRouter(Store, { ...common, softDelete: true }))
  app.use(crudRouter(Good, common))
  app.use(crudRouter(Cellar, { ...common, authorizePolicy: hasRole('keeper') }))
})
const model = (name: string): ReturnType<typeof stage.sequelize.model> => stage.sequelize.model(name)
await model('Desk').bulkCreate([{ name: 'Oak', inventory: 'X-1' }])
await model('Office').bulkCreate([{ name: 'Attic' }])
await model('Boss').bulkCreate([{ name: 'Top', wage: 900, code: 'c1', deskId: 1, officeId: 1 }])
await model('Boss').bulkCreate([{ name: 'Low', wage: 100, code: 'c2', aboveId: 1 }])
await model('Room').bulkCreate([
  { name: 'R1', bossId: 1 },
  { name: 'R2', bossId: 2 },
])
await model('Post').bulkCreate([{ title: 'first', authorId: null }, { title: 'second' }])
await model('Author').bulkCreate([
  { name: 'Ann', bestId: 1 },
  { name: 'Bob', bestId: 2 },
])
await model('Post').update({ authorId: 1 }, { where: { id: 1 } })
await model('Post').update({ authorId: 2 }, { where: { id: 2 } })
await model('Tag').bulkCreate([
  { label: 'gold', kind: 'user', ownerId: 1 },
  { label: 'gold', kind: 'post', ownerId: 2 },
])
for (const name of ['Paper', 'Sheet']) {
  await model(name).bulkCreate([
    { text: 'mine', owner: 'jan', visible: true },
    { text: 'hidden', owner: 'jan', visible: false },
    { text: 'theirs', owner: 'eva', visible: true },
  ])
}
for (const name of ['File', 'Binder']) {
  await model(name).bulkCreate([1, 2, 3].map((id) => ({ name: `f${id}`, paperId: id, sheetId: id })))
}
await model('Bank').bulkCreate([{ name: 'Swiss' }])
await model('Client').bulkCreate([{ name: 'Al', bankId: 1 }, { name: 'Bo' }])
await model('Crew').bulkCreate([{ name: 'red' }, { name: 'blue' }])
await model('Ship').bulkCreate([{ name: 'Argo' }, { name: 'Beagle' }])
await model('Sailor').bulkCreate([
  { name: 's1', crewId: 1, shipId: 1 },
  { name: 's2', crewId: 2, shipId: 2 },
])
await model('Sailor').bulkCreate([
  { name: 's3', captainId: 1 },
  { name: 's4', captainId: 2 },
])
await model('Store').bulkCreate([{ name: 'shop' }])
await model('Cellar').bulkCreate([{ wine: 'red' }])
await model('Good').bulkCreate([{ name: 'jam', storeId: 1, anyId: 1, allId: 1 }])
const agent = new Agent({ keepAlive: true })
test.after.always(async () => {
  agent.destroy()
  await stage.close()
})

const jan = bearer({ sub: 'jan' })
const list = (
  path: string,
  parameters: Record<string, string>,
  headers: Record<string, string> = jan,
): Promise<Answer> => stage.get(listPath(path, parameters), headers)

async function found(path: string, filter: string, headers: Record<string, string> = jan): Promise<unknown> {
  const { status, body } = await list(path, { filter, sort: 'id' }, headers)
  return status === 200 ? body.items.map(({ name }: { name: string }) => name) : body.title
}

const UNKNOWN = 'Unknown field.'

test('models that are mounted twice and lead in circles can be crossed', async (t) => {
  t.deepEqual(await found('/api/rooms', 'boss.name=Top'), ['R1'])
  t.deepEqual(await found('/api/rooms', 'boss.above.name=Top'), ['R2'])
  t.deepEqual(await found('/a/api/bosses', 'above.below.above.name=Top'), ['Low'])
  t.deepEqual(await found('/a/api/desks', 'users.desk.users.name=Top'), ['Oak'])
  t.deepEqual(await found('/b/api/desks', 'users.any(desk.name=Oak,below.count=1)'), ['Oak'])
})

test('over a model that is mounted twice, what one of the two closes is closed', async (t) => {
  const payroll = withPermission('payroll')
  t.is(await found('/api/rooms', 'boss.wage>1'), UNKNOWN)
  t.deepEqual(await found('/api/rooms', 'boss.wage>500', payroll), ['R1'])
  t.is(await found('/api/rooms', 'boss.code=c1', payroll), UNKNOWN)
  t.is(await found('/api/rooms', 'boss.above.code=c1'), UNKNOWN)
  t.is(await found('/api/rooms', 'boss.above.wage>1'), UNKNOWN)
  // Relations: one mount refuses the office, and opens nothing but the name of the desk.
  t.is(await found('/api/rooms', 'boss.office.name=Attic'), UNKNOWN)
  t.is(await found('/api/rooms', 'boss.office=null'), UNKNOWN)
  t.is(await found('/api/rooms', 'boss.desk.inventory=X-1'), UNKNOWN)
  t.deepEqual(await found('/api/rooms', 'boss.desk.name=Oak'), ['R1'])
  t.is(await found('/api/rooms', 'boss.above.desk.inventory=X-1'), UNKNOWN)
  t.is(await found('/a/api/desks', 'users.office.name=Attic'), UNKNOWN)
  for (const sort of ['boss.wage', 'boss.code', 'boss.office.name', 'boss.desk.inventory']) {
    t.is((await list('/api/rooms', { sort })).status, 400, sort)
  }
  for (const select of ['boss.code', 'boss.office.name', 'boss.desk.inventory']) {
    t.is((await list('/api/rooms', { select })).status, 400, select)
  }
  // Each mount itself goes by its own word.
  t.deepEqual(await found('/a/api/bosses', 'office.name=Attic'), ['Top'])
  t.is(await found('/b/api/bosses', 'office.name=Attic'), UNKNOWN)
  t.deepEqual(await found('/b/api/bosses', 'wage>500'), ['Top'])
})

test('what is flattened over a model that is mounted twice is what both would show', async (t) => {
  const { body } = await stage.get('/api/rooms/1', withPermission('payroll'))
  t.like(body, { bossName: 'Top', bossWage: 900, bossDeskName: 'Oak' })
  for (const name of ['bossCode', 'bossOfficeName', 'bossDeskInventory']) t.false(name in body, name)
  t.like((await stage.get('/api/rooms/1', jan)).body, { bossWage: null })
  t.like((await stage.get('/a/api/bosses/1', jan)).body, { deskName: 'Oak', deskInventory: 'X-1', officeName: 'Attic' })
})

test('an association with a scope never reaches records of another kind', async (t) => {
  t.deepEqual(await found('/api/authors', 'posts.badge.label=gold'), ['Bob'])
  t.deepEqual(await found('/api/authors', 'posts.any(badge.label=gold)'), ['Bob'])
  t.deepEqual(await found('/api/authors', 'posts.badge=null'), ['Ann'])
  t.deepEqual(await found('/api/authors', 'posts.badge.label!=gold'), ['Ann'])
  t.deepEqual(await found('/api/authors', 'posts.tags.label=gold'), ['Bob'])
  t.deepEqual(await found('/api/authors', 'posts.tags.count=1'), ['Bob'])
  t.deepEqual(await found('/api/authors', 'best.badge.label=gold'), ['Bob'])
  t.deepEqual(await found('/api/authors', 'best.badge=null'), ['Ann'])
  t.deepEqual(await found('/api/authors', 'best.tags.label=gold'), ['Bob'])
  const { body } = await list('/api/authors', { select: 'name,best.badge.label', sort: 'id' })
  t.deepEqual(body.items, [
    { name: 'Ann', best: { badge: null } },
    { name: 'Bob', best: { badge: { label: 'gold' } } },
  ])
})

for (const [path, prefix] of [
  ['/api/papers', ''],
  ['/api/sheets', 'read by instances, '],
] as const) {
  test(`${prefix}a model's default scope and the caller's scope hold both, on every route of ${path}`, async (t) => {
    const texts = async (query: string): Promise<unknown> =>
      (await stage.get(path + query, jan)).body.items.map(({ text }: { text: string }) => text)
    const queries = ['', '?cursor=', '?filter=text!=x', '?text=hidden', '?includeDeleted=true', '?select=text']
    for (const query of queries) t.deepEqual(await texts(query), query === '?text=hidden' ? [] : ['mine'], query)
    t.deepEqual((await stage.get(`${path}?count=true&filter=text!=x`, jan)).body, { count: 1 })
    t.is((await stage.get(`${path}/1`, jan)).status, 200)
    for (const id of [2, 3]) {
      t.is((await stage.get(`${path}/${id}`, jan)).status, 404)
      t.is((await stage.patch(`${path}/${id}`, { text: 'x' }, jan)).status, 404)
      t.is((await stage.delete(`${path}/${id}`, jan)).status, 404)
    }
    t.deepEqual((await stage.post(`${path}/bulk-delete`, [2, 3], jan)).body, { deleted: 0 })
  })
}

for (const path of ['/api/files', '/api/binders']) {
  test(`relation paths of ${path} honour the default scope of their target, its scope and its deletions`, async (t) => {
    for (const relation of ['paper', 'sheet']) {
      t.deepEqual(await found(path, `${relation}.text!=x`), ['f1', 'f2', 'f3'])
      t.deepEqual(await found(path, `${relation}.text=hidden`), [], relation)
      t.deepEqual(await found(path, `${relation}.text=theirs`), [], relation)
      t.deepEqual(await found(path, `${relation}!=null`), ['f1'], relation)
      const { body } = await list(path, { select: `name,${relation}.text`, sort: 'id' })
      t.deepEqual(body.items, [
        { name: 'f1', [relation]: { text: 'mine' } },
        { name: 'f2', [relation]: null },
        { name: 'f3', [relation]: null },
      ])
    }
  })
}

test('default scopes and scopes hold inside quantifiers too', async (t) => {
  const texts = async (filter: string): Promise<unknown> =>
    (await list('/api/papers', { filter })).body.items.map(({ text }: { text: string }) => text)
  t.deepEqual(await texts('files.paper.text=hidden'), [])
  t.deepEqual(await texts('files.paper.text=mine'), ['mine'])
  t.deepEqual(await texts('files.count(paper.text=theirs)>0'), [])
})

test('a relation that hangs on a masked foreign key tells what the key would', async (t) => {
  t.like((await stage.get('/api/clients/1', jan)).body, { bankId: null, bankName: null })
  for (const filter of ['bankId=1', 'bank.name=Swiss', 'bank=null', 'bank!=null', 'bank.clients.name=Al']) {
    t.is(await found('/api/clients', filter), UNKNOWN, filter)
  }
  for (const parameters of [{ select: 'name,bank.id' }, { select: 'bank.name' }, { sort: 'bank.name' }]) {
    t.is((await list('/api/clients', parameters)).status, 400, JSON.stringify(parameters))
  }
  for (const filter of ['clients.name=Al', 'clients.count>0', 'clients.any(name=Al)']) {
    t.is(await found('/api/banks', filter), UNKNOWN, filter)
  }
  const audit = withRole('audit')
  t.like((await stage.get('/api/clients/1', audit)).body, { bankId: 1, bankName: 'Swiss' })
  t.deepEqual(await found('/api/clients', 'bank.name=Swiss', audit), ['Al'])
  t.deepEqual(await found('/api/banks', 'clients.name=Al', audit), ['Swiss'])
  t.deepEqual(await found('/api/clients', 'bank.clients.bank.name=Swiss', audit), ['Al'])
})

test('what closes a relation leaves no trace in the headers either', async (t) => {
  const answers = (path: string, parameters: (name: string) => Record<string, string>): Promise<unknown[]> =>
    Promise.all(
      ['clients', 'clientz'].map((name) =>
        describeResponse(agent, stage.url + listPath(path, parameters(name)), name, jan),
      ),
    )
  for (const filter of ['?.name=Al', '?.count>0', '?.any(name=Al)', '?.bank.name=Swiss', 'id=1|?.none(bank.name=x)']) {
    const [closed, absent] = await answers('/api/banks', (name) => ({ filter: filter.replace('?', name) }))
    t.deepEqual(closed, absent, filter)
  }
})

test('resources behind a closed relation leave no trace in the headers', async (t) => {
  for (const filter of ['?.adviser.name=Top', '?.any(adviser.name=Top)', '?.adviser.above.name=Top']) {
    const [closed, absent] = await Promise.all(
      ['clients', 'clientz'].map((name) =>
        describeResponse(agent, stage.url + listPath('/api/banks', { filter: filter.replace('?', name) }), name, jan),
      ),
    )
    t.deepEqual(closed, absent, filter)
    const open = await list('/api/banks', { filter: filter.replace('?', 'clients') }, withRole('audit'))
    t.is(open.status, 200, filter)
    t.is(open.headers.get('cache-control'), 'private', filter)
  }
})

test('a closed relation in the select of one record leaves no trace of what lists search', async (t) => {
  const answers = ['clients', 'clientz'].map((name) =>
    describeResponse(agent, stage.url + listPath('/api/banks/1', { select: `${name}.name` }), name, jan),
  )
  const [closed, absent] = await Promise.all(answers)
  t.like(closed, { status: 400 })
  t.deepEqual(closed, absent)
})

test('includeDeleted shows the deleted records of the list, never those behind its relations', async (t) => {
  t.is((await stage.delete('/api/crews/2', jan)).status, 204)
  t.is((await stage.delete('/api/ships/2', jan)).status, 204)
  t.is((await stage.delete('/api/sailors/2', jan)).status, 204)
  const names = async (filter: string): Promise<unknown> =>
    (await list('/api/sailors', { filter, includeDeleted: 'true', sort: 'id' })).body.items.map(
      ({ name }: { name: string }) => name,
    )
  t.deepEqual(await names('name!=x'), ['s1', 's2', 's3', 's4'])
  t.deepEqual(await names('crew.name=blue'), [])
  t.deepEqual(await names('ship.name=Beagle'), [])
  t.deepEqual(await names('captain.name=s2'), [])
  t.deepEqual(await names('captain.name=s1'), ['s3'])
  t.deepEqual(await names('ship=null,crew=null'), ['s2', 's3', 's4'])
  const { body } = await list('/api/sailors', {
    select: 'name,crew.name,ship.name,captain.name',
    includeDeleted: 'true',
    filter: 'name=s2|name=s4',
    sort: 'id',
  })
  t.deepEqual(body.items, [
    { name: 's2', crew: null, ship: null, captain: null },
    { name: 's4', crew: null, ship: null, captain: null },
  ])
  const page = await list('/api/sailors', { includeDeleted: 'true', sort: 'id' })
  t.like(page.body.items[1], { name: 's2', crewName: null, shipName: null })
  t.deepEqual((await list('/api/crews', { filter: 'sailors.count=0', includeDeleted: 'true' })).body.totalCount, 1)
})

test('a relation named like a quantifier opens no way around a policy', async (t) => {
  for (const filter of [
    'goods.any.wine=red',
    'goods.any.any.wine=red',
    'goods.all.all.wine=red',
    'goods.any(any.wine=red)',
  ]) {
    t.is(await found('/api/stores', filter), UNKNOWN, filter)
  }
  t.deepEqual(await found('/api/stores', 'goods.any.any.wine=red', withRole('keeper')), ['shop'])
  t.deepEqual(await found('/api/stores', 'goods.any.store.name=shop', withRole('keeper')), ['shop'])
  t.deepEqual(await found('/api/stores', 'goods.any.store.name=shop'), ['shop'])
})
