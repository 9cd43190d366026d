// Nothing that a caller may ask tells a masked field, an excluded one and one that does not exist apart: the matrix of
// every read path and every operator, whatever `Prefer: handling` asks for.

import { Agent } from 'node:http'
import test from 'ava'
import { openGuarded } from '../../support/guarded.js'
import { listPath } from '../../support/league.js'
import { bearer, withPermission, withRole } from '../../support/tokens.js'
import { describeResponse } from '../../support/told.js'

const rejecting = await openGuarded()
const ignoring = await openGuarded({
  player: { query: { unknownFields: 'ignore' } },
  team: { query: { unknownFields: 'ignore' } },
})
// A connection for each caller at a time; fetch would take several times as long.
const agent = new Agent({ keepAlive: true })
test.after.always(async () => {
  agent.destroy()
  await rejecting.close()
  await ignoring.close()
})

const WORLDS = [
  { title: 'where unknown fields are rejected', world: rejecting },
  { title: 'where unknown fields are ignored', world: ignoring },
]

/** The masked, the excluded and the unknown name of each resource. */
const OF_PLAYERS = ['salary', 'secret', 'wanted']
const OF_TEAMS = ['budget', 'hidden', 'absent']

const CALLERS = [
  { caller: {}, who: 'an anonymous caller' },
  {
    caller: bearer({ sub: 'jan', roles: ['finances', 'PAYROLL'], permissions: ['payrol'] }),
    who: 'a caller without it',
  },
]

/** One clause of every operator. */
const OPERATORS = [
  ...['=1', '!=1', '>1', '>=1', '<9000', '<=9000'],
  ...['=*1', '!*a', '^a', '!^5', '$b', '!$0', '=in=1;5000', '=out=1;5000'],
]

/** The same with other values: right, wrong, null, empty, `/i`. */
const CLAUSES = [
  ...OPERATORS,
  ...['=aa', '=null', '=', '=\\null', '=AA/i', '!=null', '!=aa', '>b', '>=x', '<x', '<=2024-01-01'],
  ...['=*a/i', '!$0/i', '=in=aa;null', '=out=null'],
]

interface Place {
  readonly path: string
  readonly names: readonly string[]
  readonly filter: (clause: string) => string
}

const place = (path: string, names: readonly string[], before: string, after = ''): Place => ({
  path,
  names,
  filter: (clause) => before + clause + after,
})

/** Every way to a field that a filter has. */
const PLACES: readonly Place[] = [
  place('/api/players', OF_PLAYERS, ''),
  place('/api/players', OF_PLAYERS, '(', ')'),
  place('/api/players', OF_PLAYERS, 'level>0,'),
  place('/api/players', OF_PLAYERS, 'level>50|', ',name^J'),
  place('/api/players', OF_PLAYERS, '(name=Jan|(', '))'),
  place('/api/players', OF_TEAMS, 'team.'),
  place('/api/players', OF_TEAMS, 'name=x|Team.'),
  place('/api/players', OF_PLAYERS, 'team.players.'),
  place('/api/players', OF_PLAYERS, 'team.players.any.'),
  place('/api/players', OF_TEAMS, 'team.players.team.'),
  place('/api/players', OF_TEAMS, 'team.players.none(name=x|team.', ')'),
  place('/api/teams', OF_TEAMS, ''),
  place('/api/teams', OF_PLAYERS, 'players.'),
  place('/api/teams', OF_PLAYERS, 'players.any.'),
  place('/api/teams', OF_PLAYERS, 'players.all.'),
  place('/api/teams', OF_PLAYERS, 'players.none.'),
  place('/api/teams', OF_PLAYERS, 'players.any(', ')'),
  place('/api/teams', OF_PLAYERS, 'players.all(level>0,', ')'),
  place('/api/teams', OF_PLAYERS, 'players.none(', '|name=x)'),
  place('/api/teams', OF_PLAYERS, 'players.count(', ')>0'),
  place('/api/teams', OF_TEAMS, 'players.team.'),
]

/** How a list is asked for. */
const MODES: readonly Readonly<Record<string, string>>[] = [
  {},
  { count: 'true' },
  { cursor: '', pageSize: '1' },
  { select: 'name' },
]

