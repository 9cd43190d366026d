import type { Model, ModelStatic } from 'sequelize'
import type { BehaviourDefinition, ManagedAttribute } from '../../types/behaviour.js'
import type { Field, Value } from '../../types/field.js'
import type { Predicate, ServerValues, SinglePlan } from '../../types/plan.js'
import type { Behaviour, Resource } from '../../types/resource.js'
import { requireField } from '../common/columns.js'
import { CrudConfigError } from '../common/errors.js'
import { getOrCreate } from '../common/getOrCreate.js'
import { addCondition, matchNull, matchValue } from '../common/predicates.js'
import { attributeNames } from '../config/checks.js'

declare module '../../types/options.js' {
  interface CrudOptions<M extends Model = Model> {
    /**
     * Marks deleted records instead of removing their rows. `true`, or the names of the mark's attributes, which are
     * added to the model if missing. Default: true for a `paranoid` model, with its own mark.
     */
    readonly softDelete?: boolean | SoftDeleteOptions
  }
}

export interface SoftDeleteOptions {
  /** The attribute with the boolean mark. Default `isDeleted`. */
  readonly isDeleted?: string
  /** The attribute with the time of the deletion. Default `deletedAt`. */
  readonly deletedAt?: string
}

/** The attributes of the mark. A `paranoid` model has only a date. */
interface DeletedMark {
  readonly isDeleted: string | null
  readonly deletedAt: string
  /** The date of records that are not deleted. */
  readonly living: Date | null
}

/** Marks deleted records instead of removing their rows. Only a list with `includeDeleted` shows deleted records. */
export const softDelete: BehaviourDefinition = {
  options: { softDelete: attributeNames('isDeleted', 'deletedAt') },
  prepare: ({ model, timestamps }, { softDelete: option }) => {
    const facts = { softDeletes: true }
    const own = timestamps.deletedAt
    if (model.options.paranoid === true && own !== undefined) {
      if (option === false) {
        throw new CrudConfigError(
          'INVALID_OPTION',
          `${model.name}: softDelete is false, but the model is paranoid. Remove the option softDelete, or "paranoid" of the model.`,
        )
      }
      // Sequelize itself maintains the mark of a paranoid model.
      const mark = { isDeleted: null, deletedAt: own, living: readLivingDate(model, own) }
      return { facts, attributes: [], behaviour: () => createBehaviour(mark) }
    }
    if (option === undefined || option === false) return null
    const names = option === true ? {} : option
    const mark = {
      isDeleted: names.isDeleted ?? 'isDeleted',
      deletedAt: names.deletedAt ?? 'deletedAt',
      living: null,
    }
    const attributes: readonly ManagedAttribute[] = [
      { name: mark.isDeleted, kind: 'flag' },
      { name: mark.deletedAt, kind: 'dateTime' },
    ]
    return { attributes, facts, behaviour: () => createBehaviour(mark) }
  },
}

/**
 * Returns the default of a paranoid model's date, which Sequelize gives to records that are not deleted.
 * @throws CrudConfigError for a default that is not a Date
 */
function readLivingDate(model: ModelStatic<Model>, deletedAt: string): Date | null {
  const value: unknown = model.getAttributes()[deletedAt]?.defaultValue ?? null
  if (value === null || value instanceof Date) return value
  throw new CrudConfigError(
    'INVALID_ATTRIBUTE',
    `${model.name}: the default of the attribute "${deletedAt}" must be a Date or null, because the model is paranoid. Records that are not deleted have this default.`,
  )
}

function createBehaviour(mark: DeletedMark): Behaviour {
  const known = new WeakMap<Resource, Predicate>()
  const matchNotDeletedOnce = (resource: Resource): Predicate =>
    getOrCreate(known, resource, () => matchNotDeleted(resource, mark))
  return {
    amend: (resource, plan, { instant }) => amendPlan(resource, plan, mark, { living: matchNotDeletedOnce, instant }),
    visibleRecords: matchNotDeletedOnce,
    staticCondition: matchNotDeletedOnce,
  }
}

function amendPlan(
  resource: Resource,
  plan: SinglePlan,
  mark: DeletedMark,
  { living, instant }: { readonly living: (resource: Resource) => Predicate; readonly instant: Date },
): SinglePlan {
  switch (plan.kind) {
    case 'create':
    case 'bulkCreate':
      // The mark is written explicitly, because an attribute that the model declares may have no default.
      return { ...plan, serverValues: new Map([...plan.serverValues, ...booleanMark(mark, false)]) }
    case 'page':
    case 'count':
    case 'keyset':
    case 'seek':
    case 'aggregate':
    case 'export':
      return plan.includeDeleted ? plan : { ...plan, where: addCondition(plan.where, living(resource)) }
    case 'restore':
      return {
        ...plan,
        where: addCondition(plan.where, matchDeleted(resource, mark)),
        serverValues: clearMark(plan.serverValues, mark),
      }
    case 'delete':
    case 'bulkDelete':
      return { ...plan, where: addCondition(plan.where, living(resource)), softDelete: markDeleted(mark, instant) }
    case 'get':
    case 'update':
      return { ...plan, where: addCondition(plan.where, living(resource)) }
    case 'action':
      return plan
  }
}

function markDeleted(mark: DeletedMark, instant: Date): ServerValues {
  return { values: new Map<string, Value>([[mark.deletedAt, instant], ...booleanMark(mark, true)]), increments: [] }
}

function clearMark({ values, increments }: ServerValues, mark: DeletedMark): ServerValues {
  return {
    values: new Map<string, Value>([...values, [mark.deletedAt, mark.living], ...booleanMark(mark, false)]),
    increments,
  }
}

/** Returns the value of the boolean mark; empty if only the date marks records. */
function booleanMark({ isDeleted }: DeletedMark, value: boolean): readonly (readonly [name: string, value: boolean])[] {
  return isDeleted === null ? [] : [[isDeleted, value]]
}

/** The condition that a record is not marked. In rows older than the column the mark may be null. */
function matchNotDeleted({ fields }: Resource, { isDeleted, deletedAt, living }: DeletedMark): Predicate {
  if (isDeleted === null) return matchDate(requireField(fields, deletedAt), living, false)
  return matchValue(requireField(fields, isDeleted), true, true)
}

function matchDeleted({ fields }: Resource, { isDeleted, deletedAt, living }: DeletedMark): Predicate {
  if (isDeleted === null) return matchDate(requireField(fields, deletedAt), living, true)
  return matchValue(requireField(fields, isDeleted), true, false)
}

function matchDate(field: Field, date: Date | null, negated: boolean): Predicate {
  return date === null ? matchNull(field, negated) : matchValue(field, date, negated)
}
