import type { Model, ModelStatic } from 'sequelize'
import type { BehaviourDefinition, PreparedBehaviour } from '../../types/behaviour.js'
import type { Dialect } from '../../types/dialect.js'
import type { Field } from '../../types/field.js'
import type { CrudOptions } from '../../types/options.js'
import type { Facts, OperationName, Resource } from '../../types/resource.js'
import { BEHAVIOURS } from '../behaviours.js'
import { CrudConfigError } from '../common/errors.js'
import { internalError } from '../common/internalError.js'
import { maxInstancesOf } from '../common/largeColumns.js'
import { logError } from '../common/log.js'
import { createTranslator } from '../common/messages.js'
import { ConfigProblems } from '../config/problems.js'
import { identityFromRequest } from '../identity/identity.js'
import { CursorCodec } from '../language/cursor.js'
import { OPTIONAL_PARAMETERS, RESERVED_PARAMETERS } from '../language/reservedParameters.js'
import { createSingletonTable, OPERATIONS, type OperationTable } from '../operations.js'
import { DIALECTS, type DialectTable, dialectOf, findDialect } from '../sequelize/dialect/index.js'
import { idempotencyModelOf } from '../sequelize/idempotencyRecords.js'
import { sequelizeOf } from '../sequelize/internals.js'
import { driverOptionsOf, hasOwnToJson, isSameSequelize } from '../sequelize/model.js'
import { hasContext } from '../sequelize/transaction.js'
import { isRewritten } from '../sequelize/writable.js'
import { createActions } from './actions.js'
import { addAttributes, assertStorable, attributesOf, planAttributes } from './attributes.js'
import { combineFacts, documentedOf, foldBehaviours, prepareBehaviours, subjectOf } from './behaviours.js'
import { createComputedFields } from './computed.js'
import { resolveDefaultSort } from './defaultSort.js'
import { checkFieldNames, createFields, fieldsWithNameOf, warnOfNames } from './fields.js'
import { checkFlatten } from './flatten.js'
import { createHostAccess } from './hostAccess.js'
import { hasKeysetPages, keyFieldsOf, keyNamesOf, uniqueFieldsOf } from './key.js'
import { mergeLimits } from './limits.js'
import { textBoundsOf } from './modelRules.js'
import { typeNamesOf } from './names.js'
import { createNaming } from './naming.js'
import { createNestedResources } from './nestedResources.js'
import { assertSingletonOperations, isSingleRecordOperation, isUpsertable, resolveOperations } from './operations.js'
import { checkOptions, optionShape } from './options.js'
import { createQuerySettings } from './query.js'
import { createReferences } from './references.js'
import { checkRelations, nestedRelationsOf, nestedRoutesOf } from './relationOptions.js'
import { createRelations, createRestrictionTest } from './relations.js'
import { createSearch } from './search.js'
import { warnOfSensitive } from './sensitive.js'
import { createUndecodableReporter } from './undecodableValues.js'
import { createUnmaskedProjections } from './unmaskedProjections.js'
import { filledAttributesOf, ruledAttributesOf, validatedAttributesOf, validationOf } from './validation.js'
import { createValidator, loadRules } from './validators.js'

/** The tables of operations, behaviours and dialects that compilation reads. */
export interface CompileTables {
  readonly operations: OperationTable
  readonly behaviours: readonly BehaviourDefinition[]
  readonly dialects: DialectTable
}

/** The exported function that the host called, and the options that the function does not support. */
export interface EntryPoint {
  readonly name: string
  /** The reason why each unsupported option is not supported, by option. */
  readonly unsupported: { readonly [option in keyof CrudOptions]?: string }
  /** The reason why there are no routes below a record; null or absent if there are. */
  readonly noRoutesReason?: string | null
  /** True if the host itself converts rows to JSON. */
  readonly givesRows?: true
  readonly tables?: CompileTables
}

const ROUTER: EntryPoint = { name: 'crudRouter', unsupported: {} }

export const TABLES: CompileTables = Object.freeze({
  operations: OPERATIONS,
  behaviours: BEHAVIOURS,
  dialects: DIALECTS,
})