const PREFERENCES: readonly Readonly<Record<string, string>>[] = [
  {},
  { prefer: 'handling=lenient' },
  { prefer: 'handling=strict' },
]

/** Preferences change what is told of unknown names, and the mode changes what is read. */
const WAYS = MODES.flatMap((mode) => PREFERENCES.map((preference) => ({ mode, preference })))

/**
 * The way of the nth comparison. Comparisons take turns: every clause and every place meet every way and both callers.
 * All combinations would be twenty thousand requests.
 */
function turn(n: number): { readonly mode: Record<string, string>; readonly headers: Record<string, string> } {
  const { mode = {}, preference = {} } = WAYS[n % WAYS.length] ?? {}
  const { caller = {} } = CALLERS[Math.floor(n / WAYS.length) % CALLERS.length] ?? {}
  return { mode, headers: { ...preference, ...caller } }
}

for (const { title, world } of WORLDS) {
  const same = async (paths: readonly (readonly [name: string, path: string])[], headers: Record<string, string>) => {
    const [first, ...others] = await Promise.all(
      paths.map(([name, path]) => describeResponse(agent, world.url + path, name, headers)),
    )
    return { first, others }
  }

  for (const [index, { path, names, filter }] of PLACES.entries()) {
    test(`${title}, ${path}?filter=${filter('?')} tells masked, excluded and unknown fields apart for nobody`, async (t) => {
      for (const [at, clause] of CLAUSES.entries()) {
        const { mode, headers } = turn(index + at)
        const paths = names.map((name) => [name, listPath(path, { filter: filter(name + clause), ...mode })] as const)
        const { first, others } = await same(paths, headers)
        for (const other of others) t.deepEqual(other, first, `${paths[0]?.[1]} ${JSON.stringify(headers)}`)
      }
    })
  }

  const SORTS = ['?', '-?', '? desc', 'name,-?', '?,name']
  const SORTED: readonly (readonly [path: string, before: string, names: readonly string[]])[] = [
    ['/api/players', '', OF_PLAYERS],
    ['/api/players', 'team.', OF_TEAMS],
    ['/api/teams', '', OF_TEAMS],
    ['/api/teams', 'players.', OF_PLAYERS],
  ]
  for (const [path, before, names] of SORTED) {
    test(`${title}, ${path} sorted by ${before}? tells them apart for nobody`, async (t) => {
      for (const { caller, who } of CALLERS) {
        for (const [index, sort] of SORTS.entries()) {
          // Each mode once, and each preference in turn.
          for (const [at, mode] of MODES.entries()) {
            const preference = PREFERENCES[(index + at) % PREFERENCES.length]
            const paths = names.map(
              (name) => [name, listPath(path, { sort: sort.replace('?', before + name), ...mode })] as const,
            )
            const { first, others } = await same(paths, { ...caller, ...preference })
            for (const other of others) t.deepEqual(other, first, `${who}: ${paths[0]?.[1]}`)
          }
        }
      }
    })
  }

  test(`${title}, sortBy and typed parameters tell them apart for nobody`, async (t) => {
    const queries = [
      'sortBy=?',
      'sortBy=?&sortDirection=desc',
      'sortBy=?&sortDirection=asc&pageSize=1',
      '?=1',
      '?=nonsense',
      '?=',
      '?=1&?=2',
      '?=%ZZ',
      '?=8000&count=true',
      '?=8000&cursor=',
      '?=8000&select=name',
      '?=8000&filter=level%3E0',
    ]
    for (const { caller, who } of CALLERS) {
      for (const query of queries) {
        for (const preference of PREFERENCES) {
          for (const [path, names] of [
            ['/api/players', OF_PLAYERS],
            ['/api/teams', OF_TEAMS],
          ] as const) {
            const paths = names.map((name) => [name, `${path}?${query.replaceAll('?', name)}`] as const)
            const { first, others } = await same(paths, { ...caller, ...preference })
            for (const other of others) t.deepEqual(other, first, `${who}: ${path}?${query}`)
          }
        }
      }
    }
  })

  test(`${title}, a relation that the caller may not cross answers like one that does not exist`, async (t) => {
    const queries = [
      'filter=?.code=1111',
      'filter=?=null',
      'filter=?.nothing=1',
      'filter=name=Jan|?.code^1',
      'sort=?.code',
      'sort=?',
      'sort=-name,?',
    ]
    queries.push(
      'select=name,?',
      'select=name,?.code',
      'select=?.id',
      'filter=team.players.?.code=1111',
      'filter=?.owners.count>0',
    )
    for (const { caller, who } of CALLERS) {
      for (const query of queries) {
        for (const preference of PREFERENCES) {
          const { first, others } = await same(
            // Both are as near to `vaultId`, which is suggested.
            ['vault', 'vauld'].map((name) => [name, `/api/players?${query.replace('?', name)}`]),
            { ...caller, ...preference },
          )
          for (const other of others) t.deepEqual(other, first, `${who}: ${query}`)
        }
      }
    }
  })
}

