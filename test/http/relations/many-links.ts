// Owners with more children or links than a request may read at once: reads are bounded by a limit, and links go page by page.

import test from 'ava'
import { DataTypes, QueryTypes } from 'sequelize'
import { crudRouter } from '../../../lib/index.js'
import { databaseName } from '../../support/database.js'
import { openStage } from '../../support/stage.js'

const LINKS = 2500
const CHILDREN = 40
const BULK_ITEMS = 10
/** Links that are read at once. */
const PAGE = 1000

/** The most records that one find has given, of the models with hooks. */
let widest = 0

const stage = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  for (const kind of ['Plain', 'Hooked']) {
    const Team = sequelize.define(`${kind}Team`, { name: DataTypes.STRING(9) }, plain)
    const Player = sequelize.define(`${kind}Player`, { name: DataTypes.STRING(9) }, plain)
    const Tag = sequelize.define(`${kind}Tag`, { name: DataTypes.STRING(9) }, plain)
    const Tagging = sequelize.define(`${kind}Tagging`, {}, plain)
    Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
    Team.belongsToMany(Tag, { as: 'tags', through: Tagging, foreignKey: 'teamId', otherKey: 'tagId' })
    if (kind === 'Hooked') {
      for (const model of [Player, Tag, Tagging]) {
        model.addHook('afterFind', (found) => {
          widest = Math.max(widest, Array.isArray(found) ? found.length : 1)
        })
      }
      Tagging.addHook('beforeBulkDestroy', () => undefined)
    }
    app.use(
      crudRouter(Team, {
        limits: { bulkItems: BULK_ITEMS },
        relations: { players: { write: true }, tags: { routes: true, write: true } },
      }),
      crudRouter(Player),
      crudRouter(Tag),
    )
  }
  const id = { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true }
  const Room = sequelize.define('Room', { name: DataTypes.STRING(9) }, plain)
  const Badge = sequelize.define('Badge', { tenant: DataTypes.INTEGER }, plain)
  const ends = { foreignKey: 'roomId', otherKey: 'badgeId' }
  Room.belongsToMany(Badge, { as: 'badges', through: sequelize.define('RoomBadge', {}, plain), ...ends })
  const Double = sequelize.define('Double', { id }, plain)
  Room.belongsToMany(Badge, { as: 'doubles', through: { model: Double, unique: false }, ...ends })
  const Loose = sequelize.define('Loose', { id, badgeId: DataTypes.INTEGER }, plain)
  Room.belongsToMany(Badge, { as: 'loose', through: Loose, ...ends })
  const routes = { routes: true } as const
  app.use(
    crudRouter(Room, { relations: { badges: routes, doubles: routes, loose: routes } }),
    crudRouter(Badge, { scope: () => ({ tenant: 1 }) }),
  )
})
const { sequelize } = stage
test.after.always(() => stage.close())

for (const kind of ['Plain', 'Hooked'] as const) {
  const teams = `/api/${kind.toLowerCase()}teams`
  const Tagging = sequelize.model(`${kind}Tagging`)

  test.before(async () => {
    await sequelize.model(`${kind}Team`).bulkCreate([{ name: 'a' }, { name: 'b' }])
    await sequelize.model(`${kind}Tag`).bulkCreate(Array.from({ length: LINKS }, () => ({ name: 't' })))
    const players = Array.from({ length: CHILDREN }, () => ({ name: 'p', teamId: 1 }))
    await sequelize.model(`${kind}Player`).bulkCreate(players)
  })

  const linkAll = (): Promise<unknown> =>
    Tagging.bulkCreate(Array.from({ length: LINKS }, (_, index) => ({ teamId: 1, tagId: index + 1 })))

  test.serial(`no more children are read than a request may remove: ${kind}`, async (t) => {
    widest = 0
    const statements = stage.statements.length
    const { status, body } = await stage.patch(`${teams}/1`, { players: [{ id: 1 }] })
    t.deepEqual([status, body.code], [400, 'malformed-body'])
    t.true(stage.statements.length - statements < 8)
    if (kind === 'Hooked') t.is(widest, BULK_ITEMS)
    t.is(await sequelize.model(`${kind}Player`).count(), CHILDREN)
  })

  test.serial(`the links of an owner with many are cleared and replaced page by page: ${kind}`, async (t) => {
    for (const [method, path, json, left] of [
      ['PUT', `${teams}/1/tags`, [], []],
      ['PUT', `${teams}/1/tags`, [7, 2400], [7, 2400]],
      ['PATCH', `${teams}/1`, { tags: [] }, []],
      ['PATCH', `${teams}/1`, { tags: [1500] }, [1500]],
    ] as const) {
      await Tagging.destroy({ where: {} })
      await linkAll()
      await Tagging.create({ teamId: 2, tagId: 1 })
      widest = 0
      const before = stage.statements.length
      const { status, body, text } = await stage.send(method, path, { json })
      t.is(status, 200, text)
      if (method === 'PUT') t.deepEqual(body, { linked: 0, unlinked: LINKS - left.length })
      const rows = await Tagging.findAll({ where: { teamId: 1 }, order: ['tagId'], hooks: false } as object)
      t.deepEqual(
        rows.map((row) => row.get('tagId')),
        [...left],
      )
      // Three pages, each read, held against the tags that may be met, and deleted.
      t.true(stage.statements.length - before < 22, `${stage.statements.length - before} statements`)
      if (kind === 'Hooked') t.true(widest <= 1000, `${widest} records at once`)
      t.is(await Tagging.count({ where: { teamId: 2 } }), 1)
    }
  })
}

