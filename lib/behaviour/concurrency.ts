import type { Model } from 'sequelize'
import type { BehaviourDefinition } from '../../types/behaviour.js'
import type { Field } from '../../types/field.js'
import type { Match } from '../../types/intent.js'
import type { Plan, Precondition, Predicate, Projection, Upkeep } from '../../types/plan.js'
import type { Behaviour, Resource } from '../../types/resource.js'
import { fieldNamed, ownColumn, ownValue, withOwn } from '../common/columns.js'
import { isNull } from '../common/predicates.js'
import { problem } from '../common/problem.js'
import { attributeNames } from '../config/checks.js'

declare module '../../types/options.js' {
  interface CrudOptions<M extends Model = Model> {
    /** Records carry a version: responses an ETag, and PATCH needs an `If-Match` that fits. Default false. */
    readonly concurrency?: boolean | ConcurrencyOptions
  }
}

export interface ConcurrencyOptions {
  /** Default `rowVersion`. */
  readonly rowVersion?: string
}

/**
 * Records carry a version that every write raises. Replies have it as a weak ETag, and a write with `If-Match`
 * happens only where the version is still among the tags: one conditional UPDATE in the database decides.
 */
export const concurrency: BehaviourDefinition = {
  options: { concurrency: attributeNames('rowVersion') },
  prepare: (_, { concurrency: option = false }) => {
    if (option === false) return null
    const version = (option === true ? undefined : option.rowVersion) ?? 'rowVersion'
    return {
      attributes: [{ name: version, kind: 'version' }],
      facts: { versions: true },
      behaviour: () => behaviourOf(version),
    }
  },
}

function behaviourOf(version: string): Behaviour {
  return {
    amend: (resource, plan) => amended(resource, plan, version),
    recordHeaders: (plan, row) => {
      if (!('projection' in plan)) return {}
      const value = ownValue(plan.projection.columns, row, version)
      return value === undefined ? {} : { ETag: `W/"${value ?? FIRST}"` }
    },
  }
}

/** The version of a new record, and of a row from before the column existed, which holds null. */
const FIRST = 0

function amended(resource: Resource, plan: Plan, version: string): Plan {
  switch (plan.kind) {
    case 'get':
      return { ...plan, projection: versioned(resource, plan.projection, version) }
    case 'create':
      return {
        ...plan,
        upkeep: new Map([...plan.upkeep, [version, FIRST]]),
        projection: versioned(resource, plan.projection, version),
      }
    case 'bulkCreate':
      return { ...plan, upkeep: new Map([...plan.upkeep, [version, FIRST]]) }
    case 'update':
      return {
        ...plan,
        upkeep: raised(plan.upkeep, version),
        precondition: preconditionOf(resource, plan.match ?? 'missing', version),
        projection: versioned(resource, plan.projection, version),
      }
    case 'restore':
      return {
        ...plan,
        upkeep: raised(plan.upkeep, version),
        projection: versioned(resource, plan.projection, version),
      }
    case 'delete':
      return {
        ...plan,
        mark: plan.mark === null ? null : raised(plan.mark, version),
        precondition: plan.match === null ? null : preconditionOf(resource, plan.match, version),
      }
    case 'bulkDelete':
      return { ...plan, mark: plan.mark === null ? null : raised(plan.mark, version) }
    default:
      return plan
  }
}

function raised({ values, increments }: Upkeep, version: string): Upkeep {
  return { values, increments: [...increments, version] }
}

const extended = new WeakMap<Projection, Projection>()

/** The projection with the version among its columns, for the ETag. */
function versioned({ fields }: Resource, projection: Projection, version: string): Projection {
  const known = extended.get(projection)
  if (known !== undefined) return known
  const field = fieldNamed(fields, version)
  const result = withOwn(projection, [field])
  extended.set(projection, result)
  return result
}

function preconditionOf({ fields }: Resource, match: Match | 'missing', version: string): Precondition | null {
  if (match === '*') return null
  if (match === 'missing') {
    return {
      where: null,
      refusal: () =>
        problem('precondition-required', {
          detail: 'Send If-Match with the ETag of the record as you last read it, or with * to write unconditionally.',
        }),
    }
  }
  const where = isAmong(fieldNamed(fields, version), match)
  return {
    where,
    refusal: () =>
      problem('precondition-failed', {
        detail: 'The record has changed. Read it again and send its current ETag as If-Match.',
      }),
  }
}

/** The record's version is among the tags. A tag beyond what the column holds is the version of nothing. */
function isAmong(field: Field, tags: readonly string[]): Predicate {
  const { max } = field.valueType
  const values = tags.filter((tag) => max === undefined || BigInt(tag) <= max)
  if (values.length === 0) return { kind: 'never' }
  const isOneOf: Predicate = {
    kind: 'compare',
    column: ownColumn(field),
    operator: values.length === 1 ? 'eq' : 'in',
    values,
    ignoreCase: false,
    negated: false,
  }
  const isFirst = field.nullable && values.includes(String(FIRST))
  return isFirst ? { kind: 'or', nodes: [isOneOf, isNull(field, false)] } : isOneOf
}
