// An audiobook server with tags in a JSON array, and genres in a member of a JSON document, as old tables have them.

import ava from 'ava'
import Joi from 'joi'
import { DataTypes, type Model, type ModelStatic, type Sequelize } from 'sequelize'
import { type ActionContext, authenticated, createCrud, openApi } from '../../../lib/index.js'
import { INFO } from '../../support/documented.js'
import { accountOf, addLogin, defineAccounts, identity, logIn } from '../../support/login.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

function define(sequelize: Sequelize) {
  const Book = sequelize.define(
    'book',
    {
      title: { type: DataTypes.STRING(40), allowNull: false },
      owner_id: { type: DataTypes.INTEGER, allowNull: false },
      tag_list: {
        type: DataTypes.JSON,
        allowNull: false,
        defaultValue: [],
        validate: {
          areFew(tags: unknown) {
            if (Array.isArray(tags) && tags.length > 5) throw new Error('must be at most 5 tags.')
          },
        },
      },
      meta_data: DataTypes.JSON,
    },
    { timestamps: false, underscored: true },
  )
  return { Book, Account: defineAccounts(sequelize) }
}

const crud = createCrud({ identity, authorizePolicy: authenticated })

const tagsOf = (record: Model): string[] => record.get('tag_list') as string[]

function mounted({ Book }: Readonly<Record<'Book', ModelStatic<Model>>>) {
  return crud.crudRouter(Book, {
    fields: {
      owner_id: { exclude: ['create', 'update'] },
      tag_list: { members: { '': ['string'] } },
      meta_data: { members: { genres: ['string'], 'stats.scores': ['number'], publisher: 'string' } },
    },
    scope: ({ identity: caller }) => ({ owner_id: accountOf(caller) }),
    actions: {
      addTag: {
        on: 'record',
        method: 'post',
        input: Joi.object({ tag: Joi.string().required() }),
        handler: ({ record, input }: ActionContext<Model, { tag: string }>) =>
          record.set('tag_list', [...tagsOf(record), input.tag]),
      },
      // What is changed within the value, Sequelize is told.
      reverse: {
        on: 'record',
        method: 'post',
        handler: ({ record }) => {
          tagsOf(record).reverse()
          record.changed('tag_list' as never, true)
        },
      },
    },
  })
}

let router: ReturnType<typeof mounted> | null = null
const server = await openStage(({ sequelize }, app) => {
  const models = define(sequelize)
  addLogin(app, models.Account)
  router = mounted(models)
  app.use(router)
  return models
})
const { Account, Book } = server
for (const user_name of ['ann', 'bob']) await Account.create({ user_name, password: `${user_name} 1` })
const books: readonly (readonly [string, number, unknown, unknown])[] = [
  ['Moby', 1, ['sea', 'classic'], { genres: ['novel'], stats: { scores: [4, 5] }, publisher: 'H' }],
  ['Crime', 1, ['city'], { genres: ['crime', 'novel'], stats: { scores: [] } }],
  ['Blank', 1, [], null],
  ['Odd', 1, ['Sea', '100%', 'a,b'], { genres: 'novel' }],
  ['Hers', 2, ['sea', 'secret'], null],
]
for (const [title, owner_id, tag_list, meta_data] of books) {
  await Book.create({ title, owner_id, tag_list, meta_data })
}
test.after.always(() => server.close())

let ann: Record<string, string> = {}
let bob: Record<string, string> = {}
test.before(async () => {
  ann = await logIn(server, 'ann', 'ann 1')
  bob = await logIn(server, 'bob', 'bob 1')
})

async function having(filter: string, headers = ann): Promise<unknown> {
  const path = `/api/books?select=title&sort=id&filter=${encodeURIComponent(filter)}`
  const { status, text, body } = await server.get(path, headers)
  return status === 200 ? body.items.map(({ title }: { title: string }) => title) : text
}

test('books are found by their tags: any, all, none of them, and how many', async (t) => {
  const cases: readonly (readonly [filter: string, titles: readonly string[]])[] = [
    ['TagList.Any=sea', ['Moby']],
    ['TagList.Any=sea/i', ['Moby', 'Odd']],
    ['TagList.Any^c', ['Moby', 'Crime']],
    ['TagList.Any=in=sea;city', ['Moby', 'Crime']],
    ['TagList.Any=a\\,b', ['Odd']],
    ['TagList.Any=*%', ['Odd']],
    ['TagList.Any!=sea', ['Moby', 'Crime', 'Odd']],
    ['TagList.All^c', ['Crime', 'Blank']],
    ['TagList.None=sea', ['Crime', 'Blank', 'Odd']],
    ['TagList.Count=0', ['Blank']],
    ['TagList.Count>1', ['Moby', 'Odd']],
    ['TagList.Any=sea|TagList.Any=city', ['Moby', 'Crime']],
    ['TagList.Any=sea,TagList.Any=classic', ['Moby']],
    ['TagList.Any=secret', []],
  ]
  for (const [filter, titles] of cases) t.deepEqual(await having(filter), titles, filter)
  t.deepEqual(await having('TagList.Any=secret', bob), ['Hers'])
})

