import type { CrudOptions, Limits } from '../../types/options.js'
import type { OperationName, QuerySettings } from '../../types/resource.js'
import { CrudConfigError } from '../errors.js'
import { unknownName } from './suggest.js'

/** The numbers of the specification's table of operations. */
export const Operations: Readonly<{
  GetById: 1
  GetList: 2
  Create: 4
  Update: 8
  Delete: 16
  BulkCreate: 32
  BulkDelete: 64
  Read: 3
  Write: 28
  Bulk: 96
  All: 31
  AllWithBulk: 127
  Restore: 128
}> = Object.freeze({
  GetById: 1,
  GetList: 2,
  Create: 4,
  Update: 8,
  Delete: 16,
  BulkCreate: 32,
  BulkDelete: 64,
  Read: 3,
  Write: 28,
  Bulk: 96,
  All: 31,
  AllWithBulk: 127,
  Restore: 128,
})

const FLAGS: readonly (readonly [name: OperationName, flag: number])[] = [
  ['getById', Operations.GetById],
  ['getList', Operations.GetList],
  ['create', Operations.Create],
  ['update', Operations.Update],
  ['delete', Operations.Delete],
  ['bulkCreate', Operations.BulkCreate],
  ['bulkDelete', Operations.BulkDelete],
  ['restore', Operations.Restore],
]

const KNOWN_FLAGS = FLAGS.reduce((sum, [, flag]) => sum | flag, 0)

export const DEFAULT_LIMITS: Limits = Object.freeze({
  filterLength: 4096,
  nesting: 10,
  clauses: 100,
  listItems: 200,
  sortKeys: 10,
  selectFields: 50,
  pathDepth: 3,
  bulkItems: 1000,
  bodySize: 1024 * 1024,
})

export type Check = (value: unknown) => boolean

const isText: Check = (value) => typeof value === 'string'
const isName: Check = (value) => typeof value === 'string' && value.trim() !== ''
const isFlag: Check = (value) => typeof value === 'boolean'
const isFunction: Check = (value) => typeof value === 'function'
const isObject: Check = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)
const isArray: Check = Array.isArray
const isCount: Check = (value) => typeof value === 'number' && Number.isSafeInteger(value) && value >= 1
const oneOf =
  (...words: readonly string[]): Check =>
  (value) =>
    typeof value === 'string' && words.includes(value)
const either =
  (...checks: readonly Check[]): Check =>
  (value) =>
    checks.some((check) => check(value))

export type Shape = Readonly<Record<string, readonly [check: Check, what: string]>>

const isPolicy: Check = either(isFunction, isName)
const handlers: Check = either(isFunction, (value) => Array.isArray(value) && value.every(isFunction))

/** Every option, what it must be, and how to say so. */
export const OPTIONS: Shape = {
  route: [isName, 'a path'],
  routePrefix: [isName, 'a path'],
  keyProperty: [isName, "an attribute's name"],
  operations: [either((value) => typeof value === 'number', isArray), 'a sum of Operations or an array of names'],
  use: [handlers, 'a request handler or an array of them'],
  configure: [isFunction, 'a function'],
  fields: [isObject, 'an object by attribute'],
  flatten: [isArray, 'an array of names'],
  names: [isObject, 'an object by shape'],
  unknownProperties: [oneOf('ignore', 'reject'), '"ignore" or "reject"'],
  relations: [either(isFlag, isObject), 'a boolean or an object by association'],
  query: [isObject, 'an object'],
  limits: [isObject, 'an object by limit'],
  softDelete: [either(isFlag, isObject), 'a boolean or an object of attribute names'],
  concurrency: [either(isFlag, isObject), 'a boolean or an object of attribute names'],
  audit: [either(isFlag, isObject), 'a boolean or an object of attribute names'],
  mask: [isObject, 'an object of permissions by attribute'],
  identity: [isFunction, 'a function'],
  authorizePolicy: [isPolicy, 'a policy or the name of one'],
  getByIdPolicy: [isPolicy, 'a policy or the name of one'],
  getListPolicy: [isPolicy, 'a policy or the name of one'],
  createPolicy: [isPolicy, 'a policy or the name of one'],
  updatePolicy: [isPolicy, 'a policy or the name of one'],
  deletePolicy: [isPolicy, 'a policy or the name of one'],
  includeDeletedPolicy: [isPolicy, 'a policy or the name of one'],
  restorePolicy: [isPolicy, 'a policy or the name of one'],
  policies: [
    (value) => isObject(value) && Object.values(value as object).every(isFunction),
    'an object of policies by name',
  ],
  scope: [isFunction, 'a function'],
  push: [either(isFlag, isObject), 'a boolean or an object'],
  hooks: [isObject, 'an object of functions'],
  onError: [isFunction, 'a function'],
}

