import type { Model } from 'sequelize'
import type { Changes, Invalid } from '../../types/changes.js'
import type { TextBound } from '../../types/resource.js'
import { type Problem, type ProblemErrors, problem } from '../common/problem.js'
import { isLonger } from '../common/values.js'
import { findValidationErrors, isValidatorException } from '../sequelize/failure.js'
import { acceptNulls } from '../sequelize/instances.js'
import { hasHooks } from '../sequelize/model.js'
import { validationMessages } from './failure.js'
import type { Store } from './store.js'
import { withWriteTimeout } from './transaction.js'

export const NO_ERRORS: Invalid = Object.freeze({ errors: {}, failed: new Set<string>() })

/** Circumstances of a validation. */
interface ValidationOptions {
  /** Whether code of the host sees and may change the values before the model's validators. */
  readonly hasHostCode?: boolean
}

/** The Problem with all errors of invalid values. */
export async function validationProblem(
  store: Store,
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
export async function assertLengths(store: Store, instance: Model, plan: { readonly before: unknown }): Promise<void> {
  if (findTooLong(store, instance).length > 0) throw await validationProblem(store, NO_ERRORS, () => instance, plan)
}

/**
 * All errors of values: the given ones, texts that are too long, and errors of the model's validators. Failed values
 * are removed from the instance first, and errors that follow from their absence are dropped. Validators do not run if
 * a hook may still change the values.
 */
export async function collectValueErrors(
  store: Store,
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
  const isAsked = store.resource.validation !== 'rules' && !hasHostCode && !hasHooks(store.model, ['beforeValidate'])
  const told = isAsked ? await runValidators(store, instance, failed) : {}
  for (const [name, messages] of Object.entries(told)) if (!errors.has(name)) errors.set(name, messages)
  return Object.fromEntries(errors)
}

/** A setter may throw because a failed value is missing. */
function tryMake(make: () => Model): Model | null {
  try {
    return make()
  } catch {
    return null
  }
}

async function runValidators(store: Store, instance: Model, failed: ReadonlySet<string>): Promise<ProblemErrors> {
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

/** Attributes that an UPDATE of the instance leaves unchanged. */
function unchangedAttributes({ model }: Store, instance: Model): readonly string[] {
  if (instance.isNewRecord) return []
  return Object.keys(model.getAttributes()).filter((name) => !instance.changed(name as never))
}

/** Attributes that the rules have already validated and that no behaviour overwrites. Sequelize skips them. */
export function attributesAccepted(
  { resource: { ruleValidated } }: Store,
  changes: Changes,
  upkeep?: Changes,
): readonly string[] {
  return ruleValidated.filter((name) => changes.has(name) && upkeep?.has(name) !== true)
}

/** Runs Sequelize's validators without its hooks. */
export async function validate(instance: Model, skip: readonly string[] = []): Promise<void> {
  await instance.validate({ hooks: false, skip } as object)
}

/**
 * Runs validators of new values outside a transaction. Asynchronous validators of the host are limited by the write
 * timeout.
 */
export async function validateInTime(store: Store, validating: () => Promise<void>): Promise<void> {
  const { validation } = store.resource
  if (validation === 'attributes') await validating()
  else if (validation !== 'rules') await withWriteTimeout(store, validating)
}

/** Whether changes pass the model's validators. For models whose validators only look at their own value. */
export async function hasValidChanges(store: Store, changes: Changes): Promise<boolean> {
  const partial = buildPartial(store, changes)
  if (findTooLong(store, partial).length > 0) return false
  const rest = attributesAccepted(store, changes)
  if (rest.length === changes.size) return true
  try {
    await validate(partial, [...unchangedAttributes(store, partial), ...rest])
    return true
  } catch (error) {
    if (findValidationErrors(error) === null) throw error
    return false
  }
}

/** An instance with only the changed values. */
export function buildPartial({ model, resource }: Store, changes: Changes): Model {
  const partial = model.build(Object.fromEntries(changes), { isNewRecord: false })
  acceptNulls(partial, resource.filled)
  return partial
}

/** Texts of an instance that exceed their maximum. */
export function findTooLong({ resource }: Store, instance: Model): readonly TextBound[] {
  return resource.textBounds.filter(({ attribute, max }) => {
    if (!instance.isNewRecord && !instance.changed(attribute as never)) return false
    return isLonger(validatedText(instance.getDataValue(attribute as never)), max)
  })
}

/** The text that Sequelize's validators see. An array's text grows with the array, an object's does not. */
function validatedText(value: unknown): string {
  if (typeof value === 'string') return value
  if (!Array.isArray(value) && !Buffer.isBuffer(value)) return ''
  try {
    return String(value)
  } catch {
    // An array member's toString may throw. Sequelize rejects such a value too.
    return ''
  }
}
