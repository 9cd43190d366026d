import type { ObjectSchema, Schema } from 'joi'
import type { Model, Transaction } from 'sequelize'
import type { OperationName } from '../lib/operations.js'
import type { Request } from './express.js'
import type { Identity, PolicyRef } from './identity.js'
import type { ResourceInfo } from './info.js'

/** The argument of an action's handler. */
export interface ActionContext<R extends Model | null = Model, Input = unknown> {
  /** The record of the request as an instance, locked in the transaction; null for an action of the collection. */
  readonly record: R
  /** The value that `input` has made of the body or of the parameters; undefined without `input`. */
  readonly input: Input
  readonly request: Request
  readonly identity: Identity | null
  /** The transaction of the write; null for GET and for `transaction: false`. Pass it to every query of the handler. */
  readonly transaction: Transaction | null
  readonly resource: ResourceInfo
}

interface ActionSettings {
  /** `post` writes, `get` only reads. */
  readonly method: 'post' | 'get'
  /** Default: the policy of the operation that the action stands for. */
  readonly policy?: PolicyRef
  /** Schema of the JSON body, or of the parameters of a GET. Without it the action takes no input. */
  readonly input?: ObjectSchema
  /**
   * Content of the answer: the record or the records that the handler returns, which are read again for the caller; nothing
   * (204); or the value that the handler returns, which a schema checks. Default: `record` for an action of a record, for one of the
   * collection `list` for GET and `none` for POST.
   */
  readonly output?: 'record' | 'list' | 'none' | Schema
  /** Whether a POST action runs in one transaction with its write, under a lock of its record. Default true. */
  readonly transaction?: boolean
}

/** An action of one record: `POST /api/players/1/publish`. */
export interface RecordActionOptions<M extends Model = Model> extends ActionSettings {
  readonly on: 'record'
  /** Changes the record, which is saved afterwards. May return what the answer shows. */
  handler(context: ActionContext<M>): unknown
}

/** An action of the collection: `POST /api/players/publish`. */
export interface CollectionActionOptions extends ActionSettings {
  readonly on: 'collection'
  /** May return what the answer shows. */
  handler(context: ActionContext<null>): unknown
}

/** An action of a resource, by its name in `actions`. */
export type ActionOptions<M extends Model = Model> = RecordActionOptions<M> | CollectionActionOptions

/** The verdict on the input of an action. */
export type InputVerdict =
  | { readonly value: unknown }
  | { readonly errors: Readonly<Record<string, readonly string[]>> }

/** An action, compiled. */
export interface Action {
  readonly name: string
  readonly on: 'record' | 'collection'
  readonly method: 'post' | 'get'
  /** Below the resource's own route: `/:id/publish` or `/publish`. */
  readonly path: string
  /** The operation that policies and scope see. */
  readonly operation: OperationName
  /** The status of its reply when it was done. */
  readonly status: 200 | 204
  readonly output: 'record' | 'list' | 'none' | 'value'
  /** Whether it runs in a transaction. */
  readonly isTransactional: boolean
  /** The schema of its input; null for none. */
  readonly input: ObjectSchema | null
  /** The names of the input's members; null where any name may be one. */
  readonly names: ReadonlySet<string> | null
  /** The names of members that are arrays, which parameters give by their name several times. */
  readonly lists: ReadonlySet<string>
  /** The schema of a value that it answers; null where it answers records or nothing. */
  readonly value: Schema | null
  readonly read: (given: Readonly<Record<string, unknown>>) => Promise<InputVerdict>
  /** The value that is answered. @throws TypeError for one that the schema refuses */
  readonly written: (given: unknown) => Promise<unknown>
  readonly handler: (context: ActionContext<Model | null>) => unknown
}

/** The names of the actions in options. */
export type ActionNames<O> = O extends { readonly actions: infer A } ? keyof A & string : never
