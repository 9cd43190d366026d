import type { Model, Transaction } from 'sequelize'
import type { HookNoun, OperationName } from '../lib/operations.js'
import type { Request } from './express.js'
import type { Identity } from './identity.js'

export interface HookContext<M extends Model = Model> {
  /** The record as an instance: before, with the changes on it; after, as it was saved. */
  readonly instance: M
  readonly transaction: Transaction
  readonly request: Request
  readonly identity: Identity | null
  readonly operation: OperationName
}

/** May change the instance (before), read and write in the transaction, and refuse by throwing a Problem. */
export type Hook<M extends Model = Model> = (context: HookContext<M>) => void | Promise<void>

export interface ActionHookContext<M extends Model = Model> extends Omit<HookContext<M>, 'instance' | 'transaction'> {
  /** The name of the action. */
  readonly action: string
  /** The record: before, as it was found; after, as it was saved. Null for an action of the collection. */
  readonly instance: M | null
  /** Null for an action with `transaction: false`. */
  readonly transaction: Transaction | null
  /** The value that the action's `input` has made of the body. */
  readonly input: unknown
}

/** Runs around the handler of a POST action: it may change the record (before), and refuse by throwing a Problem. */
export type ActionHook<M extends Model = Model> = (context: ActionHookContext<M>) => void | Promise<void>

/** By when they run and what is written: `beforeCreate`, `afterCreate` and so on. */
export type Hooks<M extends Model = Model> = {
  readonly [name in `${'before' | 'after'}${HookNoun}`]?: Hook<M>
} & { readonly [name in 'beforeAction' | 'afterAction']?: ActionHook<M> }
