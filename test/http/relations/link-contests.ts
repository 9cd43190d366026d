// What comes between the requests that change links: others who write the same rows between, and the order in which all of
// them lock what they need.

import { setTimeout as wait } from 'node:timers/promises'
import ava from 'ava'
import { DataTypes, type Model } from 'sequelize'
import { crudRouter, type HookContext, Operations, Problem } from '../../../lib/index.js'
import type { Answer } from '../../support/server.js'
import { isFast } from '../../support/speed.js'
import { openStage } from '../../support/stage.js'

// What one of them does to the rows, and what it asks of the database, is looked at.
const test = ava.serial

/** What is done before a row between is made, within the transaction of the request. */
let before: (context: HookContext) => unknown = () => undefined
let calls = 0
const counted = async (context: HookContext): Promise<void> => {
  calls += 1
  await before(context)
}
/** What was refused by nobody's choice, as the host hears of it. */
const errors: unknown[] = []

/** Connections enough for many requests at once. */
const CROWD = { pool: { max: 12 } }

const stage = await openStage(
  ({ sequelize }, app) => {
    const plain = { timestamps: false }
    const id = { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true }
    const Post = sequelize.define('Post', { title: DataTypes.STRING(20) }, plain)
    const Tag = sequelize.define('Tag', { name: DataTypes.STRING(20) }, plain)
    const Note = sequelize.define('Note', { text: DataTypes.STRING(20) }, plain)
    // What is read of these goes through the model, and so it is read once more where it is locked.
    Note.addHook('afterFind', () => undefined)
    const Seat = sequelize.define('Seat', { place: { type: DataTypes.INTEGER, unique: true } }, plain)
    const Mark = sequelize.define('Mark', { id }, plain)
    const NoteTag = sequelize.define('NoteTag', {}, plain)
    const Kept = sequelize.define(
      'Kept',
      { deletedAt: DataTypes.DATE(3) },
      { ...plain, name: { singular: 'Kept', plural: 'Kepts' } },
    )
    const uuid = { type: DataTypes.UUID, defaultValue: DataTypes.UUIDV4, primaryKey: true }
    const Rated = sequelize.define('Rated', { id: uuid, stars: DataTypes.INTEGER }, plain)
    // No tag has two owners here.
    const Sole = sequelize.define('Sole', {}, { ...plain, indexes: [{ unique: true, fields: ['tagId'] }] })
    const there = { foreignKey: 'postId', otherKey: 'tagId' }
    const back = { foreignKey: 'tagId', otherKey: 'postId' }
    Post.belongsToMany(Tag, { as: 'seats', through: Seat, ...there })
    Tag.belongsToMany(Post, { as: 'seated', through: Seat, ...back })
    Post.belongsToMany(Tag, { as: 'kept', through: Kept, ...there })
    const Found = sequelize.define(
      'Found',
      { deletedAt: DataTypes.DATE(3) },
      { ...plain, name: { singular: 'Found', plural: 'Founds' } },
    )
    Found.addHook('beforeFind', () => undefined)
    Post.belongsToMany(Tag, { as: 'found', through: Found, ...there })
    const marks = { through: { model: Mark, unique: false }, constraints: false }
    Post.belongsToMany(Tag, { as: 'marks', ...marks, ...there })
    Tag.belongsToMany(Post, { as: 'marked', ...marks, ...back })
    Post.belongsToMany(Tag, { as: 'pins', through: 'Pin', ...there })
    Tag.belongsToMany(Post, { as: 'pinned', through: 'Pin', ...back })
    Post.belongsToMany(Tag, { as: 'rated', through: Rated, ...there })
    Post.belongsToMany(Tag, { as: 'soles', through: Sole, ...there })
    Note.belongsToMany(Tag, { as: 'tags', through: NoteTag, foreignKey: 'noteId', otherKey: 'tagId' })
    const routes = { routes: true } as const
    const both = { routes: true, write: true } as const
    app.use(
      crudRouter(Post, {
        operations: Operations.AllWithBulk,
        relations: {
          seats: both,
          marks: routes,
          kept: routes,
          found: routes,
          pins: routes,
          rated: routes,
          soles: routes,
        },
        onError: (error) => errors.push(error),
      }),
    )
    app.use(crudRouter(Tag, { relations: { seated: routes, marked: routes, pinned: routes } }))
    app.use(crudRouter(Note, { relations: { tags: routes } }))
    app.use(crudRouter(Kept, { softDelete: true }))
    app.use(crudRouter(Found, { softDelete: true }))
    app.use(crudRouter(Rated, { hooks: { beforeUpdate: counted }, route: 'api/rated' }))
    app.use(crudRouter(Sole, { hooks: { beforeCreate: counted }, route: 'api/soles' }))
    app.use(crudRouter(Seat, { hooks: { beforeCreate: counted }, route: 'api/seating' }))
  },
  { sequelize: CROWD },
)
const { sequelize, statements } = stage
const Seat = sequelize.model('Seat')
await sequelize.model('Post').bulkCreate([{ title: 'one' }, { title: 'two' }])
await sequelize.model('Tag').bulkCreate([{ name: 'red' }, { name: 'green' }])
await sequelize.model('Note').bulkCreate([{ text: 'a' }])
test.after.always(() => stage.close())
test.beforeEach(async () => {
  before = () => undefined
  calls = 0
  for (const name of ['Seat', 'Mark', 'Pin', 'NoteTag', 'Rated', 'Sole'])
    await sequelize.model(name).destroy({ where: {} })
})

