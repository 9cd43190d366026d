import type { Schema } from 'joi'
import type { Model, ModelStatic } from 'sequelize'
import type { Field } from '../../types/field.js'
import type { CrudOptions, FieldOptions } from '../../types/options.js'
import type { SortNode } from '../../types/query.js'
import type { ModelValidation, Resource, Validator } from '../../types/resource.js'
import { type BehaviourSettings, behavioursFor } from '../behaviour/index.js'
import { CursorCodec } from '../cursor.js'
import { CrudConfigError } from '../errors.js'
import { identityFromRequest } from '../identity.js'
import { RESERVED } from '../parse/parameters.js'
import { parseSort } from '../parse/query.js'
import { DIALECTS, dialectNamed } from '../perform/dialect/index.js'
import { driverOptionsOf, hasModelValidators, hasVersion } from '../perform/sequelize.js'
import { fold } from './behaviours.js'
import { fieldsOf } from './fields.js'
import { checkFlatten } from './flatten.js'
import { keyAttributeOf } from './key.js'
import { checkOptions, limitsOf, operationsOf, querySettingsOf } from './options.js'
import { checkAudience, hubOf } from './push.js'
import { checkRelations, relationsOf } from './relations.js'
import { bodyValidator, derivesEveryValidator } from './rules.js'
import { settingsOf } from './settings.js'
import { unknownName } from './suggest.js'

const KEYSET_TYPES: ReadonlySet<string> = new Set(['integer', 'bigint', 'uuid', 'string'])

/**
 * Compiles a model and its options into the frozen resource that requests read.
 *
 * @throws CrudConfigError for everything that is wrong, here and not on the first request
 */
export function compile<M extends Model>(model: ModelStatic<M>, options: CrudOptions<M> = {}): Resource {
  assertModel(model)
  // What a hook is given differs by model; compiling looks at no hook's types.
  const given = options as object as CrudOptions
  checkOptions(model.name, given)
  const keyName = keyAttributeOf(model, given)
  const route = routeOf(model, given)
  const hub = hubOf(model.name, route, given)
  const { settings, attributes } = settingsOf(model, given, hub)
  const fields = fieldsOf(model, given, keyName, attributes)
  const key = fields.find((field) => field.name === keyName)
  if (key === undefined || key.virtual)
    throw new CrudConfigError('SDTO011', `${model.name}: the key "${keyName}" has no column.`)
  checkRelations(model, given)
  checkAudience(model.name, given, settings)
  const query = querySettingsOf(model.name, given)
  const parts = {
    name: model.name,
    model,
    route,
    key,
    keyset: KEYSET_TYPES.has(key.valueType.type),
    cursor: new CursorCodec(model.name, keyLengthOf(key)),
    operations: operationsOf(model.name, given.operations),
    fields,
    byName: new Map(fields.map((field) => [field.json.toLowerCase(), field])),
    parameters: parametersOf(fields),
    relations: relationsOf(model, given),
    flatten: checkFlatten(model, given, fields),
    hasListShape: fields.some(({ targets }) => targets.has('response') !== targets.has('list')),
    names: namesOf(model, given),
    query,
    defaultSort: defaultSortOf(model.name, query.defaultSort, fields),
    limits: limitsOf(given),
    validation: validationOf(model, fields),
    validateCreate: validatorOf('create', fields, given),
    validateUpdate: validatorOf('update', fields, given),
    softDeletes: settings.deletedMark !== null,
    behaviours: fold(behavioursFor(settings, new Map(fields.map(({ name, json }) => [name, json])))),
    identity: asksIdentity(settings, given) ? (given.identity ?? identityFromRequest) : null,
    onError: given.onError ?? logError,
  } satisfies Omit<Resource, 'hub'>
  assertCoherent(model.name, parts, given)
  // Last, when nothing can be wrong any more: a namespace cannot be taken back.
  const namespace = hub?.namespace(model.name) ?? null
  const resource: Resource = Object.freeze({ ...parts, hub: namespace })
  if (namespace !== null) hub?.serve(resource, namespace)
  return resource
}

/** Without the request beside it: that would print its headers, credentials included. */
function logError(error: unknown): void {
  console.error(error)
}

