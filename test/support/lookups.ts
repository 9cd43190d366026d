import { playerCode, playerName, playerStamp, teamName } from './crowd.js'
import type { DatabaseName } from './database.js'
import { list, type Parameters } from './lists.js'
import { PRIMARY } from './plans.js'
import type { TestServer } from './server.js'

/** A list request on a crowd, and the indexes that find its rows. */
export interface Lookup {
  readonly title: string
  readonly path: string
  readonly parameters: Parameters
  /**
   * Allowed indexes per table alias. An alias is the model's name, the association's name, or `_q1` in a subquery.
   * Several indexes may be allowed, because the planner chooses among them.
   */
  readonly served: Readonly<Record<string, readonly string[]>>
}

type Served = Lookup['served']

/** Query of the request in readable form. */
export function queryText({ parameters }: Lookup): string {
  return Object.entries(parameters)
    .map(([name, value]) => `${name}=${value}`)
    .join('&')
}

function playerLookup(title: string, filter: string, served: Served | string | readonly string[]): Lookup {
  const indexes = typeof served === 'string' ? { Player: [served] } : isList(served) ? { Player: served } : served
  return { title, path: '/api/players', parameters: { filter }, served: indexes }
}

function isList(served: Served | readonly string[]): served is readonly string[] {
  return Array.isArray(served)
}

/** A filter on teams by their players. The filter uses the players' index by team, or a selective index on players. */
function teamLookup(title: string, filter: string, ...others: readonly string[]): Lookup {
  return { title, path: '/api/teams', parameters: { filter }, served: { _q1: ['players_team', ...others] } }
}

/** Filters that use an index on this database. `count` is the number of players. */
export function lookups(count: number, database: DatabaseName): readonly Lookup[] {
  const some = Math.floor(count / 3)
  const email = `player${some}@example.com`
  const stamp = (n: number): string => playerStamp(n).toISOString()
  const day = (n: number): string => stamp(n).slice(0, 10)
  const inTeam = { team: ['teams_name'], Player: ['players_team'] }
  return [
    playerLookup('equality on text', `Email=${email}`, 'players_email'),
    playerLookup('equality on text, by an index for prefixes', `Name=${playerName(some)}`, 'players_name'),
    playerLookup('equality on an integer', 'Points=777', 'players_points'),
    playerLookup('equality on a decimal', 'Salary=1777.50', 'players_salary'),
    playerLookup('equality on a BIGINT', `AccountId=${9_007_199_254_740_993n + BigInt(some)}`, 'players_account'),
    playerLookup('equality on a UUID', `Code=${playerCode(some)}`, 'players_code'),
    playerLookup('equality on an enumeration', 'Status=banned', 'players_status'),
    playerLookup('equality on a boolean', 'IsActive=false', 'players_active'),
    playerLookup('negated equality on a boolean', 'IsActive!=true', 'players_active'),
    playerLookup('equality on a day', 'BornOn=2001-02-03', 'players_born'),
    playerLookup('equality on a date-time', `CreatedAt=${stamp(some)}`, 'players_created'),
    playerLookup('a day against a date-time', `CreatedAt=${day(some)}`, 'players_created'),
    playerLookup('null', 'Email=null', 'players_email'),
    playerLookup('a prefix', `Name^${playerName(some)}`, 'players_name'),
    ...caseInsensitiveLookups(database),
    playerLookup('a list of text', 'Email=in=player1@example.com;player2@example.com', 'players_email'),
    playerLookup('a list with null', 'Email=in=player1@example.com;null', 'players_email'),
    playerLookup('a list of integers', 'Points=in=1;22;333', 'players_points'),
    playerLookup('a range of integers', 'Points>=700,Points<710', 'players_points'),
    playerLookup('a range of decimals', 'Salary>1700.5,Salary<=1710', 'players_salary'),
    playerLookup('a range of days', 'BornOn>=2001-02-03,BornOn<=2001-02-05', 'players_born'),
    playerLookup('a range of date-times', `CreatedAt>=${stamp(some)},CreatedAt<${day(some + 24)}`, 'players_created'),
    playerLookup('two columns of one index', 'TeamId=7,Level>90', 'players_team'),
    playerLookup('one index or another', `Email=${email}|Points=777`, {
      Player: ['players_email', 'players_points'],
    }),
    playerLookup('equality over a to-one relation', `Team.Name=${teamName(12)}`, inTeam),
    playerLookup('a prefix over a to-one relation', `Team.Name^${teamName(12)}`, inTeam),
    {
      title: 'a range without an end, in its order',
      path: '/api/players',
      parameters: { filter: `Points>${count - 10}`, sort: 'Points' },
      served: { Player: ['players_points'] },
    },
    {
      title: 'a typed parameter',
      path: '/api/players',
      parameters: { email },
      served: { Player: ['players_email'] },
    },
    {
      title: 'a filter under a scope and soft delete',
      path: '/api/members',
      parameters: { filter: 'Level=100' },
      served: { Member: ['players_tenant'] },
    },
    teamLookup('some element, by what few have', `Players.Email=${email}`, 'players_email'),
    teamLookup('some element', 'Players.Level>99', 'players_level'),
    teamLookup(
      'one element that meets two conditions',
      `Players.Any(Level>99,Name^Ana)`,
      'players_level',
      'players_name',
    ),
    teamLookup('every element', 'Players.All.Level>50'),
    teamLookup('no element', 'Players.None.Level<30', 'players_level'),
    teamLookup('the number of elements', 'Players.Count>32'),
    teamLookup('the number of elements that meet a condition', 'Players.Count(Level>90)>6'),
    {
      title: 'elements behind a table between',
      path: '/api/teams',
      parameters: { filter: 'Sponsors.Name=Sponsor 7' },
      served: { _q2: [PRIMARY, 'team_sponsors_sponsor'], _q1: [PRIMARY, 'sponsors_name'] },
    },
  ]
}

