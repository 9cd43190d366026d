import type { Model } from 'sequelize'
import type { BehaviourDefinition, WantedAttribute } from '../../types/behaviour.js'
import type { Value } from '../../types/field.js'
import type { Predicate, SinglePlan, Upkeep } from '../../types/plan.js'
import type { Behaviour, Resource } from '../../types/resource.js'
import { fieldNamed } from '../common/columns.js'
import { CrudConfigError } from '../common/errors.js'
import { both, compared, isNull } from '../common/predicates.js'
import { attributeNames } from '../config/checks.js'

declare module '../../types/options.js' {
  interface CrudOptions<M extends Model = Model> {
    /**
     * Deleting marks records instead of removing their rows. `true`, or the names of the attributes that hold the mark;
     * those that the model lacks are added. Default: whether the model is `paranoid`, whose own mark is used.
     */
    readonly softDelete?: boolean | SoftDeleteOptions
  }
}

export interface SoftDeleteOptions {
  /** Default `isDeleted`. */
  readonly isDeleted?: string
  /** Default `deletedAt`. */
  readonly deletedAt?: string
}

/** The attributes that hold the mark. A `paranoid` model has a date alone. */
interface DeletedMark {
  readonly isDeleted: string | null
  readonly deletedAt: string
}

/** Deleting marks the record instead of removing its row, and nothing but a list that asks for it sees it again. */
export const softDelete: BehaviourDefinition = {
  options: { softDelete: attributeNames('isDeleted', 'deletedAt') },
  prepare: ({ model, timestamps }, { softDelete: option }) => {
    const facts = { softDeletes: true }
    const own = timestamps.deletedAt
    if (model.options.paranoid === true && own !== undefined) {
      if (option === false) {
        throw new CrudConfigError('INVALID_OPTION', `${model.name}: softDelete is false, but the model is paranoid.`)
      }
      // Sequelize maintains it by itself.
      return { facts, attributes: [], behaviour: () => behaviourOf({ isDeleted: null, deletedAt: own }) }
    }
    if (option === undefined || option === false) return null
    const names = option === true ? {} : option
    const mark = { isDeleted: names.isDeleted ?? 'isDeleted', deletedAt: names.deletedAt ?? 'deletedAt' }
    const attributes: readonly WantedAttribute[] = [
      { name: mark.isDeleted, kind: 'mark' },
      { name: mark.deletedAt, kind: 'instant' },
    ]
    return { attributes, facts, behaviour: () => behaviourOf(mark) }
  },
}

function behaviourOf(mark: DeletedMark): Behaviour {
  return {
    amend: (resource, plan, { instant }) => amended(resource, plan, mark, instant),
    reach: (resource) => alive(resource, mark),
    standing: (resource) => alive(resource, mark),
  }
}

function amended(resource: Resource, plan: SinglePlan, mark: DeletedMark, instant: Date): SinglePlan {
  switch (plan.kind) {
    case 'create':
    case 'bulkCreate':
      // A declared attribute need not have a default.
      return mark.isDeleted === null ? plan : { ...plan, upkeep: new Map([...plan.upkeep, [mark.isDeleted, false]]) }
    case 'page':
    case 'count':
    case 'keyset':
    case 'seek':
    case 'aggregate':
    case 'export':
      return plan.includeDeleted ? plan : { ...plan, where: both(plan.where, alive(resource, mark)) }
    case 'restore':
      return { ...plan, where: both(plan.where, deleted(resource, mark)), upkeep: restored(plan.upkeep, mark) }
    case 'get':
    case 'update':
      return { ...plan, where: both(plan.where, alive(resource, mark)) }
    case 'delete':
    case 'bulkDelete':
      return { ...plan, where: both(plan.where, alive(resource, mark)), mark: marked(mark, instant) }
  }
}

function marked({ isDeleted, deletedAt }: DeletedMark, instant: Date): Upkeep {
  const values = new Map<string, Value>([[deletedAt, instant]])
  return { values: isDeleted === null ? values : new Map([...values, [isDeleted, true]]), increments: [] }
}

function restored({ values, increments }: Upkeep, { isDeleted, deletedAt }: DeletedMark): Upkeep {
  const unmarked = new Map<string, Value>([...values, [deletedAt, null]])
  return { values: isDeleted === null ? unmarked : new Map([...unmarked, [isDeleted, false]]), increments }
}

/** Not marked: a record from before the column existed may hold null there. */
function alive({ fields }: Resource, { isDeleted, deletedAt }: DeletedMark): Predicate {
  if (isDeleted === null) return isNull(fieldNamed(fields, deletedAt), false)
  return compared(fieldNamed(fields, isDeleted), true, true)
}

function deleted({ fields }: Resource, { isDeleted, deletedAt }: DeletedMark): Predicate {
  if (isDeleted === null) return isNull(fieldNamed(fields, deletedAt), true)
  return compared(fieldNamed(fields, isDeleted), true, false)
}
