// A plan is carried out by statements of our own, or through instances of Sequelize where the host's code has a say. Which
// of the two is decided here, once for each plan and not when it is mounted: hosts add hooks at any time.

import type { Model, ModelStatic, Transaction } from 'sequelize'
import type { Outcome, Row } from '../../types/outcome.js'
import type {
  AggregatePlan,
  BulkCreatePlan,
  BulkDeletePlan,
  Column,
  CreatePlan,
  DeletePlan,
  OrderKey,
  PagePlan,
  Predicate,
  Projection,
  UpdatePlan,
} from '../../types/plan.js'
import { isComputed } from '../common/columns.js'
import { hasCascades, hasComplexScope, hasHooks } from '../sequelize/model.js'
import type { RawRow } from '../sequelize/run.js'
import type { KeyReading } from './statement/request.js'
import type { Store } from './store.js'

export type Executor = 'statements' | 'instances'

/** Under which circumstances something is read; unless told, by itself and under the model's default scope. */
export interface Within {
  readonly transaction?: Transaction
  /** Reads a record that was just written, whether or not the model's default scope still shows it. */
  readonly unscoped?: boolean
  /** Whether a record that a paranoid model hides is wanted too. */
  readonly deleted?: boolean
  /** Whether the record is locked until the transaction ends; `findAll` locks only to see what others have written since. */
  readonly lock?: boolean
  /** Whether a replica will not do, which may not have heard yet of what was written. */
  readonly main?: boolean
}

export interface Window {
  readonly where: Predicate | null
  readonly columns: readonly Column[]
  readonly order: readonly OrderKey[]
  /** The most rows. */
  readonly limit: number
  /** How many are passed over; none unless told. */
  readonly offset?: number | undefined
  /** How rows have the values of the order's keys too, behind the columns; they have not unless told. */
  readonly keys?: KeyReading | undefined
  /** Whether they are few, and found by their keys without a look at others; they are not unless told. */
  readonly isBrief?: boolean | undefined
}

/** Groups of records, of all that there are. */
export type Groups = Pick<AggregatePlan, 'where' | 'groups' | 'having' | 'order' | 'includeDeleted'> & {
  readonly columns: readonly Column[]
}

export interface GroupWindow {
  readonly limit: number
  readonly offset: number
  /** Whether the number of all groups is wanted, as `_total`, instead of any of them. */
  readonly total: boolean
}

export interface Reader {
  /** The one record that a condition is for; null where there is none. */
  readonly one: (store: Store, where: Predicate, columns: readonly Column[], within: Within) => Promise<Row | null>
  readonly rows: (store: Store, window: Window, within: Within) => Promise<readonly Row[]>
  /** One page and the number of all records. */
  readonly page: (store: Store, plan: PagePlan) => Promise<Outcome>
  /** A page of groups, or one row with their number; none where there is none. */
  readonly aggregate: (store: Store, groups: Groups, window: GroupWindow) => Promise<readonly RawRow[]>
  readonly count: (store: Store, where: Predicate | null, deleted: boolean) => Promise<number>
}

const FIND_HOOKS = [
  'beforeFind',
  'beforeFindAfterExpandIncludeAll',
  'beforeFindAfterOptions',
  'afterFind',
  'beforeCount',
] as const

/**
 * Who reads some columns. `findAll`, where the host's code must keep its say: find hooks, a default scope that is more
 * than a condition, getters and virtual attributes.
 */
export function readsBy({ model }: Store, columns: readonly Column[]): Executor {
  return columns.some(isComputed) || hasFindHooks(model) || hasComplexScope(model) ? 'instances' : 'statements'
}

export function hasFindHooks(model: ModelStatic<Model>): boolean {
  return hasHooks(model, FIND_HOOKS)
}

/** Whether RETURNING can give a projection: the record's own columns, where the host has no say in what is read. */
export function isReturnable(store: Store, { columns }: Projection): boolean {
  return columns.every(({ hops }) => hops.length === 0) && readsBy(store, columns) === 'statements'
}

export type WritePlan = CreatePlan | UpdatePlan | DeletePlan | BulkCreatePlan | BulkDeletePlan

/** The hooks of a write as a whole, which hand on instances, or options that may make it narrower. */
const BULK_HOOKS: Readonly<Record<WritePlan['kind'], readonly string[]>> = {
  create: [],
  update: [],
  restore: [],
  delete: [],
  bulkCreate: ['beforeBulkCreate', 'afterBulkCreate'],
  bulkDelete: ['beforeBulkDestroy', 'afterBulkDestroy'],
}

/**
 * Who writes. What only the values tell, such as a default that is an expression, `tryFast` finds out.
 */
export function writesBy(store: Store, plan: WritePlan): Executor {
  return needsEach(store, plan) || hasHooks(store.model, BULK_HOOKS[plan.kind]) ? 'instances' : 'statements'
}

/** Whether each record must be written through an instance of its own, by `save`, `restore` or `destroy`. */
export function needsEach(store: Store, plan: WritePlan): boolean {
  return isHooked(plan) || NEEDS[plan.kind](store, plan)
}

/** Whether the host's hooks around this operation want the instance. */
export function isHooked({ before, after }: Pick<WritePlan, 'before' | 'after'>): boolean {
  return before !== null || after !== null
}

const SAVE_HOOKS = ['beforeValidate', 'afterValidate', 'validationFailed', 'beforeSave', 'afterSave']
const CREATE_HOOKS = [...SAVE_HOOKS, 'beforeCreate', 'afterCreate']
const UPDATE_HOOKS = [...SAVE_HOOKS, 'beforeUpdate', 'afterUpdate']
const RESTORE_HOOKS = ['beforeRestore', 'afterRestore']
const DELETE_HOOKS = ['beforeDestroy', 'afterDestroy']
const MARK_HOOKS = ['beforeSave', 'beforeUpdate', 'afterUpdate', 'afterSave']

/** Whether the model makes a write go through instances, by what the plan is. */
const NEEDS: Readonly<Record<WritePlan['kind'], (store: Store, plan: WritePlan) => boolean>> = {
  create: createsInstances,
  bulkCreate: createsInstances,
  update: updatesInstances,
  restore: (store) => hasHooks(store.model, RESTORE_HOOKS) || updatesInstances(store),
  delete: removesInstances,
  bulkDelete: removesInstances,
}

function createsInstances({ resource, model }: Store): boolean {
  return resource.validation === 'saved' || hasHooks(model, CREATE_HOOKS)
}

function updatesInstances({ resource, model }: Store): boolean {
  // What such a scope hides, only a `findOne` under it can tell.
  if (hasComplexScope(model)) return true
  return resource.validation === 'saved' || resource.validation === 'instance' || hasHooks(model, UPDATE_HOOKS)
}

/** One that sets a mark is an update of the row too, but on a paranoid model, as in Sequelize. */
function removesInstances({ resource, model }: Store, plan: WritePlan): boolean {
  if (hasComplexScope(model) || hasHooks(model, DELETE_HOOKS)) return true
  if (!('mark' in plan) || plan.mark === null) return hasCascades(model)
  return resource.validation === 'saved' || (!model.options.paranoid && hasHooks(model, MARK_HOOKS))
}

/** Whether `Model.destroy` would not do: it neither deletes dependants nor minds all of the default scope. */
export function destroysEach({ model }: Store): boolean {
  return hasCascades(model) || hasComplexScope(model)
}
