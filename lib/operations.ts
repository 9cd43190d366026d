// The one table of operations: routes, handlers, flags, policies, hooks, shapes of replies and documents read it.

type Rows = typeof OPERATIONS

export type OperationName = keyof Rows

/** What an operation is, as a row of the table. */
export interface Operation {
  /** Its number in a sum of `Operations`. */
  readonly flag: number
  /** The operation whose number it shares and with which it comes; absent for one with a number of its own. */
  readonly with?: OperationName
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** Below the resource's own route. Several operations of one method may share it: what is sent decides. */
  readonly path: string
  /** Whether it is asked for by a format other than JSON, and shares its path with what answers in JSON. */
  readonly byFormat?: true
  /** Whether QUERY asks for it as well, with its parameters in the body (RFC 10008). */
  readonly queried?: true
  /** What a request for it is read as; the stages have an entry for each kind. */
  readonly intent: IntentKind
  /** What its body must be; null for an operation that takes none. */
  readonly body: 'object' | 'array' | null
  /** Whether an array may come as JSON lines too. */
  readonly lines?: true
  /** The option with the policy that decides on it before `authorizePolicy` does. */
  readonly policy: PolicyOption
  /** Another one that has to let the caller as well; absent for none. */
  readonly and?: PolicyOption
  /** The option that decides where that one is not given, before `authorizePolicy` does. */
  readonly orPolicy?: PolicyOption
  /** Who may where a resource has policies, but neither of these two: those who are known, or everybody (null). */
  readonly unset: 'authenticated' | null
  /** The second half of its hooks' names, `beforeCreate`; null for what writes nothing. */
  readonly hook: HookNoun | null
  /** The status of its reply when it was done. */
  readonly status: 200 | 201 | 204
}

export type Method = Operation['method']
/** The methods that a path may have. */
export type PathMethod = Method | 'query'
export type IntentKind = Rows[OperationName]['intent']
export type PolicyOption = Rows[OperationName]['policy']
export type HookNoun = NonNullable<Rows[OperationName]['hook']>

/** Operations with a number of their own. */
type Numbered = { [name in OperationName]: Rows[name] extends { with: string } ? never : name }[OperationName]

/** Operations by name: the package's own, or with more of them. */
export type OperationTable = Readonly<Record<OperationName, Operation>>

/** In the order of the numbers. Those that write have a hook's noun. */
export const OPERATIONS = {
  getById: {
    flag: 1,
    method: 'get',
    path: '/:id',
    intent: 'get',
    body: null,
    policy: 'getByIdPolicy',
    unset: null,
    hook: null,
    status: 200,
  },
  getList: {
    flag: 2,
    method: 'get',
    path: '/',
    queried: true,
    intent: 'list',
    body: null,
    policy: 'getListPolicy',
    unset: null,
    hook: null,
    status: 200,
  },
  create: {
    flag: 4,
    method: 'post',
    path: '/',
    intent: 'create',
    body: 'object',
    policy: 'createPolicy',
    unset: null,
    hook: 'Create',
    status: 201,
  },
  update: {
    flag: 8,
    method: 'patch',
    path: '/:id',
    intent: 'update',
    body: 'object',
    policy: 'updatePolicy',
    unset: null,
    hook: 'Update',
    status: 200,
  },
  delete: {
    flag: 16,
    method: 'delete',
    path: '/:id',
    intent: 'delete',
    body: null,
    policy: 'deletePolicy',
    unset: null,
    hook: 'Delete',
    status: 204,
  },
  bulkCreate: {
    flag: 32,
    method: 'post',
    path: '/bulk',
    intent: 'bulkCreate',
    body: 'array',
    lines: true,
    policy: 'createPolicy',
    unset: null,
    hook: 'Create',
    status: 201,
  },
  bulkDelete: {
    flag: 64,
    method: 'post',
    path: '/bulk-delete',
    intent: 'bulkDelete',
    body: 'array',
    policy: 'deletePolicy',
    unset: null,
    hook: 'Delete',
    status: 200,
  },
  restore: {
    flag: 128,
    method: 'post',
    path: '/:id/restore',
    intent: 'restore',
    body: null,
    policy: 'restorePolicy',
    unset: 'authenticated',
    hook: 'Restore',
    status: 200,
  },
  aggregate: {
    flag: 256,
    method: 'get',
    path: '/',
    queried: true,
    intent: 'aggregate',
    body: null,
    policy: 'aggregatePolicy',
    orPolicy: 'getListPolicy',
    unset: null,
    hook: null,
    status: 200,
  },
  export: {
    flag: 512,
    method: 'get',
    path: '/',
    byFormat: true,
    queried: true,
    intent: 'export',
    body: null,
    policy: 'exportPolicy',
    orPolicy: 'getListPolicy',
    unset: null,
    hook: null,
    status: 200,
  },
  bulkUpdate: {
    flag: 1024,
    method: 'patch',
    path: '/bulk',
    intent: 'bulkUpdate',
    body: 'array',
    policy: 'updatePolicy',
    unset: null,
    hook: 'Update',
    status: 200,
  },
  replace: {
    flag: 2048,
    method: 'put',
    path: '/:id',
    intent: 'replace',
    body: 'object',
    policy: 'updatePolicy',
    unset: null,
    hook: 'Update',
    status: 200,
  },
  upsert: {
    flag: 2048,
    with: 'replace',
    method: 'put',
    path: '/bulk',
    intent: 'upsert',
    body: 'array',
    lines: true,
    policy: 'updatePolicy',
    and: 'createPolicy',
    unset: null,
    hook: 'Update',
    status: 200,
  },
} as const

/** The rows that a resource has for the package's own operations. */
export function ownEntriesOf(table: OperationTable): readonly (readonly [name: OperationName, row: Operation])[] {
  return entriesOf(OPERATIONS).map(([name]) => [name, table[name]])
}

/** The table of a resource whose only record is at its own route. */
export function singletonTable(table: OperationTable): OperationTable {
  const rows = entriesOf(table).map(([name, row]) => [name, { ...row, path: row.path.replace(/^\/:id/, '') || '/' }])
  return Object.freeze(Object.fromEntries(rows))
}

/** The rows of a table with their names, in its order. */
export function entriesOf(table: OperationTable): readonly (readonly [name: OperationName, row: Operation])[] {
  return Object.entries(table) as [OperationName, Operation][]
}

const TABLE: OperationTable = OPERATIONS
for (const row of Object.values(TABLE)) Object.freeze(row)
Object.freeze(TABLE)

/** The numbers that the option `operations` is a sum of: one of each operation, and sums of them. */
export const Operations: Readonly<
  { [name in Numbered as Capitalize<name>]: Rows[name]['flag'] } & {
    /** GetById and GetList. */
    Read: 3
    /** Create, Update and Delete. */
    Write: 28
    /** BulkCreate and BulkDelete. */
    Bulk: 96
    /** Read and Write: the default. */
    All: 31
    /** All and Bulk. */
    AllWithBulk: 127
  }
> = Object.freeze({ ...flags(), Read: 3, Write: 28, Bulk: 96, All: 31, AllWithBulk: 127 })

function flags(): { [name in Numbered as Capitalize<name>]: Rows[name]['flag'] } {
  const numbered = Object.entries(TABLE).filter(([, row]) => row.with === undefined)
  const entries = numbered.map(([name, { flag }]) => [name.charAt(0).toUpperCase() + name.slice(1), flag])
  return Object.fromEntries(entries)
}
