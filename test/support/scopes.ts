import type { Express } from 'express'
import { DataTypes, type Model, type ModelAttributes, type ModelStatic, type Sequelize } from 'sequelize'
import type { Server } from 'socket.io'
import { type CrudOptions, type CrudRouter, crudRouter, Operations, type Scope } from '../../lib/index.js'
import type { Answer, TestClient } from './server.js'
import { asUser, identityFromHeader } from './stage.js'

/** Scopes of every kind, by caller. Tenants and owners have equal numbers, so that one scope fits both columns. */
export const SCOPES = {
  all: null,
  tenant: { tenantId: 1 },
  owner: { ownerId: 2 },
  both: { tenantId: 2, ownerId: 1 },
  nobody: { ownerId: null },
} satisfies Readonly<Record<string, Scope | null>>

export type Who = keyof typeof SCOPES

export const EVERYBODY = Object.keys(SCOPES) as readonly Who[]

export function isRecordOf(team: Record<string, unknown>, who: Who): boolean {
  return Object.entries(SCOPES[who] ?? {}).every(([name, value]) => team[name] === value)
}

const OWNER_COLUMNS: ModelAttributes = {
  name: DataTypes.STRING,
  secret: DataTypes.STRING,
  level: DataTypes.INTEGER,
  tenantId: DataTypes.INTEGER,
  ownerId: DataTypes.INTEGER,
}

/** Rows of the shared tables: a team for every tenant and owner, clubs, and players of each team. */
export const TEAMS: readonly Record<string, unknown>[] = [1, 2].flatMap((tenantId) =>
  [1, 2, null].flatMap((ownerId, index) => {
    const level = 1 + ((index + tenantId) % 3)
    const text = `t${tenantId}-o${ownerId ?? 0}`
    return { name: `team ${text}`, secret: `S-${text}`, level, tenantId, ownerId, clubId: 1 + (index % 2) }
  }),
)

export async function fillTables(sequelize: Sequelize): Promise<void> {
  const { Club, Team, Player } = defineModels(sequelize, '')
  for (const model of [Club, Team, Player]) await model.sync()
  await Club.bulkCreate([{ name: 'North' }, { name: 'South' }, { name: 'Empty' }])
  await Team.bulkCreate([...TEAMS])
  const players = TEAMS.flatMap((_, team) =>
    [1, 2].map((level) => ({ name: `p${team}-${level}`, level, teamId: team + 1 })),
  )
  await Player.bulkCreate([...players, { name: 'free', level: 3 }])
}

type Models = Readonly<Record<'Club' | 'Team' | 'Rival' | 'Player' | 'Fan', ModelStatic<Model>>>

/**
 * Defines one set of models (a world) on the shared tables. `Rival` is `Team` without a scope. `Fan` is `Player` with
 * its team flattened.
 */
function defineModels(sequelize: Sequelize, world: string): Models {
  const define = (name: string, attributes: ModelAttributes, tableName: string): ModelStatic<Model> =>
    sequelize.define(name + world, attributes, { timestamps: false, tableName })
  const player = { name: DataTypes.STRING, level: DataTypes.INTEGER, teamId: DataTypes.INTEGER }
  const team = { ...OWNER_COLUMNS, clubId: DataTypes.INTEGER }
  const models: Models = {
    Club: define('Club', { name: DataTypes.STRING }, 'clubs'),
    Team: define('Team', team, 'teams'),
    Rival: define('Rival', team, 'teams'),
    Player: define('Player', player, 'players'),
    Fan: define('Fan', player, 'players'),
  }
  const { Club, Team, Rival, Player, Fan } = models
  const by = (foreignKey: string, name: string): object => ({ as: name, foreignKey, constraints: false })
  Player.belongsTo(Team, by('teamId', 'team'))
  Player.belongsTo(Rival, by('teamId', 'rival'))
  Fan.belongsTo(Team, by('teamId', 'team'))
  for (const model of [Team, Rival]) model.hasMany(Player, by('teamId', 'players'))
  Club.hasMany(Team, by('clubId', 'teams'))
  Club.hasMany(Rival, by('clubId', 'rivals'))
  return models
}

/** One set of models with its own routers, whose caches are empty. */
export interface World {
  readonly fans: CrudRouter
  /** Mounts the resource over `Team`, which activates its scope. */
  readonly mountTeam: () => void
  /** Sends a request. Returns the records of all pages of a list, or any other response. */
  readonly send: (who: Who, request: string) => Promise<unknown>
}

const FIELDS = [...Object.keys(OWNER_COLUMNS), 'id', 'clubId']