/**
 * Compiles a model and its options into the frozen resource that requests read. The passes report all errors together
 * and change nothing. Changes of the model and new namespaces come after all passes.
 *
 * @throws CrudConfigError with all errors, at mount instead of on the first request
 */
export function compile<M extends Model>(
  model: ModelStatic<M>,
  options: CrudOptions<M> = {},
  entry: EntryPoint = ROUTER,
): Resource {
  const { dialects } = entry.tables ?? TABLES
  assertModel(model, dialects)
  // The passes do not depend on the arguments of hooks, whose types differ by model.
  const checked = runPasses(model, options as object as CrudOptions, entry)
  const { given, fields, prepared, attributes } = checked
  warnOfNames(model.name, fields)
  if (!entry.givesRows) warnOfSensitive(model.name, fields, given)
  const parts = createResourceParts(checked)
  // After all checks, because a namespace cannot be closed again. If Socket.IO fails, the model is still unchanged.
  const hubs = prepared.flatMap(({ openNamespace }) => openNamespace?.() ?? [])
  const takeBack = addAttributes(model, attributes)
  parts.idempotencyModel?.()
  const resource: Resource = Object.freeze({ ...parts, hub: hubs[0]?.namespace ?? null })
  undoByResource.set(resource, takeBack)
  for (const hub of hubs) hub.serve(resource)
  return resource
}

/** A model and its options after all passes. */
type CheckedOptions = ReturnType<typeof runPasses>

function runPasses(model: ModelStatic<Model>, options: CrudOptions, entry: EntryPoint) {
  const { noRoutesReason = null, givesRows, tables = TABLES } = entry
  const { name } = model
  const problems = new ConfigProblems()
  const given = checkOptions(name, options, optionShape(tables.behaviours), problems)
  checkSupported(name, given, entry, problems)
  const route = routeOf(model, given)
  const prepared = prepareBehaviours(tables.behaviours, subjectOf(model, route, tables.operations), given, problems)
  const facts = combineFacts(prepared)
  const described = describeRecords(model, given, tables, prepared, problems)
  const { attributes, naming, keys, uniques } = described
  const isSingleton = given.singleton !== undefined
  const table = isSingleton ? createSingletonTable(tables.operations) : tables.operations
  const operations =
    problems.attempt(() => resolveOperations(name, given, table, keys === undefined || isUpsertable(uniques, keys))) ??
    new Set<OperationName>()
  const actions = createActions(model, given, { operations: table, naming, facts }, problems)
  const queried = describeLists(described, problems)
  const served = isSingleton
    ? new Set([...operations].filter((each) => isSingleRecordOperation(each, tables.operations)))
    : operations
  for (const check of [
    () => isSingleton && assertSingletonOperations(name, operations, tables.operations),
    () => checkRelations(model, given, { operations: table, noRoutesReason, naming }),
    () => assertStorable(model, attributes),
    () => givesRows || assertNoToJson(model, given),
    () => assertTransactionContext(model, given),
    () => assertConsistent(name, { operations: served, keys, facts }, given),
    () => assertPolicies(name, served, prepared),
    ...prepared.map(
      ({ check }) =>
        () =>
          check?.(facts, [...Object.keys(attributes.all), ...Object.keys(given.computed ?? {})]),
    ),
  ]) {
    problems.attempt(check)
  }
  problems.throwIfAny()
  const { fields, computed } = described
  if (fields === undefined || computed === undefined || keys === undefined || queried === undefined) {
    throw internalError(`${name} has wrong options, but no error was reported`)
  }
  return {
    ...described,
    ...queried,
    fields,
    computed,
    keys,
    given,
    route,
    prepared,
    facts,
    table,
    operations: served,
    actions,
  }
}

/** Checks that the called function supports every option. */
function checkSupported(
  model: string,
  given: CrudOptions,
  { name, unsupported }: EntryPoint,
  problems: ConfigProblems,
): void {
  for (const [option, why] of Object.entries(unsupported)) {
    if (!Object.hasOwn(given, option)) continue
    const message = `${model}: the option "${option}" cannot be used with ${name}: ${why}.`
    problems.add(new CrudConfigError('INVALID_OPTION', message))
  }
}

