import type { Model } from 'sequelize'
import type { Invalid } from '../../types/changes.js'
import type { BulkCreatePlan, CreatePlan } from '../../types/plan.js'
import { fault } from '../common/messages.js'
import { type ProblemErrors, problem } from '../common/problem.js'
import { validationIn } from '../sequelize/failure.js'
import { hasHooks } from '../sequelize/model.js'
import { buildInstance } from './build.js'
import { messagesOf } from './failure.js'
import type { Store } from './store.js'
import { limited } from './transaction.js'
import { checkLengths, faultsOf, NOTHING, refusal, tooLong } from './validation.js'

/**
 * The instance of a new record.
 *
 * @throws Problem where the rules found something wrong, or a text is too long
 */
export async function builtFor(store: Store, plan: CreatePlan): Promise<Model> {
  const build = (): Model => buildInstance(store, plan.changes, plan.upkeep)
  if (plan.invalid !== null) throw await refusal(store, plan.invalid, build, plan)
  const instance = build()
  await checkLengths(store, instance, plan)
  return instance
}

/** The instances of several. @throws Problem where the rules found something wrong */
export async function allBuiltFor(store: Store, plan: BulkCreatePlan): Promise<readonly Model[]> {
  const { invalid } = plan
  if (invalid.size > 0) throw problem('validation', { errors: await limited(store, () => faultsOfAll(store, plan)) })
  return buildAll(store, plan)
}

export function buildAll(store: Store, { records, upkeep }: BulkCreatePlan): readonly Model[] {
  return records.map((changes) => buildInstance(store, changes, upkeep))
}

/** All that is wrong with the records of a body that has faults. */
export async function faultsOfAll(
  store: Store,
  { records, upkeep, invalid, owned = [] }: BulkCreatePlan,
): Promise<ProblemErrors> {
  const errors: Record<string, readonly string[]> = {}
  const isPrepared = hasHooks(store.model, ['beforeBulkCreate'])
  // What an owner sets is not there yet, and nothing that is wrong.
  const unowned = ({ errors: told, failed }: Invalid): Invalid => ({
    errors: told,
    failed: new Set([...failed, ...owned]),
  })
  for (const [index, changes] of records.entries()) {
    const found = invalid.get(index)
    const build = (): Model => buildInstance(store, changes, upkeep)
    const faults =
      found === null
        ? { [`[${index}]`]: [store.resource.tell(fault('object'))] }
        : await faultsOf(store, unowned(found ?? NOTHING), build, { prefix: `[${index}].`, isPrepared })
    Object.assign(errors, faults)
  }
  return errors
}

/** All instances are validated before any is saved, and every failure is told with its place in the array. */
export async function validateAll(store: Store, instances: readonly Model[], options: object): Promise<void> {
  const errors: Record<string, readonly string[]> = {}
  for (const [index, instance] of instances.entries()) {
    if (tooLong(store, instance).length > 0) {
      Object.assign(errors, await faultsOf(store, NOTHING, () => instance, { prefix: `[${index}].` }))
      continue
    }
    try {
      await instance.validate(options)
    } catch (error) {
      const invalid = validationIn(error)
      if (invalid === null) throw error
      Object.assign(errors, messagesOf(invalid, store.resource, `[${index}].`))
    }
  }
  if (Object.keys(errors).length > 0) throw problem('validation', { errors })
}
