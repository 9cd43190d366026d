import type { Express } from 'express'
import { DataTypes, type Model, type ModelAttributes, type ModelStatic, type Sequelize } from 'sequelize'
import {
  type CrudOptions,
  type CrudRouter,
  crudRouter,
  filter,
  Operations,
  type PolicyContext,
  type Scope,
} from '../../lib/index.js'
import type { Answer, TestClient } from './server.js'
import { asUser, identityFromHeader } from './stage.js'

/** Initial row of a ticket. */
export interface TicketRow {
  readonly id: number
  readonly title: string
  readonly level: number
  readonly ownerId: number | null
  readonly teamId: number | null
}

const OWNERS = [1, 2, null] as const
const TEAM_OF = [1, 2, 3, null] as const

/** Tickets with all combinations of owner, team and level. The tickets are not sorted. */
export const TICKETS: readonly TicketRow[] = Array.from({ length: 24 }, (_, index) => ({
  id: index + 1,
  title: `T${(index * 7) % 24}`,
  level: 1 + (index % 4),
  ownerId: OWNERS[index % 3] ?? null,
  teamId: TEAM_OF[Math.floor(index / 3) % 4] ?? null,
}))

const TEAMS = [
  { id: 1, name: 'North', regionId: 1 },
  { id: 2, name: 'South', regionId: 2 },
  { id: 3, name: 'Deleted', regionId: 1, deletedAt: new Date(0) },
]

/** Rows that connect tickets to users 1 and 2. One membership has ended. */
const MEMBERS = TICKETS.flatMap(({ id }) => {
  const users = id % 5 === 0 ? [1, 2] : id % 2 === 0 ? [1] : [2]
  return users.map((userId) => ({ ticketId: id, userId, isLeft: id === 4 }))
})

const LABELS = [
  { id: 1, name: 'open' },
  { id: 2, name: 'closed' },
]
const LINKS = TICKETS.flatMap(({ id }) => (id % 3 === 0 ? [] : [{ ticketId: id, labelId: 1 + (id % 2) }]))
const NOTES = TICKETS.flatMap(({ id }) => [
  { text: `first of ${id}`, ticketId: id },
  { text: `second of ${id}`, ticketId: id },
])

const isMember = (id: number): boolean =>
  MEMBERS.some((each) => each.ticketId === id && each.userId === 1 && !each.isLeft)

/** A scope, and the tickets that it contains. */
interface Shape {
  readonly scope: Scope
  readonly has: (ticket: TicketRow) => boolean
}

/** Scopes of all kinds, by the name of a caller. */
export const SHAPES = {
  array: { scope: { ownerId: [1, null] }, has: ({ ownerId }) => ownerId !== 2 },
  empty: { scope: { ownerId: [] }, has: () => false },
  or: {
    scope: filter.or(filter.eq('ownerId', 1), filter.eq('level', 3)),
    has: ({ ownerId, level }) => ownerId === 1 || level === 3,
  },
  one: { scope: filter.eq('team.regionId', 1), has: ({ teamId }) => teamId === 1 },
  quantifier: { scope: filter.any('members', filter.eq('userId', 1)), has: ({ id }) => isMember(id) },
  many: {
    scope: filter.any('labels', filter.eq('name', 'open')),
    has: ({ id }) => LINKS.some((link) => link.ticketId === id && link.labelId === 1),
  },
  everything: { scope: filter.notIn('ownerId', []), has: () => true },
  both: {
    scope: { fixed: { ownerId: 1 }, where: filter.any('members', filter.eq('userId', 1)) },
    has: ({ id, ownerId }) => ownerId === 1 && isMember(id),
  },
} satisfies Readonly<Record<string, Shape>>

export type ShapeName = keyof typeof SHAPES

export const NAMES = Object.keys(SHAPES) as readonly ShapeName[]

export function idsOf(name: ShapeName): readonly number[] {
  const { has }: Shape = SHAPES[name]
  return TICKETS.filter(has).map(({ id }) => id)
}

/** Scope of the caller in the header `x-user`. */
export function scopeOfCaller({ identity }: Pick<PolicyContext, 'identity'>): Scope | null {
  const name = identity?.name ?? ''
  if (name === 'root') return null
  return SHAPES[name as ShapeName].scope
}