/** Case-insensitive comparisons for which the database can use an index. */
function caseInsensitiveLookups(database: DatabaseName): readonly Lookup[] {
  const equality = playerLookup('equality in any case', 'Note=MET AT EVENT 7/i', 'players_folded')
  const prefix = playerLookup('a prefix in any case', 'Note^MET AT EVENT 1999/i', 'players_folded')
  return { sqlite: [equality], postgres: [equality, prefix], mysql: [], mariadb: [] }[database]
}

/** Filters for which no index can be used. */
export function scans(count: number): readonly Lookup[] {
  return [
    playerLookup('text somewhere', 'Note=*event 77', {}),
    playerLookup('a suffix', 'Email$77@example.com', {}),
    playerLookup('negated equality', `Email!=player${count}@example.com`, {}),
    playerLookup('a negated prefix', 'Name!^Ana', {}),
    playerLookup('a negated list', 'Level=out=1;2;3', {}),
    playerLookup('text somewhere in any case', 'Email=*PLAYER77@/i', {}),
    playerLookup('the relation or the record itself', `Team.Name=${teamName(12)}|Note=x`, {}),
    { ...teamLookup('a negated number of elements', 'Players.Count!=20'), served: {} },
  ]
}

/** A page in the order of an index. The database reads no additional rows. */
function orderedLookup(sort: string, indexes: string | readonly string[], filter?: string): Lookup {
  return {
    title: `the order of an index: ${sort}${filter === undefined ? '' : ` of ${filter}`}`,
    path: '/api/players',
    parameters: filter === undefined ? { sort } : { sort, filter },
    served: { Player: [indexes].flat() },
  }
}

export const ORDERS: readonly Lookup[] = [
  orderedLookup('Level', 'players_level'),
  orderedLookup('-Level', 'players_level'),
  orderedLookup('-Level', 'players_level', 'Level>50'),
  orderedLookup('Points', 'players_points'),
  orderedLookup('-Points', 'players_points'),
  orderedLookup('Points', 'players_points', 'Points>50'),
  orderedLookup('-CreatedAt', 'players_created'),
]

/** Cursor after `depth` players in key order, found by reading pages of the maximum size. */
export async function readCursorAfter(server: TestServer, depth: number): Promise<string> {
  const pageSize = 1000
  let cursor = ''
  for (let seen = 0; seen < depth; seen += pageSize) {
    cursor = (await list(server, '/api/players', { cursor, pageSize })).body.nextCursor
  }
  return cursor
}

/**
 * Cursor of a keyset page after `depth` players in an order. With fewer players, it is the cursor after half of them.
 */
export async function readTokenAfter(
  server: TestServer,
  { path, parameters }: Pick<Lookup, 'path' | 'parameters'>,
  depth: number,
): Promise<string> {
  const pageSize = 1000
  const tokens: string[] = []
  for (let after: string | null = ''; after !== null && tokens.length * pageSize < depth; ) {
    const { body }: { body: { nextCursor: string | null } } = await list(server, path, {
      ...parameters,
      after,
      pageSize,
    })
    after = body.nextCursor
    if (after !== null) tokens.push(after)
  }
  const isDeep = tokens.length * pageSize >= depth
  return tokens.at(isDeep ? -1 : tokens.length >> 1) ?? ''
}
