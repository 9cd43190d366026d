import test from 'ava'
import { keysOf, list } from '../../support/lists.js'
import { serveRelations } from '../../support/relations.js'

// Three collections within each other are one more than a host allows by default.
const limits = { quantifierDepth: 3 }
const served = await serveRelations({ limits })
// With a find hook on the model, its reads go through `findAll` and `count`, whose statements Sequelize writes itself.
const hooked = await serveRelations({ limits })
hooked.Person.addHook('beforeFind', () => {})
// Attributes and keys whose columns have other names.
const underscored = await serveRelations({ limits }, { define: { underscored: true } })
test.after.always(async () => {
  await served.close()
  await hooked.close()
  await underscored.close()
})

type Rows = readonly (readonly [filter: string, ids: readonly number[]])[]

const PEOPLE: { readonly [about: string]: Rows } = {
  'a path over a to-one relation compares the field of its record': [
    ['Club.Name=Lech', [1, 2]],
    ['club.name=Lech', [1, 2]],
    ['CLUB.NAME=*ea', [3, 4]],
    ['Club.Founded>1910', [1, 2]],
    ['Club.Founded=in=1902;2000', [3, 4]],
    ['Club.Name=lech/i', [1, 2]],
    ['Club.Name=Lech,Level>20', [2]],
    ['Club.Name=Lech|Level=30', [1, 2, 5]],
  ],
  'a negated operator over a to-one relation meets what has no record there': [
    ['Club.Name!=Lech', [3, 4, 5]],
    ['Club.Name!*e', [5]],
    ['Club.Name=out=Lech;Real', [5]],
    ['Club.Founded!=1922', [3, 4, 5]],
    ['Club.Founded=out=1922', [3, 4, 5]],
    ['Club.Country.Name!=Poland', [3, 4, 5]],
  ],
  'null over a to-one relation is a missing record or a null field': [
    ['Club.Name=null', [5]],
    ['Club.Name!=null', [1, 2, 3, 4]],
    ['Club.Name=in=Lech;null', [1, 2, 5]],
    ['Club.Name=out=Lech;null', [3, 4]],
    ['Passport.Number=null', [3, 4, 5]],
    ['Passport.Number!=null', [1, 2]],
    ['Mentor.Level=null', [1, 5]],
    ['Club.Founded=null', [5]],
  ],
  'Nav=null tests for a missing record': [
    ['Club=null', [5]],
    ['Club!=null', [1, 2, 3, 4]],
    ['Passport=null', [3, 5]],
    ['Passport!=null', [1, 2, 4]],
    ['Mentor=null', [1, 5]],
    ['Mentor.Mentor=null', [1, 2, 5]],
    ['Mentor.Mentor!=null', [3, 4]],
    ['Lives=null', [3]],
    ['Club=null|Lives=null', [3, 5]],
    ['Club= null ,Level=30', [5]],
    ['Club=null/i', [5]],
  ],
  'a path crosses three relations': [
    ['Mentor.Mentor.Mentor.Name=Ada', [4]],
    ['Mentor.Mentor.Mentor.Name!=Ada', [1, 2, 3, 5]],
    ['Mentor.Club.Country.Name=Poland', [2, 3]],
    ['Mentor.Club.Country.Name=null', [1, 5]],
    ['Mentor.Club.Country=null', [1, 5]],
    ['Club.Country.Clubs.Name=Lech', [1, 2]],
  ],
  'a relation to its own model is a path like any other': [
    ['Mentor.Name=Ada', [2]],
    ['Mentor.Name!=Ada', [1, 3, 4, 5]],
    ['Mentor.Mentor.Name=Ada', [3]],
    ['Pupils.Name=Ben', [1]],
    ['Pupils.Count=0', [4, 5]],
    ['Pupils.Pupils.Name=Cid', [1]],
    ['Mentor.Pupils.Count=1', [2, 3, 4]],
    ['Pupils.Mentor.Name=Ada', [1]],
  ],
  'two relations to one model are told apart by their names': [
    ['Born.Name=Poland', [1, 2]],
    ['Lives.Name=Poland', [2, 4]],
    ['Born.Name=Poland,Lives.Name=Poland', [2]],
    ['Born.Name=Poland|Lives.Name=Poland', [1, 2, 4]],
    ['Born.Name=Poland,Lives.Name!=Poland', [1]],
    ['Born.Code=IS,Lives.Code=IS', [5]],
  ],
  'a hasOne with a scope has the record of that scope only': [
    ['Passport.Number=AA1', [1]],
    ['Passport.Number^ZZ', []],
    ['Passport.Number!^ZZ', [1, 2, 3, 4, 5]],
    ['Passport.Kind=passport', [1, 2, 4]],
  ],
  'a collection’s field means that some element has it': [
    ['Skills.Name=Run', [1, 2, 5]],
    ['Skills.Any.Name=Run', [1, 2, 5]],
    ['skills.ANY.name=Swim', [5]],
    ['Skills.Name!=Run', [1, 4, 5]],
    ['Notes.Text=tall', [1]],
    ['Notes.Text=null', [4]],
    ['Notes.Text!=fast', [1, 4]],
    ['Notes.Text!*a', [4]],
    ['Pupils.Level>70', [2]],
  ],
  'two clauses are two quantifiers, one group is one': [
    ['Skills.Name=Run,Skills.Name=Jump', [1, 5]],
    ['(Skills.Name=Run,Skills.Name=Jump)', [1, 5]],
    ['Skills.Any(Name=Run,Name=Jump)', []],
    ['Skills.Any(Name=Run|Name=Jump)', [1, 2, 4, 5]],
    ['Skills.Any(Name=Swim)', [5]],
    ['Notes.Any(Text=fast)', [4, 5]],
  ],
  'All is met where every element meets the condition, and where there is none': [
    ['Skills.All.Name=Run', [2, 3]],
    ['Skills.All.Name!=Run', [3, 4]],
    ['Skills.All(Name=Run|Name=Jump)', [1, 2, 3, 4]],
    ['Skills.All(Name=Run,Name=Jump)', [3]],
    ['Pupils.All.Level>50', [1, 2, 4, 5]],
    ['Stickers.All.Text=tall', [1, 2, 3, 4]],
  ],
  'a null element fails All of a positive operator and of an order, and meets All of a negated one': [
    ['Notes.All.Text=fast', [2, 3, 5]],
    ['Notes.All.Text!=tall', [2, 3, 4, 5]],
    ['Notes.All.Text=*a', [1, 2, 3, 5]],
    ['Notes.All.Text!*x', [1, 2, 3, 4, 5]],
    ['Notes.All.Text=null', [2, 3]],
    ['Notes.All.Text!=null', [1, 2, 3, 5]],
    ['Pupils.All.Level<100', [1, 2, 4, 5]],
    ['Pupils.All(Level<100|Level=null)', [1, 2, 3, 4, 5]],
    ['Notes.All.Text=out=tall', [2, 3, 4, 5]],
    ['Notes.All.Text=in=fast;null', [2, 3, 4, 5]],
  ],
  'None is the complement of Any': [
    ['Skills.None.Name=Run', [3, 4]],
    ['Skills.None(Name=Run)', [3, 4]],
    ['Skills.None(Name=Run|Name=Jump)', [3]],
    ['Notes.None.Text=fast', [1, 2, 3]],
    ['Notes.None.Text!=fast', [2, 3, 5]],
    ['Pupils.None.Level>70', [1, 3, 4, 5]],
  ],
  'Count compares the number of elements': [
    ['Skills.Count=0', [3]],
    ['Skills.Count=2', [1]],
    ['Skills.Count!=0', [1, 2, 4, 5]],
    ['Skills.Count>1', [1, 5]],
    ['Skills.Count>=2', [1, 5]],
    ['Skills.Count<1', [3]],
    ['Skills.Count<=1', [2, 3, 4]],
    ['Skills.Count=in=0;3', [3, 5]],
    ['Skills.Count=out=0;3', [1, 2, 4]],
    ['Skills.count=+2', [1]],
    ['Skills.Count>-1', [1, 2, 3, 4, 5]],
    ['Skills.Count=2/i', [1]],
    ['Notes.Count=2', [4]],
    ['Stickers.Count=1', [3, 5]],
    ['Skills.Count<99999999999999999999', [1, 2, 3, 4, 5]],
    ['Skills.Count>-99999999999999999999', [1, 2, 3, 4, 5]],
    ['Skills.Count=99999999999999999999', []],
    ['Skills.Count>9007199254740991', []],
  ],
  'Count of a group compares the number of elements that meet it': [
    ['Skills.Count(Name=Run)=1', [1, 2, 5]],
    ['Skills.Count(Name=Run|Name=Jump)=2', [1, 5]],
    ['Skills.Count(Name!=Run)>=2', [5]],
    ['Skills.Count(Name^J,Name$p)>0', [1, 4, 5]],
    ['Notes.Count(Text=null)=1', [4]],
    ['Notes.Count(Text!=tall)=2', [4]],
    ['Skills.Count(Name=Run)=in=0;1', [1, 2, 3, 4, 5]],
    ['Skills.Count(Name=Run)=out=1', [3, 4]],
    ['Skills.Count(Name=Run)!=1', [3, 4]],
  ],
  'a to-one path stands inside a quantifier': [
    ['Pupils.Any(Club.Name=Real)', [2, 3]],
    ['Pupils.Club.Name=Lech', [1]],
    ['Pupils.Any(Club.Name=Lech,Level>50)', [1]],
    ['Pupils.All.Club.Name=Real', [2, 3, 4, 5]],
    ['Pupils.All.Club.Name!=Real', [1, 4, 5]],
    ['Pupils.None.Club.Country.Name=Spain', [1, 4, 5]],
    ['Pupils.Any.Club.Country.Name!=Spain', [1]],
    ['Pupils.Count(Club.Name=Real)=1', [2, 3]],
    ['Pupils.Passport.Number=BB2', [1]],
    ['Pupils.Any(Passport=null)', [2]],
    ['Pupils.Any(Passport!=null)', [1, 3]],
    ['Pupils.All(Passport=null)', [2, 4, 5]],
    ['Pupils.Passport.Number=null', [2, 3]],
    ['Pupils.Passport.Number!=null', [1]],
    ['Pupils.Any(Passport.Number^ZZ)', []],
    ['Pupils.All.Passport.Number!^ZZ', [1, 2, 3, 4, 5]],
    ['Pupils.Lives=null', [2]],
    ['Pupils.Lives.Name=in=Poland;null', [1, 2, 3]],
    ['Pupils.Any(Club.Founded<1910)', [2, 3]],
    ['Pupils.All.Club.Founded<1910', [2, 3, 4, 5]],
    ['Pupils.Any(Mentor.Name=Ada)', [1]],
  ],
  'a collection stands inside a quantifier': [
    ['Pupils.Skills.Name=Run', [1]],
    ['Pupils.Any.Skills.Any.Name=Run', [1]],
    ['Pupils.Any(Skills.Name=Jump)', [3]],
    ['Pupils.All.Skills.Any.Name=Run', [1, 4, 5]],
    ['Pupils.Any.Skills.All.Name=Run', [1, 2]],
    ['Pupils.None.Skills.Name=Run', [2, 3, 4, 5]],
    ['Pupils.Skills.Count=0', [2]],
    ['Pupils.Any(Skills.Count>0,Level>0)', [1]],
    ['Pupils.Any(Skills.Count(Name=Run)=1)', [1]],
    ['Pupils.Skills.Any(Name=Run)', [1]],
    ['Pupils.All.Skills.None(Name=Run)', [2, 3, 4, 5]],
    ['Pupils.Count(Notes.Any(Text=null))=1', [3]],
    ['Pupils.Any.Pupils.Any.Name=Cid', [1]],
    ['Club.People.Name=Ada', [1, 2]],
    ['Club.People.Count=2', [1, 2, 3, 4]],
    ['Club.People.Count=0', [5]],
    ['Club.People.All.Level>50', [5]],
    ['Club.People.All.Level>5', [1, 2, 5]],
    ['Club.People.None.Level>70', [1, 2, 5]],
    ['Club.People.Any(Level>50,Name=Ben)', [1, 2]],
    ['Pupils.Club.People.Name=Dan', [2, 3]],
    ['Pupils.Any(Club.People.Count(Level=null)=1)', [2, 3]],
    ['Pupils.All(Club.People.All.Level>5)', [1, 4, 5]],
  ],
  'a polymorphic collection holds the elements of its own kind only': [
    ['Notes.Count=0', [2, 3]],
    ['Stickers.Text=tall', [3]],
    ['Notes.Text=tall,Stickers.Count=0', [1]],
    ['Notes.None.Text=tall', [2, 3, 4, 5]],
  ],
  'a whole day and null mean the same inside a quantifier': [
    ['Pupils.Joined=2024-01-01', [1]],
    ['Pupils.Joined!=2024-01-01', [2, 3]],
    ['Pupils.All.Joined=2024-01-01', [1, 4, 5]],
    ['Pupils.Any(Joined>2024-01-01)', [2]],
    ['Pupils.Joined=in=2024-01-02;null', [2, 3]],
    ['Club.People.Joined=2024-01-02', [3, 4]],
  ],
  'a number beyond the column means the same inside a quantifier': [
    ['Pupils.Level<9999999999', [1, 2]],
    ['Pupils.Level=9999999999', []],
    ['Pupils.Level!=9999999999', [1, 2, 3]],
    ['Pupils.All.Level<9999999999', [1, 2, 4, 5]],
  ],
}

