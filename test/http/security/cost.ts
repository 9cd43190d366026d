// What a request may cost: joins, quantifiers and their depth are limited before the database is asked.

import test, { type ExecutionContext } from 'ava'
import express from 'express'
import { crudRouter, Problem, queryOf } from '../../../lib/index.js'
import type { Limits } from '../../../types/settings.js'
import { list, type Parameters } from '../../support/lists.js'
import { serveRelations } from '../../support/relations.js'
import { serve } from '../../support/server.js'

const world = await serveRelations()

type CostLimit = 'joins' | 'quantifiers' | 'quantifierDepth'

const route = (limit: CostLimit, maximum: number): string => `${limit}${maximum}`

/** People under one low limit each, on paths of their own. */
const app = express()
for (const limit of ['joins', 'quantifiers', 'quantifierDepth'] as const) {
  for (let maximum = 1; maximum <= 4; maximum++) {
    const limits: Partial<Limits> = { joins: 99, quantifiers: 99, quantifierDepth: 99, [limit]: maximum }
    app.use(crudRouter(world.Person, { route: route(limit, maximum), limits }))
  }
}
const one: Partial<Limits> = { joins: 1, quantifiers: 1 }
app.use(crudRouter(world.Person, { route: 'lenient', query: { unknownFields: 'ignore' }, limits: one }))
app.use(crudRouter(world.Person, { route: 'sorted', query: { defaultSort: 'Club.Country.Name,Name' }, limits: one }))
app.use(crudRouter(world.Person, { route: 'flat', flatten: ['club', 'mentor', 'passport'], limits: one }))
const people = await serve(app)

/** People under one cost each. */
const priced = express()
for (const cost of [1, 3, 4, 9, 10, 12, 13, 21, 22, 23, 39, 40, 42, 43, false] as const) {
  priced.use(
    crudRouter(world.Person, { route: `cost${cost}`, limits: { cost }, query: { search: ['name', 'club.name'] } }),
  )
}
const costly = await serve(priced)
test.after.always(async () => {
  await people.close()
  await costly.close()
  await world.close()
})

/** How many tables beside the people's own the paths of a request reach. */
const TABLES: readonly (readonly [tables: number, parameters: Parameters])[] = [
  [1, { filter: 'Club.Name=Lech' }],
  [1, { filter: 'Club=null' }],
  [2, { filter: 'Club.Name=Lech,Mentor.Name=Ada' }],
  [2, { filter: 'Club.Country.Name=Spain|Club.Name=Lech|Club.Country.Code=PL' }],
  [2, { filter: 'Club.Name=Lech', sort: 'Club.Country.Name,Club.Founded' }],
  [3, { filter: 'Club.Name=Lech', sort: 'Club.Country.Name', select: 'Name,Club.Name,Passport.Number' }],
  [1, { filter: 'Club.Name=Lech', sort: 'Mentor.Name', cursor: '' }],
  [1, { filter: 'Club.Name=Lech', sort: 'Mentor.Name', count: true }],
  [1, { filter: 'Pupils.Name=Ben' }],
  [1, { filter: 'Pupils.Count=1' }],
  [2, { filter: 'Pupils.Any(Level>50),Pupils.Any(Level<50)' }],
  [2, { filter: 'Mentor.Pupils.Count=1' }],
  [3, { filter: 'Mentor.Pupils.Count=1,Mentor.Pupils.Any.Level>5' }],
  [2, { filter: 'Pupils.Any(Club.Name=Lech|Club.Founded>1900)' }],
  [3, { filter: 'Pupils.Any(Club.Name=Lech),Club.Name=Real' }],
  [4, { filter: 'Pupils.Any(Club.Name=Lech),Pupils.Any(Club.Name=Lech)' }],
  [2, { filter: 'Pupils.Any(Pupils.Any(Level>5))' }],
  [2, { filter: 'Skills.Name=Run' }],
  [2, { filter: 'Skills.Count>1' }],
  [4, { filter: 'Skills.Any(People.Count>1)' }],
]

