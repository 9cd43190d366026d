// Answers have a size: what is large is read once for each record, counted before it is written, and written in pieces.

import ava from 'ava'
import { DataTypes, type Model, type ModelStatic, type Sequelize } from 'sequelize'
import { type CrudOptions, crudRouter, Operations } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

const operations = Operations.AllWithBulk | Operations.BulkUpdate | Operations.Aggregate | Operations.Export
const MB = 1_000_000
const statements: string[] = []

interface Models {
  readonly Club: ModelStatic<Model>
  readonly Person: ModelStatic<Model>
  readonly Hooked: ModelStatic<Model>
  readonly Tag: ModelStatic<Model>
  readonly PersonTag: ModelStatic<Model>
  readonly Note: ModelStatic<Model>
}

function define(sequelize: Sequelize): Models {
  const plain = { timestamps: false }
  const text = sequelize.getDialect().startsWith('m') ? DataTypes.TEXT('long') : DataTypes.TEXT
  const Club = sequelize.define('Club', { name: DataTypes.STRING, about: text, extra: DataTypes.JSON }, plain)
  const person = {
    name: DataTypes.STRING,
    no: DataTypes.INTEGER,
    bio: text,
    shout: {
      type: DataTypes.VIRTUAL,
      get(this: Model) {
        return String(this.getDataValue('name' as never)).toUpperCase()
      },
    },
  }
  const Person = sequelize.define('Person', person, plain)
  const Hooked = sequelize.define('Hooked', person, { ...plain, tableName: 'People' })
  Hooked.addHook('beforeFind', () => undefined)
  const Tag = sequelize.define('Tag', { name: DataTypes.STRING, text }, plain)
  const PersonTag = sequelize.define('PersonTag', {}, plain)
  for (const model of [Person, Hooked]) {
    model.belongsTo(Club, { as: 'club', foreignKey: 'clubId' })
    model.belongsToMany(Tag, {
      as: 'tags',
      through: PersonTag,
      foreignKey: 'personId',
      otherKey: 'tagId',
      constraints: false,
    })
  }
  Club.hasMany(Person, { as: 'people', foreignKey: 'clubId' })
  const Note = sequelize.define(
    'Note',
    { at: { type: DataTypes.STRING(20), primaryKey: true }, no: { type: DataTypes.INTEGER, primaryKey: true }, text },
    plain,
  )
  return { Club, Person, Tag, PersonTag, Note, Hooked }
}

async function fill({ Club, Person, Tag, PersonTag, Note }: Models): Promise<void> {
  await Club.bulkCreate(
    [1, 2, 3].map((id) => ({ id, name: `club ${id}`, about: `about ${id} `.repeat(50), extra: { id } })),
  )
  await Club.create({ id: 4, name: 'large', about: 'x'.repeat(MB) })
  const ids = Array.from({ length: 130 }, (_, index) => index + 1)
  const clubOf = (id: number): number | null => (id % 5 === 0 ? null : (id % 3) + 1)
  await Person.bulkCreate(
    ids.map((id) => ({ id, no: id, name: `person ${id}`, bio: `bio ${id} `.repeat(20).trim(), clubId: clubOf(id) })),
  )
  const many = Array.from({ length: 1000 }, (_, index) => ({
    id: 1001 + index,
    no: 1001 + index,
    name: 'one of many',
    clubId: 4,
  }))
  await Person.bulkCreate(many)
  await Tag.bulkCreate(ids.slice(0, 6).map((id) => ({ id, name: `tag ${id}`, text: `text ${id} `.repeat(1000) })))
  await PersonTag.bulkCreate(
    ids.flatMap((personId) => [1, 2, (personId % 4) + 3].map((tagId) => ({ personId, tagId }))),
  )
  await Note.bulkCreate(ids.map((no) => ({ at: `at ${no % 7}`, no, text: `note ${no}` })))
}

const server = await openStage(
  ({ sequelize }, app) => {
    const models = define(sequelize)
    const { Club, Person, Tag, Note, Hooked } = models
    const shared = { operations, query: { maxPageSize: 1000 } } satisfies CrudOptions
    const people = crudRouter(Person, { ...shared, route: '/people' })
    app.use(people)
    app.use(crudRouter(Hooked, { ...shared, route: '/hooked', relations: { club: true, tags: true } }))
    const relations = { people: { routes: true, resource: () => people } }
    app.use(crudRouter(Club, { ...shared, route: '/clubs', relations }))
    app.use(crudRouter(Tag, { ...shared, route: '/tags' }))
    app.use(crudRouter(Note, { ...shared, route: '/notes' }))
    app.use(
      crudRouter(Person, { ...shared, route: '/small', relations: { club: true }, limits: { responseBytes: 3000 } }),
    )
    return models
  },
  { sequelize: { logging: (sql) => statements.push(sql) } },
)
await fill(server)

