// Polymorphic associations as Sequelize's documentation writes them: one foreign key leads to several models, and a type
// beside it says to which. The documentation's own afterFind hook takes the included records out of each instance.

import test from 'ava'
import type { Express } from 'express'
import { DataTypes, type Model, type Sequelize } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

/** The models of the documentation; with hooks, every find of a comment passes through instances. */
function define(sequelize: Sequelize, app: Express, kind: 'plain' | 'hooked'): void {
  const options = (name: string) => ({ timestamps: false, tableName: `${kind}_${name}` })
  const named = (name: string) => `${kind}${name}`
  const Image = sequelize.define(named('Image'), { title: DataTypes.STRING(20) }, options('image'))
  const Video = sequelize.define(named('Video'), { text: DataTypes.STRING(20) }, options('video'))
  const Comment = sequelize.define(
    named('Comment'),
    {
      title: DataTypes.STRING(20),
      commentableId: { type: DataTypes.INTEGER, allowNull: false },
      commentableType: { type: DataTypes.STRING(10), field: 'kind_of' },
    },
    options('comment'),
  )
  const Reply = sequelize.define(named('Reply'), { text: DataTypes.STRING(20) }, options('reply'))
  const Tag = sequelize.define(named('Tag'), { name: DataTypes.STRING(20) }, options('tag'))
  const Tagging = sequelize.define(
    named('Tagging'),
    {
      // Without one of its own, Sequelize makes the two foreign keys the primary key.
      id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true },
      tagId: { type: DataTypes.INTEGER, unique: 'once' },
      taggableId: { type: DataTypes.INTEGER, unique: 'once' },
      taggableType: { type: DataTypes.STRING(10), unique: 'once' },
    },
    options('tagging'),
  )
  for (const [Owner, type, as] of [
    [Image, 'image', 'Image'],
    [Video, 'video', 'Video'],
  ] as const) {
    const key = { foreignKey: 'commentableId', constraints: false }
    Owner.hasMany(Comment, { as: 'Comments', ...key, scope: { commentableType: type } })
    Comment.belongsTo(Owner, { as, ...key })
    const through = { model: Tagging, unique: false }
    Owner.belongsToMany(Tag, {
      as: 'Tags',
      through: { ...through, scope: { taggableType: type } },
      foreignKey: 'taggableId',
      otherKey: 'tagId',
      constraints: false,
    })
    Tag.belongsToMany(Owner, {
      as: `${as}s`,
      through,
      foreignKey: 'tagId',
      otherKey: 'taggableId',
      constraints: false,
    })
  }
  Comment.hasMany(Reply, { as: 'Replies', foreignKey: 'commentId' })
  Reply.belongsTo(Comment, { as: 'Comment', foreignKey: 'commentId' })
  if (kind === 'hooked') {
    Comment.addHook('beforeSave', () => undefined)
    for (const model of [Image, Video, Reply, Tag]) model.addHook('beforeFind', () => undefined)
    Comment.addHook('afterFind', (found) => {
      for (const instance of [found].flat() as (Model & { [name: string]: unknown })[]) {
        for (const name of ['Image', 'Video']) {
          delete instance[name]
          delete instance.dataValues[name]
        }
      }
    })
  }
  const routes = { routes: true } as const
  const fields = { id: { filterable: true } }
  app.use(
    crudRouter(Image, {
      fields,
      relations: { Comments: { routes: true, write: true }, Tags: { routes: true, write: true } },
    }),
    crudRouter(Video, { fields }),
    crudRouter(Comment, {
      fields,
      operations: Operations.All | Operations.Aggregate,
      relations: { Image: routes, Video: routes, Replies: routes },
    }),
    crudRouter(Reply, { fields }),
    crudRouter(Tag, { fields, relations: { Images: { routes: true, write: true }, Videos: routes } }),
  )
}

const stage = await openStage(({ sequelize }, app) => {
  define(sequelize, app, 'plain')
  define(sequelize, app, 'hooked')
})
const { sequelize } = stage
test.after.always(() => stage.close())

interface Item {
  readonly id: number
  readonly [member: string]: unknown
}