export const QUERY: Shape = {
  sortable: [isFlag, 'a boolean'],
  defaultSort: [isText, 'a sort expression'],
  defaultDirection: [oneOf('asc', 'desc'), '"asc" or "desc"'],
  unknownFields: [oneOf('reject', 'ignore'), '"reject" or "ignore"'],
  pageSize: [isCount, 'a whole number from 1'],
  maxPageSize: [isCount, 'a whole number from 1'],
}

const TARGET = oneOf('create', 'update', 'query', 'response', 'list')
const TARGETS = either(TARGET, (value) => Array.isArray(value) && value.every(TARGET))

export const FIELD: Shape = {
  exclude: [either((value) => value === true, TARGETS), 'true, a target or an array of targets'],
  only: [TARGETS, 'a target or an array of targets'],
  rules: [isObject, 'an object by rule'],
  schema: [(value) => isObject(value) && isFunction((value as { validate?: unknown }).validate), 'a joi schema'],
  filterable: [isFlag, 'a boolean'],
  sortable: [isFlag, 'a boolean'],
  decimal: [oneOf('string', 'number'), '"string" or "number"'],
}

const isNumber: Check = (value) => typeof value === 'number' && Number.isFinite(value)
const isLength: Check = (value) => value === 0 || isCount(value)

export const RULES: Shape = {
  required: [isFlag, 'a boolean'],
  minLength: [isLength, 'a whole number from 0'],
  maxLength: [isLength, 'a whole number from 0'],
  min: [isNumber, 'a number'],
  max: [isNumber, 'a number'],
  email: [isFlag, 'a boolean'],
  match: [(value) => value instanceof RegExp, 'a regular expression'],
}

export const NAMES: Shape = Object.fromEntries(
  ['create', 'update', 'response', 'list', 'query'].map((name) => [name, [isName, 'a name']]),
)

const LIMITS: Shape = Object.fromEntries(
  Object.keys(DEFAULT_LIMITS).map((name) => [name, [isCount, 'a whole number from 1']]),
)

function named(...names: readonly string[]): Shape {
  return Object.fromEntries(names.map((name) => [name, [isName, "an attribute's name"] as const]))
}

const SOFT_DELETE = named('isDeleted', 'deletedAt')
const CONCURRENCY = named('rowVersion')
const AUDIT = named('createdAt', 'updatedAt', 'createdBy', 'updatedBy')

export const PUSH: Shape = {
  io: [(value) => isObject(value) && isFunction((value as { of?: unknown }).of), 'a Socket.IO server'],
  path: [isName, 'a path'],
  audience: [oneOf('permitted', 'all'), '"permitted" or "all"'],
}

const HOOKS: Shape = Object.fromEntries(
  ['Create', 'Update', 'Delete', 'Restore'].flatMap((name) =>
    ['before', 'after'].map((when) => [when + name, [isFunction, 'a function'] as const]),
  ),
)

/** Holds an options object against its shape. `where` names the model and the option in messages. */
function check(where: string, given: object, shape: Shape): void {
  for (const [name, value] of Object.entries(given)) {
    const row = Object.hasOwn(shape, name) ? shape[name] : undefined
    if (row === undefined) throw unknownName('UNKNOWN_OPTION', `${where}: the option`, name, Object.keys(shape))
    if (value === undefined || row[0](value)) continue
    throw new CrudConfigError('INVALID_OPTION', `${where}: the option "${name}" must be ${row[1]}.`)
  }
}

/** The options without which a resource is more open. */
const GUARDS = [
  'identity',
  'scope',
  'mask',
  'policies',
  'authorizePolicy',
  'getByIdPolicy',
  'getListPolicy',
  'createPolicy',
  'updatePolicy',
  'deletePolicy',
  'includeDeletedPolicy',
  'restorePolicy',
] as const satisfies readonly (keyof CrudOptions)[]