/** Runs the passes for the attributes, fields and keys. Members with errors are undefined. */
function describeRecords(
  model: ModelStatic<Model>,
  given: CrudOptions,
  tables: CompileTables,
  prepared: readonly PreparedBehaviour[],
  problems: ConfigProblems,
) {
  const dialect = (): Dialect => dialectOf(sequelizeOf(model), tables.dialects)
  const managed = prepared.flatMap(({ attributes = [] }) => attributes)
  const attributes = problems.attempt(() => planAttributes(model, managed)) ?? attributesOf(model)
  const keyNames = problems.attempt(() => keyNamesOf(model, given))
  checkFieldNames(model, given, attributes, problems)
  const onError = given.onError ?? logError
  const onHidden = createUndecodableReporter(model.name, onError)
  const naming = createNaming(model, given)
  const fields = problems.attempt(() =>
    createFields({
      model,
      options: given,
      keys: keyNames ?? [],
      attributes,
      naming,
      dialect: dialect(),
      onUndecodable: onHidden,
    }),
  )
  const relations = createRelations({ model, options: given, fields: fields ?? [], naming, dialect })
  const computed = fields && problems.attempt(() => createComputedFields({ model, options: given, fields, naming }))
  const keys = keyNames && fields && problems.attempt(() => keyFieldsOf(model, keyNames, fields))
  const uniques = keys && fields ? uniqueFieldsOf(model, keys, fields) : []
  return { model, options: given, dialect, attributes, onError, naming, fields, computed, relations, keys, uniques }
}

type DescribedRecords = ReturnType<typeof describeRecords>

/** Compiles the settings of lists; undefined if they have errors. */
function describeLists({ fields, dialect, ...known }: DescribedRecords, problems: ConfigProblems) {
  const { model, options } = known
  const query = problems.attempt(() => createQuerySettings(model.name, options))
  if (fields === undefined) return undefined
  const described = { ...known, fields }
  const defaultSort = query && problems.attempt(() => resolveDefaultSort(described, query))
  const search = problems.attempt(() => createSearch(described, dialect()))
  const flatten = problems.attempt(() => checkFlatten(model, options, fields))
  return query && defaultSort && flatten && search !== undefined ? { query, defaultSort, search, flatten } : undefined
}

function createResourceParts(checked: CheckedOptions): Omit<Resource, 'hub'> {
  const { model, given, route, prepared, facts, naming, fields, computed, keys, table, operations, search, flatten } =
    checked
  const { dialect, onError, query, defaultSort, relations, uniques, actions } = checked
  const known = [...fields, ...computed]
  const translate = createTranslator(given.messages, onError)
  const byName = new Map([...fields, ...fieldsWithNameOf(known)].map((field) => [field.json.toLowerCase(), field]))
  const reserved = reservedParametersOf(operations, search !== null)
  const jsonNames = new Map([...byName.values()].map((field) => [field.name, field.json]))
  const nestedMembers = nestedRelationsOf(given, naming)
  const ruleValidated = ruledAttributesOf(model, fields, given)
  return {
    ...facts,
    name: model.name,
    model,
    route,
    key: keys[0],
    keys,
    keyset: hasKeysetPages(keys),
    cursor: new CursorCodec(model.name, keyLengthOf(keys)),
    operations,
    operationTable: table,
    actions,
    fields,
    computed,
    byName,
    reserved,
    parameters: fieldParametersOf(fields, reserved),
    search,
    relations,
    canReachRestricted: createRestrictionTest(model),
    references: createReferences(model, fields),
    hostAccess: createHostAccess({ model, fields, naming, dialect }),
    nested: nestedRoutesOf(model, given, naming),
    nestedRelations: nestedMembers,
    nestedResources: createNestedResources({ nestedRelations: nestedMembers, relations }),
    flatten,
    unmaskedProjections: createUnmaskedProjections(known, keys, flatten),
    names: typeNamesOf(model, given),
    query,
    defaultSort,
    limits: mergeLimits(given, dialect()),
    versionField: fields.find(({ name }) => name === facts.version) ?? null,
    translate,
    uniques,
    keepsFormulas: given.export?.formulas === 'keep',
    format: given.format ?? null,
    namedStatements: given.namedStatements ?? true,
    isTransactional: given.transaction === 'request',
    idempotencyModel:
      facts.idempotency === null ? null : () => facts.idempotency?.model ?? idempotencyModelOf(sequelizeOf(model)),
    validation: validationOf(model, fields),
    validated: validatedAttributesOf(model, ruleValidated),
    ruleValidated,
    filled: filledAttributesOf(model, fields),
    rewritten: fields.filter((field) => isRewritten(model, dialect(), field)),
    maxInstances: maxInstancesOf(fields),
    textBounds: textBoundsOf(model, fields),
    validateCreate: createValidator('create', known, given, nestedMembers, translate),
    validateUpdate: createValidator('update', known, given, nestedMembers, translate),
    validateReplace: createValidator('replace', known, given, nestedMembers, translate),
    canValidate: [...operations].some((each) => table[each].body !== null) ? loadRules() : Promise.resolve(),
    behaviours: foldBehaviours(prepared.map(({ behaviour }) => behaviour(jsonNames))),
    documented: documentedOf(prepared, fields, given),
    identity: given.identity ?? (facts.needsIdentity ? identityFromRequest : null),
    dialect,
    onError,
    serverTiming: given.serverTiming ?? false,
  }
}

