// The table of operations. Routes, handlers, flags, policies, hooks, response types and OpenAPI documents are derived from it.

type Rows = typeof OPERATIONS

export type OperationName = keyof Rows

/** A row of the table of operations. */
export interface Operation {
  /** The flag of the operation in a sum of `Operations`. */
  readonly flag: number
  /** The operation that enables this operation and shares its flag. Absent for an operation with a flag of its own. */
  readonly with?: OperationName
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** The path below the resource's route. If several operations have one method and path, the request selects one. */
  readonly path: string
  /** Whether a format other than JSON selects this operation, which shares its path with a JSON operation. */
  readonly byFormat?: true
  /** Whether the QUERY method is supported as well, with parameters in the body (RFC 10008). */
  readonly queried?: true
  /** The kind of intent of the parsed request. Each stage (parse, plan, perform, reply) has an entry for each kind. */
  readonly intent: IntentKind
  /** The type of the body; null for no body. */
  readonly body: 'object' | 'array' | null
  /** Whether an array may also be sent as JSON lines. */
  readonly lines?: true
  /** The option with the policy that is evaluated instead of `authorizePolicy`. */
  readonly policy: PolicyOption
  /** The option with a second policy that must also pass, if any. */
  readonly and?: PolicyOption
  /** The option whose policy is used if `policy` is not set, in preference to `authorizePolicy`. */
  readonly orPolicy?: PolicyOption
  /**
   * The default callers of the operation in a resource with policies, if no option sets its policy: authenticated
   * callers, or everybody (null).
   */
  readonly unset: 'authenticated' | null
  /** The noun in hook names such as `beforeCreate`; null for operations without a write. */
  readonly hook: HookNoun | null
  /** The status of a successful response. */
  readonly status: 200 | 201 | 204
}

export type Method = Operation['method']
/** The methods of a path. */
export type PathMethod = Method | 'query'
export type IntentKind = Rows[OperationName]['intent']
export type PolicyOption = Rows[OperationName]['policy']
export type HookNoun = NonNullable<Rows[OperationName]['hook']>

/** The names of operations with a flag of their own. */
type OwnFlagName = { [name in OperationName]: Rows[name] extends { with: string } ? never : name }[OperationName]

/** Operations by name: the table of this package, or a changed copy. */
export type OperationTable = Readonly<Record<OperationName, Operation>>

/** The operations, in the order of their flags. Operations that write have a hook noun. */
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

/** Returns the rows of a table for the operations of this package. */
export function builtInOperationEntries(
  table: OperationTable,
): readonly (readonly [name: OperationName, row: Operation])[] {
  return operationEntries(OPERATIONS).map(([name]) => [name, table[name]])
}

/** Returns the table for a singleton, whose only record is at the resource's route. */
export function createSingletonTable(table: OperationTable): OperationTable {
  const rows = operationEntries(table).map(([name, row]) => [
    name,
    { ...row, path: row.path.replace(/^\/:id/, '') || '/' },
  ])
  return Object.freeze(Object.fromEntries(rows))
}

/** Returns the rows of a table with their names, in table order. */
export function operationEntries(table: OperationTable): readonly (readonly [name: OperationName, row: Operation])[] {
  return Object.entries(table) as [OperationName, Operation][]
}

const TABLE: OperationTable = OPERATIONS
for (const row of Object.values(TABLE)) Object.freeze(row)
Object.freeze(TABLE)

/** The flags for the option `operations`: one flag per operation, and sums of flags. */
export const Operations: Readonly<
  { [name in OwnFlagName as Capitalize<name>]: Rows[name]['flag'] } & {
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
> = Object.freeze({ ...collectFlags(), Read: 3, Write: 28, Bulk: 96, All: 31, AllWithBulk: 127 })

function collectFlags(): { [name in OwnFlagName as Capitalize<name>]: Rows[name]['flag'] } {
  const numbered = Object.entries(TABLE).filter(([, row]) => row.with === undefined)
  const entries = numbered.map(([name, { flag }]) => [name.charAt(0).toUpperCase() + name.slice(1), flag])
  return Object.fromEntries(entries)
}
