// Owners with more children or links than a request may read at once: reads are bounded by a limit, and links go page by page.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter } from '../../lib/index.js'
import { openStage } from '../support/stage.js'

const LINKS = 2500
const CHILDREN = 40
const BULK_ITEMS = 10

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