/** Returns the names of query parameters that are not fields. */
function reservedParametersOf(operations: ReadonlySet<OperationName>, isSearched: boolean): ReadonlySet<string> {
  return new Set([
    ...RESERVED_PARAMETERS,
    ...(isSearched ? OPTIONAL_PARAMETERS.search : []),
    ...(operations.has('aggregate') ? OPTIONAL_PARAMETERS.aggregate : []),
    ...(operations.has('export') ? OPTIONAL_PARAMETERS.export : []),
    ...(operations.has('replace') ? OPTIONAL_PARAMETERS.replace : []),
  ])
}

/**
 * Checks that hooks and policies can find the transaction of their request. @throws CrudConfigError without
 * `Sequelize.useCLS`
 */
function assertTransactionContext(model: ModelStatic<Model>, { transaction }: CrudOptions): void {
  if (transaction === undefined || hasContext(sequelizeOf(model))) return
  throw new CrudConfigError(
    'INVALID_OPTION',
    `${model.name}: the option "transaction" needs continuation-local storage: call Sequelize.useCLS before the first Sequelize instance.`,
  )
}

const undoByResource = new WeakMap<Resource, () => void>()

/** Undoes the changes of the model, for a mount that fails later. */
export function undoModelChanges(resource: Resource): void {
  undoByResource.get(resource)?.()
}

/**
 * Returns the length of the longest key in characters. A text column without a length may have long keys, whose cursor
 * tokens must be accepted.
 */
function keyLengthOf(keys: readonly Field[]): number {
  const lengths = keys.map(({ valueType }) => valueType.maxLength ?? (valueType.type === 'string' ? 2048 : 0))
  const [only = 0] = lengths
  // In a composite key, percent-encoding may replace each byte of a part by three characters.
  return keys.length === 1 ? only : lengths.reduce((sum, length) => sum + length * 3 + 25, 0)
}

/** Describes a value that is not a model, for a message. */
function describeValue(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'function') {
    const { name } = value
    const what = name === '' ? 'a function' : `the function ${name}`
    return `${what}. If it defines a model, call it and pass its result`
  }
  if (typeof value !== 'object')
    return `the ${typeof value} ${typeof value === 'string' ? JSON.stringify(value) : String(value)}`
  if (isModel(Reflect.get(value, 'default'))) return 'a module. Pass its default export'
  const { constructor: made } = value
  if (isModel(made)) return `a record of ${made.name}. Pass the class`
  if (typeof made !== 'function' || made === Object) return 'an object'
  return `${/^[aeiou]/i.test(made.name) ? 'an' : 'a'} ${made.name}`
}

function isModel(value: unknown): value is ModelStatic<Model> {
  return typeof value === 'function' && typeof Reflect.get(value, 'getAttributes') === 'function'
}