test('arrays within documents are filtered alike, and what is no array is empty', async (t) => {
  const cases: readonly (readonly [filter: string, titles: readonly string[]])[] = [
    ['MetaData.Genres.Any=novel', ['Moby', 'Crime']],
    ['MetaData.Genres.Count=0', ['Blank', 'Odd']],
    ['MetaData.Genres.None=crime', ['Moby', 'Blank', 'Odd']],
    ['MetaData.Stats.Scores.Any>4', ['Moby']],
    ['MetaData.Stats.Scores.All>3', ['Moby', 'Crime', 'Blank', 'Odd']],
    ['MetaData.Publisher=H', ['Moby']],
  ]
  for (const [filter, titles] of cases) t.deepEqual(await having(filter), titles, filter)
})

test('a collection itself has no value to compare, nor an order', async (t) => {
  for (const [parameters, name] of [
    ['filter=tagList=sea', 'filter'],
    ['filter=tagList.Any>sea', 'filter'],
    ['sort=tagList', 'sort'],
    ['filter=metaData.genre.Any=x', 'filter'],
  ] as const) {
    const { status, body } = await server.get(`/api/books?${parameters}`, ann)
    if (parameters === 'filter=tagList.Any>sea' && status === 200) continue
    t.is(status, 400, parameters)
    t.deepEqual(Object.keys(body.errors), [name], parameters)
  }
  const near = await server.get('/api/books?filter=metaData.genre.Any=x', ann)
  t.is(
    near.body.errors.filter[0],
    'Unknown field "metaData.genre.Any" at position 0. Did you mean "metaData.genres.Any"?',
  )
})

test('an array is no parameter, and the answer has the filter that was probably meant', async (t) => {
  for (const [parameter, hint] of [
    ['tagList=sea', 'filter=tagList.Any=sea'],
    ['tag_list[]=sea', 'filter=tagList.Any=sea'],
    ['tagList[contains]=a%2Cb', 'filter=tagList.Any=...'],
  ] as const) {
    const { status, body } = await server.get(`/api/books?${parameter}`, ann)
    t.is(status, 400, parameter)
    t.is(body.code, 'unknown-parameter', parameter)
    const [name = ''] = parameter.split('=')
    t.deepEqual(body.errors, { [name]: [`is not a parameter of this list. Did you mean "${hint}"?`] }, parameter)
  }
})

test('tags are written whole, and items of another kind are refused with their place', async (t) => {
  const made = await server.post('/api/books', { title: 'New', tagList: ['a', 'b'] }, ann)
  t.is(made.status, 201, made.text)
  t.deepEqual(made.body.tagList, ['a', 'b'])
  const path = `/api/books/${made.body.id}`
  t.deepEqual((await server.patch(path, { tagList: ['c'] }, ann)).body.tagList, ['c'])
  t.deepEqual(await having('TagList.Any=c,TagList.Count=1'), ['New'])
  for (const [tagList, errors] of [
    [['a', 1], { 'tagList[1]': ['must be a string.'] }],
    [[null], { 'tagList[0]': ['cannot be null.'] }],
    ['a', { tagList: ['must be an array.'] }],
    [null, { tagList: ['cannot be null.'] }],
    [['1', '2', '3', '4', '5', '6'], { tagList: ['must be at most 5 tags.'] }],
  ] as const) {
    const { status, body } = await server.patch(path, { tagList }, ann)
    t.is(status, 400, JSON.stringify(tagList))
    t.deepEqual(body.errors, errors, JSON.stringify(tagList))
  }
  const member = await server.patch(path, { metaData: { genres: ['x', 2] } }, ann)
  t.is(member.status, 400, member.text)
  t.is((await server.patch(path, { tagList: [] }, ann)).body.tagList.length, 0)
  t.is((await server.delete(path, ann)).status, 204)
})

test('actions change tags within their record', async (t) => {
  const { body } = await server.post('/api/books', { title: 'Acted', tagList: ['a'] }, ann)
  const path = `/api/books/${body.id}`
  t.deepEqual((await server.post(`${path}/add-tag`, { tag: 'b' }, ann)).body.tagList, ['a', 'b'])
  t.deepEqual((await server.send('POST', `${path}/reverse`, { headers: ann })).body.tagList, ['b', 'a'])
  t.deepEqual((await server.get(path, ann)).body.tagList, ['b', 'a'])
  t.is((await server.post(`${path}/add-tag`, { tag: 'b' }, bob)).status, 404)
  t.is((await server.delete(path, ann)).status, 204)
})

test('a new book without tags has none, and the books of another are missing', async (t) => {
  const { body } = await server.post('/api/books', { title: 'Bare' }, ann)
  t.deepEqual(body.tagList, [])
  t.deepEqual(await having('TagList.Count=0,Title=Bare'), ['Bare'])
  t.is((await server.patch(`/api/books/${body.id}`, { tagList: ['x'] }, bob)).status, 404)
  t.is((await server.delete(`/api/books/${body.id}`, ann)).status, 204)
})

test('documents and client types say that they are arrays of texts', (t) => {
  const { components } = openApi({ resources: router === null ? [] : [router], info: INFO })
  const schemas = components.schemas as unknown as Record<string, { properties: Record<string, object> }>
  const [, shape] = Object.entries(schemas).find(([name]) => /^Book$/i.test(name)) ?? []
  t.like(shape?.properties.tagList, { type: 'array', items: { type: 'string' } })
})
