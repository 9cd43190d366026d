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
     * Marks deleted records instead of removing their rows. `true`, or the names of the mark's attributes, which are
     * added to the model if missing. Default: true for a `paranoid` model, with its own mark.
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

/** The attributes of the mark. A `paranoid` model has only a date. */
interface DeletedMark {
  readonly isDeleted: string | null
  readonly deletedAt: string
}

/** Marks deleted records instead of removing their rows. Only a list with `includeDeleted` shows them. */
export const softDelete: BehaviourDefinition = {
  options: { softDelete: attributeNames('isDeleted', 'deletedAt') },
  prepare: ({ model, timestamps }, { softDelete: option }) => {
    const facts = { softDeletes: true }
    const own = timestamps.deletedAt
    if (model.options.paranoid === true && own !== undefined) {
      if (option === false) {
        throw new CrudConfigError('INVALID_OPTION', `${model.name}: softDelete is false, but the model is paranoid.`)
      }
      // Sequelize maintains the mark itself.
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
  const known = new WeakMap<Resource, Predicate>()
  const living = (resource: Resource): Predicate => {
    const before = known.get(resource)
    if (before !== undefined) return before
    const made = alive(resource, mark)
    known.set(resource, made)
    return made
  }
  return {
    amend: (resource, plan, { instant }) => amended(resource, plan, mark, { living, instant }),
    reach: living,
    standing: living,
  }
}

function amended(
  resource: Resource,
  plan: SinglePlan,
  mark: DeletedMark,
  { living, instant }: { readonly living: (resource: Resource) => Predicate; readonly instant: Date },
): SinglePlan {
  switch (plan.kind) {
    case 'create':
    case 'bulkCreate':
      // A declared attribute may have no default.
      return { ...plan, upkeep: new Map([...plan.upkeep, ...flagged(mark, false)]) }
    case 'page':
    case 'count':
    case 'keyset':
    case 'seek':
    case 'aggregate':
    case 'export':
      return plan.includeDeleted ? plan : { ...plan, where: both(plan.where, living(resource)) }
    case 'restore':
      return { ...plan, where: both(plan.where, deleted(resource, mark)), upkeep: restored(plan.upkeep, mark) }
    case 'delete':
    case 'bulkDelete':
      return { ...plan, where: both(plan.where, living(resource)), mark: marked(mark, instant) }
    case 'get':
    case 'update':
      return { ...plan, where: both(plan.where, living(resource)) }
    case 'action':
      return plan
  }
}

function marked(mark: DeletedMark, instant: Date): Upkeep {
  return { values: new Map<string, Value>([[mark.deletedAt, instant], ...flagged(mark, true)]), increments: [] }
}

function restored({ values, increments }: Upkeep, mark: DeletedMark): Upkeep {
  return { values: new Map<string, Value>([...values, [mark.deletedAt, null], ...flagged(mark, false)]), increments }
}

/** The value of the boolean mark; empty if only the date marks records. */
function flagged({ isDeleted }: DeletedMark, value: boolean): readonly (readonly [name: string, value: boolean])[] {
  return isDeleted === null ? [] : [[isDeleted, value]]
}

/** Not marked. In rows older than the column the mark may be null. */
function alive({ fields }: Resource, { isDeleted, deletedAt }: DeletedMark): Predicate {
  if (isDeleted === null) return isNull(fieldNamed(fields, deletedAt), false)
  return compared(fieldNamed(fields, isDeleted), true, true)
}

function deleted({ fields }: Resource, { isDeleted, deletedAt }: DeletedMark): Predicate {
  if (isDeleted === null) return isNull(fieldNamed(fields, deletedAt), true)
  return compared(fieldNamed(fields, isDeleted), true, false)
}