for (const [about, rows] of Object.entries(PEOPLE)) {
  test(about, async (t) => {
    for (const [filter, found] of rows) {
      t.deepEqual(await keysOf(served, '/api/people', { filter }), found, filter)
      t.deepEqual(await keysOf(hooked, '/api/people', { filter }), found, `${filter} by findAll`)
      t.deepEqual(await keysOf(underscored, '/api/people', { filter }), found, `${filter} underscored`)
      // The number of records is counted by another statement than the page is read.
      for (const server of [served, hooked]) {
        const { body } = await list(server, '/api/people', { filter, count: true })
        t.deepEqual(body, { count: found.length }, filter)
      }
    }
  })
}

const OTHERS: readonly (readonly [path: string, rows: Rows])[] = [
  [
    'clubs',
    [
      ['People.Count=0', [3]],
      ['People.Skills.Name=Swim', []],
      ['People.Skills.Name=Jump', [1, 2]],
      ['People.All.Skills.Count>0', [1, 3]],
      ['People.Any(Skills.Name=Jump,Level=null)', [2]],
      ['People.All.Level>5', [1, 3]],
      ['People.Mentor.Club.Name=Lech', [1, 2]],
      ['Country.Name=Spain', [2]],
      ['Country=null,People.Count=0', [3]],
    ],
  ],
  [
    'countries',
    [
      ['Clubs.People.Name=Ada', [1]],
      ['Clubs.People.Skills.Name=Jump', [1, 2]],
      ['Clubs.Any(People.Any(Skills.Count=0))', [2]],
      ['Clubs.All.People.All.Skills.All.Name=Jump', [2, 3]],
      ['Clubs.Count=0', [3]],
      ['Clubs.Count(People.Count>1)=1', [1, 2]],
    ],
  ],
  [
    'skills',
    [
      ['People.Name=Eve', [1, 2, 3]],
      ['People.Count=0', [4]],
      ['People.Count=3', [1, 2]],
      ['People.Count(Level>20)=2', [1]],
      ['People.Club.Name=Real', [2]],
      ['People.All.Level>20', [3, 4]],
      ['People.None.Name=Eve', [4]],
    ],
  ],
  [
    'passports',
    [
      ['Person.Name=Ada', [1, 5]],
      ['Person.Club.Country.Name=Spain', [3, 4]],
      ['Person.Passport.Number=AA1', [1, 5]],
    ],
  ],
]

