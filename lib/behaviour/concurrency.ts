import type { Model } from 'sequelize'
import type { BehaviourDefinition } from '../../types/behaviour.js'
import type { Field } from '../../types/field.js'
import type { Match } from '../../types/intent.js'
import type { FieldOptions } from '../../types/options.js'
import type { Precondition, Predicate, Projection, ServerValues, SinglePlan } from '../../types/plan.js'
import type { Behaviour, Resource } from '../../types/resource.js'
import { addOwnColumns, readOwnValue, requireField } from '../common/columns.js'
import { CrudConfigError } from '../common/errors.js'
import { isObject } from '../common/object.js'
import { VERSION_MISSING, VERSION_OUTDATED } from '../common/preconditions.js'
import { matchAnyValue, matchNull } from '../common/predicates.js'
import { problem } from '../common/problem.js'
import { FIRST_VERSION } from '../common/version.js'
import { either, flag, isFlag, isName, option } from '../config/checks.js'

declare module '../../types/options.js' {
  interface CrudOptions<M extends Model = Model> {
    /** Whether records have a version. Responses have an ETag, and PATCH requires `If-Match`. Default false. */
    readonly concurrency?: boolean | ConcurrencyOptions
  }
}

export interface ConcurrencyOptions {
  /** The version attribute. Default `rowVersion`. */
  readonly rowVersion?: string
  /**
   * Whether responses and push events show the version even if the model does not declare it. If so, queries may use
   * the version. Default false.
   */
  readonly inBody?: boolean
}

/**
 * Increments a version on every write. Replies have the version as a weak ETag (RFC 9110 section 8.8.3). A write with
 * `If-Match` is one conditional UPDATE, so that the database decides between concurrent writes.
 */
export const concurrency: BehaviourDefinition = {
  options: {
    concurrency: option(either(isFlag, isObject), 'a boolean or an object', {
      members: { rowVersion: option(isName, "an attribute's name"), inBody: flag },
    }),
  },
  prepare: ({ model }, { concurrency: given = false, fields = {} }) => {
    if (given === false) return null
    const { rowVersion: version = 'rowVersion', inBody: shown = false } = given === true ? {} : given
    if (shown) assertVersionIncluded(model.name, version, new Map(Object.entries(fields)).get(version))
    return {
      attributes: [{ name: version, kind: 'version', isAlwaysShown: shown }],
      facts: { versions: true, version },
      behaviour: () => createBehaviour(version),
    }
  },
}

/** Checks that `inBody` does not contradict the field's options. @throws CrudConfigError */
function assertVersionIncluded(model: string, version: string, { exclude, only }: FieldOptions = {}): void {
  if (exclude === undefined && only === undefined) return
  const message = `${model}: concurrency.inBody is true, but fields.${version} excludes "${version}" from bodies or responses. Remove one of these options.`
  throw new CrudConfigError('INVALID_OPTION', message)
}

function createBehaviour(version: string): Behaviour {
  return {
    amend: (resource, plan) => amendPlan(resource, plan, version),
    recordHeaders: (plan, row) => {
      if (!('projection' in plan) || (plan.kind === 'get' && plan.hasOtherRecords)) return {}
      const value = readOwnValue(plan.projection.columns, row, version)
      return value === undefined ? {} : { ETag: `W/"${value ?? FIRST_VERSION}"` }
    },
  }
}

function amendPlan(resource: Resource, plan: SinglePlan, version: string): SinglePlan {
  switch (plan.kind) {
    case 'get':
      return plan.hasOtherRecords ? plan : { ...plan, projection: addVersionColumn(resource, plan.projection, version) }
    case 'create':
      return {
        ...plan,
        serverValues: new Map([...plan.serverValues, [version, FIRST_VERSION]]),
        projection: addVersionColumn(resource, plan.projection, version),
      }
    case 'bulkCreate':
      return { ...plan, serverValues: new Map([...plan.serverValues, [version, FIRST_VERSION]]) }
    case 'update':
      return {
        ...plan,
        serverValues: incrementVersion(plan.serverValues, version),
        precondition: createPrecondition(resource, plan.match ?? 'missing', version),
        projection: addVersionColumn(resource, plan.projection, version),
      }
    case 'restore':
      return {
        ...plan,
        serverValues: incrementVersion(plan.serverValues, version),
        projection: addVersionColumn(resource, plan.projection, version),
      }
    case 'delete':
      return {
        ...plan,
        softDelete: plan.softDelete === null ? null : incrementVersion(plan.softDelete, version),
        precondition: plan.match === null ? null : createPrecondition(resource, plan.match, version),
      }
    case 'bulkDelete':
      return { ...plan, softDelete: plan.softDelete === null ? null : incrementVersion(plan.softDelete, version) }
    default:
      return plan
  }
}

function incrementVersion({ values, increments }: ServerValues, version: string): ServerValues {
  return { values, increments: [...increments, version] }
}

/** Adds the version column to a projection, for the ETag. */
function addVersionColumn({ fields }: Resource, projection: Projection, version: string): Projection {
  return addOwnColumns(projection, [requireField(fields, version)])
}

function createPrecondition({ fields }: Resource, match: Match | 'missing', version: string): Precondition | null {
  if (match === '*') return null
  const field = requireField(fields, version)
  if (match === 'missing') {
    return {
      field,
      isMet: () => false,
      where: null,
      createError: () => problem('precondition-required', { detail: VERSION_MISSING }),
    }
  }
  return {
    field,
    isMet: (stored) => match.includes(String(field.decode(stored) ?? FIRST_VERSION)),
    where: matchVersions(field, match),
    createError: () => problem('precondition-failed', { detail: VERSION_OUTDATED }),
  }
}

/** The condition that the record's version is one of the tags. A tag beyond the column's range matches nothing. */
function matchVersions(field: Field, tags: readonly string[]): Predicate {
  const { max } = field.valueType
  const values = tags.filter((tag) => max === undefined || BigInt(tag) <= max)
  if (values.length === 0) return { kind: 'never' }
  const isOneOf = matchAnyValue(field, values)
  const isFirst = field.nullable && values.includes(String(FIRST_VERSION))
  return isFirst ? { kind: 'or', nodes: [isOneOf, matchNull(field, false)] } : isOneOf
}
