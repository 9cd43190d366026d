// Collections in `select`: what of their records stands in the records of a page, and of one record.

import ava, { type ExecutionContext } from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter } from '../../../lib/index.js'
import { listPath } from '../../support/league.js'
import { list, type Parameters } from '../../support/lists.js'
import { serveRelations } from '../../support/relations.js'
import { openStage } from '../../support/stage.js'

// What is asked of the database is looked at.
const test = ava.serial

const keys = await openKeys()
const people = await serveRelations({ fields: { id: { filterable: true } } })
const hooked = await serveRelations({ fields: { id: { filterable: true } } })
hooked.Person.addHook('beforeFind', () => {})
hooked.Club.addHook('beforeFind', () => {})
test.after.always(async () => {
  for (const server of [people, hooked, keys]) await server.close()
})

/** What a parameter is refused with where it shapes nothing that is selected. */
const NOTHING = 'applies to a collection that the parameter "select" does not contain.'

/** A path, what is selected and how it is shaped, and what the items are. */
type Example = readonly [path: string, select: string, shapes: Parameters, items: readonly unknown[]]

const named = (...names: readonly string[]): readonly object[] => names.map((name) => ({ name }))

const EXAMPLES: readonly Example[] = [
  ['/api/clubs', 'People.Name', {}, [{ people: named('Ada', 'Ben') }, { people: named('Cid', 'Dan') }, { people: [] }]],
  [
    '/api/clubs',
    'Name,People(Name,Level)',
    {},
    [
      {
        name: 'Lech',
        people: [
          { name: 'Ada', level: 10 },
          { name: 'Ben', level: 60 },
        ],
      },
      {
        name: 'Real',
        people: [
          { name: 'Cid', level: 80 },
          { name: 'Dan', level: null },
        ],
      },
      { name: 'Free', people: [] },
    ],
  ],
  [
    '/api/clubs',
    'People.Name,*,People.Born.Name',
    { 'people.sort': '-Name' },
    [
      {
        people: [
          { name: 'Ben', born: { name: 'Poland' } },
          { name: 'Ada', born: { name: 'Poland' } },
        ],
        id: 1,
        name: 'Lech',
        founded: 1922,
        countryId: 1,
      },
      {
        people: [
          { name: 'Dan', born: null },
          { name: 'Cid', born: { name: 'Spain' } },
        ],
        id: 2,
        name: 'Real',
        founded: 1902,
        countryId: 2,
      },
      { people: [], id: 3, name: 'Free', founded: 2000, countryId: null },
    ],
  ],
  [
    '/api/countries',
    'Name,Clubs(Name,People(Name,Skills.Name))',
    { 'clubs.people.filter': 'Level>50', 'clubs.people.skills.limit': 1 },
    [
      { name: 'Poland', clubs: [{ name: 'Lech', people: [{ name: 'Ben', skills: named('Run') }] }] },
      { name: 'Spain', clubs: [{ name: 'Real', people: [{ name: 'Cid', skills: [] }] }] },
      { name: 'Iceland', clubs: [] },
    ],
  ],
  [
    '/api/people',
    'Name,Skills.Name,Skills.Count',
    { 'skills.limit': 2, 'skills.sort': 'Name desc', 'skills.filter': 'Name!=Jump' },
    [
      { name: 'Ada', skills: named('Run'), skillsCount: 2 },
      { name: 'Ben', skills: named('Run'), skillsCount: 1 },
      { name: 'Cid', skills: [], skillsCount: 0 },
      { name: 'Dan', skills: [], skillsCount: 1 },
      { name: 'Eve', skills: named('Swim', 'Run'), skillsCount: 3 },
    ],
  ],
  [
    '/api/people',
    'Skills.Name,Pupils.Name',
    { 'SKILLS.Limit': '1', 'skills.Sort': '-People.Count,-Name' },
    [
      { skills: named('Run'), 'skills@more': true, pupils: named('Ben') },
      { skills: named('Run'), pupils: named('Cid') },
      { skills: [], pupils: named('Dan') },
      { skills: named('Jump'), pupils: [] },
      { skills: named('Run'), 'skills@more': true, pupils: [] },
    ],
  ],
  // Beyond a to-one relation: the people of a club that two share, and of no club.
  [
    '/api/people',
    'Name,Club(Name,People.Name,People.Count)',
    { 'club.people.limit': 1 },
    [
      { name: 'Ada', club: { name: 'Lech', people: named('Ada'), 'people@more': true, peopleCount: 2 } },
      { name: 'Ben', club: { name: 'Lech', people: named('Ada'), 'people@more': true, peopleCount: 2 } },
      { name: 'Cid', club: { name: 'Real', people: named('Cid'), 'people@more': true, peopleCount: 2 } },
      { name: 'Dan', club: { name: 'Real', people: named('Cid'), 'people@more': true, peopleCount: 2 } },
      { name: 'Eve', club: null },
    ],
  ],
  // One table, told apart by what the associations fix.
  [
    '/api/people',
    'Notes.Text,Stickers(Text),Stickers.Count',
    {},
    [
      { notes: [{ text: 'tall' }], stickers: [], stickersCount: 0 },
      { notes: [], stickers: [], stickersCount: 0 },
      { notes: [], stickers: [{ text: 'tall' }], stickersCount: 1 },
      { notes: [{ text: null }, { text: 'fast' }], stickers: [], stickersCount: 0 },
      { notes: [{ text: 'fast' }], stickers: [{ text: 'x' }], stickersCount: 1 },
    ],
  ],
]