/** How many collections a filter crosses, and how deep within each other. */
const COLLECTIONS: readonly (readonly [crossed: number, depth: number, filter: string])[] = [
  [1, 1, 'Pupils.Name=Ben'],
  [1, 1, 'Pupils.All.Club.Country.Name=Spain'],
  [1, 1, 'Mentor.Mentor.Pupils.Count>1'],
  [1, 1, 'Pupils.Any(Level>5,Name^B|Level<2)'],
  [2, 1, 'Pupils.Name=Ben|Pupils.Level>5'],
  [3, 1, 'Pupils.Any(Level>5),Skills.Count>1,Notes.None(Text^t)'],
  [2, 2, 'Pupils.Pupils.Name=Ben'],
  [2, 2, 'Pupils.Any.Skills.Count>1'],
  [2, 2, 'Pupils.Count(Skills.Count(Name=Run)=1)>0'],
  [3, 2, 'Pupils.Any(Skills.Name=Run,Skills.Name=Jump)'],
  [3, 3, 'Pupils.Pupils.Any(Pupils.Count=0)'],
]

/** A list is answered under a limit of `count`, and refused under one less without a word to the database. */
async function holds(t: ExecutionContext, limit: CostLimit, count: number, parameters: Parameters): Promise<void> {
  const { status, text } = await list(people, `/${route(limit, count)}`, parameters)
  t.is(status, 200, text)
  if (count === 1) return
  const before = world.statements.length
  const refused = await list(people, `/${route(limit, count - 1)}`, parameters)
  t.is(refused.status, 400, limit)
  t.is(refused.body.title, 'Invalid query.')
  t.regex(
    refused.text,
    new RegExp(
      `at position \\d+ (?:reaches more|crosses more|nests) .* than the limit of ${count - 1} \\(${limit}\\)\\.`,
    ),
  )
  t.is(world.statements.length, before)
}

for (const [tables, parameters] of TABLES) {
  test.serial(`the paths of ${JSON.stringify(parameters)} reach ${tables} tables`, (t) =>
    holds(t, 'joins', tables, parameters),
  )
}

for (const [crossed, depth, filter] of COLLECTIONS) {
  test.serial(`${filter} crosses ${crossed} collections, ${depth} within each other`, async (t) => {
    await holds(t, 'quantifiers', crossed, { filter })
    await holds(t, 'quantifierDepth', depth, { filter })
  })
}

test.serial('a path too many is named by its parameter and its place', async (t) => {
  for (const [limit, maximum, parameters, parameter, message] of [
    ['joins', 1, { filter: 'Level>5,(Club.Name=x|Mentor.Name=y)' }, 'filter', 'at position 21 reaches more tables'],
    ['joins', 1, { filter: 'Pupils.Any(Level>5,Club.Name=x)' }, 'filter', 'at position 0 reaches more tables'],
    ['joins', 1, { filter: 'Club.Name=x', sort: 'Name,-Mentor.Name' }, 'sort', 'at position 5 reaches more tables'],
    ['joins', 1, { select: 'Club.Name,Name,Mentor.Name' }, 'select', 'at position 15 reaches more tables'],
    [
      'quantifiers',
      1,
      { filter: 'Pupils.Count=1|Skills.Count=1' },
      'filter',
      'at position 15 crosses more collections',
    ],
    [
      'quantifierDepth',
      1,
      { filter: 'Pupils.Any(Level>5|Skills.Count=1)' },
      'filter',
      'at position 19 nests collections deeper',
    ],
  ] as const) {
    const { body } = await list(people, `/${route(limit, maximum)}`, parameters)
    t.deepEqual(body.errors, { [parameter]: [`${message} than the limit of ${maximum} (${limit}).`] })
  }
})

test.serial('what is flattened, what the default sort crosses and what is ignored is not counted', async (t) => {
  for (const [path, parameters] of [
    ['/sorted', { filter: 'Born.Name=Poland' }],
    ['/sorted', { filter: 'Born.Name=Poland', sortDirection: 'desc' }],
    ['/flat', { filter: 'Born.Name=Poland' }],
    ['/lenient', { filter: 'Born.Name=Poland,Club.Nope=1,Pupils.Any(Nope=1|Mentor.Nope=2),Skills.Nope=3' }],
    ['/lenient', { filter: 'Born.Name=Poland', sort: 'Club.Nope', select: 'Name,Mentor.Nope' }],
  ] as const) {
    const { status, text } = await list(people, path, parameters)
    t.is(status, 200, text)
  }
  t.is((await list(people, '/sorted', { filter: 'Born.Name=Poland', sort: 'Club.Name' })).status, 400)
  t.is((await list(people, '/flat', { filter: 'Born.Name=Poland,Club.Name=Lech' })).status, 400)
})

