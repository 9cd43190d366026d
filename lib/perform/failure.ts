import type { Model, ModelStatic } from 'sequelize'
import type { Dialect } from '../../types/dialect.js'
import type { Failure, Refusal } from '../../types/failures.js'
import type { Field, Rules } from '../../types/field.js'
import type { CodedMessage } from '../../types/messages.js'
import type { Plan } from '../../types/plan.js'
import type { Resource } from '../../types/resource.js'
import { createDisconnectError } from '../common/disconnect.js'
import { CrudConfigError } from '../common/errors.js'
import { isListPlan } from '../common/listPlan.js'
import { createMessage } from '../common/messages.js'
import { type Problem, problem } from '../common/problem.js'
import { packageMessageOf } from '../sequelize/builtInValidators.js'
import { countWaiting } from '../sequelize/connections.js'
import {
  classifyFailure,
  findNullColumn,
  findUniqueViolation,
  findValidationErrors,
  type ValidationErrorItem,
} from '../sequelize/failure.js'
import { sequelizeOf } from '../sequelize/internals.js'
import { columnsIn, columnsOfIndex, uniqueMessageOf } from '../sequelize/model.js'
import { quoteTable } from '../sequelize/sql.js'
import { isMostlyScope, type SizedPlan } from './scoped/statementSize.js'
import { retryAfterSeconds } from './writeTimeout.js'

/** The error for `onError` if a search lacks its full-text index, or null for other errors. */
export function missingIndexError(error: unknown, { name, search, dialect }: Resource): Error | null {
  if (classifyFailure(error, dialect()) !== 'missingIndex') return null
  const columns = (search?.fullText ?? []).map(({ column }) => column).join(', ')
  const message = `${name}: query.search: fullText needs a full-text index over exactly these columns: ${columns}.`
  return Object.assign(new CrudConfigError('INVALID_OPTION', message), { cause: error })
}

/** The error for `onError` if conditions of scopes are too large for the database, or null for other errors. */
export function oversizedScopeError(error: unknown, { name, dialect }: Resource, plan: SizedPlan): Error | null {
  if (classifyFailure(error, dialect()) !== 'tooLarge' || !isMostlyScope(plan)) return null
  return new TypeError(
    `${name}: the condition of its scope, or of a related resource's scope, is too large for the database. Return a shorter condition`,
    { cause: error },
  )
}

/**
 * Whether an INSERT failed because a value of one of the fields is taken. Also true if the database does not report the
 * fields.
 */
export function isUniqueConflict(error: unknown, resource: Resource, fields: readonly Field[]): boolean {
  if (classifyFailure(error, resource.dialect()) !== 'unique' || isOfOtherTable(error, resource)) return false
  const taken = conflictingFields(error, resource)
  return taken.length === 0 || taken.some((field) => fields.includes(field))
}

/** Whether an INSERT failed because the values of all given fields are taken. */
export function isWholeUniqueConflict(error: unknown, resource: Resource, fields: readonly Field[]): boolean {
  if (classifyFailure(error, resource.dialect()) !== 'unique') return false
  const taken = conflictingFields(error, resource)
  return fields.every((field) => taken.includes(field))
}

export function isDeadlock(error: unknown, dialect: Dialect): boolean {
  return classifyFailure(error, dialect) === 'deadlock'
}

/**
 * Returns the Problem for a failed read or write, or null for an unexpected error. The Problem contains no text of the
 * database.
 */
export function failureProblem(error: unknown, resource: Resource, plan: Plan): Problem | null {
  const failure = classifyFailure(error, resource.dialect())
  switch (failure) {
    case 'missingIndex':
      return null
    case 'tooLarge':
      return clientSizeProblem(plan)
    case 'notNull':
      return missingValueProblem(error, resource)
    case 'unique':
      return conflictProblem(resource, conflictingFields(error, resource))
    case 'deadlock':
    case 'unavailable':
    case 'disconnected':
    case 'timeout':
      return TRANSIENT_PROBLEMS[failure](resource)
    case null: {
      const invalid = findValidationErrors(error)
      return invalid === null ? null : problem('validation', { errors: validationMessages(invalid, resource) })
    }
    case 'dataException':
      // Filter values fit their columns, so only a sum can overflow.
      return isListPlan(plan) && plan.kind === 'aggregate' ? tooLargeProblem() : REFUSAL_PROBLEMS.dataException()
    default:
      return REFUSAL_PROBLEMS[failure]()
  }
}