for (const [path, select, shapes, items] of EXAMPLES) {
  test(`select=${select} on ${path} gives the records of its collections, on a page and by key`, async (t) => {
    for (const server of [people, hooked]) {
      const { status, text, body } = await list(server, path, { select, ...shapes })
      t.is(status, 200, text)
      t.deepEqual(body.items, items)
      t.is(JSON.stringify(body.items), JSON.stringify(items))
      for (const [index, item] of items.entries()) {
        const single = await list(server, `${path}/${index + 1}`, { select, ...shapes })
        t.is(single.text, JSON.stringify(item))
      }
      for (const more of [{ count: 'none' }, { filter: 'Name!=x' }, { filter: 'Name!=x', pageSize: 2 }]) {
        const { body: page } = await list(server, path, { select, ...shapes, ...more, page: 1 })
        t.deepEqual(page.items, items.slice(0, page.pageSize))
      }
    }
  })
}

test('keyset pages in any order have collections as other pages do', async (t) => {
  for (const server of [people, hooked]) {
    const { select, ...shapes } = { select: 'Name,People.Name,People.Count', 'people.limit': 1, 'people.sort': '-Name' }
    const page = async (more: Parameters) => {
      const parameters = { select, ...shapes, sort: '-People.Count,-Name', pageSize: 2, ...more }
      const { status, text, body } = await list(server, '/api/clubs', parameters)
      t.is(status, 200, text)
      return body
    }
    const first = await page({ after: '' })
    t.deepEqual(first.items, [
      { name: 'Real', people: named('Dan'), 'people@more': true, peopleCount: 2 },
      { name: 'Lech', people: named('Ben'), 'people@more': true, peopleCount: 2 },
    ])
    const second = await page({ after: first.nextCursor })
    t.deepEqual(second.items, [{ name: 'Free', people: [], peopleCount: 0 }])
    t.deepEqual((await page({ before: second.previousCursor })).items, first.items)
    const { body } = await list(server, '/api/clubs', { after: '', 'people.limit': 1 })
    t.deepEqual(body.errors, { 'people.limit': [NOTHING] })
  }
})

test('a relation without a member is all its fields, and * every field of the shape', async (t) => {
  const same = async (path: string, ...selects: readonly string[]): Promise<unknown> => {
    const [first = '', ...others] = await Promise.all(
      selects.map(async (select) => (await list(people, path, { select })).text),
    )
    for (const other of others) t.is(other, first)
    return JSON.parse(first)
  }
  t.deepEqual(await same('/api/people/1', '*', '*,Name', 'id,name,level,joined,clubId,mentorId,bornId,livesId'), {
    ...(await people.get('/api/people/1')).body,
  })
  t.deepEqual(await same('/api/people/1', 'Club', 'Club.*', 'Club(*)', 'Club(id,Name,Founded,CountryId)'), {
    club: { id: 1, name: 'Lech', founded: 1922, countryId: 1 },
  })
  t.deepEqual(await same('/api/clubs/3', 'People', 'People.*', 'People(*)'), { people: [] })
  t.deepEqual(await same('/api/people/5', 'Skills', 'Skills.*', 'Skills(*)', 'Skills(id,Name)'), {
    skills: [
      { id: 1, name: 'Run' },
      { id: 2, name: 'Jump' },
      { id: 3, name: 'Swim' },
    ],
  })
  t.deepEqual(await same('/api/people/5', 'Club', 'Club.*', 'Club.Name,Club'), { club: null })
  await same('/api/clubs', 'Name,People(Name,Skills),*', 'Name,People.Name,People.Skills.*,*')
})

