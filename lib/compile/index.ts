import type { Model, ModelStatic } from 'sequelize'
import type { BehaviourDefinition, Prepared } from '../../types/behaviour.js'
import type { Dialect } from '../../types/dialect.js'
import type { Field } from '../../types/field.js'
import type { CrudOptions } from '../../types/options.js'
import type { Facts, ModelValidation, OperationName, Resource } from '../../types/resource.js'
import { BEHAVIOURS } from '../behaviours.js'
import { CrudConfigError } from '../common/errors.js'
import { instancesAtOnce } from '../common/largeColumns.js'
import { logError } from '../common/log.js'
import { tellerOf } from '../common/messages.js'
import { ConfigProblems } from '../config/problems.js'
import { identityFromRequest } from '../identity/identity.js'
import { CursorCodec } from '../language/cursor.js'
import { OPTIONAL, RESERVED } from '../language/reserved.js'
import { OPERATIONS, type OperationTable } from '../operations.js'
import { DIALECTS, type DialectTable, dialectNamed, dialectOf } from '../sequelize/dialect/index.js'
import { sequelizeOf } from '../sequelize/internals.js'
import { keptRepliesOf } from '../sequelize/keptReplies.js'
import { driverOptionsOf, hasModelValidators, hasOwnToJson, hasVersion, isSameSequelize } from '../sequelize/model.js'
import { usesContext } from '../sequelize/transaction.js'
import { addAttributes, attributesOf, planAttributes } from './attributes.js'
import { documentedOf, factsOf, fold, prepare, subjectOf } from './behaviours.js'
import { defaultSortOf } from './defaultSort.js'
import { checkFieldNames, fieldsOf, namedOf, warnOfNames } from './fields.js'
import { checkFlatten } from './flatten.js'
import { hiddenTold } from './hidden.js'
import { keyNamesOf, keysOf, uniqueFieldsOf } from './key.js'
import { limitsOf } from './limits.js'
import { derivesEveryValidator } from './modelRules.js'
import { typeName } from './names.js'
import { namingOf } from './naming.js'
import { isUpsertable, operationsOf } from './operations.js'
import { checkOptions, optionShape } from './options.js'
import { querySettingsOf } from './query.js'
import { referencesOf } from './references.js'
import { checkRelations, holdsOf, nestedOf } from './relationOptions.js'
import { relationsOf } from './relations.js'
import { searchOf } from './search.js'
import { warnOfSensitive } from './sensitive.js'
import { textBoundsOf } from './textBounds.js'
import { loadRules, validatorOf } from './validators.js'
import { wholeOf } from './whole.js'

/** The keys that cursors hold by themselves. */
const KEYSET_TYPES: ReadonlySet<string> = new Set(['integer', 'bigint', 'uuid', 'string'])
/** Of keys of several parts, days among them. */
const PART_TYPES: ReadonlySet<string> = new Set([...KEYSET_TYPES, 'date'])

/** What a mount knows beside the model and its options: the rows that there are. */
export interface Tables {
  readonly operations: OperationTable
  readonly behaviours: readonly BehaviourDefinition[]
  readonly dialects: DialectTable
}

/** What compiles a resource: what the host called, and what of the options means nothing there. */
export interface Entry {
  readonly name: string
  /** By option, why it cannot be honoured. */
  readonly unfit: { readonly [option in keyof CrudOptions]?: string }
  /** Why no route can stand below a record's own; where there can, nothing. */
  readonly routeless?: string | null
  /** True where the host turns records into JSON by itself. */
  readonly givesRows?: true
  readonly tables?: Tables
}

const ROUTER: Entry = { name: 'crudRouter', unfit: {} }

export const TABLES: Tables = Object.freeze({ operations: OPERATIONS, behaviours: BEHAVIOURS, dialects: DIALECTS })

/**
 * Compiles a model and its options into the frozen resource that requests read. The passes tell of everything that is
 * wrong at once, and change nothing: what changes the model or takes a namespace comes behind them.
 *
 * @throws CrudConfigError for everything that is wrong, here and not on the first request
 */