const seats = async (): Promise<readonly unknown[]> =>
  (await Seat.findAll({ raw: true, order: ['postId', 'tagId'] })).map((row: Model) => ({ ...row }))

/** Makes the same row once, as another request does that was faster. */
function outrun({ instance, transaction }: HookContext): Promise<unknown> | undefined {
  if (calls > 1) return undefined
  const [postId, tagId] = ['postId', 'tagId'].map((name) => instance.get(name))
  return Seat.create({ postId, tagId }, { transaction: transaction ?? null })
}

test('who is outrun by another one with the same link begins again, and the two are linked once', async (t) => {
  const PATHS = [
    ['PUT', '/api/posts/1/seats/1', undefined, 204],
    ['POST', '/api/posts/1/seats', [1, 2], 200],
    ['PUT', '/api/posts/1/seats', [1], 200],
    ['PUT', '/api/tags/1/seated/1', undefined, 204],
    ['PATCH', '/api/posts/1', { seats: [1] }, 200],
  ] as const
  for (const [method, path, json, status] of PATHS) {
    calls = 0
    before = outrun
    await Seat.destroy({ where: {} })
    const answer = await stage.send(method, path, { json })
    t.is(answer.status, status, `${method} ${path}: ${answer.text}`)
    t.true(calls > 1, path)
    t.is((await seats()).filter((row) => Reflect.get(Object(row), 'tagId') === 1).length, 1)
  }
})

test('who is outrun time and again is linked in the end, or the answer is 503', async (t) => {
  for (const [times, status] of [
    [5, 204],
    [Number.POSITIVE_INFINITY, 503],
  ] as const) {
    calls = 0
    before = ({ transaction }) =>
      calls > times ? undefined : Seat.create({ postId: 1, tagId: 1 }, { transaction: transaction ?? null })
    const answer = await stage.send('PUT', '/api/posts/1/seats/1')
    t.deepEqual([answer.status, answer.headers.get('retry-after')], [status, status === 503 ? '1' : null], answer.text)
    t.is((await seats()).length, status === 503 ? 0 : 1)
    await Seat.destroy({ where: {} })
  }
  errors.length = 0
})

