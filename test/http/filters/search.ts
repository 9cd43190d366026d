// `search=jan test` finds the records that have every word in some of the fields that the host has named.

import ava from 'ava'
import { DataTypes, type Model, type ModelAttributes, type ModelStatic } from 'sequelize'
import { type CrudOptions, crudRouter, queryOf } from '../../../lib/index.js'
import { databaseName } from '../../support/database.js'
import { keysOf, list } from '../../support/lists.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

const models: Record<string, ModelStatic<Model>> = {}
const heard: Error[] = []
const hasFullText = databaseName !== 'sqlite'

const server = await openStage(({ sequelize }, app) => {
  const define = (name: string, attributes: ModelAttributes): ModelStatic<Model> => {
    const model = sequelize.define(name, attributes, { timestamps: false })
    models[name] = model
    return model
  }
  const person = { name: DataTypes.STRING, email: DataTypes.STRING, note: DataTypes.TEXT, level: DataTypes.INTEGER }
  const Team = define('Team', { name: DataTypes.STRING, motto: DataTypes.STRING })
  const Person = define('Person', { ...person, search: DataTypes.STRING })
  const Hooked = define('Hooked', person)
  // With a find hook the reads go through Sequelize's own findAll and count.
  Hooked.addHook('beforeFind', () => undefined)
  for (const model of [Person, Hooked]) model.belongsTo(Team, { as: 'team', foreignKey: 'teamId', constraints: false })
  const Text = define('Text', { title: DataTypes.STRING, body: DataTypes.TEXT, other: DataTypes.STRING })
  app.use(crudRouter(Team, { route: 'teams' }))
  const query = { search: ['name', 'Email', 'note', 'team.name'] }
  app.use(crudRouter(Person, { route: 'people', query }))
  app.use(crudRouter(Hooked, { route: 'hooked', query }))
  app.use(crudRouter(Person, { route: 'few', query, limits: { searchWords: 2, filterLength: 20 } }))
  app.use(crudRouter(Person, { route: 'plain', query: { unknownParameters: 'ignore' } }))
  app.use(crudRouter(Person, { route: 'strict', query: { unknownParameters: 'reject' } }))
  app.use(crudRouter(Person, { route: 'searching', query: { unknownParameters: 'reject', search: ['name'] } }))
  if (hasFullText) {
    const words = (fields: readonly string[]): object => ({
      query: { search: { fields, fullText: true } },
      onError: (error: Error) => heard.push(error),
    })
    app.use(crudRouter(Text, { route: 'texts', ...words(['title', 'body']) }))
    app.use(crudRouter(Text, { route: 'unindexed', ...words(['title', 'other']) }))
  }
})

const people = [
  { name: 'Jan Kowalski', email: 'jan@test.pl', note: 'likes 100% cocoa', teamId: 1 },
  { name: 'Anna Nowak', email: null, note: 'a_b, (c|d) and \\e/i', teamId: 2 },
  { name: 'Jane Testowa', email: 'jane@example.com', note: 'the "old" 5" disc', teamId: 2 },
  { name: 'Kasia', email: 'kasia@test.pl', note: null, teamId: null },
  { name: 'TEST JAN', email: null, note: 'a*b?[c]', teamId: 99 },
]
await models.Team?.bulkCreate([{ name: 'Old Lions' }, { name: 'Test Tigers' }])
await models.Person?.bulkCreate(people)
await models.Hooked?.bulkCreate(people)

test.after.always(() => server.close())