for (const [path, rows] of OTHERS) {
  for (const [filter, found] of rows) {
    test(`the ${path} with ${filter} are ${found.join(', ') || 'none'}`, async (t) => {
      t.deepEqual(await keysOf(served, `/api/${path}`, { filter }), found)
      t.deepEqual(await keysOf(underscored, `/api/${path}`, { filter }), found)
    })
  }
}

/** Clauses on relations whose negation must find exactly the other rows. */
const COMPLEMENTS: readonly (readonly [positive: string, negated: string])[] = [
  ['Club.Name=Lech', 'Club.Name!=Lech'],
  ['Club.Name=null', 'Club.Name!=null'],
  ['Club=null', 'Club!=null'],
  ['Club.Name=*e', 'Club.Name!*e'],
  ['Club.Name^l/i', 'Club.Name!^l/i'],
  ['Club.Name$h', 'Club.Name!$h'],
  ['Club.Founded=in=1902;null', 'Club.Founded=out=1902;null'],
  ['Passport.Number=AA1', 'Passport.Number!=AA1'],
  ['Mentor.Mentor.Name=Ada', 'Mentor.Mentor.Name!=Ada'],
  ['Mentor.Club.Country.Name=in=Poland', 'Mentor.Club.Country.Name=out=Poland'],
  ['Skills.Count=2', 'Skills.Count!=2'],
  ['Skills.Count=in=0;2', 'Skills.Count=out=0;2'],
  ['Skills.Count(Name=Run)=1', 'Skills.Count(Name=Run)!=1'],
  ['Skills.Any.Name=Run', 'Skills.None.Name=Run'],
  ['Notes.Any(Text=null|Text^t)', 'Notes.None(Text=null|Text^t)'],
  ['Pupils.Any.Club.Name=Real', 'Pupils.None.Club.Name=Real'],
  // Every element meets a condition where none meets its complement.
  ['Notes.All.Text=fast', 'Notes.Any.Text!=fast'],
  ['Notes.All.Text!*a', 'Notes.Any.Text=*a'],
  ['Pupils.All.Club.Name!=Real', 'Pupils.Any.Club.Name=Real'],
  ['Pupils.All.Passport.Number=BB2', 'Pupils.Any.Passport.Number!=BB2'],
]