for (const kind of ['plain', 'hooked'] as const) {
  const create = (name: string, values: object) => sequelize.model(kind + name).create({ ...values })
  const list = async (name: string, query: Record<string, string>): Promise<readonly Item[]> => {
    const { status, body, text } = await stage.get(`/api/${kind}${name}?${new URLSearchParams(query)}`)
    if (status !== 200) throw new Error(text)
    return body.items
  }
  const keys = async (name: string, filter: string): Promise<readonly number[]> =>
    (await list(name, { filter, sort: 'Id' })).map(({ id }) => id)

  test.before(async () => {
    for (const number of [1, 2]) {
      await create('Image', { title: `image ${number}` })
      await create('Video', { text: `video ${number}` })
    }
    await create('Comment', { title: 'a', commentableId: 1, commentableType: 'image' })
    await create('Comment', { title: 'b', commentableId: 1, commentableType: 'video' })
    await create('Comment', { title: 'c', commentableId: 2, commentableType: 'video' })
    await create('Reply', { text: 'x', commentId: 1 })
    await create('Reply', { text: 'y', commentId: 2 })
    await create('Tag', { name: 'red' })
    await create('Tag', { name: 'blue' })
    await create('Tagging', { tagId: 1, taggableId: 1, taggableType: 'image' })
    await create('Tagging', { tagId: 1, taggableId: 2, taggableType: 'video' })
  })

  test(`${kind}: a selected path leads to records of the comment's own type alone`, async (t) => {
    t.deepEqual(await list('comments', { select: 'Title,Image.Title,Video.Text', sort: 'Id' }), [
      { title: 'a', image: { title: 'image 1' }, video: null },
      { title: 'b', image: null, video: { text: 'video 1' } },
      { title: 'c', image: null, video: { text: 'video 2' } },
    ] as object[] as readonly Item[])
    const one = await stage.get(`/api/${kind}comments/2?select=Image.Title,Video.Text`)
    t.deepEqual(one.body, { image: null, video: { text: 'video 1' } })
    t.deepEqual(await list('replies', { select: 'Comment.Image.Title', sort: 'Id' }), [
      { comment: { image: { title: 'image 1' } } },
      { comment: { image: null } },
    ] as object[] as readonly Item[])
    const embedded = await list('images', { select: 'Comments(Title,Image.Title)', filter: 'Id=1' })
    t.deepEqual(embedded, [{ comments: [{ title: 'a', image: { title: 'image 1' } }] }] as object[] as readonly Item[])
  })

  test(`${kind}: filters, quantifiers, sorts and groups follow the comment's own type alone`, async (t) => {
    t.deepEqual(await keys('comments', 'Image.Title=image 1'), [1])
    t.deepEqual(await keys('comments', 'Image.Id=1'), [1])
    t.deepEqual(await keys('comments', 'Image=null'), [2, 3])
    t.deepEqual(await keys('comments', 'Image!=null'), [1])
    t.deepEqual(await keys('comments', 'Image.Title=null'), [2, 3])
    t.deepEqual(await keys('comments', 'Image.Title!=image 1'), [2, 3])
    t.deepEqual(await keys('comments', 'Image.Tags.Count=1'), [1])
    t.deepEqual(await keys('comments', 'Image.Comments.Any(Title=a)'), [1])
    t.deepEqual(await keys('replies', 'Comment.Image.Title^image'), [1])
    t.deepEqual(await keys('videos', 'Comments.Any(Image.Title^image)'), [])
    t.deepEqual(await keys('videos', 'Comments.Any(Video.Text^video)'), [1, 2])
    const sorted = await list('comments', { sort: '-Image.Title,-Id', select: 'Id' })
    t.deepEqual(
      sorted.map(({ id }) => id),
      [1, 3, 2],
    )
    const { status, body, text } = await stage.get(
      `/api/${kind}comments?group=Image.Title&aggregate=count&sort=Image.Title`,
    )
    t.is(status, 200, text)
    t.deepEqual(body.items, [
      { group: { image: { title: null } }, count: 2 },
      { group: { image: { title: 'image 1' } }, count: 1 },
    ])
  })

  test(`${kind}: the route of the other type is 404`, async (t) => {
    t.is((await stage.get(`/api/${kind}comments/1/image`)).body.title, 'image 1')
    t.is((await stage.get(`/api/${kind}comments/1/video`)).status, 404)
    t.is((await stage.get(`/api/${kind}comments/2/image`)).status, 404)
    t.is((await stage.get(`/api/${kind}comments/2/video`)).body.text, 'video 1')
  })

  test.serial(`${kind}: a table between tells the types apart from its other side too`, async (t) => {
    t.deepEqual(await keys('tags', 'Images.Title^image'), [1])
    t.deepEqual(await keys('tags', 'Images.Count=1,Videos.Count=1'), [1])
    const [red] = await list('tags', { select: 'Images.Title,Videos.Text', filter: 'Id=1' })
    t.deepEqual(red as object, { images: [{ title: 'image 1' }], videos: [{ text: 'video 2' }] })
    const { body } = await stage.get(`/api/${kind}tags/1/videos`)
    t.deepEqual(
      body.items.map(({ id }: Item) => id),
      [2],
    )
    const Tagging = sequelize.model(`${kind}Tagging`)
    const links = async (tagId: number) =>
      (await Tagging.findAll({ where: { tagId }, order: ['taggableType', 'taggableId'], raw: true })).map((row) => {
        const { taggableId, taggableType } = row as unknown as Record<string, unknown>
        return `${taggableType} ${taggableId}`
      })
    t.is((await stage.send('PUT', `/api/${kind}tags/2/images/2`)).status, 204)
    t.is((await stage.send('PUT', `/api/${kind}tags/2/videos/2`)).status, 204)
    t.deepEqual(await links(2), ['image 2', 'video 2'])
    t.deepEqual((await stage.send('PUT', `/api/${kind}tags/2/images`, { json: [1] })).body, { linked: 1, unlinked: 1 })
    t.is((await stage.patch(`/api/${kind}tags/2`, { images: [1, 2] })).status, 200)
    t.deepEqual(await links(2), ['image 1', 'image 2', 'video 2'])
    t.deepEqual((await stage.send('PUT', `/api/${kind}tags/2/images`, { json: [] })).body, { linked: 0, unlinked: 2 })
    t.deepEqual(await links(2), ['video 2'])
  })

  test.serial(`${kind}: nested bodies write records of the owner's own type alone`, async (t) => {
    const path = `/api/${kind}images/2`
    const made = await stage.patch(path, { comments: [{ title: 'd' }] })
    t.is(made.status, 200, made.text)
    const { id } = made.body.comments[0]
    t.is((await sequelize.model(`${kind}Comment`).findByPk(id))?.get('commentableType'), 'image')
    // One with the same foreign key, of a video.
    t.is((await stage.patch(path, { comments: [{ id: 3, title: 'stolen' }] })).status, 404)
    t.is((await stage.patch(path, { comments: [] })).status, 200)
    t.deepEqual(await keys('comments', 'CommentableId=2'), [3])
  })
}