test('in a select an excluded field is unknown like any other name, and a masked one is as if it were not there', async (t) => {
  for (const { caller } of CALLERS) {
    for (const [path, before] of [
      ['/api/players', ''],
      ['/api/players', 'team.'],
    ] as const) {
      const [masked = '', excluded = '', unknown = ''] = before === '' ? OF_PLAYERS : OF_TEAMS
      const ask = async (name: string): Promise<unknown> =>
        describeResponse(agent, rejecting.url + listPath(path, { select: `name,${before}${name}` }), name, caller)
      t.deepEqual(await ask(excluded), await ask(unknown))
      const { status, body } = await rejecting.get(listPath(path, { select: `name,${before}${masked}` }), caller)
      t.is(status, 200)
      t.deepEqual(body, (await rejecting.get(listPath(path, { select: 'name' }), caller)).body)
    }
  }
})

test('who may read the field gets other answers, so that the matrix compares something', async (t) => {
  const payroll = withPermission('payroll')
  const names = async (path: string, parameters: Record<string, string>, headers: Record<string, string>) => {
    const { status, body } = await rejecting.get(listPath(path, parameters), headers)
    t.is(status, 200, JSON.stringify(body))
    return body.items.map(({ name }: { name: string }) => name)
  }
  t.deepEqual(await names('/api/players', { filter: 'salary>=6000' }, payroll), ['Anna', 'Kasia'])
  t.deepEqual(await names('/api/players', { sort: '-salary' }, payroll), ['Anna', 'Kasia', 'Jan', 'Piotr'])
  t.deepEqual(await names('/api/players', { sortBy: 'salary' }, payroll), ['Piotr', 'Jan', 'Kasia', 'Anna'])
  t.deepEqual(await names('/api/players', { salary: '8000' }, payroll), ['Anna'])
  t.deepEqual(await names('/api/players', { filter: 'team.budget>500' }, withRole('finance')), ['Jan', 'Piotr'])
  t.deepEqual(await names('/api/teams', { filter: 'players.any(salary>5000,name^A)' }, payroll), ['Celtics'])
  t.deepEqual(await names('/api/teams', { filter: 'players.count(salary>4000)=1' }, payroll), ['Lakers', 'Celtics'])
  t.deepEqual(await names('/api/players', { filter: 'vault.code=1111' }, withRole('keeper')), ['Jan'])
})

test('a default sort by a masked field orders nothing for a caller without the permission', async (t) => {
  const sorted = await openGuarded({ player: { query: { defaultSort: '-salary', defaultDirection: 'asc' } } })
  try {
    const ids = async (headers: Record<string, string>, query = ''): Promise<number[]> => {
      const { body } = await sorted.get(`/api/players${query}`, headers)
      return body.items.map(({ id }: { id: number }) => id)
    }
    t.deepEqual(await ids(withPermission('payroll')), [2, 4, 1, 3])
    t.deepEqual(await ids({}), [1, 2, 3, 4])
    t.deepEqual(await ids({}, '?sortDirection=desc'), [4, 3, 2, 1])
  } finally {
    await sorted.close()
  }
})
