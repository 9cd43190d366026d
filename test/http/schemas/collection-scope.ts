// Models whose default scope includes collections. Every query has the result of the same model without the scope.

import ava from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

const operations = Operations.AllWithBulk | Operations.BulkUpdate | Operations.Replace | Operations.Export
const plain = { timestamps: false }
const errors: unknown[] = []
const onError = (error: unknown): void => void errors.push(error)

const stage = await openStage(({ sequelize }, app) => {
  const Coach = sequelize.define('Coach', { name: DataTypes.STRING(20) }, plain)
  const Player = sequelize.define('Player', { name: DataTypes.STRING(20) }, plain)
  const Tag = sequelize.define('Tag', { name: DataTypes.STRING(20) }, plain)
  const defineTeam = (name: string, defaultScope: object): ModelStatic<Model> => {
    const Team = sequelize.define(
      name,
      {
        name: DataTypes.STRING(20),
        size: {
          type: DataTypes.VIRTUAL(DataTypes.INTEGER),
          get(this: Model & { players?: readonly unknown[] }) {
            return this.players?.length ?? 0
          },
        },
      },
      { tableName: 'teams', timestamps: false, defaultScope },
    )
    Team.hasMany(Player, { as: 'players', foreignKey: 'teamId', constraints: false })
    Team.belongsTo(Coach, { as: 'coach', foreignKey: 'coachId', constraints: false })
    Team.belongsToMany(Tag, {
      as: 'tags',
      through: 'TeamTag',
      foreignKey: 'teamId',
      constraints: false,
      timestamps: false,
    })
    app.use(crudRouter(Team, { route: name, operations, onError, fields: { size: { exclude: 'create' } } }))
    return Team
  }
  app.use(crudRouter(Coach), crudRouter(Player), crudRouter(Tag))
  const Bare = defineTeam('bare', {})
  defineTeam('included', { include: ['tags', 'players', 'coach'], order: [['name', 'DESC']] })
  const Manned = defineTeam('manned', { include: [{ association: 'players', required: true }] })
  Manned.addHook('beforeFind', () => undefined)
  return { Bare, Coach, Player, Tag }
})
test.after.always(() => stage.close())

interface Linked {
  setTags(tags: readonly Model[]): Promise<void>
}

test.before(async () => {
  const { Bare, Coach, Player, Tag } = stage
  const coaches = await Coach.bulkCreate([{ name: 'Ann' }, { name: 'Bob' }])
  const tags = await Tag.bulkCreate([{ name: 'red' }, { name: 'blue' }, { name: 'old' }])
  for (let index = 0; index < 9; index += 1) {
    const coachId = coaches[index % 3]?.get('id') ?? null
    const team = await Bare.create({ name: `team ${(index * 4) % 9}`, coachId })
    await (team as Model & Linked).setTags(tags.slice(0, index % 4))
    const players = Array.from({ length: index % 5 }, (_, at) => ({ name: `p${at}`, teamId: team.get('id') }))
    await Player.bulkCreate(players)
  }
})

const QUERIES: readonly string[] = [
  ...[
    '',
    '?pageSize=2',
    '?pageSize=3&page=2',
    '?pageSize=3&page=3&sort=-name',
    '?count=true',
    '?sort=coach.name,-name&pageSize=2&page=2',
  ],
  ...[
    '?filter=coach.name=Ann&pageSize=1',
    '?filter=players.name=p1&pageSize=2&sort=-players.Count,id',
    '?filter=tags.Count>1&count=true',
    '?filter=coach.name=Ann&count=true',
  ],
  ...[
    '?select=name&pageSize=2&sort=name',
    '?select=name,players(name),coach(name)&pageSize=2&players.sort=name',
    '?keys=2,4,7&pageSize=2',
  ],
  ...[
    '/4',
    '/4?select=name,tags(name)&tags.sort=name',
    '?format=jsonl&select=id,name,coachId',
    '?filter=id>3|name=team 0&pageSize=2&page=2',
  ],
]