export function compile<M extends Model>(
  model: ModelStatic<M>,
  options: CrudOptions<M> = {},
  { name: entry, unfit, routeless = null, givesRows, tables = TABLES }: Entry = ROUTER,
): Resource {
  assertModel(model, tables.dialects)
  const { name } = model
  const { operations: table, behaviours, dialects } = tables
  const dialect = (): Dialect => dialectOf(sequelizeOf(model), dialects)
  const problems = new ConfigProblems()
  const pass = <T>(work: () => T): T | undefined => problems.attempt(work)
  // What a hook is given differs by model; compiling looks at no hook's types.
  const given = checkOptions(name, options as object as CrudOptions, optionShape(behaviours), problems)
  for (const [option, why] of Object.entries(unfit)) {
    if (!Object.hasOwn(given, option)) continue
    problems.add(new CrudConfigError('INVALID_OPTION', `${name}: the option "${option}" is not for ${entry}: ${why}.`))
  }

  const route = routeOf(model, given)
  const prepared = prepare(behaviours, subjectOf(model, route, table), given, problems)
  const facts = factsOf(prepared)
  const wanted = prepared.flatMap(({ attributes = [] }) => attributes)
  const attributes = pass(() => planAttributes(model, wanted)) ?? attributesOf(model)
  const keyNames = pass(() => keyNamesOf(model, given))
  checkFieldNames(model, given, attributes, problems)
  const onError = given.onError ?? logError
  const onHidden = hiddenTold(name, onError)
  const naming = namingOf(model, given)
  const fields = pass(() =>
    fieldsOf({ model, options: given, keys: keyNames ?? [], attributes, naming, dialect: dialect(), onHidden }),
  )
  const relations = relationsOf({ model, options: given, fields: fields ?? [], naming, dialect })
  const keys = keyNames === undefined ? undefined : fields && pass(() => keysOf(model, keyNames, fields))
  const uniques = keys && fields ? uniqueFieldsOf(model, keys, fields) : []
  const operations =
    pass(() => operationsOf(name, given, table, keys === undefined || isUpsertable(uniques, keys))) ??
    new Set<OperationName>()
  const query = pass(() => querySettingsOf(name, given))
  const described = fields && { model, options: given, fields, naming, relations }
  const defaultSort = query && described && pass(() => defaultSortOf(described, query))
  const search = described && pass(() => searchOf(described, dialect()))
  const flatten = fields && pass(() => checkFlatten(model, given, fields))
  pass(() => checkRelations(model, given, { operations: table, routeless, naming }))
  pass(() => givesRows || assertNoToJson(model, given))
  pass(() => assertContext(model, given))
  pass(() => assertCoherent(name, { operations, keys, facts }, given))
  pass(() => assertGuarded(name, operations, prepared))
  for (const { check } of prepared) pass(() => check?.(facts, Object.keys(attributes.all)))
  problems.throwIfAny()
  if (!(fields && keys && query && defaultSort && flatten && search !== undefined))
    throw new TypeError(`${name}: a pass failed without a word`)

  warnOfNames(name, fields)
  if (!givesRows) warnOfSensitive(name, fields, given)
  const tell = tellerOf(given.messages, onError)
  const named = namedOf(fields)
  const byName = new Map([...fields, ...named].map((field) => [field.json.toLowerCase(), field]))
  const reserved: ReadonlySet<string> = new Set([
    ...RESERVED,
    ...(search === null ? [] : OPTIONAL.search),
    ...(operations.has('aggregate') ? OPTIONAL.aggregate : []),
    ...(operations.has('export') ? OPTIONAL.export : []),
    ...(operations.has('replace') ? OPTIONAL.replace : []),
  ])
  const jsonNames = new Map([...byName.values()].map((field) => [field.name, field.json]))
  const holds = holdsOf(given, naming)
  const parts: Omit<Resource, 'hub'> = {
    ...facts,
    name,
    model,
    route,
    key: keys[0],
    keys,
    keyset: keys.every(({ valueType }) => (keys.length > 1 ? PART_TYPES : KEYSET_TYPES).has(valueType.type)),
    cursor: new CursorCodec(name, keyLengthOf(keys)),
    operations,
    table,
    fields,
    byName,
    reserved,
    parameters: parametersOf(fields, reserved),
    search,
    relations,
    references: referencesOf(model, fields),
    nested: nestedOf(model, given, naming),
    holds,
    flatten,
    whole: wholeOf(fields, keys, flatten),
    names: namesOf(model, given),
    query,
    defaultSort,
    limits: limitsOf(given, dialect()),
    tell,
    uniques,
    keepsFormulas: given.export?.formulas === 'keep',
    namedStatements: given.namedStatements ?? true,
    isTransactional: given.transaction === 'request',
    keptIn: facts.keeps === null ? null : () => facts.keeps?.model ?? keptRepliesOf(sequelizeOf(model)),
    validation: validationOf(model, fields),
    filled: filledOf(model, fields),
    instancesAtOnce: instancesAtOnce(fields),
    bounded: textBoundsOf(model, fields),
    validateCreate: validatorOf('create', fields, given, holds, tell),
    validateUpdate: validatorOf('update', fields, given, holds, tell),
    validateReplace: validatorOf('replace', fields, given, holds, tell),
    canValidate: [...operations].some((each) => table[each].body !== null) ? loadRules() : Promise.resolve(),
    behaviours: fold(prepared.map(({ behaviour }) => behaviour(jsonNames))),
    documented: documentedOf(prepared, fields, given),
    identity: given.identity ?? (facts.asksIdentity ? identityFromRequest : null),
    dialect,
    onError,
  }
  // Last, when nothing of the options can be wrong any more but what Socket.IO makes of them.
  const hubs = prepared.flatMap(({ open }) => open?.() ?? [])
  const takeBack = addAttributes(model, attributes)
  parts.keptIn?.()
  const resource: Resource = Object.freeze({ ...parts, hub: hubs[0]?.namespace ?? null })
  added.set(resource, takeBack)
  for (const hub of hubs) hub.serve(resource)
  return resource
}