for (const path of ['/api/people', '/api/people/1']) {
  test(`on ${path} a parameter for a collection that is not selected is a 400, whether or not there is one`, async (t) => {
    for (const select of ['Name', 'Skills.Count', 'Club.Name', 'Name,Pupils.Name']) {
      for (const name of [
        'skills',
        'nobody',
        'club',
        'name',
        'skills.people',
        'club.people',
        'skills.count',
        '',
        'a b',
      ]) {
        for (const [what, value] of [
          ['filter', 'Name=x'],
          ['sort', 'Name'],
          ['limit', '1'],
        ] as const) {
          const { status, body } = await list(people, path, { select, [`${name}.${what}`]: value })
          t.is(status, 400)
          t.is(body.code, 'invalid-query')
          t.deepEqual(body.errors, { [`${name}.${what}`]: [NOTHING] })
        }
      }
    }
    const { body } = await list(people, path, { 'skills.limit': 1 })
    t.deepEqual(body.errors, { 'skills.limit': [NOTHING] })
    t.is((await list(people, path, { 'skills.limit': '', 'nobody.filter': '' })).status, 200)
  })

  test(`on ${path} parameters of collections are read as those of lists are, and told by their names`, async (t) => {
    const errors = async (shapes: Parameters | string): Promise<unknown> => {
      const query = typeof shapes === 'string' ? shapes : new URLSearchParams(shapes as Record<string, string>)
      const { status, body } = await people.get(`${path}?select=Skills.Name,Pupils(Name,Pupils.Name)&${query}`)
      t.is(status, 400)
      return body.errors
    }
    t.deepEqual(await errors({ 'skills.filter': 'Name==x' }), {
      'skills.filter': [
        'Expected a value at position 5, but found "=". `==` is not an operator: write `=`, or `\\=` where a value begins with "=".',
      ],
    })
    t.deepEqual(await errors({ 'Skills.Filter': 'Nobody=x' }), {
      'skills.filter': ['Unknown field "Nobody" at position 0.'],
    })
    t.deepEqual(await errors({ 'pupils.filter': 'Level=x' }), {
      'pupils.filter': ['Level at position 0: "x" is not a whole number.'],
    })
    t.deepEqual(await errors({ 'pupils.pupils.sort': 'Name,Nobody' }), {
      'pupils.pupils.sort': ['Unknown field "Nobody" at position 5.'],
    })
    t.deepEqual(await errors({ 'pupils.sort': 'Pupils.Name' }), {
      'pupils.sort': [
        'Unknown field "Pupils.Name" at position 0. Lists cannot be sorted by a collection. Sort by its Count.',
      ],
    })
    for (const limit of ['0', '-1', '1.5', 'x', '1e1']) {
      t.deepEqual(await errors({ 'skills.limit': limit }), { 'skills.limit': ['must be a whole number from 1.'] })
    }
    for (const limit of ['101', '9'.repeat(400)]) {
      t.deepEqual(await errors({ 'skills.limit': limit }), { 'skills.limit': ['must be at most 100 (embedItems).'] })
    }
    t.deepEqual(await errors('skills.limit=1&Skills.LIMIT=1'), { 'skills.limit': ['is given more than once.'] })
    t.deepEqual(await errors('skills.limit=%ff'), { 'skills.limit': ['is not valid percent-encoded UTF-8.'] })
    // The page is where depth is counted from, within a collection as well.
    t.deepEqual(await errors({ 'pupils.pupils.filter': 'Club.Country.Name=x' }), {
      'pupils.pupils.filter': ['at position 0 has a path over more relations than the limit of 3 (pathDepth).'],
    })
  })
}