export type Models = Readonly<
  Record<'Team' | 'Ticket' | 'Member' | 'Label' | 'TicketLabel' | 'Note', ModelStatic<Model>>
>

/** Defines one set of models (a world). The names of its tables begin with the name of the set. */
export function defineModels(sequelize: Sequelize, world: string): Models {
  const define = (name: string, attributes: ModelAttributes, options: object = {}): ModelStatic<Model> =>
    sequelize.define(name + world, attributes, { timestamps: false, tableName: `${world}_${name}`, ...options })
  const whole = DataTypes.INTEGER
  const models: Models = {
    Team: define(
      'Team',
      { name: DataTypes.STRING, regionId: { type: whole, field: 'region_id' } },
      { timestamps: true, createdAt: false, updatedAt: false, paranoid: true },
    ),
    Ticket: define('Ticket', {
      title: { type: DataTypes.STRING(50), unique: true },
      level: whole,
      ownerId: { type: whole, field: 'owner_id' },
      teamId: { type: whole, field: 'team_id' },
    }),
    Member: define(
      'Member',
      {
        ticketId: { type: whole, field: 'ticket_id' },
        userId: { type: whole, field: 'user_id' },
        isLeft: DataTypes.BOOLEAN,
      },
      { defaultScope: { where: { isLeft: false } } },
    ),
    Label: define('Label', { name: DataTypes.STRING }),
    TicketLabel: define('TicketLabel', { ticketId: whole, labelId: whole }),
    Note: define('Note', { text: DataTypes.STRING, ticketId: { type: whole, field: 'ticket_id' } }),
  }
  const { Team, Ticket, Member, Label, TicketLabel, Note } = models
  const by = (foreignKey: string, as_: string): object => ({ as: as_, foreignKey, constraints: false })
  Ticket.belongsTo(Team, by('teamId', 'team'))
  Team.hasMany(Ticket, by('teamId', 'tickets'))
  Ticket.hasMany(Member, by('ticketId', 'members'))
  Member.belongsTo(Ticket, by('ticketId', 'ticket'))
  Ticket.hasMany(Note, by('ticketId', 'notes'))
  Note.belongsTo(Ticket, by('ticketId', 'ticket'))
  const links = { through: TicketLabel, constraints: false }
  Ticket.belongsToMany(Label, { ...links, as: 'labels', foreignKey: 'ticketId', otherKey: 'labelId' })
  Label.belongsToMany(Ticket, { ...links, as: 'tickets', foreignKey: 'labelId', otherKey: 'ticketId' })
  return models
}

/** The models of a world that `defineModels` has defined. */
export function modelsOf(sequelize: Sequelize, world: string): Models {
  const of = (name: string): ModelStatic<Model> => sequelize.model(name + world)
  return {
    Team: of('Team'),
    Ticket: of('Ticket'),
    Member: of('Member'),
    Label: of('Label'),
    TicketLabel: of('TicketLabel'),
    Note: of('Note'),
  }
}

/** Fills every table. Only tickets that meet the test are inserted. */
export async function fill(models: Models, isThere: (ticket: TicketRow) => boolean = () => true): Promise<void> {
  const { Team, Ticket, Member, Label, TicketLabel, Note } = models
  const rows: readonly (readonly [ModelStatic<Model>, readonly object[]])[] = [
    [Team, TEAMS],
    [Ticket, TICKETS.filter(isThere)],
    [Member, MEMBERS],
    [Label, LABELS],
    [TicketLabel, LINKS],
    [Note, NOTES],
  ]
  for (const [model, all] of rows) {
    await model.sync({ force: true })
    await model.bulkCreate(all.map((row) => ({ ...row })))
    // In PostgreSQL, inserts with explicit keys do not advance the sequence of keys.
    if (model.sequelize?.getDialect() === 'postgres' && Object.hasOwn(model.getAttributes(), 'id')) {
      await model.sequelize.query(
        `SELECT setval(pg_get_serial_sequence('"${String(model.getTableName())}"', 'id'), 1000)`,
      )
    }
  }
}

export const EVERY_OPERATION =
  Operations.AllWithBulk | Operations.BulkUpdate | Operations.Replace | Operations.Aggregate | Operations.Export

