import test from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { crudRouter } from '../../../lib/index.js'
import { list } from '../../support/lists.js'
import { serveRelations } from '../../support/relations.js'
import { serveSamples } from '../../support/samples.js'
import { openStage } from '../../support/stage.js'

const samples = await serveSamples()
const people = await serveRelations()
const hooked = await serveRelations()
hooked.Person.addHook('beforeFind', () => {})
test.after.always(async () => {
  for (const server of [samples, people, hooked]) await server.close()
})

/** What is selected, and the first and the last of the people as they come back. */
const SELECTS: readonly (readonly [select: string, ada: object, eve: object])[] = [
  ['Name', { name: 'Ada' }, { name: 'Eve' }],
  ['name,LEVEL', { name: 'Ada', level: 10 }, { name: 'Eve', level: 30 }],
  [' Name , Level ', { name: 'Ada', level: 10 }, { name: 'Eve', level: 30 }],
  ['Level,Name', { level: 10, name: 'Ada' }, { level: 30, name: 'Eve' }],
  ['Name,name,NAME', { name: 'Ada' }, { name: 'Eve' }],
  ['id', { id: 1 }, { id: 5 }],
  ['clubId', { clubId: 1 }, { clubId: null }],
  ['Club.Name', { club: { name: 'Lech' } }, { club: null }],
  ['Club.id', { club: { id: 1 } }, { club: null }],
  ['Name,Club.Name,Club.Founded', { name: 'Ada', club: { name: 'Lech', founded: 1922 } }, { name: 'Eve', club: null }],
  ['Club.Name,Name,Club.Founded', { club: { name: 'Lech', founded: 1922 }, name: 'Ada' }, { club: null, name: 'Eve' }],
  ['Club.Country.Name', { club: { country: { name: 'Poland' } } }, { club: null }],
  ['Club.Country.Name,Club.Name', { club: { country: { name: 'Poland' }, name: 'Lech' } }, { club: null }],
  ['Mentor.Name', { mentor: null }, { mentor: null }],
  [
    'Born.Name,Lives.Name',
    { born: { name: 'Poland' }, lives: { name: 'Spain' } },
    { born: { name: 'Iceland' }, lives: { name: 'Iceland' } },
  ],
  ['Passport.Number', { passport: { number: 'AA1' } }, { passport: null }],
]

for (const [select, ada, eve] of SELECTS) {
  test(`select=${select} gives those fields and no others`, async (t) => {
    for (const server of [people, hooked]) {
      for (const filter of [{}, { filter: 'Name!=x' }, { filter: 'Club.Name!=x', sort: 'Name' }]) {
        const { status, body } = await list(server, '/api/people', { select, ...filter })
        t.is(status, 200)
        t.deepEqual(body.items[0], ada)
        t.deepEqual(body.items[4], eve)
      }
    }
  })
}

