import type { Request } from 'express'
import type { Model, Transaction } from 'sequelize'
import type { Identity } from './identity.js'
import type { OperationName } from './resource.js'

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

export interface Hooks<M extends Model = Model> {
  readonly beforeCreate?: Hook<M>
  readonly afterCreate?: Hook<M>
  readonly beforeUpdate?: Hook<M>
  readonly afterUpdate?: Hook<M>
  readonly beforeDelete?: Hook<M>
  readonly afterDelete?: Hook<M>
  readonly beforeRestore?: Hook<M>
  readonly afterRestore?: Hook<M>
}