test.serial('what is closed to the caller is unknown, however much it would be', async (t) => {
  const closed = await list(people, `/${route('quantifierDepth', 1)}`, { filter: 'Pupils.Any(Secrets.Count=1)' })
  const missing = await list(people, `/${route('quantifierDepth', 1)}`, { filter: 'Pupils.Any(Nowhere.Count=1)' })
  t.is(closed.body.title, 'Unknown field.')
  t.is(closed.text.replaceAll('Secrets', 'Nowhere'), missing.text)
})

/** What requests cost: answered under so much, and refused under less, which is the limit before it. */
const COSTLY: readonly (readonly [cost: number, less: number, parameters: Parameters])[] = [
  [4, 3, { filter: 'Name=*a' }],
  [4, 3, { filter: 'Name=a/i' }],
  [4, 3, { filter: 'Name!^a' }],
  [1, 0, { filter: 'Name^a' }],
  [10, 9, { filter: 'Pupils.Count>1' }],
  [10, 9, { sort: '-Pupils.Count' }],
  [13, 12, { filter: 'Pupils.Any(Level>5)' }],
  [22, 21, { filter: 'Pupils.Any(Name=*a)' }],
  [23, 22, { filter: 'Pupils.Any(Name=*a),Level>5' }],
  [40, 39, { filter: 'Pupils.Count(Pupils.Count>1)>1' }],
  [43, 42, { filter: 'Level>1,Level>2,Pupils.Count(Pupils.Count>1)>1,Level<9' }],
  [9, 4, { search: 'lech' }],
  [13, 12, { select: 'name,pupils', 'pupils.filter': 'Name=*a|Name=*b|Name=*c', filter: 'Level>5' }],
]

for (const [cost, less, parameters] of COSTLY) {
  test.serial(`${JSON.stringify(parameters)} costs ${cost}`, async (t) => {
    const { status, text } = await list(costly, `/cost${cost}`, parameters)
    t.is(status, 200, text)
    if (less === 0) return
    const before = world.statements.length
    const refused = await list(costly, `/cost${less}`, parameters)
    t.is(refused.status, 400, refused.text)
    t.is(refused.body.code, 'invalid-query')
    t.regex(
      refused.text,
      new RegExp(`at position \\d+ makes the request cost more than the limit of ${less} \\(cost\\)\\.`),
    )
    t.is(world.statements.length, before)
    t.is((await list(costly, '/costfalse', parameters)).status, 200)
  })
}

test.serial('by default a hundred patterns are answered, and not within two collections', async (t) => {
  const patterns = Array.from({ length: 100 }, (_, index) => `Name=*${index}`).join('|')
  t.is((await list(people, '/flat', { filter: patterns })).status, 200)
  const { status, text } = await list(people, '/flat', { filter: `Pupils.Any(Pupils.Any(${patterns}))` })
  t.is(status, 400)
  t.regex(text, /makes the request cost more than the limit of 2000 \(cost\)/)
})

test.serial('queryOf counts the same', (t) => {
  const { toFindOptions } = queryOf(world.Person, { limits: { joins: 2, quantifiers: 1 } })
  t.notThrows(() => toFindOptions({ filter: 'Pupils.Any(Club.Name=Lech)' }))
  for (const [filter, limit] of [
    ['Pupils.Any(Club.Name=Lech),Mentor=null', 'joins'],
    ['Pupils.Count=1,Notes.Count=1', 'quantifiers'],
  ] as const) {
    const error = t.throws(() => toFindOptions({ filter }), { instanceOf: Problem })
    t.true(error?.message.endsWith(`(${limit}).`), error?.message)
  }
})