test('the modes that ignore select ignore what shapes its collections', async (t) => {
  const shapes = { select: 'Skills.Nobody', 'skills.filter': '===', 'nobody.limit': 'x' }
  t.deepEqual((await list(people, '/api/people', { ...shapes, count: true })).body, { count: 5 })
  t.is((await list(people, '/api/people', { ...shapes, cursor: '' })).status, 200)
})

test('what is counted is what the caller may meet, whatever the filter of the collection says', async (t) => {
  const { body } = await list(people, '/api/clubs', { select: 'People.Count', sort: '-People.Count,id' })
  t.deepEqual(body.items, [{ peopleCount: 2 }, { peopleCount: 2 }, { peopleCount: 0 }])
  const filtered = await list(people, '/api/clubs/1', {
    select: 'People.Count,People.Name',
    'people.filter': 'Name=x',
  })
  t.deepEqual(filtered.body, { peopleCount: 2, people: [] })
  const group = await list(people, '/api/people/1', { select: 'Club.People.Count,Skills(People.Count,Count)' })
  const paths = await list(people, '/api/people/1', { select: 'Club.People.Count,Skills.People.Count,Skills.Count' })
  t.is(group.text, paths.text)
  t.deepEqual(paths.body, {
    club: { peopleCount: 2 },
    skills: [{ peopleCount: 3 }, { peopleCount: 3 }],
    skillsCount: 2,
  })
})

test('one statement reads a collection, however many records it is for, and none where there are none', async (t) => {
  for (const [pageSize, pages] of [
    [1, 1],
    [3, 1],
    [100, 1],
  ] as const) {
    people.statements.length = 0
    await list(people, '/api/clubs', {
      select: 'Name,Country.Clubs.Name,People(Name,Skills.Name,Notes.Text,Pupils.Name),People.Count',
      pageSize,
    })
    t.is(people.statements.length, pages + 5)
  }
  people.statements.length = 0
  await list(people, '/api/clubs', { select: 'People(Name,Skills.Name)', filter: 'Name=x' })
  await list(people, '/api/clubs/3', { select: 'People(Name,Skills.Name)' })
  t.is(people.statements.length, 3)
})

/** Owners tied by text keys whose case and blanks databases may not tell apart, and by large numbers. */
async function openKeys(): ReturnType<typeof openStage> {
  const stage = await openStage(({ sequelize }, app) => {
    const plain = { timestamps: false }
    const Shelf = sequelize.define(
      'Shelf',
      { code: { type: DataTypes.STRING(20), primaryKey: true }, label: DataTypes.STRING },
      plain,
    )
    const Book = sequelize.define(
      'Book',
      {
        id: { type: DataTypes.BIGINT, primaryKey: true },
        title: { type: DataTypes.STRING, get: (): string => 'hidden by the getter' },
        raw: { type: DataTypes.STRING },
        loud: {
          type: DataTypes.VIRTUAL(DataTypes.STRING, ['raw']),
          get() {
            return String(this.get('raw')).toUpperCase()
          },
        },
      },
      plain,
    )
    const Word = sequelize.define(
      'Word',
      { id: { type: DataTypes.UUID, primaryKey: true }, text: DataTypes.STRING },
      plain,
    )
    const Mark = sequelize.define('Mark', {}, plain)
    Shelf.hasMany(Book, { as: 'books', foreignKey: 'shelfCode', constraints: false })
    Book.belongsTo(Shelf, { as: 'shelf', foreignKey: 'shelfCode', constraints: false })
    Book.hasMany(Word, { as: 'words', foreignKey: 'bookId', constraints: false })
    const between = { through: Mark, constraints: false }
    Shelf.belongsToMany(Word, { as: 'marks', ...between, foreignKey: 'shelfCode', otherKey: 'wordId' })
    Word.belongsToMany(Shelf, { as: 'shelves', ...between, foreignKey: 'wordId', otherKey: 'shelfCode' })
    for (const model of [Shelf, Book, Word]) app.use(crudRouter(model))
  })
  const { Shelf, Book, Word, Mark } = stage.sequelize.models
  const word = (digit: number): string => `0b1c2d3e-0000-4000-8000-00000000000${digit}`
  await Shelf?.bulkCreate([
    { code: 'a', label: 'first' },
    { code: 'ä,"b"', label: 'second' },
    { code: "o'x", label: 'third' },
    { code: '$1', label: 'fourth' },
  ])
  const large = '9007199254740993'
  await Book?.bulkCreate([
    { id: large, title: 't1', raw: 'one', shelfCode: 'a' },
    { id: '9007199254740992', title: 't2', raw: 'two', shelfCode: 'a' },
    { id: '3', title: 't3', raw: 'three', shelfCode: 'ä,"b"' },
    { id: '4', title: 't4', raw: 'four', shelfCode: "o'x" },
    { id: '5', title: 't5', raw: null, shelfCode: '$1' },
  ])
  await Word?.bulkCreate([
    { id: word(1), text: 'w1', bookId: large },
    { id: word(2), text: 'w2', bookId: '9007199254740992' },
    { id: word(3), text: 'w3', bookId: large },
  ])
  await Mark?.bulkCreate([
    { shelfCode: 'a', wordId: word(1) },
    { shelfCode: 'a', wordId: word(2) },
    { shelfCode: '$1', wordId: word(2) },
  ])
  return stage
}