/** @throws CrudConfigError where hooks and policies would not find the transaction of their request */
function assertContext(model: ModelStatic<Model>, { transaction }: CrudOptions): void {
  if (transaction === undefined || usesContext(sequelizeOf(model))) return
  throw new CrudConfigError(
    'INVALID_OPTION',
    `${model.name}: the option "transaction" needs continuation-local storage: call Sequelize.useCLS before the first Sequelize instance.`,
  )
}

const added = new WeakMap<Resource, () => void>()

/** Leaves the model as it was before the resource was compiled, for a mount that fails behind that. */
export function takeBack(resource: Resource): void {
  added.get(resource)?.()
}

/** The most characters of a key: text columns without a length take long ones, and their tokens must come back. */
function keyLengthOf(keys: readonly Field[]): number {
  const lengths = keys.map(({ valueType }) => valueType.maxLength ?? (valueType.type === 'string' ? 2048 : 0))
  const [only = 0] = lengths
  // Of several, each byte of a part may take three characters.
  return keys.length === 1 ? only : lengths.reduce((sum, length) => sum + length * 3 + 25, 0)
}

/** A value that is no model, for a message. */
function described(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'function') {
    const { name } = value
    const what = name === '' ? 'a function' : `the function ${name}`
    return `${what}. If it defines a model, call it and pass what it returns`
  }
  if (typeof value !== 'object')
    return `the ${typeof value} ${typeof value === 'string' ? JSON.stringify(value) : String(value)}`
  if (isModel(Reflect.get(value, 'default'))) return 'a module. Pass its default export'
  const { constructor: made } = value
  if (isModel(made)) return `a record of ${made.name}. Pass the class`
  return typeof made === 'function' && made !== Object ? `a ${made.name}` : 'an object'
}

function isModel(value: unknown): value is ModelStatic<Model> {
  return typeof value === 'function' && typeof Reflect.get(value, 'getAttributes') === 'function'
}

function assertModel(model: unknown, dialects: DialectTable): asserts model is ModelStatic<Model> {
  if (!isModel(model)) {
    throw new CrudConfigError(
      'NOT_A_MODEL',
      `The first argument must be a Sequelize model class, not ${described(model)}.`,
    )
  }
  const { sequelize, name } = model
  if (sequelize === undefined)
    throw new CrudConfigError('NOT_A_MODEL', `${name} is not initialised: call ${name}.init first.`)
  const dialect = dialectNamed(sequelize.getDialect(), undefined, dialects)
  if (dialect === undefined) {
    const known = Object.keys(dialects).join(', ')
    throw new CrudConfigError('UNKNOWN_DIALECT', `${name}: the dialect ${sequelize.getDialect()} is none of ${known}.`)
  }
  if (!isSameSequelize(sequelize)) {
    // Conditions made by one copy are text without a meaning to the other, and its errors are unknown.
    const message = `${name} belongs to another copy of sequelize than the one that this package loads (npm ls sequelize).`
    throw new CrudConfigError('NOT_A_MODEL', message)
  }
  for (const driver of driverOptionsOf(sequelize)) {
    const refusal = dialect.refuse(driver)
    if (refusal !== null) throw new CrudConfigError('UNSAFE_CONNECTION', `${name}: ${refusal}.`)
  }
}