/** Mounts the resources of a world below its name. */
export function mountWorld(
  app: Express,
  models: Models,
  world: string,
  options: CrudOptions & Pick<CrudOptions, 'scope'>,
): Readonly<Record<'tickets' | 'notes' | 'teams' | 'labels', CrudRouter>> {
  const common: CrudOptions = { identity: identityFromHeader, operations: EVERY_OPERATION }
  const mount = (model: ModelStatic<Model>, path: string, own: CrudOptions = {}): CrudRouter => {
    const router = crudRouter(model, { ...common, route: path, ...own })
    app.use(`/${world}`, router)
    return router
  }
  return {
    tickets: mount(models.Ticket, 'tickets', {
      query: { search: ['title', 'team.name'] },
      relations: { notes: { routes: true, write: true }, labels: { routes: true, write: true } },
      ...options,
    }),
    notes: mount(models.Note, 'notes', { flatten: ['ticket'] }),
    teams: mount(models.Team, 'teams', { relations: { tickets: { routes: true } } }),
    labels: mount(models.Label, 'labels', { relations: { tickets: { routes: true } } }),
  }
}

/**
 * Sends a request of a caller to a world. The result lacks details that differ between worlds, such as model names in
 * tokens.
 */
export async function requestWorld(client: TestClient, world: string, user: string, request: string): Promise<unknown> {
  const [path = '', ...before] = request.split(' ').reverse()
  const accept = before.includes('csv') ? { accept: 'text/csv' } : {}
  const answer = await client.get(`/${world}/${path}`, { ...asUser(user), ...accept })
  if (answer.body === undefined) return { status: answer.status, body: answer.text }
  return followCursor(answer, (cursor) => {
    return requestWorld(client, world, user, request.replace(/cursor=[^&]*/, `cursor=${cursor}`))
  })
}

async function followCursor({ status, body }: Answer, next: (cursor: string) => Promise<unknown>): Promise<unknown> {
  if (typeof body?.nextCursor !== 'string') return { status, body }
  return { status, body: { ...body, nextCursor: await next(body.nextCursor) } }
}

const filterParameter = (text: string): string => `filter=${encodeURIComponent(text)}`

/** Requests for every way to read tickets, directly or over relations. */
export const READS: readonly string[] = [
  'tickets',
  'tickets?pageSize=3&page=2',
  'tickets?count=true',
  'tickets?cursor=&pageSize=4',
  'tickets?sort=-level,title&cursor=&pageSize=5',
  'tickets?sort=team.name,-title',
  `tickets?${filterParameter('Team.Name^N|Level>2')}`,
  `tickets?${filterParameter('Notes.Any(Text=*1)')}&count=true`,
  `tickets?${filterParameter('Labels.Count=0')}`,
  'tickets?search=T1',
  'tickets?keys=1,2,3,4,5,6,7,8',
  'tickets?select=title,team(name),notes(text),labels(name)',
  'tickets?select=title,Notes.Count&sort=-Notes.Count,title',
  'tickets?aggregate=count,max(level)&group=ownerId',
  'tickets?aggregate=count&group=team.name&having=count%3E1',
  'csv tickets?sort=title',
  'csv tickets?select=title,team.name&pageSize=2',
  ...TICKETS.map(({ id }) => `tickets/${id}`),
  'tickets/3/notes',
  'tickets/4/labels?select=name',
  'tickets/5/notes?count=true',
  'notes?pageSize=50',
  `notes?${filterParameter('Ticket.Level>2')}&select=text,ticket.title`,
  `notes?${filterParameter('Ticket=null')}&count=true`,
  `notes?${filterParameter('Ticket.Title!^T1')}`,
  'notes?sort=ticket.title,text&pageSize=9',
  'notes?aggregate=count&group=ticket.level',
  'notes/7',
  `teams?${filterParameter('Tickets.Any(Level>2)')}`,
  `teams?${filterParameter('Tickets.Count>3')}`,
  'teams?select=name,tickets(title,level),Tickets.Count',
  'teams/1/tickets?sort=title',
  `labels?${filterParameter('Tickets.All(Level<4)')}`,
  'labels?select=name,tickets(title)&sort=-Tickets.Count',
  'labels/1/tickets?count=true',
  'labels/2/tickets',
]
