import type { Changes } from '../../types/changes.js'
import type { Field } from '../../types/field.js'
import type { Outcome } from '../../types/outcome.js'
import type { CreatePlan, ReplacePlan, UpdatePlan } from '../../types/plan.js'
import { internalError } from '../common/internalError.js'
import { keyColumns } from '../common/keys.js'
import { Problem, problem } from '../common/problem.js'
import { evaluateExpression } from '../sequelize/run.js'
import { isExpression } from '../sequelize/sql.js'
import { toSettableValues } from './build.js'
import { isUniqueConflict } from './failure.js'
import type { ItemWriter } from './items.js'
import { readVisible } from './read.js'
import type { StatementContext } from './store.js'
import { markRaced, retryRaced, withWriteTimeout } from './transaction.js'

/**
 * Updates a record, or creates it. If several requests create one record at once, one request creates it and the other
 * requests update it.
 * @throws Problem 404 if the record is missing and the client may not choose its key
 */
export async function performReplace(store: StatementContext, plan: ReplacePlan, write: ItemWriter): Promise<Outcome> {
  const whole = { ...plan, update: await addDefaults(store, plan.update) }
  return retryRaced(store, () => attemptReplace(store, whole, write))
}

async function attemptReplace(
  store: StatementContext,
  { update, create, isCreateOnly }: ReplacePlan,
  write: ItemWriter,
): Promise<Outcome> {
  const isMissing = isCreateOnly
    ? await assertMissing(store, update)
    : create !== null && (await isKnownMissing(store, update))
  const there = isMissing ? null : await updateIfExists(store, update, write)
  if (there !== null) return there
  const creation = requireCreatePlan(create, update, isCreateOnly)
  assertKeyUnchanged(store, creation)
  try {
    return partsOutcomeOf(creation, await write(store, creation))
  } catch (error) {
    const isRaced = isUniqueConflict(error, store.resource, store.resource.keys)
    throw isRaced ? markRaced(error) : error
  }
}

/** Returns the result of the update, or null if the record does not exist. */
async function updateIfExists(store: StatementContext, update: UpdatePlan, write: ItemWriter): Promise<Outcome | null> {
  try {
    return partsOutcomeOf(update, await write(store, update))
  } catch (error) {
    // An error with positions belongs to nested records.
    if (!(error instanceof Problem) || error.code !== 'not-found' || error.errors !== undefined) throw error
    if (!(await hasRecord(store, update))) return null
    // The record was created after the update missed it, unless a hook of the host has thrown the 404.
    throw markRaced(error)
  }
}

async function assertMissing(store: StatementContext, update: UpdatePlan): Promise<true> {
  if (!(await hasRecord(store, update))) return true
  throw problem('precondition-failed', {
    detail: 'The record exists already. If-None-Match: * creates new records only.',
  })
}

/**
 * Whether the record is missing, for writes in a transaction. An UPDATE of a missing row would take a gap lock, and two
 * requests that insert afterwards would deadlock.
 */
async function isKnownMissing(store: StatementContext, update: UpdatePlan): Promise<boolean> {
  return store.transaction !== undefined && !(await hasRecord(store, update))
}

/** Whether the record exists. Reads without a lock, because a gap lock on a missing row leads to deadlocks. */
export async function hasRecord(store: StatementContext, { where }: UpdatePlan): Promise<boolean> {
  return (await readVisible(store, where, keyColumns(store.resource.keys), 1)).length > 0
}

/**
 * Returns the plan that creates the missing record.
 * @throws Problem if the record may not be created
 */
function requireCreatePlan(create: CreatePlan | null, update: UpdatePlan, isNew: boolean): CreatePlan {
  if (create === null) throw problem('not-found')
  if (create.policyError !== undefined) throw create.policyError
  if (update.match !== null)
    throw problem('precondition-failed', {
      detail: 'The record does not exist. If-Match updates existing records only.',
    })
  if (!isNew && update.precondition?.where === null) throw update.precondition.createError()
  return create
}

/**
 * Checks that the new record has the key of the path.
 * @throws Problem 403 if a behaviour sets another key
 */
function assertKeyUnchanged({ resource: { keys } }: StatementContext, { changes, serverValues }: CreatePlan): void {
  const valueText = (field: Field, value: unknown): string => String(field.decode(value))
  const wrong = keys.find(
    (field) =>
      serverValues.has(field.name) &&
      changes.has(field.name) &&
      valueText(field, serverValues.get(field.name)) !== valueText(field, changes.get(field.name)),
  )
  if (wrong === undefined) return
  throw problem('forbidden', { detail: `You may not create a record with this ${wrong.json}.` })
}

function partsOutcomeOf(plan: CreatePlan | UpdatePlan, outcome: Outcome): Outcome {
  if (outcome.kind !== 'record') throw internalError(`the write of one record has a result of kind "${outcome.kind}"`)
  return { kind: 'parts', parts: [{ plan, outcome }] }
}

/** Adds values for members that the body omits: the model's default, or null if there is no default. */
export async function addDefaults(store: StatementContext, plan: UpdatePlan): Promise<UpdatePlan> {
  const { missingAttributes, changes, invalid, serverValues } = plan
  if (missingAttributes === undefined || missingAttributes.size === 0) return plan
  const values = new Map(serverValues.values)
  const blank = store.model.build({})
  const given = attributesOfSetters(store, changes)
  for (const { name, nullable } of store.resource.fields) {
    if (!missingAttributes.has(name) || changes.has(name) || given.has(name) || invalid?.failed.has(name)) continue
    const value: unknown = blank.getDataValue(name as never)
    // A column that neither is nullable nor has a default is left to hooks or to the database.
    if (value === undefined || (value === null && !nullable)) {
      if (nullable) values.set(name, null)
    } else values.set(name, (isExpression(value) ? await evaluateDefault(store, value) : value) as never)
  }
  return { ...plan, serverValues: { ...serverValues, values } }
}

/** Returns the attributes that setters of the body's members set, such as the columns behind a virtual attribute. */
function attributesOfSetters(store: StatementContext, changes: Changes): ReadonlySet<string> {
  // Models with setters are validated as a whole.
  if (store.resource.validation === 'attributes') return NO_NAMES
  const instance = store.model.build({})
  const defaults = { ...instance.dataValues }
  try {
    instance.set(toSettableValues(store, changes))
  } catch {
    // The write calls the setters again, and reports the error.
    return NO_NAMES
  }
  return new Set(Object.keys(instance.dataValues).filter((name) => instance.dataValues[name] !== defaults[name]))
}

const NO_NAMES: ReadonlySet<string> = new Set()

function evaluateDefault(store: StatementContext, expression: unknown): Promise<unknown> {
  return withWriteTimeout(store, () => evaluateExpression(store.model, expression, store.transaction))
}
