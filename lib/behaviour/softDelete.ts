import type { Behaviour } from '../../types/behaviour.js'
import type { Field, Value } from '../../types/field.js'
import type { Plan, Predicate, Upkeep } from '../../types/plan.js'
import type { Resource } from '../../types/resource.js'
import { both, compared, isNull } from './predicates.js'

/** The attributes that hold the mark. A `paranoid` model has a date alone. */
export interface DeletedMark {
  readonly isDeleted: string | null
  readonly deletedAt: string
}

/** Deleting marks the record instead of removing its row, and nothing but a list that asks for it sees it again. */
export function softDelete(mark: DeletedMark): Behaviour {
  return {
    name: 'softDelete',
    amend: (resource, plan, { instant }) => amended(resource, plan, mark, instant),
    reach: (resource) => alive(resource, mark),
    standing: (resource) => alive(resource, mark),
  }
}

function amended(resource: Resource, plan: Plan, mark: DeletedMark, instant: Date): Plan {
  switch (plan.kind) {
    case 'create':
    case 'bulkCreate':
      // A declared attribute need not have a default.
      return mark.isDeleted === null ? plan : { ...plan, upkeep: new Map([...plan.upkeep, [mark.isDeleted, false]]) }
    case 'page':
    case 'count':
    case 'keyset':
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

export function fieldNamed(fields: readonly Field[], name: string): Field {
  const field = fields.find((candidate) => candidate.name === name)
  if (field === undefined) throw new TypeError(`the attribute ${name} was not compiled`)
  return field
}
