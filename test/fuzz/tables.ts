// The tables of the fuzzed application, as data: models, rows, requests and what a caller may see are made of it.

export type TableName =
  | 'Club'
  | 'Team'
  | 'Player'
  | 'Badge'
  | 'Skill'
  | 'Training'
  | 'Tag'
  | 'Ledger'
  | 'Region'
  | 'Notice'
  | 'Comment'
  | 'Event'

export type Kind =
  | 'text'
  /** Text that the database compares without case. */
  | 'folded'
  /** The type of a polymorphic association. */
  | 'target'
  | 'email'
  | 'level'
  | 'number'
  | 'big'
  | 'double'
  | 'money'
  | 'flag'
  | 'rank'
  | 'day'
  | 'instant'
  | 'time'
  | 'uuid'
  | 'json'
  | 'bytes'

export interface Column {
  readonly name: string
  readonly kind: Kind
  readonly nullable: boolean
  /** Excluded from every shape. */
  readonly hidden: boolean
  /** Whether bodies may set it. */
  readonly written: boolean
  /** What reading it takes. */
  readonly read: string | null
  /** What writing it takes. */
  readonly write: string | null
  /** The table whose key it is. */
  readonly refers: TableName | null
}

export interface Relation {
  readonly name: string
  readonly to: TableName
  readonly many: boolean
  /** The target's foreign key to the owner; null where the owner has it, or a table between. */
  readonly by: string | null
  /** Whether it is a many-to-many. */
  readonly linked: boolean
  /** Whether it has routes below the owner. */
  readonly routes: boolean
  /** Whether bodies of the owner hold it. */
  readonly write: boolean
}

export interface Table {
  readonly name: TableName
  /** Null where it has no resource. */
  readonly path: string | null
  readonly key: Column
  readonly columns: readonly Column[]
  readonly relations: readonly Relation[]
  /** The attributes by which callers are confined. */
  readonly scope: readonly string[]
  readonly softDelete: 'mark' | 'paranoid' | null
  readonly versioned: boolean
  readonly audited: boolean
  /** Who may read it. */
  readonly readers: 'anyone' | 'known' | 'keeper'
  /** Who may ask for its deleted records. */
  readonly deletedFor: 'anyone' | 'deleted'
  readonly pushed: boolean
  /** Whether writes are done once for each Idempotency-Key. */
  readonly once: boolean
  /** The parameter `by` of upserts, besides a key that the client chooses. */
  readonly natural: string | null
  /** What a search looks through. */
  readonly search: readonly string[]
  /** Whether columns have other names than their attributes. */
  readonly underscored: boolean
}

function column(name: string, kind: Kind, more: Partial<Column> = {}): Column {
  const rest = { nullable: true, hidden: false, written: true, read: null, write: null, refers: null }
  return { name, kind, ...rest, ...more }
}

function key(kind: Kind, written = false): Column {
  return column('id', kind, { nullable: false, written })
}

function foreign(name: string, refers: TableName, kind: Kind, nullable = true): Column {
  return column(name, kind, { refers, nullable })
}

const NAME = column('name', 'text', { nullable: false })
const HIDDEN = column('hidden', 'text', { hidden: true, written: false })
const TENANT = column('tenantId', 'level', { written: false })
const OWNER = column('ownerId', 'text', { written: false })
type Ways = Pick<Relation, 'routes' | 'write'>
const CLOSED: Ways = { routes: false, write: false }
const ROUTES: Ways = { routes: true, write: false }
const WRITE: Ways = { routes: false, write: true }
const BOTH: Ways = { routes: true, write: true }
const relation = (name: string, target: TableName, ways: Ways): Relation => {
  return { name, to: target, many: false, by: null, linked: false, ...ways }
}
const to = relation
const one = (name: string, target: TableName, by: string, ways: Ways): Relation => {
  return { ...relation(name, target, ways), by }
}
const many = (name: string, target: TableName, by: string, ways: Ways): Relation => {
  return { ...relation(name, target, ways), many: true, by }
}
const links = (name: string, target: TableName, ways: Ways): Relation => {
  return { ...relation(name, target, ways), many: true, linked: true }
}

const PLAIN = {
  scope: [],
  softDelete: null,
  versioned: false,
  audited: false,
  readers: 'anyone',
  deletedFor: 'deleted',
  pushed: false,
  once: false,
  natural: null,
  search: [],
  underscored: false,
} as const