/** Pass: every option is one, and is of its kind. @throws CrudConfigError */
export function checkOptions(model: string, options: CrudOptions): void {
  if (typeof options !== 'object' || options === null) {
    throw new CrudConfigError('INVALID_OPTION', `${model}: the options must be an object.`)
  }
  for (const name of GUARDS) {
    // Mostly the misspelt member of something, and going without would open what it was to close.
    if (!Object.hasOwn(options, name) || options[name] !== undefined) continue
    throw new CrudConfigError(
      'INVALID_OPTION',
      `${model}: the option "${name}" is undefined: leave it out to do without.`,
    )
  }
  check(model, options, OPTIONS)
  check(`${model}: query`, options.query ?? {}, QUERY)
  check(`${model}: limits`, options.limits ?? {}, LIMITS)
  check(`${model}: names`, options.names ?? {}, NAMES)
  check(`${model}: softDelete`, membersOf(options.softDelete), SOFT_DELETE)
  check(`${model}: concurrency`, membersOf(options.concurrency), CONCURRENCY)
  check(`${model}: audit`, membersOf(options.audit), AUDIT)
  check(`${model}: push`, membersOf(options.push), PUSH)
  check(`${model}: hooks`, options.hooks ?? {}, HOOKS)
  for (const [attribute, field] of Object.entries(options.fields ?? {})) {
    const where = `${model}: fields.${attribute}`
    if (!isObject(field)) throw new CrudConfigError('INVALID_OPTION', `${where} must be an object.`)
    check(where, field as object, FIELD)
    check(`${where}.rules`, (field as { rules?: object }).rules ?? {}, RULES)
  }
}

function membersOf(option: boolean | object | undefined): object {
  return typeof option === 'object' ? option : {}
}

/** The limits with the host's own on top. */
export function limitsOf(options: CrudOptions): Limits {
  return Object.freeze({ ...DEFAULT_LIMITS, ...defined(options.limits ?? {}) })
}

function defined<T extends object>(given: T): Partial<T> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Partial<T>
}

/** The query settings with their defaults. @throws CrudConfigError when the page size exceeds its maximum */
export function querySettingsOf(model: string, options: CrudOptions): QuerySettings {
  const { sortable, defaultSort, defaultDirection, unknownFields, pageSize, maxPageSize } = options.query ?? {}
  const settings: QuerySettings = {
    sortable: sortable ?? true,
    defaultSort: defaultSort ?? '',
    defaultDirection: defaultDirection ?? 'asc',
    unknownFields: unknownFields ?? 'reject',
    pageSize: pageSize ?? Math.min(20, maxPageSize ?? 20),
    maxPageSize: maxPageSize ?? Math.max(1000, pageSize ?? 0),
  }
  if (settings.pageSize > settings.maxPageSize) {
    throw new CrudConfigError('INVALID_OPTION', `${model}: query.pageSize is greater than query.maxPageSize.`)
  }
  return Object.freeze(settings)
}

/** The operations that a number or a list of names enables. @throws CrudConfigError for what is neither */
export function operationsOf(model: string, option: CrudOptions['operations']): ReadonlySet<OperationName> {
  const given = option ?? Operations.All
  if (typeof given === 'number') {
    if (!Number.isInteger(given) || given < 1 || (given & ~KNOWN_FLAGS) !== 0) {
      throw new CrudConfigError('INVALID_OPTION', `${model}: operations must be a sum of Operations, not ${given}.`)
    }
    return new Set(FLAGS.filter(([, flag]) => (given & flag) !== 0).map(([name]) => name))
  }
  if (given.length === 0) throw new CrudConfigError('INVALID_OPTION', `${model}: operations names none.`)
  const byName = new Map(FLAGS.map(([name]) => [name.toLowerCase(), name]))
  return new Set(
    given.map((each: unknown) => {
      const name = typeof each === 'string' ? byName.get(each.toLowerCase()) : undefined
      if (name !== undefined) return name
      throw unknownName('UNKNOWN_OPERATION', `${model}: the operation`, String(each), byName.values())
    }),
  )
}