test.serial('links to records that the caller may not see are passed over, a page full of them too', async (t) => {
  await sequelize.model('Room').bulkCreate([{ name: 'a' }, { name: 'b' }])
  await sequelize
    .model('Badge')
    .bulkCreate(Array.from({ length: PAGE + 2 }, (_, index) => ({ tenant: index < PAGE ? 2 : 1 })))
  const RoomBadge = sequelize.model('RoomBadge')
  await RoomBadge.bulkCreate(Array.from({ length: PAGE + 2 }, (_, index) => ({ roomId: 1, badgeId: index + 1 })))
  const { status, body } = await stage.send('PUT', '/api/rooms/1/badges', { json: [PAGE + 2] })
  t.deepEqual([status, body], [200, { linked: 0, unlinked: 1 }])
  t.is(await RoomBadge.count(), PAGE + 1)
})

test.serial('a record is unlinked once, whichever pages have its rows', async (t) => {
  const Double = sequelize.model('Double')
  await sequelize.model('Badge').update({ tenant: 1 }, { where: {} })
  const badges = [...Array.from({ length: PAGE }, (_, index) => index + 1), 1]
  await Double.bulkCreate(badges.map((badgeId) => ({ roomId: 2, badgeId })))
  const { status, body } = await stage.send('PUT', '/api/rooms/2/doubles', { json: [] })
  t.deepEqual([status, body], [200, { linked: 0, unlinked: PAGE }])
  t.is(await Double.count(), 0)
})

test.serial('rows between that name no record are passed over, a page full of them too', async (t) => {
  const Loose = sequelize.model('Loose')
  await Loose.bulkCreate(Array.from({ length: PAGE }, () => ({ roomId: 2, badgeId: null })))
  await Loose.bulkCreate([1, 2].map((badgeId) => ({ roomId: 2, badgeId })))
  const { status, body } = await stage.send('PUT', '/api/rooms/2/loose', { json: [] })
  t.deepEqual([status, body], [200, { linked: 0, unlinked: 2 }])
  t.is(await Loose.count(), PAGE)
})

if (databaseName === 'postgres') {
  test.serial(
    'a page of links is deleted without a scan of the others, where the table has no statistics',
    async (t) => {
      const links = 20_000
      await sequelize.query('ALTER TABLE "PlainTaggings" SET (autovacuum_enabled = false)')
      await sequelize.query('TRUNCATE "PlainTaggings"')
      await sequelize.query(`INSERT INTO "PlainTags" (name) SELECT 't' FROM generate_series(1, ${links - LINKS})`)
      await sequelize.query('INSERT INTO "PlainTaggings" ("teamId", "tagId") SELECT 1, id FROM "PlainTags"')
      const before = await readRows()
      const { status, body } = await stage.send('PUT', '/api/plainteams/1/tags', { json: [] })
      t.deepEqual([status, body], [200, { linked: 0, unlinked: links }])
      // Servers report what transactions did about a second later.
      const deadline = Date.now() + 30_000
      let after = before
      while (after.deleted - before.deleted < links && Date.now() < deadline) {
        await new Promise((resolve) => setTimeout(resolve, 200))
        after = await readRows()
      }
      t.is(after.deleted - before.deleted, links)
      // To find each page in order, half of the links are read on average: 10 a link. The deletions scanned as many again.
      const read = after.fetched - before.fetched
      t.true(read < 12 * links, `${read} rows read`)
    },
  )
}

/** The rows that PostgreSQL has fetched by indexes and deleted, of the links without hooks. */
async function readRows(): Promise<{ readonly fetched: number; readonly deleted: number }> {
  const sql = `SELECT idx_tup_fetch AS fetched, n_tup_del AS deleted FROM pg_stat_user_tables
    WHERE relname = 'PlainTaggings'`
  const [row] = await sequelize.query<{ fetched: string; deleted: string }>(sql, { type: QueryTypes.SELECT })
  return { fetched: Number(row?.fetched), deleted: Number(row?.deleted) }
}