test.after.always(() => server.close())

const SMALL = 'No<=130'

const itemsOf = async (path: string, parameters: Record<string, string>): Promise<unknown[]> => {
  const { status, body, text } = await server.get(`${path}?${new URLSearchParams(parameters)}`)
  if (status !== 200) throw new Error(text)
  return body.items
}

/** The same records by pages whose large values are read in one statement, and by one page where they are read apart. */
async function inBothWays(path: string, parameters: Record<string, string>): Promise<readonly [unknown[], unknown[]]> {
  const whole = await itemsOf(path, { ...parameters, pageSize: '200' })
  const parts: unknown[] = []
  for (let page = 1; page <= 6; page += 1) {
    parts.push(...(await itemsOf(path, { ...parameters, pageSize: '22', page: String(page) })))
  }
  return [whole, parts]
}

test('large values that are read apart come to the same records, in the same order', async (t) => {
  for (const path of ['/people', '/hooked']) {
    for (const parameters of [
      ...[{}, { sort: '-bio' }, { sort: '-club.name,name', count: 'none' }],
      ...[{ select: 'name,club(about,name)' }, { select: 'bio,club.extra,shout' }, { select: 'club(*),tags(*)' }],
      ...[{ select: 'tags(text,name)', 'tags.sort': '-name', 'tags.limit': '2' }, { select: 'id,shout,tags.text' }],
    ]) {
      const [whole, parts] = await inBothWays(path, { filter: SMALL, ...parameters })
      t.is(whole.length, 130)
      t.is(JSON.stringify(whole), JSON.stringify(parts), `${path} ${JSON.stringify(parameters)}`)
    }
  }
  const [notes, some] = await inBothWays('/notes', { sort: '-at' })
  t.deepEqual(notes, some)
  const [groups, few] = await inBothWays('/people', { filter: SMALL, group: 'bio', aggregate: 'count,max(Bio)' })
  t.deepEqual(groups, few)
  const people = 'people(name,bio,club.about,tags(text))'
  const [clubs] = await itemsOf('/clubs', { select: people, keys: '1', 'people.limit': '60' })
  const [short] = await itemsOf('/clubs', { select: people, keys: '1', 'people.limit': '4' })
  t.deepEqual(Object(clubs).people.slice(0, 4), Object(short).people)
})

test('walks and nested lists with large values come to the same records', async (t) => {
  const all = await itemsOf('/people', { filter: SMALL, sort: '-name', pageSize: '200', select: 'name,bio,club.about' })
  for (const path of ['/people', '/hooked']) {
    const shown = { filter: SMALL, sort: '-name', select: 'name,bio,club.about' }
    const first = await server.get(`${path}?${new URLSearchParams({ ...shown, after: '', pageSize: '70' })}`)
    const second = await server.get(
      `${path}?${new URLSearchParams({ ...shown, after: first.body.nextCursor, pageSize: '70' })}`,
    )
    t.deepEqual([...first.body.items, ...second.body.items], all)
    t.is(second.body.nextCursor, null)
  }
  const cursor = await server.get('/people?cursor=&pageSize=100')
  t.is(cursor.body.items[99].bio, 'bio 100 '.repeat(20).trim())
  const nested = await itemsOf('/clubs/2/people', { pageSize: '1000' })
  t.deepEqual(nested, await itemsOf('/people', { filter: 'ClubId=2', pageSize: '1000' }))
})

test('a related record is read once an answer, and small pages take no more statements than before', async (t) => {
  const named = (word: string): string[] => statements.splice(0).filter((sql) => sql.includes(word))
  const counted = async (path: string, parameters: Record<string, string>, word: string): Promise<number> => {
    statements.length = 0
    await itemsOf(path, { filter: SMALL, count: 'none', ...parameters })
    return named(word).length
  }
  t.is(await counted('/people', { select: 'name,club(about)', pageSize: '20' }, 'SELECT'), 1)
  t.is(await counted('/people', { select: 'name,club(about)', pageSize: '130' }, 'about'), 1)
  t.is(await counted('/people', { select: 'name,club(about)', pageSize: '130' }, 'SELECT'), 2)
  t.is(await counted('/people', { select: 'name,club(name)', pageSize: '130' }, 'SELECT'), 1)
  t.is(await counted('/people', { select: 'name,tags(text)', pageSize: '10', 'tags.limit': '3' }, 'SELECT'), 2)
  t.is(await counted('/people', { select: 'name,tags(name)', pageSize: '130' }, 'SELECT'), 4)
  t.is(await counted('/people', { select: 'name,tags(name,text)', pageSize: '130', 'tags.limit': '3' }, 'text'), 1)
})