for (const path of ['/people', '/hooked']) {
  test(`search of ${path} wants every word in some of the fields, in any case`, async (t) => {
    for (const [search, found] of [
      ['jan', [1, 3, 5]],
      ['JAN', [1, 3, 5]],
      ['jan test', [1, 3, 5]],
      ['test  jan', [1, 3, 5]],
      ['jan kowal', [1]],
      ['kowal lions', [1]],
      ['tigers', [2, 3]],
      ['test.pl', [1, 4]],
      ['jan anna', []],
      ['nobody', []],
      ['jan jan Jan', [1, 3, 5]],
    ] as const) {
      t.deepEqual(await keysOf(server, path, { search, sort: 'id' }), found, search)
    }
  })

  test(`words between quotes are one, and odd quotes are text, in a search of ${path}`, async (t) => {
    for (const [search, found] of [
      ['"jan kowalski"', [1]],
      ['"kowalski jan"', []],
      ['"test jan"', [5]],
      ['"old lions" jan', [1]],
      ['"old" lions', [1]],
      ['"old"lions', [1]],
      ['5"', [3]],
      ['"old', [3]],
      ['"', [3]],
      ['"old" 5" disc', [3]],
      ['"  " jan', [1, 3, 5]],
    ] as const) {
      t.deepEqual(await keysOf(server, path, { search, sort: 'id' }), found, search)
    }
  })

  test(`what means something to patterns or to filters is text in a search of ${path}`, async (t) => {
    for (const [search, found] of [
      ['%', [1]],
      ['100%', [1]],
      ['10%cocoa', []],
      ['a_b', [2]],
      ['_', [2]],
      ['(c|d)', [2]],
      ['\\e', [2]],
      ['\\e/i', [2]],
      ['/i', [2]],
      [',', [2]],
      ['*', [5]],
      ['?', [5]],
      ['[c]', [5]],
      ["'", []],
      ['null', []],
    ] as const) {
      t.deepEqual(await keysOf(server, path, { search, sort: 'id' }), found, search)
    }
  })

  test(`a search of ${path} without a word is none`, async (t) => {
    for (const search of ['', ' ', '\t', '""', ' "  " ']) {
      t.is((await keysOf(server, path, { search })).length, 5, JSON.stringify(search))
    }
  })

  test(`a search of ${path} goes with filters, parameters, keys and every mode`, async (t) => {
    t.deepEqual(await keysOf(server, path, { search: 'jan', filter: 'Name^Jan', sort: '-id' }), [3, 1])
    t.deepEqual(await keysOf(server, path, { search: 'jan', name: 'Jane Testowa' }), [3])
    t.deepEqual(await keysOf(server, path, { search: 'jan', keys: '1,2,5', sort: '-id' }), [5, 1])
    t.deepEqual((await list(server, path, { search: 'jan', count: true })).body, { count: 3 })
    const first = await list(server, path, { search: 'jan', cursor: '', pageSize: 2 })
    t.deepEqual(
      first.body.items.map(({ id }: { id: number }) => id),
      [1, 3],
    )
    const second = await list(server, path, { search: 'jan', cursor: first.body.nextCursor, pageSize: 2 })
    t.deepEqual(
      second.body.items.map(({ id }: { id: number }) => id),
      [5],
    )
    const page = await list(server, path, { search: 'jan', select: 'name', pageSize: 1, page: 2, sort: 'id' })
    t.deepEqual(page.body.items, [{ name: 'Jane Testowa' }])
    t.is(page.body.totalCount, 3)
    t.true(page.headers.get('link')?.includes('search=jan'))
  })
}

test('what is too much for a search is a 400 that names the limit', async (t) => {
  for (const [search, message] of [
    ['a b c', 'has more words than the limit of 2 (searchWords).'],
    ['123456789012345678901', 'is longer than the limit of 20 characters (filterLength).'],
    ['a\0b', 'must be text without NUL characters.'],
  ] as const) {
    for (const mode of [{}, { count: true }, { cursor: '' }]) {
      const { status, body } = await list(server, '/few', { search, ...mode })
      t.is(status, 400, search)
      t.is(body.title, 'Invalid query.')
      t.deepEqual(body.errors, { search: [message] })
    }
  }
  t.is((await list(server, '/few', { search: 'a b a b' })).status, 200)
})

test('search is a parameter only where the option says so, and then a field of that name has none', async (t) => {
  t.is((await keysOf(server, '/plain', { search: 'nobody' })).length, 0)
  t.deepEqual((await list(server, '/strict', { search: 'nobody' })).body.totalCount, 0)
  t.deepEqual(await keysOf(server, '/searching', { search: 'kasia' }), [4])
  t.is((await list(server, '/searching', { Search: 'kasia' })).status, 400)
  const unknown = await list(server, '/teams', { search: 'nobody' })
  t.deepEqual(unknown.body.errors, { search: ['is not a parameter of this list.'] })
  const twice = await server.get('/people?search=a&search=b')
  t.deepEqual(twice.body.errors, { search: ['is given more than once.'] })
  const { body } = await list(server, '/searching', { serch: 'x' })
  t.regex(body.detail, /Did you mean "search"\?/)
})

test('hosts get a search in their options for findAll', async (t) => {
  const { Person } = models
  if (Person === undefined) throw new Error('no model')
  const people = queryOf(Person, { query: { search: ['name', 'team.name'] } })
  const found = await Person.findAll(people.toFindOptions({ search: 'jan lions' }))
  t.deepEqual(
    found.map((each) => each.get('id')),
    [1],
  )
})

