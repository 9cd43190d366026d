import test from 'ava'
import { listPath, serveLeague } from '../../support/league.js'

const league = await serveLeague()

/** Rows for what the page says of precedence and text: names beside those of the league. */
const texts = await serveLeague()
const NAMES = ['Hello,World', 'Hello', 'World', 'a>=b', 'a/i', 'A/I', 'a;b', 'cc', 'bb', 'null']
await texts.Player.bulkCreate(NAMES.map((name, index) => ({ name, level: index + 1 })))
test.after.always(async () => {
  await league.close()
  await texts.close()
})

async function idsOf(path: string, parameters: Record<string, string>): Promise<number[]> {
  const { status, body } = await league.get(listPath(path, parameters))
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body.items.map((item: { id: number }) => item.id)
}

const PLAYERS: readonly (readonly [filter: string, ids: readonly number[]])[] = [
  ['Name=Jan Kowalski', [1]],
  ['Name!=Jan Kowalski', [2, 3, 4, 5, 6]],
  ['Level>=42', [1, 2, 4, 5]],
  ['Salary<=5000', [1, 3, 6]],
  ['Name=*ski', [1]],
  ['Name=*SKI/i', [1, 3]],
  ['Name!*ski', [2, 3, 4, 5, 6]],
  ['Email!$test.pl', [4, 6]],
  ['Name=jan kowalski/i', [1]],
  ['Name=in=Jan Kowalski;Anna Nowak;Kasia Wielka', [1, 2, 4]],
  ['Level=out=42;75', [3, 4, 5, 6]],
  ['Level>20,Level<80,Salary>3000', [1, 2, 4]],
  ['Level>70|Level<15', [2, 5, 6]],
  ['(Level>70|Level<15),Email$test.pl', [2, 5]],
  ['Level>70|Level<15,Email$test.pl', [2, 5]],
  ['(Level>50|Name=*ski),Email$test.pl', [1, 2, 5]],
  ['Team.Name=*elt', [2, 5]],
  ['Team.Name=Lakers,Level>30', [1]],
  ['(Level>50|Level<15),Team.Name!=Warriors', [2, 5]],
]

for (const [filter, ids] of PLAYERS) {
  test(`the players with ${filter} are ${ids.join(', ')}`, async (t) => {
    t.deepEqual(await idsOf('/api/players', { filter }), ids)
  })
}

const TEAMS: readonly (readonly [filter: string, ids: readonly number[]])[] = [
  ['Players.Level>80', [2]],
  ['Players.All.Level>30', [2]],
  ['Players.Count=2', [1, 2, 3]],
  ['Players.Any(Level>50,Name^Kasia)', [3]],
  ['Players.None.Email$test.pl', [3]],
]

for (const [filter, ids] of TEAMS) {
  test(`the teams with ${filter} are ${ids.join(', ')}`, async (t) => {
    t.deepEqual(await idsOf('/api/teams', { filter }), ids)
  })
}

const SORTS: readonly (readonly [sort: string, ids: readonly number[]])[] = [
  ['Name', [2, 1, 4, 6, 3, 5]],
  ['-Level', [5, 2, 4, 1, 3, 6]],
  ['Team.Name', [2, 5, 1, 3, 4, 6]],
  ['-Team.Name,Name', [4, 6, 1, 3, 2, 5]],
]

for (const [sort, ids] of SORTS) {
  test(`the players sorted by ${sort} are ${ids.join(', ')}`, async (t) => {
    t.deepEqual(await idsOf('/api/players', { sort }), ids)
  })
}

test('the second page of two players sorted by -Level is 4, 1', async (t) => {
  t.deepEqual(await idsOf('/api/players', { sort: '-Level', page: '2', pageSize: '2' }), [4, 1])
})

async function namesOf(filter: string): Promise<string[]> {
  const { status, body } = await texts.get(listPath('/api/players', { filter, sort: 'Id' }))
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body.items.map((item: { name: string }) => item.name)
}

const TEXTS: readonly (readonly [filter: string, names: readonly string[]])[] = [
  ['Name=Hello\\,World', ['Hello,World']],
  ['Name=a>=b', ['a>=b']],
  ['Name=a\\/i', ['a/i']],
  ['Name=in=a\\;b;cc', ['a;b', 'cc']],
  ['Name=\\null', ['null']],
]

for (const [filter, names] of TEXTS) {
  test(`${filter} means the text, and finds ${names.join(' and ')}`, async (t) => {
    t.deepEqual(await namesOf(filter), names)
  })
}

test('a=1|b=2,c=3 is a=1 or (b=2 and c=3)', async (t) => {
  t.deepEqual(await namesOf('Name=Hello|Name=cc,Level=8'), ['Hello', 'cc'])
  t.deepEqual(await namesOf('Name=Hello|Name=cc,Level=9'), ['Hello'])
  t.deepEqual(await namesOf('(Name=Hello|Name=cc),Level=9'), [])
})

for (const filter of [
  'Level>5,,Name=x',
  '(Level>5',
  'Level>5)',
  'Name',
  '()',
  'Name=in=(a;b)',
  'Level=abc',
  'Level=*5',
]) {
  test(`${filter} is 400`, async (t) => {
    const { status, headers, body } = await league.get(listPath('/api/players', { filter }))
    t.is(status, 400)
    t.is(headers.get('content-type'), 'application/problem+json')
    t.deepEqual(Object.keys(body.errors), ['filter'])
  })
}
