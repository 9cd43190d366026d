import type { Model } from 'sequelize'
import type { BehaviourDefinition, ManagedAttribute } from '../../types/behaviour.js'
import type { Value } from '../../types/field.js'
import type { Caller, ServerValues, SinglePlan } from '../../types/plan.js'
import type { Behaviour, Resource } from '../../types/resource.js'
import { isLonger } from '../common/values.js'
import { attributeNames } from '../config/checks.js'

declare module '../../types/options.js' {
  interface CrudOptions<M extends Model = Model> {
    /** Whether records have server-managed columns for who wrote them and when. Default false. */
    readonly audit?: boolean | AuditOptions
  }
}

export interface AuditOptions {
  /** The attribute of the time of creation. Default: Sequelize's timestamp attribute, or `createdAt` without one. */
  readonly createdAt?: string
  /**
   * The attribute of the time of the last update. Default: Sequelize's timestamp attribute, or `updatedAt` without one.
   */
  readonly updatedAt?: string
  /** The attribute of the caller who created the record. Default `createdBy`. */
  readonly createdBy?: string
  /** The attribute of the caller who last updated the record. Default `updatedBy`. */
  readonly updatedBy?: string
}

interface AuditColumns {
  readonly createdAt: string
  readonly updatedAt: string
  readonly createdBy: string
  readonly updatedBy: string
}

/**
 * Sets who created and last updated a record, and when. All records of a request get one instant. An anonymous caller
 * is null.
 */
export const audit: BehaviourDefinition = {
  options: { audit: attributeNames('createdAt', 'updatedAt', 'createdBy', 'updatedBy') },
  prepare: ({ timestamps }, { audit: option = false }) => {
    if (option === false) return null
    const names = option === true ? {} : option
    const stamps: AuditColumns = {
      createdAt: names.createdAt ?? timestamps.createdAt ?? 'createdAt',
      updatedAt: names.updatedAt ?? timestamps.updatedAt ?? 'updatedAt',
      createdBy: names.createdBy ?? 'createdBy',
      updatedBy: names.updatedBy ?? 'updatedBy',
    }
    const attributes: readonly ManagedAttribute[] = [
      { name: stamps.createdAt, kind: 'dateTime' },
      { name: stamps.updatedAt, kind: 'dateTime' },
      { name: stamps.createdBy, kind: 'text' },
      { name: stamps.updatedBy, kind: 'text' },
    ]
    return { attributes, facts: { needsIdentity: true }, behaviour: () => createBehaviour(stamps) }
  },
}

function createBehaviour(stamps: AuditColumns): Behaviour {
  return { amend: (resource, plan, caller) => amendPlan(resource, plan, stamps, caller) }
}

function amendPlan(
  resource: Resource,
  plan: SinglePlan,
  { createdAt, updatedAt, createdBy, updatedBy }: AuditColumns,
  caller: Caller,
): SinglePlan {
  const { instant, identity } = caller
  const name = identity?.name ?? null
  const updated: readonly (readonly [string, Value])[] = [
    [updatedAt, instant],
    [updatedBy, name],
  ]
  const addUpdated = ({ values, increments }: ServerValues): ServerValues => {
    assertFits(resource, updatedBy, name)
    return { values: new Map([...values, ...updated]), increments }
  }
  switch (plan.kind) {
    case 'create':
    case 'bulkCreate':
      for (const attribute of [createdBy, updatedBy]) assertFits(resource, attribute, name)
      return {
        ...plan,
        serverValues: new Map([...plan.serverValues, [createdAt, instant], [createdBy, name], ...updated]),
      }
    case 'update':
    case 'restore':
      return { ...plan, serverValues: addUpdated(plan.serverValues) }
    case 'delete':
    case 'bulkDelete':
      return { ...plan, softDelete: plan.softDelete === null ? null : addUpdated(plan.softDelete) }
    default:
      return plan
  }
}

/** Asserts that an attribute holds the name of the caller. Databases would refuse a longer name as the client's error. */
function assertFits({ name: model, fields }: Resource, attribute: string, name: string | null): void {
  const { maxLength } = fields.find((field) => field.name === attribute)?.valueType ?? {}
  if (name === null || maxLength === undefined || !isLonger(name, maxLength)) return
  throw new TypeError(
    `${model}: the name of the caller is longer than the attribute "${attribute}", which holds ${maxLength} characters. Declare it with a longer type.`,
  )
}
