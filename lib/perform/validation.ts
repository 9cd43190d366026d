import type { Model } from 'sequelize'
import type { Changes, Invalid } from '../../types/changes.js'
import type { TextBound } from '../../types/resource.js'
import { type Problem, type ProblemErrors, problem } from '../common/problem.js'
import { isLonger } from '../common/values.js'
import { findValidationErrors, isValidatorException } from '../sequelize/failure.js'
import { acceptNulls } from '../sequelize/instances.js'
import { hasHooks } from '../sequelize/model.js'
import { validationMessages } from './failure.js'
import type { StatementContext } from './store.js'
import { withWriteTimeout } from './transaction.js'

export const NO_ERRORS: Invalid = Object.freeze({ errors: {}, failed: new Set<string>() })

interface ValidationOptions {
  /** Whether code of the host sees and may change the values before the model's validators. */
  readonly hasHostCode?: boolean
}

/** Returns the Problem with all errors of invalid values. */
export async function validationProblem(
  store: StatementContext,
  found: Invalid,
  make: () => Model,
  { before }: { readonly before: unknown },
): Promise<Problem> {
  const errors = await withWriteTimeout(store, () =>
    collectValueErrors(store, found, make, { hasHostCode: before !== null }),
  )
  return problem('validation', { errors })
}

/**
 * Checks text lengths before Sequelize's validators run patterns on the texts.
 * @throws Problem 400 with all errors
 */
export async function assertLengths(
  store: StatementContext,
  instance: Model,
  plan: { readonly before: unknown },
): Promise<void> {
  if (findTooLong(store, instance).length > 0) throw await validationProblem(store, NO_ERRORS, () => instance, plan)
}

/**
 * Returns all errors of values: the given errors, texts that are too long, and errors of the model's validators.
 * Removes failed values from the instance first, and drops errors that follow from their absence. Validators do not run
 * if a hook may still change the values.
 */
export async function collectValueErrors(
  store: StatementContext,
  { errors: found, failed: without }: Invalid,
  make: () => Model,
  { hasHostCode = false }: ValidationOptions = {},
): Promise<ProblemErrors> {
  const errors = new Map(Object.entries(found))
  const instance = tryMake(make)
  if (instance === null) return Object.fromEntries(errors)
  const failed = new Set(without)
  for (const { attribute, json, message } of findTooLong(store, instance)) {
    if (!failed.has(attribute)) errors.set(json, [store.resource.translate(message)])
    failed.add(attribute)
  }
  const runsValidators = !hasHostCode && !hasHooks(store.model, ['beforeValidate'])
  const messagesByName = runsValidators ? await runValidators(store, instance, failed) : {}
  for (const [name, messages] of Object.entries(messagesByName)) if (!errors.has(name)) errors.set(name, messages)
  return Object.fromEntries(errors)
}

/**
 * Builds the instance. Returns null if a setter throws, because the setter may need a failed value that was removed.
 */
function tryMake(make: () => Model): Model | null {
  try {
    return make()
  } catch {
    return null
  }
}

async function runValidators(
  store: StatementContext,
  instance: Model,
  failed: ReadonlySet<string>,
): Promise<ProblemErrors> {
  const skip = [...unchangedAttributes(store, instance), ...failed]
  for (const name of failed) instance.setDataValue(name as never, undefined as never)
  try {
    await validate(instance, skip)
    return {}
  } catch (error) {
    const items = findValidationErrors(error)
    if (items === null) throw error
    return validationMessages(
      failed.size === 0 ? items : items.filter((item) => !isValidatorException(item)),
      store.resource,
    )
  }
}

/** Returns the attributes that an UPDATE of the instance leaves unchanged. */
function unchangedAttributes({ model }: StatementContext, instance: Model): readonly string[] {
  if (instance.isNewRecord) return []
  return Object.keys(model.getAttributes()).filter((name) => !instance.changed(name as never))
}

/**
 * Returns the attributes that rules have already validated and no behaviour overwrites. Sequelize skips these
 * attributes.
 */
export function attributesAccepted(
  { resource: { ruleValidated } }: StatementContext,
  changes: Changes,
  serverValues?: Changes,
): readonly string[] {
  return ruleValidated.filter((name) => changes.has(name) && serverValues?.has(name) !== true)
}

/** Values of a new record: the client's (`changes`) and the behaviours'. */
export interface NewValues {
  readonly changes: Changes
  readonly serverValues: Changes
}

/**
 * Whether a new instance has values that its model may refuse although the rules accept the body: defaults, values of
 * behaviours, and values that only a schema of the host has checked.
 */
export function hasUncheckedValues(
  { resource }: StatementContext,
  instance: Model,
  { changes, serverValues }: NewValues,
): boolean {
  if (resource.validation !== 'attributes') return true
  return resource.validated.some(({ name, isRuled, hasValidators, isText }) => {
    const value: unknown = instance.getDataValue(name as never)
    if (value === undefined || value === null || !(hasValidators || (isText && typeof value === 'object'))) return false
    return !(isRuled && changes.has(name) && !serverValues.has(name))
  })
}

/**
 * Runs Sequelize's validators on the values of a new instance that rules have not accepted, without its hooks. Returns
 * null if the rules have accepted all values.
 */
export function validateNew(store: StatementContext, instance: Model, values: NewValues): Promise<void> | null {
  if (!hasUncheckedValues(store, instance, values)) return null
  return validate(instance, attributesAccepted(store, values.changes, values.serverValues))
}

/** Runs Sequelize's validators without its hooks. */
export async function validate(instance: Model, skip: readonly string[] = []): Promise<void> {
  await instance.validate({ hooks: false, skip } as object)
}

/** Validates new values outside a transaction. The write timeout limits asynchronous validators of the host. */
export async function validateInTime(store: StatementContext, validating: () => Promise<void>): Promise<void> {
  const { validation } = store.resource
  if (validation === 'attributes') await validating()
  else await withWriteTimeout(store, validating)
}

/** Whether changes pass the model's validators. Only for models whose validators use no other values of the record. */
export async function hasValidChanges(store: StatementContext, changes: Changes): Promise<boolean> {
  const rest = attributesAccepted(store, changes)
  if (rest.length === changes.size) return true
  const partial = buildPartial(store, changes)
  if (findTooLong(store, partial).length > 0) return false
  try {
    await validate(partial, [...unchangedAttributes(store, partial), ...rest])
    return true
  } catch (error) {
    if (findValidationErrors(error) === null) throw error
    return false
  }
}

/** Builds an instance with only the changed values. */
export function buildPartial({ model, resource }: StatementContext, changes: Changes): Model {
  const partial = model.build(Object.fromEntries(changes), { isNewRecord: false })
  acceptNulls(partial, resource.filled)
  return partial
}

/** Returns the texts of an instance that exceed their maximum length. */
export function findTooLong({ resource }: StatementContext, instance: Model): readonly TextBound[] {
  return resource.textBounds.filter(({ attribute, max }) => {
    if (!instance.isNewRecord && !instance.changed(attribute as never)) return false
    return isLonger(validatedText(instance.getDataValue(attribute as never)), max)
  })
}

/**
 * Returns the text that Sequelize's validators check. The text of an array grows with the array, the text of an object
 * is constant.
 */
function validatedText(value: unknown): string {
  if (typeof value === 'string') return value
  if (!Array.isArray(value) && !Buffer.isBuffer(value)) return ''
  try {
    return String(value)
  } catch {
    // The toString of an array member may throw. Sequelize rejects such an array too.
    return ''
  }
}
