import type { Model } from 'sequelize'
import type { Invalid } from '../../types/changes.js'
import type { BulkCreatePlan, CreatePlan, Plan } from '../../types/plan.js'
import { BodyErrors, errorsAt, refuse } from '../common/bodyErrors.js'
import { type ProblemErrors, problem } from '../common/problem.js'
import { validationIn } from '../sequelize/failure.js'
import { hasHooks } from '../sequelize/model.js'
import { buildInstance } from './build.js'
import { messagesOf } from './failure.js'
import type { Store } from './store.js'
import { limited } from './transaction.js'
import { checkLengths, faultsOf, NOTHING, partialOf, refusal, tooLong } from './validation.js'

/**
 * Builds the instance of a new record.
 * @throws Problem if the values are invalid or a text is too long
 */
export async function builtFor(store: Store, plan: CreatePlan): Promise<Model> {
  const build = (): Model => buildInstance(store, plan.changes, plan.upkeep)
  if (plan.invalid !== null) throw await refusal(store, plan.invalid, build, plan)
  const instance = build()
  await checkLengths(store, instance, plan)
  return instance
}

/** Builds the instances of several new records. @throws Problem if the values are invalid */
export async function allBuiltFor(store: Store, plan: BulkCreatePlan): Promise<readonly Model[]> {
  const { invalid } = plan
  if (invalid.size > 0) throw problem('validation', { errors: await limited(store, () => errorsOfAll(store, plan)) })
  return buildAll(store, plan)
}

export function buildAll(store: Store, { records, upkeep }: BulkCreatePlan): readonly Model[] {
  return records.map((changes) => buildInstance(store, changes, upkeep))
}

/** All validation errors of a plan's values. Plans without values have none. */
export async function errorsOfPlan(store: Store, plan: Plan): Promise<ProblemErrors> {
  switch (plan.kind) {
    case 'create': {
      const build = () => buildInstance(store, plan.changes, plan.upkeep)
      return faultsOf(store, plan.invalid ?? NOTHING, build, { isPrepared: plan.before !== null })
    }
    case 'update': {
      // Validators that need the whole record run during the write.
      if (plan.invalid === null && store.resource.validation === 'instance') return {}
      const build = () => partialOf(store, plan.changes)
      return faultsOf(store, plan.invalid ?? NOTHING, build, { isPrepared: plan.before !== null })
    }
    case 'bulkCreate':
      return errorsOfAll(store, plan)
    default:
      return {}
  }
}

/** All validation errors of the records in a body. */
async function errorsOfAll(
  store: Store,
  { records, upkeep, invalid, owned = [] }: BulkCreatePlan,
): Promise<ProblemErrors> {
  const errors = new BodyErrors()
  const isPrepared = hasHooks(store.model, ['beforeBulkCreate'])
  // Values that an owner sets are still missing, but are not errors.
  const unowned = ({ errors: told, failed }: Invalid): Invalid => ({
    errors: told,
    failed: new Set([...failed, ...owned]),
  })
  for (const [index, changes] of records.entries()) {
    const found = invalid.get(index)
    if (found === null) {
      errors.add(errorsAt(store.resource, [`[${index}]`], 'object'))
      continue
    }
    const build = (): Model => buildInstance(store, changes, upkeep)
    errors.add(await faultsOf(store, unowned(found ?? NOTHING), build, { isPrepared }), `[${index}].`)
  }
  return errors.all
}

/**
 * Validates all instances before the first is saved. `optionsOf` returns Sequelize's options for each. Errors have
 * positions in the array.
 */
export async function validateAll(
  store: Store,
  instances: readonly Model[],
  optionsOf: (index: number) => object,
): Promise<void> {
  const errors = new BodyErrors()
  for (const [index, instance] of instances.entries()) {
    const prefix = `[${index}].`
    if (tooLong(store, instance).length > 0) {
      errors.add(await faultsOf(store, NOTHING, () => instance), prefix)
      continue
    }
    try {
      await instance.validate(optionsOf(index))
    } catch (error) {
      const invalid = validationIn(error)
      if (invalid === null) throw error
      errors.add(messagesOf(invalid, store.resource), prefix)
    }
  }
  refuse('validation', errors.all)
}
