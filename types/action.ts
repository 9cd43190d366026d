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
  /** The value that `input` returned for the body or the parameters; undefined without `input`. */
  readonly input: Input
  readonly request: Request
  readonly identity: Identity | null
  /** The transaction of the write. Pass it to every query of the handler. Null for GET and for `transaction: false`. */
  readonly transaction: Transaction | null
  readonly resource: ResourceInfo
}

interface ActionSettings {
  /** The HTTP method. `post` may write; `get` only reads. */
  readonly method: 'post' | 'get'
  /** The policy of the action. Default: the policy of the action's operation. */
  readonly policy?: PolicyRef
  /** Schema of the JSON body, or of the parameters of a GET. Without it the action takes no input. */
  readonly input?: ObjectSchema
  /**
   * The content of the response. `record` and `list`: the handler's records, read again for the caller. `none`: no
   * content (204). A schema: the handler's value, checked by the schema. Default for an action of a record: `record`.
   * Default for an action of the collection: `list` for GET, `none` for POST.
   */
  readonly output?: 'record' | 'list' | 'none' | Schema
  /** Whether a POST action runs in one transaction, with its record locked. Default true. */
  readonly transaction?: boolean
}

/** An action of one record: `POST /api/players/1/publish`. */
export interface RecordActionOptions<M extends Model = Model> extends ActionSettings {
  readonly on: 'record'
  /** Runs the action and may change the record, which is saved afterwards. May return the content of the response. */
  handler(context: ActionContext<M>): unknown
}

/** An action of the collection: `POST /api/players/publish`. */
export interface CollectionActionOptions extends ActionSettings {
  readonly on: 'collection'
  /** Runs the action. May return the content of the response. */
  handler(context: ActionContext<null>): unknown
}

/** The definition of an action. Its key in `actions` is the action's name. */
export type ActionOptions<M extends Model = Model> = RecordActionOptions<M> | CollectionActionOptions

/** The result of validating the input of an action. */
export type InputVerdict =
  | { readonly value: unknown }
  | { readonly errors: Readonly<Record<string, readonly string[]>> }

/** A compiled action. */
export interface Action {
  readonly name: string
  readonly on: 'record' | 'collection'
  readonly method: 'post' | 'get'
  /** Path below the resource's route: `/:id/publish` or `/publish`. */
  readonly path: string
  /** The operation whose policy and scope apply to the action. */
  readonly operation: OperationName
  /** The status of a successful response. */
  readonly status: 200 | 204
  readonly output: 'record' | 'list' | 'none' | 'value'
  /** Whether the action runs in a transaction. */
  readonly isTransactional: boolean
  /** The schema of the input; null for an action without input. */
  readonly input: ObjectSchema | null
  /** The names of the input's members; null if any name is allowed. */
  readonly inputNames: ReadonlySet<string> | null
  /** The names of array members. Their parameters may be repeated. */
  readonly arrayNames: ReadonlySet<string>
  /** The schema of the returned value; null if the action returns records or nothing. */
  readonly outputSchema: Schema | null
  readonly validateInput: (given: Readonly<Record<string, unknown>>) => Promise<InputVerdict>
  /** Checks the returned value and writes it as JSON. @throws TypeError for a value that the schema refuses */
  readonly serializeOutput: (given: unknown) => Promise<unknown>
  readonly handler: (context: ActionContext<Model | null>) => unknown
}

/** The names of the actions in `actions`. */
export type ActionNames<O> = O extends { readonly actions: infer A } ? keyof A & string : never