/** The response without the virtual attribute and without cursors, which are bound to their resource. */
function comparable({ status, text }: { status: number; text: string }): unknown {
  return [status, text.replace(/,?"size":\d+/g, '').replace(/"(next|previous)Cursor":"[^"]*"/g, '"$1Cursor":"x"')]
}

for (const query of QUERIES) {
  test(`an included collection changes no result of ${query === '' ? 'a list' : query}`, async (t) => {
    t.deepEqual(comparable(await stage.get(`/included${query}`)), comparable(await stage.get(`/bare${query}`)))
  })
}

test('a required collection leaves out records without elements, in pages and in their number', async (t) => {
  const { body } = await stage.get('/bare?filter=players.Count>0&pageSize=3&page=2&sort=-name')
  t.like((await stage.get('/manned?pageSize=3&page=2&sort=-name')).body, {
    items: body.items.map(({ id }: { id: number }) => ({ id })),
    totalCount: body.totalCount,
    totalPages: body.totalPages,
  })
})

for (const route of ['/included', '/manned']) {
  test(`pages of ${route} have whole collections, and lead through all records once`, async (t) => {
    const sizes = await stage.get('/bare?select=id,players(id)&pageSize=100')
    const expected = new Map(
      sizes.body.items.map(({ id, players }: { id: number; players: [] }) => [id, players.length]),
    )
    for (const parameter of ['after', 'cursor']) {
      const found: (readonly [number, number])[] = []
      let cursor = ''
      for (let page = 0; page < 20 && cursor !== null; page += 1) {
        const { status, text, body } = await stage.get(`${route}?${parameter}=${cursor}&pageSize=2`)
        t.is(status, 200, text)
        found.push(...body.items.map(({ id, size }: { id: number; size: number }) => [id, size]))
        cursor = body.nextCursor
      }
      const all = [...expected].filter(([, size]) => route === '/included' || Number(size) > 0)
      t.deepEqual(new Map(found), new Map(all as [number, number][]))
      t.is(found.length, all.length)
    }
  })
}

test('the database counts the records', async (t) => {
  const { length } = stage.statements
  t.is((await stage.get('/included?count=true')).body.count, 9)
  t.deepEqual(
    stage.statements.slice(length).map((sql) => /count\(DISTINCT/i.test(sql)),
    [true],
  )
})

test('records with keys of several attributes are counted and paged as well', async (t) => {
  const { sequelize, get, close } = await openStage(({ sequelize }, app) => {
    const keys = {
      aisle: { type: DataTypes.INTEGER, primaryKey: true },
      place: { type: DataTypes.INTEGER, primaryKey: true },
    }
    const Shelf = sequelize.define('Shelf', keys, { ...plain, defaultScope: { include: ['boxes'] } })
    const Box = sequelize.define('Box', { name: DataTypes.STRING(20) }, plain)
    Shelf.hasMany(Box, { as: 'boxes', foreignKey: 'place', sourceKey: 'place', constraints: false })
    app.use(crudRouter(Shelf, { route: 'shelves', onError }), crudRouter(Box))
  })
  try {
    const places = [1, 2, 3]
    await sequelize.model('Shelf').bulkCreate([7, 8].flatMap((aisle) => places.map((place) => ({ aisle, place }))))
    await sequelize.model('Box').bulkCreate(places.flatMap((place) => places.map(() => ({ name: 'box', place }))))
    const { body } = await get('/shelves?pageSize=4&page=2&sort=place,aisle')
    t.like(body, {
      totalCount: 6,
      items: [
        { aisle: 7, place: 3 },
        { aisle: 8, place: 3 },
      ],
    })
    t.is(body.items.length, 2)
    t.is((await get('/shelves?filter=aisle=7&count=true')).body.count, 3)
  } finally {
    await close()
  }
})

for (const route of ['/included', '/manned']) {
  test(`responses to writes of ${route} have the values of virtual attributes that a GET has`, async (t) => {
    for (const id of [3, 4]) {
      const before = await stage.get(`${route}/${id}`)
      t.true(before.body.size > 1, before.text)
      const { name, coachId } = before.body
      const patched = await stage.patch(`${route}/${id}`, { name: 'x' })
      t.deepEqual([patched.status, patched.body], [200, { ...before.body, name: 'x' }])
      const other = { name: 'other' }
      const several = await stage.patch(`${route}/bulk`, [
        { id, name },
        { id: id + 5, ...other },
      ])
      const { body: changed } = await stage.get(`${route}/${id + 5}`)
      t.deepEqual([several.status, several.body], [200, [before.body, changed]])
      const replaced = await stage.send('PUT', `${route}/${id}`, { json: { name, coachId } })
      t.deepEqual([replaced.status, replaced.body], [200, before.body])
    }
    const created = await stage.post(route, { name: 'new' })
    t.deepEqual([created.status, created.body.size, created.body.name], [201, 0, 'new'])
    const bulk = await stage.post(`${route}/bulk`, [{ name: 'n' }, { name: 'm' }])
    t.deepEqual(
      bulk.body.map(({ name, size }: { name: string; size: number }) => [name, size]),
      [
        ['n', 0],
        ['m', 0],
      ],
    )
    await stage.Bare.destroy({ where: { id: [created.body.id, ...bulk.body.map(({ id }: { id: number }) => id)] } })
    t.deepEqual(errors, [])
  })
}

test('records with an included collection are changed and deleted', async (t) => {
  t.like(await stage.patch('/included/4', { name: 'new' }), { status: 200, body: { id: 4, name: 'new' } })
  t.is(
    (
      await stage.patch('/included/bulk', [
        { id: 4, name: 'a' },
        { id: 5, name: 'b' },
      ])
    ).status,
    200,
  )
  t.like((await stage.get('/bare/5')).body, { name: 'b' })
  t.is((await stage.delete('/included/5')).status, 204)
  t.is((await stage.get('/bare/5')).status, 404)
  t.is((await stage.get('/included?count=true')).body.count, 8)
  t.deepEqual(errors, [])
})