for (const [positive, negated] of COMPLEMENTS) {
  test(`${positive} and ${negated} find every record once`, async (t) => {
    const found = await keysOf(served, '/api/people', { filter: positive })
    const others = await keysOf(served, '/api/people', { filter: negated })
    t.true(found.length > 0 && others.length > 0)
    t.deepEqual([...found, ...others].sort(), [1, 2, 3, 4, 5])
  })
}

test('a relation met by several clauses and the sort is joined once, and finds each record once', async (t) => {
  const parameters = {
    filter: 'Club.Name!=x,(Club.Founded>0|Club.Country.Code=PL)',
    sort: '-Club.Name',
    select: 'id,Club.Name',
  }
  const { body } = await list(served, '/api/people', parameters)
  t.deepEqual(
    body.items.map(({ id }: { id: number }) => id),
    [4, 3, 2, 1],
  )
  t.is(body.totalCount, 4)
})

test('a target without a resource of its own is no relation', async (t) => {
  for (const filter of ['Secrets.Word=open', 'Secrets.Count=1', 'Secrets.Any(Word=open)', 'Secrets=null']) {
    const { status, body } = await list(served, '/api/people', { filter })
    t.is(status, 400, filter)
    t.is(body.title, 'Unknown field.')
  }
})

/** Paths that lead nowhere. */
const NOWHERE: readonly string[] = [
  ...['Nobody.Name=x', 'Club.Nobody=x', 'Club.Nobody.Name=x', 'Club.Name.Length=1', 'Name.Club=x', 'Level.Count=1'],
  ...['Skills=null', 'Skills=Run', 'Skills!=null', 'Skills.Any=Run', 'Skills.All=1', 'Skills.None=1'],
  ...[
    'Skills.Nobody=1',
    'Skills.Any.Nobody=1',
    'Skills.Count.Name=1',
    'Skills.Count.Count=1',
    'Skills.Any.Any.Name=Run',
  ],
  ...['Club.Any(Name=Lech)', 'Club.Count=1', 'Club.All.Name=Lech', 'Club.Any.Name=Lech', 'Name.Any(Name=x)'],
  ...[
    'Any.Name=x',
    'Nobody.Any(Name=x)',
    'Skills.Any(Nobody=1)',
    'Skills.Count(Nobody=1)=1',
    'Pupils.Count.Any(Name=x)',
  ],
  ...['Skills.Any(Skills.Name=Run)', 'personId=1', 'PersonSkill.Years=1', 'Skills.PersonSkill.Years=1'],
]

