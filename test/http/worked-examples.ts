import test from 'ava'
import { listPath, serveLeague } from '../support/league.js'

const league = await serveLeague()
test.after.always(() => league.close())

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