test('records stand with their owners whatever the keys are: text, large numbers, UUIDs', async (t) => {
  const { body } = await list(keys, '/api/shelves', {
    select: 'code,Books(id,Words.Text),Marks.Text',
    sort: 'label',
    'marks.sort': '-Text',
  })
  const book = (id: unknown, ...words: readonly string[]): object => ({ id, words: words.map((text) => ({ text })) })
  t.deepEqual(body.items, [
    {
      code: 'a',
      books: [book('9007199254740992', 'w2'), book('9007199254740993', 'w1', 'w3')].map((each) => each),
      marks: [{ text: 'w2' }, { text: 'w1' }],
    },
    { code: '$1', books: [book(5)], marks: [{ text: 'w2' }] },
    { code: 'ä,"b"', books: [book(3)], marks: [] },
    { code: "o'x", books: [book(4)], marks: [] },
  ])
})

test('getters and virtual attributes of embedded records are asked', async (t) => {
  const { body } = await list(keys, '/api/shelves', { select: 'Books(Loud,Title,Raw,Shelf.Label)', sort: 'label' })
  const title = 'hidden by the getter'
  const read = (raw: string | null, label: string): object => ({
    loud: String(raw).toUpperCase(),
    title,
    raw,
    shelf: { label },
  })
  t.deepEqual(body.items, [
    { books: [read('two', 'first'), read('one', 'first')] },
    { books: [read(null, 'fourth')] },
    { books: [read('three', 'second')] },
    { books: [read('four', 'third')] },
  ])
})

// ---------------------------------------------------------------- limits

interface Tree {
  readonly branches: number
}

/** Three levels of which each has as many records for each above it. */
async function serveTree(limits: object, { branches }: Tree): ReturnType<typeof openStage> {
  const stage = await openStage(({ sequelize }, app) => {
    const plain = { timestamps: false }
    const Root = sequelize.define('Root', { name: DataTypes.STRING }, plain)
    const Stem = sequelize.define('Stem', { name: DataTypes.STRING }, plain)
    const Leaf = sequelize.define(
      'Leaf',
      { name: DataTypes.STRING },
      { ...plain, name: { plural: 'leaves', singular: 'leaf' } },
    )
    Root.hasMany(Stem, { as: 'stems', foreignKey: 'rootId' })
    Stem.belongsTo(Root, { as: 'root', foreignKey: 'rootId' })
    Stem.hasMany(Leaf, { as: 'leaves', foreignKey: 'stemId' })
    for (const model of [Root, Stem, Leaf]) app.use(crudRouter(model, model === Root ? { limits } : {}))
  })
  const { Root, Stem, Leaf } = stage.sequelize.models
  await Root?.bulkCreate([{ name: 'r1' }, { name: 'r2' }])
  const times = [...Array(branches).keys()]
  await Stem?.bulkCreate([1, 2].flatMap((rootId) => times.map((index) => ({ name: `s${index}`, rootId }))))
  await Leaf?.bulkCreate(times.flatMap((stem) => times.map((index) => ({ name: `l${index}`, stemId: stem + 1 }))))
  return stage
}