// On SQLite nobody else can write before the request has ended.
if (stage.name !== 'sqlite') {
  test('requests that add the same links in opposite orders wait for each other', async (t) => {
    before = () => wait(50)
    const answers = await Promise.all(
      [
        [1, 2],
        [2, 1],
        [1, 2],
      ].map((json) => stage.send('POST', '/api/posts/1/seats', { json })),
    )
    t.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200],
    )
    t.deepEqual(answers.map(({ body }) => body.linked).sort(), [0, 0, 2])
    t.is((await seats()).length, 2)
    // MariaDB and MySQL detect a deadlock at once, and PostgreSQL only after a second.
    if (stage.name === 'postgres') t.is(calls, 2)
  })

  test('the row of whoever was faster is found, and has what the body says of it', async (t) => {
    for (const [method, path, json, body] of [
      ['PUT', '/api/posts/1/seats/1', { place: 9 }, undefined],
      ['POST', '/api/posts/1/seats', [1], { linked: 0 }],
    ] as const) {
      calls = 0
      await Seat.destroy({ where: {} })
      // By a connection of its own, where it is committed at once.
      before = () => Seat.create({ postId: 1, tagId: 1 })
      const answer = await stage.send(method, path, { json })
      t.is(answer.status, body === undefined ? 204 : 200, answer.text)
      if (body !== undefined) t.deepEqual(answer.body, body)
      t.is(calls, 1)
      t.deepEqual(await seats(), [{ postId: 1, tagId: 1, place: body === undefined ? 9 : null }])
    }
  })

  /** As often as told, somebody else makes the link before this request does, and undoes it before the next attempt. */
  const contest = (times: number): void => {
    calls = 0
    before = async ({ transaction }) => {
      if (calls > times) return
      await Seat.create({ postId: 1, tagId: 1 })
      const rollback = transaction?.rollback.bind(transaction)
      Object.assign(transaction ?? {}, {
        rollback: async () => {
          await rollback?.()
          await Seat.destroy({ where: {} })
        },
      })
    }
  }

  test('a link that others make and undo all the time is made in the end, or the answer is 503', async (t) => {
    for (const [method, path, json, status] of [
      ['PUT', '/api/posts/1/seats/1', undefined, 204],
      ['POST', '/api/posts/1/seats', [1], 200],
      // Elsewhere the lock of the owner keeps others from linking it.
      ...(stage.name === 'postgres' ? [['PATCH', '/api/posts/1', { seats: [1] }, 200] as const] : []),
    ] as const) {
      await Seat.destroy({ where: {} })
      contest(5)
      const made = await stage.send(method, path, { json })
      t.is(made.status, status, made.text)
      t.is((await seats()).length, 1)
      await Seat.destroy({ where: {} })
      contest(Number.POSITIVE_INFINITY)
      const refused = await stage.send(method, path, { json })
      t.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '1'], refused.text)
      t.deepEqual(await seats(), [])
    }
    errors.length = 0
  })

  test('who changes a link while somebody else undoes it makes it anew, with what the body says of it', async (t) => {
    await Seat.create({ postId: 1, tagId: 1, place: 3 })
    const other = await sequelize.transaction()
    await Seat.destroy({ where: {}, transaction: other })
    const putting = stage.send('PUT', '/api/posts/1/seats/1', { json: { place: 7 } })
    await wait(200)
    await other.commit()
    const { status, text } = await putting
    t.is(status, 204, text)
    t.deepEqual(await seats(), [{ postId: 1, tagId: 1, place: 7 }])
  })
}

test('many who make and undo one link at once are told what became of it, and never that it is taken', async (t) => {
  for (let round = 0; round < 6; round += 1) {
    for (const path of ['/api/posts/1/pins', '/api/posts/1/seats']) {
      const answers = await Promise.all(
        Array.from({ length: 24 }, (_, index) =>
          index % 4 === 3
            ? stage.send('POST', path, { json: index % 8 === 3 ? [1, 2] : [2, 1] })
            : stage.send(index % 2 === 0 ? 'PUT' : 'DELETE', `${path}/1`),
        ),
      )
      const told = answers.map(({ status, headers }) => `${status} ${status === 503 ? headers.get('retry-after') : ''}`)
      const wrong = told.filter((each) => !['204 ', '200 ', '404 ', '503 1'].includes(each))
      t.deepEqual(wrong, [], answers.find(({ status }) => status === 409)?.text ?? '')
    }
  }
  errors.length = 0
})

