// Plans run as direct SQL statements, or through Sequelize instances if code of the host takes part. The executor is
// chosen for each plan, because hosts can add hooks at any time.

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
  Plan,
  Predicate,
  Projection,
  UpdatePlan,
} from '../../types/plan.js'
import { isGetterOrVirtual } from '../common/columns.js'
import { hasCascades, hasComplexScope, hasHooks } from '../sequelize/model.js'
import type { RawRow } from '../sequelize/run.js'
import type { KeyReading } from './sql/request.js'
import type { StatementContext } from './store.js'

export type Executor = 'statements' | 'instances'

/** Options of a read. By default the read runs outside a transaction and under the model's default scope. */
export interface ReadOptions {
  readonly transaction?: Transaction
  /** Whether to ignore the model's default scope, for example to read back a written record. */
  readonly unscoped?: boolean
  /** Whether to include records that a paranoid model hides. */
  readonly includeDeleted?: boolean
  /**
   * Whether to lock the records until the transaction ends. A locking read also returns the latest committed values.
   */
  readonly lock?: boolean
  /** Whether to read from the primary. A replica may lag behind a write. */
  readonly isFromPrimary?: boolean
}

export interface RowWindow {
  readonly where: Predicate | null
  readonly columns: readonly Column[]
  readonly order: readonly OrderKey[]
  readonly limit: number
  /** Number of rows to skip. Default 0. */
  readonly offset?: number | undefined
  /** How the values of the sort keys are appended to each row. undefined: the values are not appended. */
  readonly keyReading?: KeyReading | undefined
  /** Whether the page is short and is read by the key alone, without other conditions. Default false. */
  readonly isKeyLookup?: boolean | undefined
}

/** Aggregation without a page: selects all groups. */
export type GroupSelect = Pick<AggregatePlan, 'where' | 'groups' | 'having' | 'order' | 'includeDeleted'> & {
  readonly columns: readonly Column[]
}

export interface GroupWindow {
  readonly limit: number
  readonly offset: number
  /** Whether to read only the number of groups, as `_total`. */
  readonly total: boolean
}

export interface RecordReader {
  /** Returns null if no record meets the condition. */
  readonly readOne: (
    store: StatementContext,
    where: Predicate,
    columns: readonly Column[],
    within: ReadOptions,
  ) => Promise<Row | null>
  readonly readRows: (store: StatementContext, window: RowWindow, within: ReadOptions) => Promise<readonly Row[]>
  /** Reads one page and the number of all records. */
  readonly readPage: (store: StatementContext, plan: PagePlan) => Promise<Extract<Outcome, { kind: 'page' }>>
  /** Reads a page of groups, or one row with the number of groups. */
  readonly readGroups: (store: StatementContext, groups: GroupSelect, window: GroupWindow) => Promise<readonly RawRow[]>
  readonly countRecords: (store: StatementContext, where: Predicate | null, deleted: boolean) => Promise<number>
}

const FIND_HOOKS = [
  'beforeFind',
  'beforeFindAfterExpandIncludeAll',
  'beforeFindAfterOptions',
  'afterFind',
  'beforeCount',
] as const

/**
 * Chooses the executor of a read. `findAll` is required for find hooks, for a default scope that is more than a
 * condition, and for getters and virtual attributes.
 */
export function chooseReadExecutor({ model }: StatementContext, columns: readonly Column[]): Executor {
  return columns.some(isGetterOrVirtual) || hasFindHooks(model) || hasComplexScope(model) ? 'instances' : 'statements'
}

export function hasFindHooks(model: ModelStatic<Model>): boolean {
  return hasHooks(model, FIND_HOOKS)
}

/** Whether RETURNING can provide the projection: own columns only, and no code of the host takes part in reads. */
export function isReturnable(store: StatementContext, { columns }: Projection): boolean {
  return columns.every(({ joins }) => joins.length === 0) && chooseReadExecutor(store, columns) === 'statements'
}

export type WritePlan = CreatePlan | UpdatePlan | DeletePlan | BulkCreatePlan | BulkDeletePlan

/**
 * Hooks that force a bulk write through instances. The hooks receive instances, or options that may narrow the write.
 */
const BULK_HOOKS: Readonly<Record<WritePlan['kind'], readonly string[]>> = {
  create: [],
  update: [],
  restore: [],
  delete: [],
  bulkCreate: ['beforeBulkCreate', 'afterBulkCreate'],
  bulkDelete: ['beforeBulkDestroy', 'afterBulkDestroy'],
}