for (const filter of NOWHERE) {
  test(`${filter} is an unknown field`, async (t) => {
    const { status, body } = await list(served, '/api/people', { filter })
    t.is(status, 400)
    t.is(body.title, 'Unknown field.')
    t.deepEqual(Object.keys(body.errors), ['filter'])
    t.regex(body.errors.filter[0], /^Unknown field "[\w.]+" at position \d+\.$/)
  })
}

test('Club.Id=1 is an unknown field, and the message says that the key exists', async (t) => {
  const { status, body } = await list(served, '/api/people', { filter: 'Club.Id=1' })
  t.is(status, 400)
  t.deepEqual(body.errors, {
    filter: [
      'Unknown field "Club.Id" at position 0. Filters cannot use the key of related records here. Filter by another field, such as a foreign key.',
    ],
  })
})

/** Comparisons that a relation or a number of elements does not have. */
const WRONG: readonly (readonly [filter: string, message: string])[] = [
  ['Club=Lech', 'Club at position 0: a relation can only be compared with null, by "=" or "!=".'],
  ['Club=\\null', 'Club at position 0: a relation can only be compared with null, by "=" or "!=".'],
  ['Club=in=null', 'Club at position 0: a relation can only be compared with null, by "=" or "!=".'],
  ['Club>1', 'Club at position 0: a relation can only be compared with null, by "=" or "!=".'],
  ['Skills.Count=x', 'Skills.Count at position 0: "x" is not a whole number.'],
  ['Skills.Count=1.5', 'Skills.Count at position 0: "1.5" is not a whole number.'],
  ['Skills.Count=null', 'Skills.Count at position 0: "null" is not a whole number.'],
  ['Skills.Count=', 'Skills.Count at position 0: "" is not a whole number.'],
  ['Skills.Count=in=1;x', 'Skills.Count at position 0: "x" is not a whole number.'],
  ['Skills.Count^1', 'Skills.Count at position 0: the operator "^" cannot be used with a number of elements.'],
  ['Skills.Count=*1', 'Skills.Count at position 0: the operator "=*" cannot be used with a number of elements.'],
  ['Level=10,Skills.Count(Name=Run)=x', 'Skills at position 9: "x" is not a whole number.'],
  ['Pupils.Any(Level=x)', 'Level at position 11: "x" is not a whole number.'],
  ['Pupils.Any(Name=null)', 'Name at position 11: it is never null.'],
  ['Name=null', 'Name at position 0: it is never null.'],
]

for (const [filter, message] of WRONG) {
  test(`${filter} is 400: ${message}`, async (t) => {
    const { status, body } = await list(served, '/api/people', { filter })
    t.is(status, 400)
    t.is(body.title, 'Invalid query.')
    t.deepEqual(body.errors, { filter: [message] })
  })
}