function assertModel(model: unknown, dialects: DialectTable): asserts model is ModelStatic<Model> {
  if (!isModel(model)) {
    throw new CrudConfigError(
      'NOT_A_MODEL',
      `The first argument must be a Sequelize model class, not ${describeValue(model)}.`,
    )
  }
  const { sequelize, name } = model
  if (sequelize === undefined)
    throw new CrudConfigError('NOT_A_MODEL', `${name} is not initialised: call ${name}.init first.`)
  const dialect = findDialect(sequelize.getDialect(), undefined, dialects)
  if (dialect === undefined) {
    const known = Object.keys(dialects).join(', ')
    throw new CrudConfigError(
      'UNKNOWN_DIALECT',
      `${name}: the dialect ${sequelize.getDialect()} is not supported. Supported: ${known}.`,
    )
  }
  if (!isSameSequelize(sequelize)) {
    // Another copy of Sequelize would treat conditions as text, and its errors would not be recognized.
    const message = `${name} was defined with another installed copy of sequelize than the one that this package uses. The command "npm ls sequelize" lists the copies.`
    throw new CrudConfigError('NOT_A_MODEL', message)
  }
  for (const driver of driverOptionsOf(sequelize)) {
    const refusal = dialect.checkOptions(driver)
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

/** Returns the query parameters that filter by a field. A name of the package's own parameters is not available. */
function fieldParametersOf(fields: readonly Field[], reserved: ReadonlySet<string>): ReadonlyMap<string, Field> {
  const open = fields.filter(
    ({ filterable, operators, json }) => filterable && operators.has('eq') && !reserved.has(json),
  )
  return new Map(open.map((field) => [field.json.toLowerCase(), field]))
}

/**
 * Checks that the model has no `toJSON` of its own. Replies are made from rows, so they would show fields that the
 * method hides.
 */
function assertNoToJson(model: ModelStatic<Model>, { toJSON }: CrudOptions): void {
  if (toJSON === 'ignore' || !hasOwnToJson(model)) return
  throw new CrudConfigError(
    'MODEL_TO_JSON',
    `${model.name} has its own toJSON, which this package does not call for responses. Exclude the fields that it hides by fields: { x: { exclude: true } }, then set toJSON: 'ignore'.`,
  )
}

/** Checks that every operation and action has a policy, if policies are required. */
function assertPolicies(
  model: string,
  operations: ReadonlySet<OperationName>,
  prepared: readonly PreparedBehaviour[],
): void {
  const uncovered = prepared.flatMap(({ operationsWithoutPolicy = [] }) => [...operationsWithoutPolicy])
  const open = uncovered.filter(([operation]) => operations.has(operation))
  const actions = prepared
    .flatMap(({ actionsWithoutPolicy = [] }) => actionsWithoutPolicy)
    .map((name) => `actions.${name}`)
  if (open.length + actions.length === 0) return
  const names = [...open.map(([operation]) => operation), ...actions].join(', ')
  const own = actions.map((action) => `${action}.policy`)
  const remedies = [...new Set([...open.flatMap(([, lacks]) => lacks), ...own])].join(', ')
  throw new CrudConfigError(
    'UNGUARDED',
    `${model}: no policy covers ${names}: set authorizePolicy or ${remedies}, or requirePolicies: false.`,
  )
}

/** Checks that the options do not contradict each other. */
function assertConsistent(
  model: string,
  {
    operations,
    keys = [],
    facts,
  }: { operations: ReadonlySet<OperationName>; keys: readonly Field[] | undefined; facts: Facts },
  options: CrudOptions,
): void {
  if (operations.has('restore') && !facts.softDeletes) {
    throw new CrudConfigError('INVALID_OPTION', `${model}: the operation restore needs the option softDelete.`)
  }
  const masked = keys.find(({ name }) => options.mask !== undefined && Object.hasOwn(options.mask, name))
  if (masked !== undefined) {
    const message = `${model}: the key "${masked.name}" cannot be masked: it is in every URL.`
    throw new CrudConfigError('INVALID_OPTION', message)
  }
}