for (const [relation, name] of [
  ['kept', 'Kept'],
  ['found', 'Found'],
] as const) {
  test(`several who make one link at once have all made it, where its row is there and deleted too: ${relation}`, async (t) => {
    const path = `/api/posts/1/${relation}`
    for (let round = 0; round < 8; round += 1) {
      t.is((await stage.send('PUT', `${path}/1`)).status, 204)
      t.is((await stage.delete(`${path}/1`)).status, 204)
      const all = await Promise.all([1, 2, 3].map(() => stage.send('PUT', `${path}/1`)))
      t.deepEqual(
        all.map(({ status, text }) => [status, text]),
        all.map(() => [204, '']),
      )
      t.is((await stage.get(path)).body.totalCount, 1)
    }
    t.is(await sequelize.model(name).count(), 1)
  })
}

test('lists of links and single ones of one owner, at once and from both sides, do not stand in each other’s way', async (t) => {
  const tags = await sequelize.model('Tag').bulkCreate(Array.from({ length: 4 }, () => ({ name: 'many' })))
  const posts = await sequelize.model('Post').bulkCreate(Array.from({ length: 4 }, () => ({ title: 'many' })))
  const some = tags.map((tag) => tag.get('id'))
  const all = posts.map((post) => post.get('id'))
  statements.length = 0
  const make = (method: string, path: string, json: unknown): Promise<Answer> => stage.send(method, path, { json })
  for (let round = 0; round < 4; round += 1) {
    const sent = all.flatMap((post, index) => [
      make('PUT', `/api/posts/${post}/pins`, some),
      make('POST', `/api/posts/${post}/pins`, some),
      make('PUT', `/api/tags/${some[index]}/pinned`, all),
    ])
    for (const { status, headers, text } of await Promise.all(sent)) {
      // MySQL has one lock for who changes a record and for who points at it: there some may be ended for others.
      if (status !== 503 || stage.name === 'sqlite' || stage.name === 'postgres') t.is(status, 200, text)
      else t.truthy(headers.get('retry-after'))
    }
    t.is(await sequelize.model('Pin').count(), all.length * some.length)
    // By another lock they would only be slower, most times.
    const locks = new Set(statements.flatMap((sql) => /FOR [A-Z ]*UPDATE/.exec(sql) ?? []))
    const lock = { postgres: 'FOR NO KEY UPDATE', sqlite: null }[stage.name as string]
    t.deepEqual([...locks], lock === null ? [] : [lock ?? 'FOR UPDATE'])
    await sequelize.model('Pin').destroy({ where: {} })
  }
})

test('a value of the row between that another row has is told at once, and nothing is linked', async (t) => {
  t.is((await stage.send('PUT', '/api/posts/1/seats/1', { json: { place: 7 } })).status, 204)
  calls = 0
  const taken = await stage.send('PUT', '/api/posts/2/seats/1', { json: { place: 7 } })
  t.deepEqual([taken.status, taken.body.errors], [409, { place: ['is already taken.'] }])
  // Nobody has made the link meanwhile: another try would meet the same row.
  t.is(calls, 1)
  t.deepEqual(await seats(), [{ postId: 1, tagId: 1, place: 7 }])
})

test('what a hook refuses of a link is refused once', async (t) => {
  const broken = new Error('broken')
  before = () => {
    throw broken
  }
  errors.length = 0
  t.is((await stage.send('PUT', '/api/posts/1/seats/1')).status, 500)
  t.deepEqual([calls, errors], [1, [broken]])
  t.deepEqual(await seats(), [])
})

test('a change of a link is made in its own row, and what a hook refuses of it is refused once', async (t) => {
  const Rated = sequelize.model('Rated')
  await Rated.bulkCreate([1, 2].map((tagId) => ({ postId: 1, tagId, stars: 1 })))
  const put = (stars: number) => stage.send('PUT', '/api/posts/1/rated/2', { json: { stars } })
  t.is((await put(2)).status, 204)
  for (const [thrown, status] of [
    [new Problem({ status: 409, detail: 'full' }), 409],
    [new Error('broken'), 500],
  ] as const) {
    calls = 0
    before = () => {
      throw thrown
    }
    t.deepEqual([(await put(3)).status, calls], [status, 1])
  }
  errors.length = 0
  // The row is gone before it is changed, and is there again in the next attempt.
  calls = 0
  before = ({ transaction }) => (calls > 1 ? undefined : Rated.destroy({ where: {}, transaction: transaction ?? null }))
  t.deepEqual([(await put(4)).status, calls], [204, 2])
  const rows = await Rated.findAll({ order: ['tagId'] })
  t.deepEqual(
    rows.map((row) => row.get('stars')),
    [1, 4],
  )
})

