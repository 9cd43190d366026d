import type { Model } from 'sequelize'
import type { Changes, Invalid } from '../../types/changes.js'
import type { UpdatePlan } from '../../types/plan.js'
import type { TextBound, ValidatedAttribute } from '../../types/resource.js'
import { type Problem, type ProblemErrors, problem } from '../common/problem.js'
import { isLonger } from '../common/values.js'
import { findValidationErrors, isValidatorException } from '../sequelize/failure.js'
import { acceptNulls } from '../sequelize/instances.js'
import { hasHooks } from '../sequelize/model.js'
import { setValues } from './build.js'
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

/** Values of a record to write: the client's (`changes`) and the behaviours'. */
export interface WrittenValues {
  readonly changes: Changes
  readonly serverValues: Changes
  /** Attributes of `changes` that the parent of the record sets. */
  readonly parentKeys?: readonly string[] | undefined
}

/** Returns the values of an update. */
function valuesOfUpdate({ changes, serverValues: { values } }: UpdateValues): WrittenValues {
  return { changes, serverValues: values }
}

type UpdateValues = Pick<UpdatePlan, 'changes' | 'serverValues'>

/** Returns the attributes with values that rules have already validated. Sequelize skips these attributes. */
function attributesAccepted({ resource: { ruleValidated } }: StatementContext, values: WrittenValues): string[] {
  return ruleValidated.filter((name) => isFromBody(values, name))
}

/** Whether the final value of an attribute is a value of the body. */
function isFromBody({ changes, serverValues, parentKeys = [] }: WrittenValues, name: string): boolean {
  return changes.has(name) && !serverValues.has(name) && !parentKeys.includes(name)
}

/** Whether Sequelize's validation may refuse a value of an attribute. */
function canBeRefused({ hasValidators, isText }: ValidatedAttribute, value: unknown): boolean {
  return value !== undefined && value !== null && (hasValidators || (isText && typeof value === 'object'))
}

/**
 * Whether a new instance has values that its model may refuse although the rules accept the body: defaults, values of
 * behaviours and parents, and values that only a schema of the host has checked.
 */
export function hasUncheckedValues(
  { resource: { validation, validated } }: StatementContext,
  instance: Model,
  values: WrittenValues,
): boolean {
  if (validation !== 'attributes') return true
  return validated.some(
    (attribute) =>
      canBeRefused(attribute, instance.getDataValue(attribute.name as never)) &&
      !(attribute.isRuled && isFromBody(values, attribute.name)),
  )
}

/** Like `hasUncheckedValues`, for the values of an update. */
export function hasUncheckedChanges(store: StatementContext, plan: UpdateValues): boolean {
  const { validation, validated } = store.resource
  const values = valuesOfUpdate(plan)
  const { changes, serverValues } = values
  if (validation !== 'attributes' || attributesAccepted(store, values).length < changes.size) return true
  return serverValues.size > 0 && validated.some((each) => canBeRefused(each, serverValues.get(each.name)))
}

/**
 * Runs Sequelize's validators on the values of a new instance that rules have not accepted, without its hooks. Returns
 * null if the rules have accepted all values.
 */
export function validateNew(store: StatementContext, instance: Model, values: WrittenValues): Promise<void> | null {
  return hasUncheckedValues(store, instance, values) ? validate(instance, attributesAccepted(store, values)) : null
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

/**
 * Whether the values of an update pass the model's validators. Only for models whose validators use no other values of
 * the record.
 */
export async function hasValidChanges(store: StatementContext, plan: UpdateValues): Promise<boolean> {
  if (!hasUncheckedChanges(store, plan)) return true
  const partial = buildPartial(store, plan)
  if (findTooLong(store, partial).length > 0) return false
  try {
    const accepted = attributesAccepted(store, valuesOfUpdate(plan))
    await validate(partial, [...unchangedAttributes(store, partial), ...accepted])
    return true
  } catch (error) {
    if (findValidationErrors(error) === null) throw error
    return false
  }
}

/** Builds an instance with only the values of an update. */
export function buildPartial({ model, resource }: StatementContext, { changes, serverValues }: UpdateValues): Model {
  const partial = model.build(Object.fromEntries(changes), { isNewRecord: false })
  acceptNulls(partial, resource.filled)
  setValues(partial, serverValues.values)
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