function routeOf(model: ModelStatic<Model>, { route, routePrefix }: CrudOptions): string {
  const plural = model.options.name?.plural ?? model.name
  const path = route ?? ['api', routePrefix, plural.toLowerCase()].filter((part) => part !== undefined).join('/')
  return `/${path
    .split('/')
    .filter((part) => part !== '')
    .join('/')}`
}

/** The query parameters that stand for fields. Names of the service's own parameters are taken. */
function parametersOf(fields: readonly Field[], reserved: ReadonlySet<string>): ReadonlyMap<string, Field> {
  const open = fields.filter(
    ({ filterable, operators, json }) => filterable && operators.has('eq') && !reserved.has(json),
  )
  return new Map(open.map((field) => [field.json.toLowerCase(), field]))
}

function namesOf({ name }: ModelStatic<Model>, { names }: CrudOptions): Resource['names'] {
  const response = names?.response ?? typeName(name)
  return Object.freeze({
    response,
    create: names?.create ?? `${response}Create`,
    update: names?.update ?? `${response}Update`,
    list: names?.list ?? `${response}ListItem`,
    query: names?.query ?? `${response}Query`,
  })
}

/**
 * Pass: what a model's own `toJSON` hides, passwords mostly, is hidden by the options instead: replies are made of the
 * database's rows.
 */
function assertNoToJson(model: ModelStatic<Model>, { toJSON }: CrudOptions): void {
  if (toJSON === 'ignore' || !hasOwnToJson(model)) return
  throw new CrudConfigError(
    'MODEL_TO_JSON',
    `${model.name} has a toJSON of its own, which replies of this package do not call: say what it hides by fields: { x: { exclude: true } }, and then toJSON: 'ignore'.`,
  )
}

/** Pass: if policies are required, each operation has one. */
function assertGuarded(model: string, operations: ReadonlySet<OperationName>, prepared: readonly Prepared[]): void {
  const uncovered = prepared.flatMap(({ uncovered = [] }) => [...uncovered])
  const open = uncovered.filter(([operation]) => operations.has(operation))
  if (open.length === 0) return
  const names = open.map(([operation]) => operation).join(', ')
  const remedies = [...new Set(open.flatMap(([, lacks]) => lacks))].join(', ')
  throw new CrudConfigError(
    'UNGUARDED',
    `${model}: no policy covers ${names}: give authorizePolicy or ${remedies}, or say requirePolicies: false.`,
  )
}

/** Pass: what the options ask for together makes sense. */
function assertCoherent(
  model: string,
  {
    operations,
    keys = [],
    facts,
  }: { operations: ReadonlySet<OperationName>; keys: readonly Field[] | undefined; facts: Facts },
  options: CrudOptions,
): void {
  if (operations.has('restore') && !facts.softDeletes) {
    throw new CrudConfigError('INVALID_OPTION', `${model}: the operation restore needs softDelete.`)
  }
  const masked = keys.find(({ name }) => options.mask !== undefined && Object.hasOwn(options.mask, name))
  if (masked !== undefined) {
    const message = `${model}: the key "${masked.name}" cannot be masked: it is in every URL.`
    throw new CrudConfigError('INVALID_OPTION', message)
  }
}

/** What the model itself says of a null, by a message of its own, it goes on saying. */
function filledOf(model: ModelStatic<Model>, fields: readonly Field[]): readonly string[] {
  const attributes = model.getAttributes()
  const isSaid = (name: string): boolean => Object.hasOwn(attributes[name]?.validate ?? {}, 'notNull')
  return fields.filter(({ name, rules }) => rules.filled === true && !isSaid(name)).map(({ name }) => name)
}

/** Pass: how much of Sequelize's own validation and value handling writes must go through. */
function validationOf(model: ModelStatic<Model>, fields: readonly Field[]): ModelValidation {
  const attributes = model.getAttributes()
  const isOpaque = ({ name, valueType, virtual }: Field): boolean => {
    const { key } = (attributes[name]?.type ?? {}) as { key?: string }
    return valueType.type === 'json' && !virtual && key !== 'JSON' && key !== 'JSONB'
  }
  if (hasVersion(model) || fields.some(isOpaque)) return 'saved'
  const all = Object.values(attributes)
  const isOwn = (test: unknown): boolean => typeof test === 'function'
  if (
    hasModelValidators(model) ||
    all.some(({ set, validate }) => isOwn(set) || Object.values(validate ?? {}).some(isOwn))
  ) {
    return 'instance'
  }
  return all.every(derivesEveryValidator) ? 'rules' : 'attributes'
}