test('a link that the link of another owner prevents is tried again, and is made once that one is gone', async (t) => {
  const Sole = sequelize.model('Sole')
  await Sole.create({ postId: 2, tagId: 1 })
  const at = '/api/posts/1/soles'
  const taken = await stage.send('PUT', `${at}/1`)
  t.deepEqual([taken.status, taken.body.code], [409, 'conflict'])
  for (const [method, path, json] of [
    ['PUT', `${at}/1`, undefined],
    ['POST', at, [2, 1]],
  ] as const) {
    await Sole.destroy({ where: {} })
    await Sole.create({ postId: 2, tagId: 1 })
    calls = 0
    before = ({ transaction }) => {
      // The other owner loses the link after the first attempt. Hooks see every new link of an attempt.
      const isFirst = calls <= (json?.length ?? 1)
      return isFirst ? undefined : Sole.destroy({ where: { postId: 2 }, transaction: transaction ?? null })
    }
    const { status, text } = await stage.send(method, path, { json })
    t.is(status, json === undefined ? 204 : 200, text)
    t.is(await Sole.count({ where: { postId: 1 } }), json?.length ?? 1)
  }
})

test('hooks see the keys of a link as its records have them', async (t) => {
  const seen: unknown[] = []
  before = ({ instance }) => {
    seen.push([instance.get('postId'), instance.get('tagId')])
  }
  t.is((await stage.send('PUT', '/api/posts/1/seats/2')).status, 204)
  t.is((await stage.patch('/api/posts/2', { seats: [1] })).status, 200)
  t.deepEqual(seen, [
    [1, 2],
    [2, 1],
  ])
})

/** The tables that a request locks records of, one after the other; on SQLite, where one writes at a time, those that it reads. */
async function locked(method: string, path: string, json?: unknown): Promise<readonly string[]> {
  statements.length = 0
  const { status, text } = await stage.send(method, path, { json })
  if (status !== 200 && status !== 204) throw new Error(text)
  return statements
    .map((sql) => sql.replace(/^Executing \([^)]*\): /, ''))
    .filter((sql) => sql.startsWith('SELECT') && (stage.name === 'sqlite' || /FOR (?:NO KEY )?UPDATE/.test(sql)))
    .map((sql) => /FROM [`"](\w+)[`"]/.exec(sql)?.[1] ?? sql)
}

const isFile = stage.name === 'sqlite'
// On SQLite, where every read counts here, links are read back without optimizations.
const ordered = isFast || !isFile ? test : test.skip
ordered('both sides of links without a unique index lock in one order', async (t) => {
  t.deepEqual(await locked('PUT', '/api/posts/1/marks/1'), ['Posts', 'Tags', 'Marks'])
  // Whether the owner is there is asked first, and locks nothing.
  const owner = isFile ? ['Tags'] : []
  t.deepEqual(await locked('PUT', '/api/tags/2/marked/1'), [...owner, 'Posts', 'Tags', 'Posts', 'Marks'])
  t.deepEqual(await locked('PUT', '/api/tags/2/marked', [1]), [...owner, 'Posts', 'Tags', 'Posts', 'Marks'])
  t.is((await stage.send('PUT', '/api/tags/99/marked/99')).status, 404)
})

ordered('links under a unique index lock their owner where they are set, and nobody where one is added', async (t) => {
  t.deepEqual(await locked('PUT', '/api/tags/1/pinned', [1]), isFile ? ['Tags', 'Posts', 'Pin'] : ['Tags', 'Pin'])
  t.deepEqual(await locked('PUT', '/api/notes/1/tags/1'), isFile ? ['Notes', 'Tags', 'NoteTags'] : [])
  // On MySQL what hooks around reads have a say in is locked by that read as well.
  const owners = isFile ? ['Notes', 'Notes', 'Tags'] : stage.name === 'postgres' ? ['Notes'] : ['Notes', 'Notes']
  t.deepEqual(await locked('PUT', '/api/notes/1/tags', [1]), [...owners, 'NoteTags'])
})