test('a column that several members need is read once, and one of another record is another', async (t) => {
  const statements: string[] = []
  const server = await serveRelations({}, { logging: (sql) => statements.push(sql) })
  t.teardown(() => server.close())
  const ben = { name: 'Ben', mentor: { name: 'Ada', id: 1 } }
  for (const [select, expected] of [
    // The key of the mentor also tells whether there is one.
    ['Mentor.id,Mentor.Name,Name', ben],
    ['Name,Mentor.Name,Name,Mentor.id', ben],
    ['Name,Mentor.Mentor.Name,Mentor.id', { name: 'Ben', mentor: { mentor: null, id: 1 } }],
    // The key of the owner also leads to what it has.
    ['id,Notes.Text,Born.Name,Lives.Name', { id: 2, notes: [], born: { name: 'Poland' }, lives: { name: 'Poland' } }],
    [null, { id: 2, name: 'Ben' }],
  ] as const) {
    statements.length = 0
    const { body } = await list(server, '/api/people', select === null ? {} : { select })
    t.like(body.items[1], expected)
    const read = [...(statements[0] ?? '').matchAll(/(\S+) AS [`"]c\d+[`"]/g)].map(([, column]) => column)
    t.true(read.length > 2, statements[0])
    t.is(new Set(read).size, read.length, statements[0])
  }
})

test('a relation is null where it has no record, and an object of nulls where its record has none', async (t) => {
  for (const server of [people, hooked]) {
    const { body } = await list(server, '/api/people', { select: 'Passport.Number,Mentor.Mentor.Name,Mentor.Level' })
    t.deepEqual(body.items, [
      { passport: { number: 'AA1' }, mentor: null },
      { passport: { number: 'BB2' }, mentor: { mentor: null, level: 10 } },
      { passport: null, mentor: { mentor: { name: 'Ada' }, level: 60 } },
      { passport: { number: null }, mentor: { mentor: { name: 'Ben' }, level: 80 } },
      { passport: null, mentor: null },
    ])
    const clubs = await list(server, '/api/clubs', { select: 'Name,Country.Name' })
    t.deepEqual(clubs.body.items[2], { name: 'Free', country: null })
  }
})

test('a projected list has the whole envelope, and is filtered, sorted and paged like any other', async (t) => {
  const { body, headers } = await list(people, '/api/people', {
    select: 'Name',
    filter: 'Level>0',
    sort: '-Level',
    page: 2,
    pageSize: 2,
  })
  t.deepEqual(body, {
    items: [{ name: 'Eve' }, { name: 'Ada' }],
    totalCount: 4,
    page: 2,
    pageSize: 2,
    totalPages: 2,
    hasNextPage: false,
    hasPreviousPage: true,
  })
  t.is(headers.get('x-total-count'), '4')
})

test('what a list has for a field, a select of that field has too', async (t) => {
  for (const path of ['/api/samples', '/api/hooked']) {
    const { body } = await list(samples, path)
    for (const name of Object.keys(body.items[0])) {
      const selected = await list(samples, path, { select: name })
      t.deepEqual(
        selected.body.items,
        body.items.map((item: Record<string, unknown>) => ({ [name]: item[name] })),
        name,
      )
    }
  }
})

test('values have their form on the wire, the same on every database', async (t) => {
  for (const path of ['/api/samples', '/api/hooked']) {
    const { body } = await list(samples, path)
    t.deepEqual(body.items[0], {
      id: 1,
      required: 'one',
      text: 'alpha',
      note: 'apple',
      whole: -5,
      small: -32768,
      big: '-9007199254740993',
      amount: -0.1,
      double: -0.1,
      single: 0.1,
      real: 0.1,
      flag: true,
      at: '2024-02-28T23:59:59.999Z',
      moment: '2024-02-28T10:00:00.000Z',
      day: '2024-02-28',
      clock: '00:00:00',
      code: '0b1c2d3e-0000-4000-8000-000000000001',
      rank: 'High',
      data: { a: 1 },
      bytes: 'b25l',
    })
    t.is(body.items[1].big, '9007199254740992')
    t.is(body.items[1].data, 'two')
    t.deepEqual(body.items[2].data, [3])
    const { id, required, ...rest } = body.items[3]
    t.deepEqual([id, required], [4, 'four'])
    t.deepEqual(new Set(Object.values(rest)), new Set([null]))
  }
})

for (const select of [
  ...['Nobody', 'Name,Nobody', 'Club.Nobody', 'Nobody.Name', 'Nobody.*', 'Skills.Nobody', 'Skills.Any.Name'],
  ...['Skills.Count.id', 'Skills.Count.*', 'Club.People.Nobody', 'Name.Name', 'Name.*', 'Secrets.Word', 'Secrets'],
  ...['Secrets.Count', '__proto__', 'constructor.name', 'Club.__proto__', 'Club(Nobody)', 'Skills(Name,Nobody)'],
]) {
  test(`select=${select} is an unknown field`, async (t) => {
    for (const server of [people, hooked]) {
      const { status, body } = await list(server, '/api/people', { select })
      t.is(status, 400)
      t.is(body.title, 'Unknown field.')
      t.regex(body.errors.select[0], /^Unknown field "[\w.*]+" at position \d+\.$/)
    }
  })
}

for (const [select, offset] of [
  ['*.Name', 1],
  ['**', 1],
  [',', 0],
  ['Name,', 5],
  ['Name,,Level', 5],
  ['Name;Level', 4],
  ['-Name', 0],
  ['Name Level', 5],
  ['Club.*.Name', 6],
  ['Club.*(Name)', 6],
  ['Club()', 5],
  ['Club(Name', 9],
  ['Club(Name))', 10],
  ['Club.(Name)', 5],
  ['Club..Name', 5],
  ['Club.', 5],
  ['(Name)', 0],
  ['Name as n', 5],
  ['"Name"', 0],
] as const) {
  test(`select=${select} is malformed at position ${offset}`, async (t) => {
    const { status, body } = await list(people, '/api/people', { select })
    t.is(status, 400)
    t.is(body.title, 'Malformed select.')
    t.regex(body.errors.select[0], new RegExp(` at position ${offset}, but found `))
    t.true(body.detail.endsWith(`\n${select}\n${' '.repeat(offset)}^`))
  })
}

test('select is not looked at where count or cursor wins over it', async (t) => {
  for (const select of ['Nobody', ',,', 'Name']) {
    t.deepEqual((await list(people, '/api/people', { select, count: true })).body, { count: 5 })
    const { body } = await list(people, '/api/people', { select, cursor: '' })
    t.deepEqual(Object.keys(body.items[0]), [
      'id',
      'name',
      'level',
      'joined',
      'clubId',
      'mentorId',
      'bornId',
      'livesId',
    ])
  }
})

interface Models {
  readonly Author: ModelStatic<Model>
  readonly Book: ModelStatic<Model>
}

test('the list shape decides what can be selected, on the record itself and behind a relation', async (t) => {
  const server = await openStage<Models>(({ sequelize }, app) => {
    const Author = sequelize.define(
      'Author',
      {
        first_name: DataTypes.STRING,
        unlisted: DataTypes.STRING,
        unanswered: DataTypes.STRING,
        listed: DataTypes.STRING,
        hidden: DataTypes.STRING,
        shout: {
          type: DataTypes.VIRTUAL(DataTypes.STRING),
          get(this: Model) {
            return `${this.get('first_name')}!`
          },
        },
      },
      { timestamps: false },
    )
    const Book = sequelize.define(
      'Book',
      { title: { type: DataTypes.STRING, field: 'book_title' } },
      { timestamps: false },
    )
    Book.belongsTo(Author, { as: 'author', foreignKey: 'authorId' })
    app.use(
      crudRouter(Author, {
        fields: {
          unlisted: { exclude: 'list' },
          unanswered: { exclude: 'response' },
          listed: { only: 'list' },
          hidden: { exclude: ['list', 'response'] },
        },
      }),
    )
    app.use(crudRouter(Book))
    return { Author, Book }
  })
  const { Author, Book } = server
  await Author.create({ first_name: 'Olga', unlisted: 'l', unanswered: 'a', listed: 'x', hidden: 'h' })
  await Book.bulkCreate([{ title: 'Flights', authorId: 1 }, { title: 'Nobody' }])
  t.teardown(() => server.close())
  for (const name of ['Unlisted', 'Unanswered', 'Hidden']) {
    t.is((await list(server, '/api/authors', { select: name })).body.title, 'Unknown field.')
    t.is((await list(server, '/api/books', { select: `Author.${name}` })).body.title, 'Unknown field.')
  }
  const { body } = await list(server, '/api/authors', { select: 'firstName,Listed,Shout' })
  t.deepEqual(body.items, [{ firstName: 'Olga', listed: 'x', shout: 'Olga!' }])
  t.is((await list(server, '/api/authors', { select: 'first_name' })).body.title, 'Unknown field.')
  const books = await list(server, '/api/books', { select: 'Title,Author.FirstName,Author.Shout,Author.Listed' })
  t.deepEqual(books.body.items, [
    { title: 'Flights', author: { firstName: 'Olga', shout: 'Olga!', listed: 'x' } },
    { title: 'Nobody', author: null },
  ])
  const plain = await list(server, '/api/authors')
  t.deepEqual(plain.body.items, [{ id: 1, firstName: 'Olga', listed: 'x', shout: 'Olga!' }])
  t.deepEqual((await server.get('/api/authors/1')).body, { id: 1, firstName: 'Olga', unlisted: 'l', shout: 'Olga!' })
})