test('what a search cannot look through is refused at mount', (t) => {
  const { Person, Team } = models
  if (Person === undefined || Team === undefined) throw new Error('no models')
  Team.hasMany(Person, { as: 'people', foreignKey: 'teamId', constraints: false })
  const refused = (search: unknown, options: object, code: string, message: RegExp, model = Person): void => {
    const given = { ...options, query: { search } } as CrudOptions
    const error = t.throws(() => crudRouter(model, given), { message }, JSON.stringify(search))
    t.is((error as { code?: string }).code, code)
  }
  const KIND = /must be an array of paths, or an object with the paths as "fields" and the boolean "fullText"/
  for (const search of [[], 'name', {}, { fields: [] }, { fields: ['name'], fulltext: true }, [''], [1], true]) {
    refused(search, {}, 'INVALID_OPTION', KIND)
  }
  refused(['nmae'], {}, 'UNKNOWN_ATTRIBUTE', /text field "nmae" does not exist. Did you mean "name"\?/)
  const unfit = /search: "([\w.]+)" is not a readable and filterable text field\. Valid: \w+/
  refused(['level'], {}, 'UNKNOWN_ATTRIBUTE', unfit)
  refused(['team.id'], {}, 'UNKNOWN_ATTRIBUTE', unfit)
  refused(['name'], { fields: { name: { exclude: 'query' } } }, 'UNKNOWN_ATTRIBUTE', unfit)
  refused(['name'], { fields: { name: { exclude: 'response' } } }, 'UNKNOWN_ATTRIBUTE', unfit)
  refused(['taem.name'], {}, 'UNKNOWN_ASSOCIATION', /association "taem" does not exist. Did you mean "team"\?/)
  refused(
    ['team.name'],
    { relations: { team: false } },
    'INVALID_OPTION',
    /the option "relations" disables the association "team"/,
  )
  refused(
    ['team.name'],
    { relations: { team: { fields: ['motto'] } } },
    'UNKNOWN_ATTRIBUTE',
    /"team.name" is not .*Valid: motto/,
  )
  refused(['people.name'], {}, 'INVALID_OPTION', /leads to several records/, Team)
  refused(['name,email'], {}, 'INVALID_OPTION', /must be the path of a single field/)
  refused(['name='], {}, 'INVALID_OPTION', /must be the path of a single field/)
  refused(['team.team.team.team.name'], {}, 'INVALID_OPTION', /limit of 3 \(pathDepth\)/)
  if (!hasFullText) {
    refused({ fields: ['name'], fullText: true }, {}, 'INVALID_OPTION', /sqlite has no full-text search/)
    return
  }
  refused({ fields: ['team.name'], fullText: true }, {}, 'INVALID_OPTION', /is a field of a related record/)
  const masked = { mask: { name: 'staff' } }
  refused({ fields: ['name'], fullText: true }, masked, 'INVALID_OPTION', /"name" is masked/)
})

if (hasFullText) {
  test("fullText looks the words up in the database's own index", async (t) => {
    const { sequelize } = server
    await sequelize.query(
      databaseName === 'postgres'
        ? `CREATE INDEX words ON "Texts" USING gin (to_tsvector('simple', coalesce(title, '') || ' ' || coalesce(body, '')))`
        : 'CREATE FULLTEXT INDEX words ON Texts (title, body)',
    )
    await models.Text?.bulkCreate([
      { title: 'Quick foxes', body: 'jump over lazy dogs' },
      { title: 'Lazy cats', body: 'sleep, quick or slow' },
      { title: 'Nothing', body: null },
      { title: null, body: 'quick-witted dogs' },
      { title: 'Speed', body: 'in miles/hour' },
    ])
    for (const [search, found] of [
      ['quick', [1, 2, 4]],
      ['QUICK dogs', [1, 4]],
      ['"lazy dogs"', [1]],
      ['"dogs lazy"', []],
      ['lazy quick', [1, 2]],
      ['-quick lazy', [1, 2]],
      ['+lazy -dogs', [1]],
      ['(quick) "dogs', [1, 4]],
      ['qui*', []],
      ['~quick <dogs>', [1, 4]],
      ["dogs'); DROP TABLE x", []],
      ['nothing', [3]],
      ['++', []],
      ['quick ++', [1, 2, 4]],
      ['miles/hour', [5]],
      ['speed "in miles/hour"', [5]],
      ['hour/miles', []],
    ] as const) {
      t.deepEqual(await keysOf(server, '/texts', { search, sort: 'id' }), found, search)
    }
    t.deepEqual((await list(server, '/texts', { search: 'quick', count: true, filter: 'Title!=null' })).body, {
      count: 2,
    })
    t.deepEqual((await list(server, '/texts', { search: 'lazy', sort: '-id', pageSize: 1 })).body.totalCount, 2)
  })

  test('a fullText phrase with more words than the database accepts is a 400', async (t) => {
    const search = `"${'quick '.repeat(600).trim()}"`
    const { status, body } = await list(server, '/texts', { search })
    // PostgreSQL has no limit for the words of a phrase.
    t.is(status, databaseName === 'postgres' ? 200 : 400)
    if (status === 400) t.regex(body.detail, /too large for the database/)
    t.deepEqual(heard, [])
  })

  if (databaseName !== 'postgres') {
    test('the host hears which full-text index is not there, and clients do not', async (t) => {
      const { status, body } = await list(server, '/unindexed', { search: 'quick' })
      t.is(status, 500)
      t.false(/other|index/i.test(JSON.stringify(body)))
      t.is(heard.length, 1)
      t.regex(
        heard[0]?.message ?? '',
        /Text: query\.search: fullText needs a full-text index over exactly these columns: title, other\./,
      )
    })
  }
}