test('an answer larger than the limit is 400 before any of it is sent, in every mode', async (t) => {
  const many = { filter: SMALL, pageSize: '100' }
  for (const parameters of [
    ...[many, { ...many, after: '' }, { ...many, select: 'name,club(about)' }, { cursor: '', pageSize: '100' }],
    { ...many, group: 'bio', aggregate: 'count' },
  ]) {
    const answer = await server.get(`/small?${new URLSearchParams(parameters)}`)
    t.is(answer.status, 400, JSON.stringify(parameters))
    t.is(answer.body.code, 'invalid-query')
    t.is(
      answer.body.detail,
      'The response is larger than the limit of 3000 bytes (responseBytes). Request fewer records or fields.',
    )
    for (const name of ['x-total-count', 'link', 'etag']) t.is(answer.headers.get(name), null)
    const url = `/small?${new URLSearchParams(parameters)}`
    t.is((await server.send('HEAD', url)).status, 400)
    t.is((await server.get(url, { 'if-none-match': '"1"' })).status, 400)
  }
  t.is((await server.get('/small?pageSize=5')).status, 200)
  t.is((await server.get('/small?format=jsonl')).status, 200)
})

test('many people of one club with a megabyte of text are refused without a gigabyte in memory', async (t) => {
  const before = process.memoryUsage().rss
  let [last, longest, most] = [performance.now(), 0, before]
  const timer = setInterval(() => {
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
    most = Math.max(most, process.memoryUsage().rss)
  }, 5)
  for (const path of ['/people', '/hooked', '/clubs/4/people']) {
    const { status, body } = await server.get(`${path}?filter=ClubId%3D4&select=name,club(about)&pageSize=1000`)
    t.is(status, 400, path)
    t.regex(body.detail, /responseBytes/)
  }
  clearInterval(timer)
  t.true(most - before < 400 * MB, `${Math.round((most - before) / MB)} MB`)
  t.true(longest < 5000, `${Math.round(longest)} ms`)
})

test('large answers are written in pieces that come to the same text, length and tag', async (t) => {
  const url = '/people?select=name,tags(name,text)&filter=No<=130&pageSize=130'
  const { status, text, headers, body } = await server.get(url)
  t.is(status, 200)
  t.true(text.length > 2 * MB)
  t.is(text, JSON.stringify(body))
  t.is(headers.get('content-length'), String(Buffer.byteLength(text)))
  t.is(headers.get('content-type'), 'application/json; charset=utf-8')
  const tag = headers.get('etag') ?? ''
  t.is((await server.get(url, { 'if-none-match': tag })).status, 304)
  t.is((await server.get(url, { 'if-none-match': 'W/"other"' })).headers.get('etag'), tag)
  const head = await server.send('HEAD', url)
  t.deepEqual([head.status, head.text, head.headers.get('etag')], [200, '', tag])
})

test('a bulk update whose records are too large for an answer is undone', async (t) => {
  const json = Array.from({ length: 100 }, (_, index) => ({ id: index + 1, name: 'changed' }))
  const answer = await server.send('PATCH', '/small/bulk', { json })
  t.is(answer.status, 400)
  t.regex(answer.body.detail, /responseBytes/)
  t.is((await server.get('/people/1')).body.name, 'person 1')
  t.is((await server.send('PATCH', '/people/bulk', { json: json.slice(0, 2) })).body[1].bio, 'bio 2 '.repeat(20).trim())
  const all = await server.send('PATCH', '/people/bulk', { json })
  t.deepEqual([all.status, all.body.length, all.body[99].bio], [200, 100, 'bio 100 '.repeat(20).trim()])
})

test('exports of large values have the same records, and no limit', async (t) => {
  const parameters = { select: 'id,name,club(about),tags(text)', filter: SMALL, sort: 'id' }
  const { text } = await server.get(`/people?${new URLSearchParams({ ...parameters, format: 'jsonl' })}`)
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  t.deepEqual(lines, await itemsOf('/people', { ...parameters, pageSize: '200' }))
})