/**
 * Chooses the executor of a write. `tryWriteByStatement` checks conditions that depend on values, such as SQL
 * expressions as defaults.
 */
export function chooseWriteExecutor(store: StatementContext, plan: WritePlan): Executor {
  return isWrittenByInstances(store, plan) || hasHooks(store.model, BULK_HOOKS[plan.kind]) ? 'instances' : 'statements'
}

/** Whether each record must be written by the instance methods `save`, `restore` or `destroy`. */
export function isWrittenByInstances(store: StatementContext, plan: WritePlan): boolean {
  return hasHostHooks(plan) || WRITTEN_BY_INSTANCES[plan.kind](store, plan)
}

/** Whether the host has hooks for this operation. The hooks receive the instance. */
export function hasHostHooks({ before, after }: Pick<WritePlan, 'before' | 'after'>): boolean {
  return before !== null || after !== null
}

const SAVE_HOOKS = ['beforeValidate', 'afterValidate', 'validationFailed', 'beforeSave', 'afterSave']
const CREATE_HOOKS = [...SAVE_HOOKS, 'beforeCreate', 'afterCreate']
const UPDATE_HOOKS = [...SAVE_HOOKS, 'beforeUpdate', 'afterUpdate']
const RESTORE_HOOKS = ['beforeRestore', 'afterRestore']
const DELETE_HOOKS = ['beforeDestroy', 'afterDestroy']
const MARK_HOOKS = ['beforeSave', 'beforeUpdate', 'afterUpdate', 'afterSave']

/** The hooks of a model that run for a kind of plan. */
const MODEL_HOOKS: Readonly<Record<WritePlan['kind'], readonly string[]>> = {
  create: CREATE_HOOKS,
  update: UPDATE_HOOKS,
  restore: [...RESTORE_HOOKS, ...UPDATE_HOOKS],
  delete: [...DELETE_HOOKS, ...MARK_HOOKS],
  bulkCreate: [...CREATE_HOOKS, ...BULK_HOOKS.bulkCreate],
  bulkDelete: [...DELETE_HOOKS, ...MARK_HOOKS, ...BULK_HOOKS.bulkDelete],
}

/** Whether a plan is a write with hooks, which may change other records too. */
export function runsHooks({ model }: StatementContext, plan: Plan): boolean {
  return isWritePlan(plan) && (hasHostHooks(plan) || hasHooks(model, MODEL_HOOKS[plan.kind]))
}

function isWritePlan(plan: Plan): plan is WritePlan {
  return Object.hasOwn(MODEL_HOOKS, plan.kind)
}

/** Whether the model requires instances for a kind of plan. */
const WRITTEN_BY_INSTANCES: Readonly<Record<WritePlan['kind'], (store: StatementContext, plan: WritePlan) => boolean>> =
  {
    create: isCreatedByInstances,
    bulkCreate: isCreatedByInstances,
    update: isUpdatedByInstances,
    restore: (store) => hasHooks(store.model, RESTORE_HOOKS) || isUpdatedByInstances(store),
    delete: isRemovedByInstances,
    bulkDelete: isRemovedByInstances,
  }

function isCreatedByInstances({ resource, model }: StatementContext): boolean {
  return resource.validation === 'saved' || hasHooks(model, CREATE_HOOKS)
}

function isUpdatedByInstances({ resource, model }: StatementContext): boolean {
  // Only `findOne` can apply a default scope that is more than a condition.
  if (hasComplexScope(model)) return true
  return resource.validation === 'saved' || resource.validation === 'instance' || hasHooks(model, UPDATE_HOOKS)
}

/** A soft deletion runs update hooks too, except on paranoid models, as in Sequelize. */
function isRemovedByInstances({ resource, model }: StatementContext, plan: WritePlan): boolean {
  if (hasComplexScope(model) || hasHooks(model, DELETE_HOOKS)) return true
  if (!('softDelete' in plan) || plan.softDelete === null) return hasCascades(model)
  return resource.validation === 'saved' || (!model.options.paranoid && hasHooks(model, MARK_HOOKS))
}

/**
 * Whether each record must be destroyed separately. `Model.destroy` neither cascades to dependants nor applies a
 * default scope that is more than a condition.
 */
export function isDestroyedOneByOne({ model }: StatementContext): boolean {
  return hasCascades(model) || hasComplexScope(model)
}
