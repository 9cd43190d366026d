// What a target's own model hides, its relations hide too: deleted records, and what the default scope leaves out.

import test from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { crudRouter } from '../../../lib/index.js'
import { keysOf, list } from '../../support/lists.js'
import { openStage } from '../../support/stage.js'

interface Shop {
  readonly Owner: ModelStatic<Model>
  readonly Item: ModelStatic<Model>
  readonly Tag: ModelStatic<Model>
}

/** Owners and items that may be deleted softly, tied by a code instead of the primary key; tags with a default scope. */
const shop = await openStage<Shop>(({ sequelize }, app) => {
  const soft = { timestamps: true, paranoid: true, createdAt: false as const, updatedAt: false as const }
  const Owner = sequelize.define(
    'Owner',
    { code: { type: DataTypes.STRING(10), unique: true, field: 'owner_code' }, name: DataTypes.STRING },
    soft,
  )
  const Item = sequelize.define('Item', { name: DataTypes.STRING, price: DataTypes.INTEGER }, soft)
  const Tag = sequelize.define(
    'Tag',
    { name: DataTypes.STRING, visible: DataTypes.BOOLEAN },
    { timestamps: false, defaultScope: { where: { visible: true } } },
  )
  const code = { field: 'item_owner', name: 'ownerCode' }
  Item.belongsTo(Owner, { as: 'owner', foreignKey: code, targetKey: 'code', constraints: false })
  Owner.hasMany(Item, { as: 'items', foreignKey: code, sourceKey: 'code', constraints: false })
  Owner.hasOne(Item, { as: 'first', foreignKey: 'firstOf' })
  Item.belongsToMany(Tag, { as: 'tags', through: 'ItemTags', timestamps: false })
  Tag.belongsToMany(Item, { as: 'items', through: 'ItemTags', timestamps: false })
  Tag.belongsTo(Item, { as: 'origin', foreignKey: 'originId' })
  Item.hasMany(Tag, { as: 'origins', foreignKey: 'originId' })
  for (const model of [Owner, Item, Tag]) app.use(crudRouter(model))
  return { Owner, Item, Tag }
})
const { Owner, Item, Tag } = shop
await Owner.bulkCreate([
  { code: 'x', name: 'Xenia' },
  { code: 'y', name: 'Yann' },
  { code: 'z', name: 'Zoe' },
])
await Item.bulkCreate([
  { name: 'pen', price: 1, ownerCode: 'x', firstOf: 1 },
  { name: 'cup', price: 2, ownerCode: 'x' },
  { name: 'hat', price: 3, ownerCode: 'y', firstOf: 2 },
  { name: 'bag', price: 4, ownerCode: 'z' },
])
await Tag.bulkCreate([
  { name: 'new', visible: true, originId: 1 },
  { name: 'old', visible: true, originId: 2 },
  { name: 'dark', visible: false, originId: 1 },
])
const link = Item.sequelize?.models.ItemTags
await link?.bulkCreate([
  { ItemId: 1, TagId: 1 },
  { ItemId: 1, TagId: 3 },
  { ItemId: 2, TagId: 1 },
  { ItemId: 3, TagId: 2 },
  { ItemId: 3, TagId: 3 },
])
// Gone: the item "cup", and the owner Yann.
await Item.destroy({ where: { id: 2 } })
await Owner.destroy({ where: { id: 2 } })
test.after.always(() => shop.close())

const SOFT: { readonly [about: string]: readonly (readonly [path: string, filter: string, ids: readonly number[]])[] } =
  {
    'a deleted record is met by no path': [
      ['items', 'Owner.Name=Xenia', [1]],
      ['items', 'Owner.Name=Yann', []],
      ['items', 'Owner.Name!=Xenia', [3, 4]],
      ['items', 'Owner=null', [3]],
      ['items', 'Owner!=null', [1, 4]],
      ['items', 'Owner.Name=null', [3]],
      ['owners', 'First=null', [3]],
      ['owners', 'First.Name=pen', [1]],
      ['tags', 'Origin=null', [2]],
      ['tags', 'Origin.Name=cup', []],
      ['tags', 'Origin.Owner.Name=Xenia', [1]],
    ],
    'a deleted record is no element of a collection, and is not counted': [
      ['owners', 'Items.Name=cup', []],
      ['owners', 'Items.Count=1', [1, 3]],
      ['owners', 'Items.All.Price=1', [1]],
      ['owners', 'Items.None.Name=cup', [1, 3]],
      ['owners', 'Items.Count(Price<3)=1', [1]],
      ['tags', 'Items.Name=cup', []],
      ['tags', 'Items.Count=1', [1, 2]],
      ['tags', 'Items.All.Name=pen', [1]],
      ['tags', 'Items.Owner.Name=Yann', []],
      ['tags', 'Items.Any(Owner=null)', [2]],
      ['owners', 'Items.Tags.Count=1', [1]],
    ],
    'the default scope of a target holds behind every path': [
      ['items', 'Tags.Name=dark', []],
      ['items', 'Tags.Count=1', [1, 3]],
      ['items', 'Tags.Count=2', []],
      ['items', 'Tags.All.Name=old', [3, 4]],
      ['items', 'Origins.Count=1', [1]],
      ['owners', 'Items.Tags.Name=dark', []],
      ['tags', 'Name!=x', [1, 2]],
    ],
  }

for (const [about, rows] of Object.entries(SOFT)) {
  test(about, async (t) => {
    for (const [path, filter, ids] of rows) {
      t.deepEqual(await keysOf(shop, `/api/${path}`, { filter }), ids, `${path} with ${filter}`)
      t.deepEqual((await list(shop, `/api/${path}`, { filter, count: true })).body, { count: ids.length }, filter)
    }
  })
}

test('a deleted record is selected as null, and sorts as none', async (t) => {
  const { body } = await list(shop, '/api/items', { select: 'Name,Owner.Name', sort: '-Owner.Name' })
  t.deepEqual(body.items, [
    { name: 'bag', owner: { name: 'Zoe' } },
    { name: 'pen', owner: { name: 'Xenia' } },
    { name: 'hat', owner: null },
  ])
})
