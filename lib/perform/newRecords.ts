import type { Model } from 'sequelize'
import type { Invalid } from '../../types/changes.js'
import type { BulkCreatePlan, CreatePlan, Plan, UpdatePlan } from '../../types/plan.js'
import { BodyErrors, errorsAt, refuse } from '../common/bodyErrors.js'
import { type ProblemErrors, problem } from '../common/problem.js'
import { findValidationErrors } from '../sequelize/failure.js'
import { hasHooks } from '../sequelize/model.js'
import { buildInstance } from './build.js'
import { validationMessages } from './failure.js'
import { prepareChanged } from './refusal.js'
import type { StatementContext } from './store.js'
import { withWriteTimeout } from './transaction.js'
import { assertLengths, collectValueErrors, findTooLong, NO_ERRORS, validationProblem } from './validation.js'

/**
 * Builds the instance of a new record.
 * @throws Problem if the values are invalid or a text is too long
 */
export async function buildNewInstance(store: StatementContext, plan: CreatePlan): Promise<Model> {
  const buildAgain = (): Model => buildInstance(store, plan.changes, plan.serverValues)
  if (plan.invalid !== null) throw await validationProblem(store, plan.invalid, buildAgain, plan)
  const instance = buildAgain()
  await assertLengths(store, instance, plan)
  return instance
}

/** Builds the instances of several new records. @throws Problem if the values are invalid */
export async function buildNewInstances(store: StatementContext, plan: BulkCreatePlan): Promise<readonly Model[]> {
  const { invalid } = plan
  if (invalid.size > 0)
    throw problem('validation', { errors: await withWriteTimeout(store, () => collectRecordErrors(store, plan)) })
  return buildInstances(store, plan)
}

export function buildInstances(store: StatementContext, { records, serverValues }: BulkCreatePlan): readonly Model[] {
  return records.map((changes) => buildInstance(store, changes, serverValues))
}

/** Returns all validation errors of a plan's values. Returns an empty object for a plan without values. */
export async function collectPlanErrors(store: StatementContext, plan: Plan): Promise<ProblemErrors> {
  switch (plan.kind) {
    case 'create': {
      const build = () => buildInstance(store, plan.changes, plan.serverValues)
      return collectValueErrors(store, plan.invalid ?? NO_ERRORS, build, { hasHostCode: plan.before !== null })
    }
    case 'update': {
      const found = plan.invalid ?? NO_ERRORS
      const build = await tryPrepareChanged(store, plan)
      if (build === null) return found.errors
      return collectValueErrors(store, found, build, { hasHostCode: plan.before !== null })
    }
    case 'bulkCreate':
      return collectRecordErrors(store, plan)
    default:
      return {}
  }
}

/**
 * Like `prepareChanged`. Returns null if the record cannot be read, for example because the transaction of the host has
 * failed.
 */
async function tryPrepareChanged(store: StatementContext, plan: UpdatePlan): Promise<(() => Model) | null> {
  try {
    return await prepareChanged(store, plan)
  } catch {
    return null
  }
}

/** Returns all validation errors of the records in a body. */
async function collectRecordErrors(
  store: StatementContext,
  { records, serverValues, invalid, parentKeys = [] }: BulkCreatePlan,
): Promise<ProblemErrors> {
  const errors = new BodyErrors()
  const isPrepared = hasHooks(store.model, ['beforeBulkCreate'])
  // Foreign keys to a parent are set later, so their absence is not an error.
  const omitParentErrors = (given: Invalid): Invalid => ({
    errors: given.errors,
    failed: new Set([...given.failed, ...parentKeys]),
  })
  for (const [index, changes] of records.entries()) {
    const found = invalid.get(index)
    if (found === null) {
      errors.add(errorsAt(store.resource, [`[${index}]`], 'object'))
      continue
    }
    const build = (): Model => buildInstance(store, changes, serverValues)
    errors.add(
      await collectValueErrors(store, omitParentErrors(found ?? NO_ERRORS), build, { hasHostCode: isPrepared }),
      `[${index}].`,
    )
  }
  return errors.all
}

/**
 * Validates all instances before the first instance is saved. `validateRecord` runs Sequelize's validation of an
 * instance, or returns null if there is nothing to validate. Names of errors have positions in the array.
 */
export async function validateAll(
  store: StatementContext,
  instances: readonly Model[],
  validateRecord: (instance: Model, index: number) => Promise<unknown> | null,
): Promise<void> {
  const errors = new BodyErrors()
  for (const [index, instance] of instances.entries()) {
    if (findTooLong(store, instance).length > 0) {
      errors.add(await collectValueErrors(store, NO_ERRORS, () => instance), `[${index}].`)
      continue
    }
    try {
      const validating = validateRecord(instance, index)
      if (validating !== null) await validating
    } catch (error) {
      const invalid = findValidationErrors(error)
      if (invalid === null) throw error
      errors.add(validationMessages(invalid, store.resource), `[${index}].`)
    }
  }
  refuse('validation', errors.all)
}
