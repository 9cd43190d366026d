import type { Dialect } from '../../types/dialect.js'
import type { Failure, Refusal } from '../../types/failures.js'
import type { Field } from '../../types/field.js'
import type { Plan } from '../../types/plan.js'
import type { Resource } from '../../types/resource.js'
import { CrudConfigError } from '../common/errors.js'
import { left } from '../common/leaving.js'
import { isList } from '../common/listing.js'
import { fault } from '../common/messages.js'
import { type Problem, problem } from '../common/problem.js'
import { ownFaultOf } from '../sequelize/builtInValidators.js'
import { waitingFor } from '../sequelize/connections.js'
import { failureOf, nullColumnIn, takenIn, type ValidationErrorItem, validationIn } from '../sequelize/failure.js'
import { sequelizeOf } from '../sequelize/internals.js'
import { columnsIn, columnsOfIndex, uniqueMessageOf } from '../sequelize/model.js'
import { isMostlyScope } from './scoped/oversized.js'
import { retryAfter } from './time.js'

/** The error for `onError` if a search lacks its full-text index, or null for other errors. */
export function unindexedBy(error: unknown, { name, search, dialect }: Resource): Error | null {
  if (failureOf(error, dialect()) !== 'unindexed') return null
  const columns = (search?.fullText ?? []).map(({ column }) => column).join(', ')
  const message = `${name}: query.search: fullText needs a full-text index over exactly these columns: ${columns}.`
  return Object.assign(new CrudConfigError('INVALID_OPTION', message), { cause: error })
}

/** The error for `onError` if a scope's condition is too large for the database, or null for other errors. */
export function oversizedBy(error: unknown, { name, dialect }: Resource, plan: Plan): Error | null {
  if (failureOf(error, dialect()) !== 'tooLarge' || !isMostlyScope(plan)) return null
  return new TypeError(`${name}: the condition of a scope is too large for the database`, { cause: error })
}

/**
 * Whether a record could not be created because one of the fields is already taken, as far as the database reports it.
 */
export function isTaken(error: unknown, resource: Resource, fields: readonly Field[]): boolean {
  if (failureOf(error, resource.dialect()) !== 'unique') return false
  const taken = takenBy(error, resource)
  return taken.length === 0 || taken.some((field) => fields.includes(field))
}

/** Whether a record could not be created because all of these fields are already taken. */
export function areTaken(error: unknown, resource: Resource, fields: readonly Field[]): boolean {
  if (failureOf(error, resource.dialect()) !== 'unique') return false
  const taken = takenBy(error, resource)
  return fields.every((field) => taken.includes(field))
}

export function isDeadlock(error: unknown, dialect: Dialect): boolean {
  return failureOf(error, dialect) === 'deadlock'
}

/** The Problem for a failed read or write, or null for an unexpected error. It contains no text of the database. */
export function problemOf(error: unknown, resource: Resource, plan: Plan): Problem | null {
  const failure = failureOf(error, resource.dialect())
  switch (failure) {
    case 'unindexed':
      return null
    case 'tooLarge':
      return overloadOf(plan)
    case 'null':
      return missing(error, resource)
    case 'unique':
      return conflict(error, resource)
    case 'deadlock':
    case 'unavailable':
    case 'left':
    case 'timeout':
      return PASSING[failure](resource)
    case null: {
      const invalid = validationIn(error)
      return invalid === null ? null : problem('validation', { errors: messagesOf(invalid, resource) })
    }
    case 'unfit':
      // Filter values fit their columns, so only a sum can overflow.
      return isList(plan) && plan.kind === 'aggregate' ? overflow() : REFUSALS.unfit()
    default:
      return REFUSALS[failure]()
  }
}

/** The Problem for a temporary failure, or null for other errors. It does not depend on the plan. */
export function passingProblem(error: unknown, resource: Resource): Problem | null {
  const failure = failureOf(error, resource.dialect())
  return failure !== null && isPassing(failure) ? PASSING[failure](resource) : null
}

function isPassing(failure: Failure): failure is keyof typeof PASSING {
  return Object.hasOwn(PASSING, failure)
}

const PASSING = {
  deadlock: unavailable,
  unavailable,
  left,
  timeout: () =>
    problem('timeout', {
      detail: 'The database took too long for this. Ask for less, or try again later.',
      headers: { 'Retry-After': '1' },
    }),
} satisfies { readonly [F in Failure]?: (resource: Resource) => Problem }

function unavailable({ model }: Resource): Problem {
  return problem('unavailable', {
    detail: 'The database cannot answer at the moment. Try again later.',
    headers: { 'Retry-After': retryAfter(waitingFor(sequelizeOf(model))) },
  })
}

