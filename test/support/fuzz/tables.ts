// The tables of the fuzzed application, as data: models, rows, requests and what a caller may see are made of it.

export type TableName = 'Club' | 'Team' | 'Player' | 'Badge' | 'Skill' | 'Training' | 'Tag' | 'Ledger'

export type Kind =
  | 'text'
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
const to = (name: string, target: TableName): Relation => ({ name, to: target, many: false })
const many = (name: string, target: TableName): Relation => ({ name, to: target, many: true })

const PLAIN = {
  scope: [],
  softDelete: null,
  versioned: false,
  audited: false,
  readers: 'anyone',
  deletedFor: 'deleted',
  pushed: false,
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
    relations: [many('teams', 'Team')],
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
    relations: [to('club', 'Club'), many('players', 'Player'), many('tags', 'Tag')],
    scope: ['tenantId', 'ownerId'],
    softDelete: 'mark',
    audited: true,
    readers: 'known',
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
      to('team', 'Team'),
      to('mentor', 'Player'),
      many('pupils', 'Player'),
      to('badge', 'Badge'),
      many('skills', 'Skill'),
      many('trainings', 'Training'),
      to('ledger', 'Ledger'),
    ],
    scope: ['tenantId', 'ownerId'],
    softDelete: 'mark',
    versioned: true,
    audited: true,
    readers: 'known',
    pushed: true,
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
    relations: [to('player', 'Player')],
    scope: ['tenantId'],
    softDelete: 'mark',
  },
  {
    ...PLAIN,
    name: 'Skill',
    path: '/api/skills',
    key: key('level'),
    columns: [NAME, column('rank', 'rank'), column('origin', 'text', { read: 'audit' }), HIDDEN],
    relations: [many('players', 'Player'), many('trainings', 'Training')],
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
    relations: [to('player', 'Player'), to('skill', 'Skill')],
    scope: ['tenantId', 'ownerId'],
    softDelete: 'mark',
    readers: 'known',
    pushed: true,
    underscored: true,
  },
  {
    ...PLAIN,
    name: 'Tag',
    path: '/api/tags',
    key: key('level'),
    columns: [NAME, column('price', 'money'), column('isPublic', 'flag', { nullable: false, written: false })],
    relations: [many('teams', 'Team')],
    scope: ['isPublic'],
  },
]

const BY_NAME = new Map(TABLES.map((table) => [table.name, table]))

export function tableNamed(name: TableName): Table {
  const table = BY_NAME.get(name)
  if (table === undefined) throw new RangeError(`there is no table ${name}`)
  return table
}

/** Those with a resource. */
export const SERVED: readonly (Table & { readonly path: string })[] = TABLES.flatMap((table) =>
  table.path === null ? [] : [{ ...table, path: table.path }],
)