/** Returns the Problem for a temporary failure, or null for other errors. */
export function transientProblem(error: unknown, resource: Resource): Problem | null {
  const failure = classifyFailure(error, resource.dialect())
  return failure !== null && isTransientFailure(failure) ? TRANSIENT_PROBLEMS[failure](resource) : null
}

function isTransientFailure(failure: Failure): failure is keyof typeof TRANSIENT_PROBLEMS {
  return Object.hasOwn(TRANSIENT_PROBLEMS, failure)
}

const TRANSIENT_PROBLEMS = {
  deadlock: unavailableProblem,
  unavailable: unavailableProblem,
  disconnected: createDisconnectError,
  timeout: () =>
    problem('timeout', {
      detail: 'The database took too long for this request. Request less data, or try again later.',
      headers: { 'Retry-After': '1' },
    }),
} satisfies { readonly [F in Failure]?: (resource: Resource) => Problem }

function unavailableProblem({ model }: Resource): Problem {
  return problem('unavailable', {
    detail: 'The database is not available at the moment. Try again later.',
    headers: { 'Retry-After': retryAfterSeconds(countWaiting(sequelizeOf(model))) },
  })
}

const REFUSAL_PROBLEMS: Readonly<Record<Exclude<Refusal, 'notNull' | 'unique'>, () => Problem>> = {
  foreignKey: () =>
    problem('conflict', {
      detail: 'A record that this one refers to does not exist, or other records still refer to this one.',
    }),
  exclusion: () => problem('conflict', { detail: 'A record that conflicts with this one exists already.' }),
  databaseRule: () => problem('conflict', { detail: 'The database does not allow this change.' }),
  rowSecurity: () => problem('forbidden', { detail: 'The database does not allow you to write this record.' }),
  checkConstraint: () => problem('validation', { detail: 'The record breaks a constraint of its table.' }),
  dataException: () => problem('validation', { detail: 'A value does not fit its column.' }),
  characterSet: () => problem('invalid-query', { detail: 'A value has characters that its column cannot hold.' }),
}

function tooLargeProblem(): Problem {
  return problem('invalid-query', { detail: 'A sum exceeds the number range of the database.' })
}

/** Whether the client influences the size of the statement, by a query or a body. */
function isClientSized(plan: Plan): boolean {
  return 'hasQuery' in plan ? plan.hasQuery : CLIENT_SIZED[plan.kind]
}

const CLIENT_SIZED: Readonly<Record<Exclude<Plan, { readonly hasQuery: boolean }>['kind'], boolean>> = {
  create: true,
  update: true,
  bulkCreate: true,
  bulkDelete: true,
  bulkUpdate: true,
  replace: true,
  upsert: true,
  action: false,
  get: false,
  delete: false,
  restore: false,
}

/**
 * Returns the Problem for a statement that is too large for the database, or null if only the host's code made the
 * statement too large.
 */
function clientSizeProblem(plan: Plan): Problem | null {
  if (!isClientSized(plan) || isMostlyScope(plan)) return null
  return problem(isListPlan(plan) ? 'invalid-query' : 'validation', {
    detail: 'The request is too large for the database. Shorten the query, or send fewer records.',
  })
}

/** Returns the Problem for one write of a batch. Names of invalid values include the record's position. */
export function partFailureProblem(error: unknown, resource: Resource, plan: Plan): Problem | null {
  return classifyFailure(error, resource.dialect()) === 'notNull'
    ? missingValueProblem(error, resource, plan)
    : failureProblem(error, resource, plan)
}

/**
 * Returns the Problem for a null that only the table rejects, or null if the client may not write the column. The error
 * of a PostgreSQL domain does not name the column.
 */
function missingValueProblem(error: unknown, resource: Resource, plan: Plan | null = null): Problem | null {
  const name = findNullColumn(error, resource.dialect())
  if (name === undefined) return REFUSAL_PROBLEMS.databaseRule()
  const field = findFieldByColumn(resource, name)
  if (field === undefined || !(field.targets.has('create') || field.targets.has('update'))) return null
  const errors = placesWithoutValue(field, plan).map(
    (place) => [`${place}${field.json}`, [resource.translate(createMessage('null'))]] as const,
  )
  return problem('validation', { errors: Object.fromEntries(errors) })
}

/**
 * Returns the positions of records without a value for the field. The database does not report the position of the
 * rejected record.
 */
function placesWithoutValue({ name }: Field, plan: Plan | null): readonly string[] {
  if (plan?.kind !== 'bulkCreate') return ['']
  const places = plan.records.flatMap((record, index) => ((record.get(name) ?? null) === null ? [`[${index}].`] : []))
  return places.length === 0 ? [''] : places
}