const REFUSALS: Readonly<Record<Exclude<Refusal, 'null' | 'unique'>, () => Problem>> = {
  foreign: () =>
    problem('conflict', {
      detail: 'A record that this one refers to does not exist, or other records still refer to this one.',
    }),
  excluded: () => problem('conflict', { detail: 'A record that conflicts with this one exists already.' }),
  raised: () => problem('conflict', { detail: 'The database does not allow this change.' }),
  denied: () => problem('forbidden', { detail: 'A policy of the database does not allow you to write this record.' }),
  check: () => problem('validation', { detail: 'The record breaks a constraint of its table.' }),
  unfit: () => problem('validation', { detail: 'A value does not fit its column.' }),
  charset: () => problem('invalid-query', { detail: 'A value has characters that its column cannot hold.' }),
}

function overflow(): Problem {
  return problem('invalid-query', { detail: 'A sum exceeds the number range of the database.' })
}

/** Whether the client influences the size of the statement, by a query or a body. */
function isOfClient(plan: Plan): boolean {
  return 'isAsked' in plan ? plan.isAsked : IS_OF_CLIENT[plan.kind]
}

const IS_OF_CLIENT: Readonly<Record<Exclude<Plan, { readonly isAsked: boolean }>['kind'], boolean>> = {
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
 * The Problem for a statement that is too large for the database, or null if only the host's code made it too large.
 */
function overloadOf(plan: Plan): Problem | null {
  if (!isOfClient(plan) || isMostlyScope(plan)) return null
  return problem(isList(plan) ? 'invalid-query' : 'validation', {
    detail: 'The request is too large for the database. Ask for less.',
  })
}

/** The Problem for one write of several. Errors of values have positions. */
export function problemWithin(error: unknown, resource: Resource, plan: Plan): Problem | null {
  return failureOf(error, resource.dialect()) === 'null'
    ? missing(error, resource, plan)
    : problemOf(error, resource, plan)
}

/**
 * The Problem for a null that only the table rejects, or null if the client may not write the column. A domain does
 * not name the column.
 */
function missing(error: unknown, resource: Resource, plan: Plan | null = null): Problem | null {
  const name = nullColumnIn(error, resource.dialect())
  if (name === undefined) return REFUSALS.raised()
  const field = fieldOf(resource, name)
  if (field === undefined || !(field.targets.has('create') || field.targets.has('update'))) return null
  const errors = placesOf(field, plan).map(
    (place) => [`${place}${field.json}`, [resource.tell(fault('null'))]] as const,
  )
  return problem('validation', { errors: Object.fromEntries(errors) })
}

/**
 * Positions of the records without a value for the field. The database does not report which new record it has
 * rejected.
 */
function placesOf({ name }: Field, plan: Plan | null): readonly string[] {
  if (plan?.kind !== 'bulkCreate') return ['']
  const places = plan.records.flatMap((record, index) => ((record.get(name) ?? null) === null ? [`[${index}].`] : []))
  return places.length === 0 ? [''] : places
}

function conflict(error: unknown, resource: Resource): Problem {
  const names = takenBy(error, resource)
    .filter((field) => field.targets.size > 0 || field.isKey)
    .map((field) => [field.json, [uniqueMessageOf(resource.model, field) ?? resource.tell(fault('unique'))]] as const)
  return problem('conflict', {
    detail: 'A record with these values exists already.',
    ...(names.length === 0 ? {} : { errors: Object.fromEntries(names) }),
  })
}

/** Fields whose values are taken together. */
function takenBy(error: unknown, resource: Resource): readonly Field[] {
  const { columns, index } = takenIn(error, resource.dialect())
  const known = columns ?? (index === undefined ? [] : columnsOfIndex(resource.model, index))
  const names = known.length === 0 && index !== undefined ? [index] : known
  const found = names.flatMap(
    (name) => fieldOf(resource, name) ?? columnsIn(name).map((word) => fieldOf(resource, word)),
  )
  return [...new Set(found)].filter((field) => field !== undefined)
}

/** Finds a field by its column or attribute: databases report columns, Sequelize reports attributes. */
export function fieldOf(resource: Resource, name: string): Field | undefined {
  return resource.fields.find((field) => field.column === name) ?? resource.fields.find((field) => field.name === name)
}

/** Messages of the model's validators by the JSON names of fields. */
export function messagesOf(items: readonly ValidationErrorItem[], resource: Resource): Record<string, string[]> {
  const messages = new Map<string, string[]>()
  for (const item of items) {
    const { path, type } = item
    const name = path === null ? '' : (fieldOf(resource, path)?.json ?? path)
    // Sequelize's own message for this error names the table.
    const isNull = type === 'notnull violation' || (type as string) === 'notNull Violation'
    const said = path === null ? undefined : fieldOf(resource, path)?.rules.says?.required
    const text = isNull ? (said ?? resource.tell(fault('null'))) : messageOf(item, resource)
    messages.set(name, [...(messages.get(name) ?? []), text])
  }
  return Object.fromEntries(messages)
}

/** Replaces Sequelize's built-in messages by those of this package. */
function messageOf(item: ValidationErrorItem, { tell }: Resource): string {
  const told = ownFaultOf(item)
  if (told !== null) return tell(told)
  // Validators of the host may throw any value.
  return typeof item.message === 'string' && item.message !== '' ? item.message : tell(fault('invalid'))
}
