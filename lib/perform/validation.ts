import type { Model } from 'sequelize'
import type { Changes, Invalid } from '../../types/changes.js'
import type { TextBound } from '../../types/resource.js'
import { type Problem, type ProblemErrors, problem } from '../common/problem.js'
import { isLonger } from '../common/values.js'
import { isStumble, validationIn } from '../sequelize/failure.js'
import { acceptNulls } from '../sequelize/instances.js'
import { hasHooks } from '../sequelize/model.js'
import { messagesOf } from './failure.js'
import type { Store } from './store.js'
import { limited } from './transaction.js'

export const NOTHING: Invalid = Object.freeze({ errors: {}, failed: new Set<string>() })

/** How values in which something is wrong already are held against the model. */
interface Round {
  /** Whether code of the host's would see, and may change, the values before the model's validators do. */
  readonly isPrepared?: boolean
}

/** The Problem of values in which something is wrong, with all that is wrong with them. */
export async function refusal(
  store: Store,
  found: Invalid,
  make: () => Model,
  { before }: { readonly before: unknown },
): Promise<Problem> {
  const errors = await limited(store, () => faultsOf(store, found, make, { isPrepared: before !== null }))
  return problem('validation', { errors })
}

/**
 * Refuses what is too long for the model's own patterns before Sequelize holds it against them.
 *
 * @throws Problem 400 with all that is wrong
 */
export async function checkLengths(store: Store, instance: Model, plan: { readonly before: unknown }): Promise<void> {
  if (tooLong(store, instance).length > 0) throw await refusal(store, NOTHING, () => instance, plan)
}

/**
 * All that is wrong: what was found, which texts are too long, and what the model's validators say of the rest. To them
 * a value that failed is not there, and what they stumble over for want of it is nothing that they say. They are not
 * asked where a hook would have the first word: it may fill in, or change, what they look at.
 */
export async function faultsOf(
  store: Store,
  { errors: found, failed: without }: Invalid,
  make: () => Model,
  { isPrepared = false }: Round = {},
): Promise<ProblemErrors> {
  const errors = new Map(Object.entries(found))
  const instance = attempt(make)
  if (instance === null) return Object.fromEntries(errors)
  const failed = new Set(without)
  for (const { attribute, json, message } of tooLong(store, instance)) {
    if (!failed.has(attribute)) errors.set(json, [store.resource.tell(message)])
    failed.add(attribute)
  }
  const isAsked = store.resource.validation !== 'rules' && !isPrepared && !hasHooks(store.model, ['beforeValidate'])
  const told = isAsked ? await said(store, instance, failed) : {}
  for (const [name, messages] of Object.entries(told)) if (!errors.has(name)) errors.set(name, messages)
  return Object.fromEntries(errors)
}

/** A setter may stumble over a value that is missing because it failed. */
function attempt(make: () => Model): Model | null {
  try {
    return make()
  } catch {
    return null
  }
}

async function said(store: Store, instance: Model, failed: ReadonlySet<string>): Promise<ProblemErrors> {
  const skip = [...unwritten(store, instance), ...failed]
  for (const name of failed) instance.setDataValue(name as never, undefined as never)
  try {
    await validate(instance, skip)
    return {}
  } catch (error) {
    const items = validationIn(error)
    if (items === null) throw error
    return messagesOf(failed.size === 0 ? items : items.filter((item) => !isStumble(item)), store.resource)
  }
}

/** What an UPDATE of the instance leaves as it is. */
function unwritten({ model }: Store, instance: Model): readonly string[] {
  if (instance.isNewRecord) return []
  return Object.keys(model.getAttributes()).filter((name) => !instance.changed(name as never))
}

/** The attributes that Sequelize need not validate again: their rules have accepted what the body gave, and `upkeep` leaves it. */
export function accepted({ resource: { ruled } }: Store, changes: Changes, upkeep?: Changes): readonly string[] {
  return ruled.filter((name) => changes.has(name) && upkeep?.has(name) !== true)
}

/** Sequelize's own validators, without its hooks. */
export async function validate(instance: Model, skip: readonly string[] = []): Promise<void> {
  await instance.validate({ hooks: false, skip } as object)
}

/** Validates what is new outside a transaction. Validators of the host's own may wait for something, but not longer than a write may take. */
export async function validated(store: Store, validating: () => Promise<void>): Promise<void> {
  const { validation } = store.resource
  if (validation === 'attributes') await validating()
  else if (validation !== 'rules') await limited(store, validating)
}

/** Whether changes pass the model's validators, where these look at nothing but their own value. */
export async function passes(store: Store, changes: Changes): Promise<boolean> {
  const partial = partialOf(store, changes)
  if (tooLong(store, partial).length > 0) return false
  const rest = accepted(store, changes)
  if (rest.length === changes.size) return true
  try {
    await validate(partial, [...unwritten(store, partial), ...rest])
    return true
  } catch (error) {
    if (validationIn(error) === null) throw error
    return false
  }
}

/** An instance that has the changed values alone. */
export function partialOf({ model, resource }: Store, changes: Changes): Model {
  const partial = model.build(Object.fromEntries(changes), { isNewRecord: false })
  acceptNulls(partial, resource.filled)
  return partial
}

/** The texts of an instance that are too long. */
export function tooLong({ resource }: Store, instance: Model): readonly TextBound[] {
  return resource.bounded.filter(({ attribute, max }) => {
    if (!instance.isNewRecord && !instance.changed(attribute as never)) return false
    return isLonger(textOf(instance.getDataValue(attribute as never)), max)
  })
}

/** What Sequelize's validators make of a value. The text of an object does not grow with it, but that of an array does. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (!Array.isArray(value) && !Buffer.isBuffer(value)) return ''
  try {
    return String(value)
  } catch {
    // A member of an array has a toString that is none: Sequelize refuses it likewise.
    return ''
  }
}
