// The number of a collection's records, `Players.Count`: what a list may be sorted by.

import test from 'ava'
import { keysOf, list } from '../../support/lists.js'
import { serveRelations } from '../../support/relations.js'

const people = await serveRelations()
const hooked = await serveRelations()
hooked.Person.addHook('beforeFind', () => {})
hooked.Club.addHook('beforeFind', () => {})
test.after.always(async () => {
  for (const server of [people, hooked]) await server.close()
})

/** A path, a sort by the number of records of a collection, and the keys in that order. */
const SORTS: readonly (readonly [path: string, sort: string, keys: readonly number[]])[] = [
  ['/api/people', 'Skills.Count', [3, 2, 4, 1, 5]],
  ['/api/people', '-skills.count', [5, 1, 4, 2, 3]],
  ['/api/people', '-Skills.Count,Name', [5, 1, 2, 4, 3]],
  ['/api/people', 'Notes.Count desc', [4, 5, 1, 3, 2]],
  ['/api/people', 'Stickers.Count,-Name', [4, 2, 1, 5, 3]],
  // Eve has no club, and so no people of one.
  ['/api/people', 'Club.People.Count,Name', [5, 1, 2, 3, 4]],
  ['/api/people', '-Club.People.Count,-Name', [4, 3, 2, 1, 5]],
  ['/api/people', '-Club.Country.Clubs.Count,Club.People.Count,id', [1, 2, 3, 4, 5]],
  ['/api/people', '-Mentor.Pupils.Count,Pupils.Count,id', [4, 2, 3, 5, 1]],
  ['/api/clubs', 'People.Count', [3, 1, 2]],
  ['/api/clubs', '-People.Count,Name', [1, 2, 3]],
  ['/api/clubs', 'Country.Clubs.Count,-id', [3, 2, 1]],
]

for (const [path, sort, keys] of SORTS) {
  test(`sort=${sort} on ${path} gives ${keys.join(', ')}, filtered and page by page too`, async (t) => {
    for (const server of [people, hooked]) {
      t.deepEqual(await keysOf(server, path, { sort }), keys)
      t.deepEqual(await keysOf(server, path, { sort, filter: 'Name!=x' }), keys)
      const paged: number[] = []
      for (let page = 1; page <= keys.length; page += 1) {
        paged.push(...(await keysOf(server, path, { sort, page, pageSize: 1, filter: 'Name!=x' })))
      }
      t.deepEqual(paged, keys)
    }
  })
}

for (const sort of [
  'Skills',
  'Skills.Name',
  'Skills.Nobody',
  'Skills.Any.Name',
  'Club.People.Name',
  'Skills.Count.id',
]) {
  test(`sort=${sort} is an unknown field, and says that a collection cannot be sorted by`, async (t) => {
    const { status, body } = await list(people, '/api/people', { sort })
    t.is(status, 400)
    t.deepEqual(body.errors, {
      sort: [`Unknown field "${sort}" at position 0. Lists cannot be sorted by a collection. Sort by its Count.`],
    })
  })
}

test('a collection that does not exist, or has no resource, is an unknown field and nothing more', async (t) => {
  for (const sort of ['Nobody.Count', 'Secrets.Count', 'Secrets.Word', 'Club.Count', 'Name.Count']) {
    const { status, body } = await list(people, '/api/people', { sort })
    t.is(status, 400)
    t.deepEqual(body.errors, { sort: [`Unknown field "${sort}" at position 0.`] })
  }
})

test('what is counted are tables that the request reaches', async (t) => {
  const bounded = await serveRelations({ limits: { joins: 3 } })
  t.teardown(() => bounded.close())
  t.is((await list(bounded, '/api/people', { sort: 'Skills.Count,Notes.Count' })).status, 200)
  const { status, body } = await list(bounded, '/api/people', { sort: 'Skills.Count,Club.People.Count' })
  t.is(status, 400)
  t.deepEqual(body.errors, { sort: ['at position 13 reaches more tables than the limit of 3 (joins).'] })
})