async function sizes(t: ExecutionContext, stage: Awaited<ReturnType<typeof serveTree>>, parameters: Parameters) {
  const { status, text, body } = await list(stage, '/api/roots', parameters)
  t.is(status, 200, text)
  const [{ stems }] = body.items
  return [stems.length, stems[0].leaves?.length ?? null, body.items[0]['stems@more'] ?? false]
}

test('a collection has so many records an owner as embedItems says, and no more may be asked for', async (t) => {
  const stage = await serveTree({ embedItems: 3 }, { branches: 5 })
  t.teardown(() => stage.close())
  t.deepEqual(await sizes(t, stage, { select: 'Stems.Name' }), [3, null, true])
  t.deepEqual(await sizes(t, stage, { select: 'Stems.Name', 'stems.limit': 2 }), [2, null, true])
  const { body } = await list(stage, '/api/roots', { select: 'Stems.Name', 'stems.limit': 4 })
  t.deepEqual(body.errors, { 'stems.limit': ['must be at most 3 (embedItems).'] })
})

test('limits that are not stated shrink to what embedTotal leaves, the deepest first, and what does not fit is refused', async (t) => {
  const stage = await serveTree({ embedItems: 5, embedTotal: 60 }, { branches: 5 })
  t.teardown(() => stage.close())
  const select = 'Stems.Leaves.Name'
  // Two roots, 5 stems of each: 10 records, and 50 leaves.
  t.deepEqual(await sizes(t, stage, { select, pageSize: 2 }), [5, 5, false])
  // 4 roots: 20 stems, and 2 leaves of each are 40. 10 roots: 50 stems leave 10 for the leaves, which is less than one for each.
  t.deepEqual(await sizes(t, stage, { select, pageSize: 4 }), [5, 2, false])
  t.deepEqual(await sizes(t, stage, { select, pageSize: 10 }), [3, 1, true])
  t.deepEqual(await sizes(t, stage, { select, pageSize: 30 }), [1, 1, true])
  t.deepEqual(await sizes(t, stage, { select, pageSize: 10, 'stems.leaves.limit': 2 }), [2, 2, true])
  t.deepEqual(await sizes(t, stage, { select, pageSize: 4, 'stems.limit': 1 }), [1, 5, true])
  const told = async (parameters: Parameters): Promise<unknown> => {
    const { status, body } = await list(stage, '/api/roots', { select, ...parameters })
    return status === 200 ? null : body.errors
  }
  const refused = { select: ['could return more records in collections than the limit of 60 (embedTotal).'] }
  t.deepEqual(await told({ pageSize: 31 }), refused)
  t.deepEqual(await told({ pageSize: 7, 'stems.limit': 5 }), refused)
  t.deepEqual(await told({ pageSize: 3, 'stems.limit': 5, 'stems.leaves.limit': 4 }), refused)
  t.is(await told({ pageSize: 3, 'stems.limit': 4, 'stems.leaves.limit': 4 }), null)
  // One record is a page of one; what the database holds has no say.
  t.is((await stage.get(listPath('/api/roots/1', { select }))).status, 200)
  t.deepEqual(await told({ pageSize: 31, filter: 'Name=nobody' }), refused)
})

test('limits shrink by how deep each collection is, also where others beside it hold none', async (t) => {
  const stage = await openStage(({ sequelize }, app) => {
    const plain = { timestamps: false }
    const define = (name: string) => sequelize.define(name, { name: DataTypes.STRING }, plain)
    const Root = define('Root')
    const Stem = define('Stem')
    const Leaf = define('Leaf')
    const Stone = define('Stone')
    Root.hasMany(Stem, { as: 'stems', foreignKey: 'rootId' })
    Root.hasMany(Stone, { as: 'stones', foreignKey: 'rootId' })
    Stem.hasMany(Leaf, { as: 'leaves', foreignKey: 'stemId' })
    app.use(crudRouter(Root, { limits: { embedItems: 4, embedTotal: 16 } }))
    for (const model of [Stem, Leaf, Stone]) app.use(crudRouter(model))
  })
  t.teardown(() => stage.close())
  const times = [0, 1, 2, 3]
  await stage.sequelize.model('Root').create({ name: 'r' })
  await stage.sequelize.model('Stem').bulkCreate(times.map((index) => ({ name: `s${index}`, rootId: 1 })))
  await stage.sequelize.model('Stone').bulkCreate(times.map((index) => ({ name: `o${index}`, rootId: 1 })))
  await stage.sequelize.model('Leaf').bulkCreate(times.map((index) => ({ name: `l${index}`, stemId: 1 })))
  for (const select of ['Stems.Leaves.Name,Stones.Name', 'Stones.Name,Stems.Leaves.Name']) {
    const { body } = await list(stage, '/api/roots', { select, pageSize: 1 })
    const [root] = body.items
    // 4 stems and 4 stones leave 8 for the leaves of 4 stems.
    t.deepEqual([root.stems.length, root.stems[0].leaves.length, root.stones.length], [4, 2, 4], select)
  }
})