export function openWorld(
  { sequelize, client, app, io }: { sequelize: Sequelize; client: TestClient; app: Express; io: Server },
  name: string,
): World {
  const { Club, Team, Rival, Player, Fan } = defineModels(sequelize, name)
  const common: CrudOptions = { identity: identityFromHeader, operations: Operations.AllWithBulk }
  const mount = (model: ModelStatic<Model>, path: string, options: CrudOptions = {}): CrudRouter => {
    const router = crudRouter(model, { ...common, route: `${name}/${path}`, ...options })
    app.use(router)
    return router
  }
  mount(Club, 'clubs', { relations: { teams: { fields: FIELDS } } })
  mount(Player, 'players', { relations: { team: { fields: FIELDS } } })
  mount(Rival, 'rivals')
  const fans = mount(Fan, 'fans', { flatten: ['team'], push: { io } })
  const scope = ({ identity }: { identity: { name: string | null } | null }): Scope | null =>
    SCOPES[(identity?.name ?? '') as Who]

  const requestWorld = async (who: Who, request: string): Promise<unknown> => {
    const [method = '', path = '', body] = request.split(' ')
    const json = body === undefined ? {} : { json: JSON.parse(body) as unknown }
    const answer = await client.send(method, `/${name}/${path}`, { headers: asUser(who), ...json })
    return followCursor(answer, (cursor) =>
      requestWorld(who, `GET ${path.replace(/cursor=[^&]*/, `cursor=${cursor}`)}`),
    )
  }
  return { fans, send: requestWorld, mountTeam: () => mount(Team, 'teams', { scope }) }
}

/** Follows the cursor of a page. Cursors differ between worlds, so the next page is compared instead. */
async function followCursor({ status, body }: Answer, next: (cursor: string) => Promise<unknown>): Promise<unknown> {
  if (typeof body?.nextCursor !== 'string') return { status, body }
  return { status, body: { ...body, nextCursor: await next(body.nextCursor) } }
}

const CONDITIONS: readonly string[] = [
  '{}.Secret^S-',
  '{}.Secret!^S-t1',
  '{}.Level=in=1;3,{}.OwnerId!=null',
  '{}=null',
  '{}!=null',
  'Level=1,({}.Level>1|{}=null)',
  '{}.Players.Team.Secret^S-t2',
  '{}.Players.Count=2',
]

const QUANTIFIED: readonly string[] = [
  '{}s.Any(Secret^S-,Level>1)',
  '{}s.All(Secret^S-t1|Level=2)',
  '{}s.None.Secret$o1',
  '{}s.Count(Secret^S-t1)=in=0;1',
  '{}s.All.Players.Count(Team.Secret^S-)=2',
]

const filterParameter = (filter: string): string => `filter=${encodeURIComponent(filter)}`

/** Requests that cross the relation `team` (or `rival`) in every possible way. */
export function requestsOver(relation: 'Team' | 'Rival'): readonly string[] {
  const players = CONDITIONS.map((condition) => filterParameter(condition.replaceAll('{}', relation)))
  const clubs = QUANTIFIED.map((condition) => filterParameter(condition.replaceAll('{}', relation)))
  const lists = [...players.map((query) => `players?${query}`), ...clubs.map((query) => `clubs?${query}`)]
  const [secret = ''] = players
  return [
    ...lists,
    // Pages, counts and keyset pages use filters in one way, so each kind is tested with a third of the lists.
    ...lists.filter((_, index) => index % 3 === 0).map((list) => `${list}&cursor=&pageSize=2`),
    ...lists.filter((_, index) => index % 3 === 1).map((list) => `${list}&count=true`),
    `players?${secret}&level=1`,
    `players?${secret}&level=1&count=true&name=p0-1`,
    `players?sort=${relation}.Secret`,
    `players?sort=-${relation}.Level,Name&pageSize=3&page=2`,
    `players?${secret}&sort=-${relation}.Name&pageSize=2`,
    `players?select=name,${relation}.secret,${relation}.level`,
    `players?select=${relation}.secret&${secret}&sort=${relation}.ownerId`,
    `players?select=name&sort=${relation}.Secret&pageSize=1`,
  ].map((path) => `GET ${path}`)
}

/** Requests to the resource with the scope, and to a resource that flattens its records. */
export const OWN_REQUESTS: readonly string[] = [
  ...[
    'teams',
    'teams?filter=Secret%5ES-',
    'teams?level=2',
    'teams?filter=Players.Count=2',
    'teams?sort=-secret',
  ].flatMap((list) => {
    const joint = list.includes('?') ? '&' : '?'
    return [list, `${list}${joint}count=true`, `${list}${joint}cursor=&pageSize=1`, `${list}${joint}select=secret`]
  }),
  'teams?select=secret&sort=secret',
  'teams/1',
  'teams/5',
  'fans',
  'fans?level=1',
  'fans?filter=Level=2,Team.Secret%5ES-&count=true',
  'fans?cursor=&pageSize=4',
  'fans?pageSize=1&page=3&sort=-name',
  'fans/1',
  'fans/5',
  'fans/12',
]
  .map((path) => `GET ${path}`)
  // These requests write the existing values, so that nothing changes.
  .concat(
    [1, 3, 5].map((id) => `PATCH teams/${id} {"secret":"${TEAMS[id - 1]?.secret}"}`),
    'PATCH fans/1 {"level":1}',
    'PATCH fans/6 {"level":2}',
  )