/** Returns the Problem for taken values of these fields. The Problem names only fields that clients know. */
export function conflictProblem(resource: Resource, fields: readonly Field[]): Problem {
  const names = fields
    .filter(isNameable)
    .map(
      (field) =>
        [field.json, [uniqueMessageOf(resource.model, field) ?? resource.translate(createMessage('unique'))]] as const,
    )
  return problem('conflict', {
    detail: 'A record with these values exists already.',
    ...(names.length === 0 ? {} : { errors: Object.fromEntries(names) }),
  })
}

/** Whether errors may name a field. Fields that are excluded from all requests and responses are not named. */
function isNameable({ targets, isKey }: Field): boolean {
  return targets.size > 0 || isKey
}

/** Whether the first refused record belongs to another table, for example if a hook of the host writes it. */
function isOfOtherTable(error: unknown, resource: Resource): boolean {
  const [item] = findValidationErrors(error) ?? []
  return item !== undefined && isItemOfOtherTable(item, resource)
}

function isItemOfOtherTable(item: ValidationErrorItem, { model }: Resource): boolean {
  const instance = item.instance ?? null
  return instance !== null && quoteTable(instance.constructor as ModelStatic<Model>) !== quoteTable(model)
}

/**
 * Returns the fields of the unique constraint of the resource's table that a write violated. The array is empty if the
 * database does not report the fields. Returns null for other failures.
 */
export function findConflictingFields(error: unknown, resource: Resource): readonly Field[] | null {
  const isConflict = classifyFailure(error, resource.dialect()) === 'unique' && !isOfOtherTable(error, resource)
  return isConflict ? conflictingFields(error, resource) : null
}

/** Returns the fields of the unique constraint that a write violated. */
function conflictingFields(error: unknown, resource: Resource): readonly Field[] {
  if (isOfOtherTable(error, resource)) return []
  const { columns, index } = findUniqueViolation(error, resource.dialect())
  const known = columns ?? (index === undefined ? [] : columnsOfIndex(resource.model, index))
  const names = known.length === 0 && index !== undefined ? [index] : known
  const found = names.flatMap(
    (name) => findFieldByColumn(resource, name) ?? columnsIn(name).map((word) => findFieldByColumn(resource, word)),
  )
  return [...new Set(found)].filter((field) => field !== undefined)
}

/** Finds a field by its column or attribute: databases report columns, Sequelize reports attributes. */
export function findFieldByColumn(resource: Resource, name: string): Field | undefined {
  return resource.fields.find((field) => field.column === name) ?? resource.fields.find((field) => field.name === name)
}

/** Returns the messages of the model's validators, by JSON name of the field. */
export function validationMessages(
  items: readonly ValidationErrorItem[],
  resource: Resource,
): Record<string, string[]> {
  const messages = new Map<string, string[]>()
  for (const item of items) {
    const { path, type } = item
    const field = path === null ? undefined : findFieldByColumn(resource, path)
    // Names and messages of another table, or of a field in no request and response, reveal what nobody may see.
    if (isItemOfOtherTable(item, resource) || (field !== undefined && !isNameable(field))) {
      messages.set('', [...new Set([...(messages.get('') ?? []), resource.translate(createMessage('invalid'))])])
      continue
    }
    const name = field?.json ?? path ?? ''
    // Sequelize's message for a null is replaced, because it names the table.
    const isNull = type === 'notnull violation' || (type as string) === 'notNull Violation'
    const required = field?.rules.messages?.required
    const text = isNull
      ? (required ?? resource.translate(createMessage('null')))
      : validationMessage(item, field, resource)
    messages.set(name, [...(messages.get(name) ?? []), text])
  }
  return Object.fromEntries(messages)
}

/** Returns the message for a number outside two bounds, as bodies get it: Sequelize reports one bound only. */
function rangeMessageOf({ code }: CodedMessage, rules: Rules | undefined): CodedMessage | null {
  const { min, max } = rules ?? {}
  if ((code !== 'min' && code !== 'max') || min === undefined || max === undefined) return null
  return createMessage('range', { min, max })
}

/** Returns the message of a validation error. Replaces Sequelize's built-in messages by those of this package. */
function validationMessage(item: ValidationErrorItem, field: Field | undefined, { translate }: Resource): string {
  const message = packageMessageOf(item)
  if (message !== null) return translate(rangeMessageOf(message, field?.rules) ?? message)
  // Validators of the host may throw any value.
  return typeof item.message === 'string' && item.message !== '' ? item.message : translate(createMessage('invalid'))
}