/** The most characters of a key: text columns without a length take long ones, and their tokens must come back. */
function keyLengthOf({ valueType }: Field): number {
  return valueType.maxLength ?? (valueType.type === 'string' ? 2048 : 0)
}

function assertModel(model: unknown): asserts model is ModelStatic<Model> {
  if (typeof model !== 'function' || typeof (model as { getAttributes?: unknown }).getAttributes !== 'function') {
    throw new CrudConfigError('NOT_A_MODEL', 'The first argument must be a Sequelize model class.')
  }
  const { sequelize, name } = model as ModelStatic<Model>
  if (sequelize === undefined)
    throw new CrudConfigError('NOT_A_MODEL', `${name} is not initialised: call ${name}.init first.`)
  const dialect = dialectNamed(sequelize.getDialect())
  if (dialect === undefined) {
    const known = DIALECTS.join(', ')
    throw new CrudConfigError('UNKNOWN_DIALECT', `${name}: the dialect ${sequelize.getDialect()} is none of ${known}.`)
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
function parametersOf(fields: readonly Field[]): ReadonlyMap<string, Field> {
  const open = fields.filter(
    ({ filterable, operators, json }) => filterable && operators.has('eq') && !RESERVED.has(json),
  )
  return new Map(open.map((field) => [field.json.toLowerCase(), field]))
}

function namesOf({ name }: ModelStatic<Model>, { names }: CrudOptions): Resource['names'] {
  return Object.freeze({
    create: names?.create ?? `Create${name}`,
    update: names?.update ?? `Update${name}`,
    response: names?.response ?? name,
    list: names?.list ?? `${name}ListItem`,
    query: names?.query ?? `${name}Query`,
  })
}

/** Pass: the default sort parses, and its own fields can be sorted by. Relation paths are found on first use. */
function defaultSortOf(model: string, text: string, fields: readonly Field[]): readonly SortNode[] {
  if (text.trim() === '') return []
  const keys = parse(model, text)
  for (const { path } of keys) {
    const [name = ''] = path.segments
    if (path.segments.length > 1) continue
    const field = fields.find(({ json }) => json.toLowerCase() === name.toLowerCase())
    if (field?.sortable) continue
    const candidates = fields.filter(({ sortable }) => sortable).map(({ json }) => json)
    throw unknownName('UNKNOWN_ATTRIBUTE', `${model}: query.defaultSort: the sortable field`, name, candidates)
  }
  return keys
}

function parse(model: string, text: string): readonly SortNode[] {
  try {
    return parseSort(text)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new CrudConfigError('INVALID_OPTION', `${model}: query.defaultSort: ${reason}`)
  }
}

/** Whether anything wants to know who is asking; a host that says how to tell always does. */
function asksIdentity(settings: BehaviourSettings, { identity }: CrudOptions): boolean {
  const { policies, scope, stamps, masks, hooks } = settings
  return identity !== undefined || [policies, scope, stamps, masks, hooks].some((setting) => setting !== null)
}

/** Pass: what the options ask for together makes sense. */
function assertCoherent(
  model: string,
  { operations, key, softDeletes }: Pick<Resource, 'operations' | 'key' | 'softDeletes'>,
  options: CrudOptions,
): void {
  if (operations.has('restore') && !softDeletes) {
    throw new CrudConfigError('INVALID_OPTION', `${model}: the operation restore needs softDelete.`)
  }
  if (options.mask !== undefined && Object.hasOwn(options.mask, key.name)) {
    throw new CrudConfigError('INVALID_OPTION', `${model}: the key "${key.name}" cannot be masked: it is in every URL.`)
  }
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

function validatorOf(target: 'create' | 'update', fields: readonly Field[], options: CrudOptions): Validator {
  const given = (options.fields ?? {}) as Readonly<Record<string, FieldOptions | undefined>>
  const schemas = new Map<string, Schema>()
  for (const { name, json } of fields) {
    const schema = given[name]?.schema
    if (schema !== undefined) schemas.set(json, schema)
  }
  return bodyValidator(
    fields.filter(({ targets }) => targets.has(target)),
    {
      mode: target,
      unknown: options.unknownProperties ?? 'ignore',
      known: new Set(fields.map(({ json }) => json)),
      schemas,
    },
  )
}