test('a collection within collections is as deep as a path may be', async (t) => {
  const stage = await openStage(({ sequelize }, app) => {
    const Node = sequelize.define('Node', { name: DataTypes.STRING }, { timestamps: false })
    Node.hasMany(Node, { as: 'children', foreignKey: 'parentId' })
    Node.belongsTo(Node, { as: 'parent', foreignKey: 'parentId' })
    app.use(crudRouter(Node, { limits: { pathDepth: 3 } }))
    return { Node }
  })
  const { Node } = stage
  await Node.create({ name: 'n1' })
  for (const parentId of [1, 2, 3]) await Node.create({ name: `n${parentId + 1}`, parentId })
  t.teardown(() => stage.close())
  const { body } = await list(stage, '/api/nodes/1', { select: 'Children.Children.Children.Name' })
  t.deepEqual(body, { children: [{ children: [{ children: [{ name: 'n4' }] }] }] })
  const deeper = await list(stage, '/api/nodes/1', { select: 'Children.Parent.Children.Children.Name' })
  t.deepEqual(deeper.body.errors, {
    select: ['at position 0 has a path over more relations than the limit of 3 (pathDepth).'],
  })
})

test('members of a collection that are named like a quantifier can be selected', async (t) => {
  const stage = await openStage(({ sequelize }, app) => {
    const plain = { timestamps: false }
    const Shop = sequelize.define('Shop', { name: DataTypes.STRING }, plain)
    const Shelf = sequelize.define('Shelf', { all: DataTypes.STRING, none: DataTypes.STRING }, plain)
    const Box = sequelize.define('Box', { name: DataTypes.STRING, any: DataTypes.STRING }, plain)
    Shop.hasMany(Shelf, { as: 'shelves', foreignKey: 'shopId' })
    Shelf.hasMany(Box, { as: 'any', foreignKey: 'shelfId' })
    for (const model of [Shop, Shelf, Box]) app.use(crudRouter(model))
  })
  t.teardown(() => stage.close())
  await stage.sequelize.model('Shop').create({ name: 's' })
  await stage.sequelize.model('Shelf').create({ all: 'a', none: 'n', shopId: 1 })
  await stage.sequelize.model('Box').bulkCreate(['b1', 'b2'].map((name) => ({ name, any: name, shelfId: 1 })))
  const shelvesOf = async (select: string, parameters: Parameters = {}): Promise<unknown> =>
    (await list(stage, '/api/shops', { select, ...parameters })).body.items?.[0]?.shelves
  t.deepEqual(await shelvesOf('Shelves(All,None)'), [{ all: 'a', none: 'n' }])
  t.deepEqual(await shelvesOf('Shelves.None,Shelves.All'), [{ none: 'n', all: 'a' }])
  t.deepEqual(await shelvesOf('Shelves.Any.Any'), [{ any: [{ any: 'b1' }, { any: 'b2' }] }])
  const first = { 'shelves.any.limit': 1, 'shelves.any.sort': '-Name', 'shelves.any.filter': 'Any^b' }
  t.deepEqual(await shelvesOf('Shelves(Any(Name))', first), [{ any: [{ name: 'b2' }], 'any@more': true }])
  // In filters the words remain quantifiers.
  t.deepEqual((await list(stage, '/api/shops', { filter: 'Shelves.Any.Any.Name=b1' })).body.totalCount, 1)
  const { body } = await list(stage, '/api/shops', { select: 'Shelves.Each' })
  t.deepEqual(body.errors, { select: ['Unknown field "Shelves.Each" at position 0.'] })
})