export const TABLES: readonly Table[] = [
  {
    ...PLAIN,
    name: 'Ledger',
    path: null,
    key: key('level'),
    columns: [column('label', 'text'), { ...HIDDEN, name: 'code' }],
    relations: [],
  },
  {
    ...PLAIN,
    name: 'Club',
    path: '/api/clubs',
    key: key('big'),
    columns: [NAME, column('vault', 'text', { read: 'keeper' }), HIDDEN],
    relations: [many('teams', 'Team', 'clubId', BOTH), many('events', 'Event', 'clubId', BOTH)],
    versioned: true,
    readers: 'known',
  },
  {
    ...PLAIN,
    name: 'Team',
    path: '/api/teams',
    key: key('uuid'),
    columns: [
      NAME,
      column('budget', 'number', { read: 'finance', nullable: false }),
      column('motto', 'text', { write: 'finance' }),
      HIDDEN,
      TENANT,
      OWNER,
      foreign('clubId', 'Club', 'big'),
    ],
    relations: [to('club', 'Club', ROUTES), many('players', 'Player', 'teamId', BOTH), links('tags', 'Tag', BOTH)],
    scope: ['tenantId', 'ownerId'],
    softDelete: 'mark',
    audited: true,
    readers: 'known',
    once: true,
    search: ['name', 'club.name', 'club.vault'],
  },
  {
    ...PLAIN,
    name: 'Player',
    path: '/api/players',
    key: key('level'),
    columns: [
      NAME,
      column('email', 'email'),
      column('level', 'level'),
      column('points', 'number'),
      column('account', 'big'),
      column('rating', 'double'),
      column('wage', 'money', { read: 'payroll' }),
      column('bonus', 'text', { read: 'payroll', write: 'payroll' }),
      column('active', 'flag'),
      column('rank', 'rank'),
      column('bornOn', 'day'),
      column('seenAt', 'instant'),
      column('alarm', 'time'),
      column('code', 'uuid'),
      column('extra', 'json'),
      column('photo', 'bytes', { read: 'audit' }),
      HIDDEN,
      TENANT,
      OWNER,
      foreign('teamId', 'Team', 'uuid'),
      foreign('mentorId', 'Player', 'level'),
      { ...foreign('ledgerId', 'Ledger', 'level'), read: 'audit' },
    ],
    relations: [
      to('team', 'Team', ROUTES),
      to('mentor', 'Player', ROUTES),
      many('pupils', 'Player', 'mentorId', ROUTES),
      one('badge', 'Badge', 'playerId', BOTH),
      links('skills', 'Skill', BOTH),
      many('trainings', 'Training', 'playerId', WRITE),
      to('ledger', 'Ledger', CLOSED),
      many('comments', 'Comment', 'targetId', BOTH),
    ],
    scope: ['tenantId', 'ownerId'],
    softDelete: 'mark',
    versioned: true,
    audited: true,
    readers: 'known',
    pushed: true,
    once: true,
    natural: 'email',
    search: ['name', 'email', 'bonus', 'team.name', 'badge.label'],
  },
  {
    ...PLAIN,
    name: 'Badge',
    path: '/api/badges',
    key: key('text', true),
    columns: [
      column('label', 'text'),
      column('pin', 'number', { read: 'audit' }),
      TENANT,
      foreign('playerId', 'Player', 'level'),
    ],
    relations: [to('player', 'Player', ROUTES)],
    scope: ['tenantId'],
    softDelete: 'mark',
    natural: 'id',
    search: ['label', 'player.name'],
  },
  {
    ...PLAIN,
    name: 'Skill',
    path: '/api/skills',
    key: key('level'),
    columns: [NAME, column('rank', 'rank'), column('origin', 'text', { read: 'audit' }), HIDDEN],
    relations: [
      links('players', 'Player', ROUTES),
      many('trainings', 'Training', 'skillId', ROUTES),
      many('comments', 'Comment', 'targetId', BOTH),
    ],
    softDelete: 'paranoid',
    deletedFor: 'anyone',
  },
  {
    ...PLAIN,
    name: 'Training',
    path: '/api/trainings',
    key: key('level'),
    columns: [
      column('remark', 'text'),
      column('hours', 'number'),
      column('fee', 'money', { read: 'payroll' }),
      TENANT,
      OWNER,
      foreign('playerId', 'Player', 'level', false),
      foreign('skillId', 'Skill', 'level', false),
    ],
    relations: [to('player', 'Player', ROUTES), to('skill', 'Skill', CLOSED)],
    scope: ['tenantId', 'ownerId'],
    softDelete: 'mark',
    readers: 'known',
    pushed: true,
    once: true,
    search: ['remark', 'player.name', 'player.bonus'],
    underscored: true,
  },
  {
    ...PLAIN,
    name: 'Tag',
    path: '/api/tags',
    key: key('level'),
    columns: [NAME, column('price', 'money'), column('isPublic', 'flag', { nullable: false, written: false })],
    relations: [links('teams', 'Team', ROUTES)],
    scope: ['isPublic'],
  },
  {
    ...PLAIN,
    name: 'Region',
    path: '/api/regions',
    key: key('folded', true),
    columns: [NAME, HIDDEN],
    relations: [many('notices', 'Notice', 'regionId', BOTH)],
    natural: 'id',
  },
  // A trigger skips some of its writes.
  {
    ...PLAIN,
    name: 'Notice',
    path: '/api/notices',
    key: key('level'),
    columns: [NAME, column('rank', 'rank'), TENANT, foreign('regionId', 'Region', 'folded')],
    relations: [to('region', 'Region', ROUTES)],
    scope: ['tenantId'],
    readers: 'known',
    pushed: true,
    once: true,
    search: ['name', 'region.name'],
  },
  // A polymorphic association.
  {
    ...PLAIN,
    name: 'Comment',
    path: '/api/comments',
    key: key('level'),
    columns: [column('text', 'text'), column('targetType', 'target'), column('targetId', 'level'), TENANT, OWNER],
    relations: [to('player', 'Player', ROUTES), to('skill', 'Skill', ROUTES)],
    scope: ['tenantId', 'ownerId'],
    softDelete: 'mark',
    readers: 'known',
    search: ['text', 'player.name', 'skill.name'],
  },
  // One club has nearly all of them.
  {
    ...PLAIN,
    name: 'Event',
    path: '/api/events',
    key: key('level'),
    columns: [column('title', 'text'), column('seats', 'level'), foreign('clubId', 'Club', 'big')],
    relations: [to('club', 'Club', ROUTES)],
    readers: 'known',
  },
]

const BY_NAME = new Map(TABLES.map((table) => [table.name, table]))

export function tableNamed(name: TableName): Table {
  const table = BY_NAME.get(name)
  if (table === undefined) throw new RangeError(`there is no table ${name}`)
  return table
}

export type Served = Table & { readonly path: string }

/** Those with a resource. */
export const SERVED: readonly Served[] = TABLES.flatMap((table) =>
  table.path === null ? [] : [{ ...table, path: table.path }],
)
