import type { Request, RequestHandler, Router } from 'express'
import type { Schema } from 'joi'
import type { Attributes, Model } from 'sequelize'
import type { OperationName } from '../lib/operations.js'
import type { Target } from './field.js'
import type { IdentityFunction } from './identity.js'
import type { Messages } from './messages.js'
import type { AttributeName, FlattenName } from './names.js'
import type { OwnRoutes } from './ownRoutes.js'
import type { Direction } from './query.js'
import type { Limits, ShapeNames } from './settings.js'
import type { Server } from './socket.js'

/** Rules added to those that the model declares; both apply. */
export interface FieldRules {
  /** `false` also lifts what `allowNull: false` asks of bodies, for what hooks or the database fill. */
  readonly required?: boolean
  /** In characters (Unicode code points). */
  readonly minLength?: number
  /** Checked before any pattern. Default for a text that has a pattern and a column without a length: 10000. */
  readonly maxLength?: number
  readonly min?: number
  readonly max?: number
  readonly email?: boolean
  readonly match?: RegExp
}

export interface FieldOptions {
  /** `true` takes the field out of every shape; targets take it out of those. */
  readonly exclude?: true | Target | readonly Target[]
  /** The field is in these shapes and no other; `exclude` still applies on top. */
  readonly only?: Target | readonly Target[]
  readonly rules?: FieldRules
  /** Replaces the schema derived from the model. */
  readonly schema?: Schema
  /** Default: whether the query shape has the field. */
  readonly filterable?: boolean
  /** Default: whether the query shape has the field. */
  readonly sortable?: boolean
  /** How a DECIMAL stands on the wire. Default: a number up to 15 declared digits, else text. */
  readonly decimal?: 'string' | 'number'
}

export interface QueryOptions {
  /** Default true. */
  readonly sortable?: boolean
  /** A sort expression used when the request has none. Default: the key. */
  readonly defaultSort?: string
  /** Default `asc`. */
  readonly defaultDirection?: Direction
  /** What a name that is no field does to a request: 400, or as if it were not written. Default `reject`. */
  readonly unknownFields?: 'reject' | 'ignore'
  /** What a query parameter that the list does not know does to a request: 400, or nothing. Default `ignore`. */
  readonly unknownParameters?: 'reject' | 'ignore'
  /** Items per page. Default 20. */
  readonly pageSize?: number
  /** The most items that a request may ask for in a page. Default 1000. */
  readonly maxPageSize?: number
  /**
   * Whether a page by number counts all records where the request does not say: without, `totalCount` and `totalPages` are
   * null. `count=exact` and `count=none` in a request win. Default `exact`.
   */
  readonly total?: 'exact' | 'none'
}

/** What `relations` says of one association. */
export type RelationOption = boolean | { readonly fields: readonly string[] }

/**
 * The options of `crudRouter`, `crudController` and `queryOf`. All are optional. Those of the optional behaviours are
 * declared with them, in lib/behaviour and lib/push.
 */
export interface CrudOptions<M extends Model = Model> {
  /** The whole path, `api/v2/players`; wins over `routePrefix`. */
  readonly route?: string
  /** `v2` gives `api/v2/players`. */
  readonly routePrefix?: string
  /** The attribute that is the key: the only primary key, or unique by itself. Default `id`, or the model's own single primary key. */
  readonly keyProperty?: AttributeName<M>
  /** A sum of `Operations`, or names. Default `Operations.All`. */
  readonly operations?: number | readonly OperationName[]
  /** Runs first on every route of the resource, and in front of every handler of `crudController`. */
  readonly use?: RequestHandler | readonly RequestHandler[]
  /**
   * The last word on the router before its routes are added; not for `crudController`, which makes none. Routes that it adds
   * are open to everybody but for what `guard` refuses.
   */
  readonly configure?: (router: Router, own: OwnRoutes) => void

  readonly fields?: { readonly [attribute in keyof Attributes<M>]?: FieldOptions }
  /** To-one associations or JSON attributes whose members become members of the response: `team` gives `teamName`. */
  readonly flatten?: readonly FlattenName<M>[]
  /** The names of the shapes in documents. */
  readonly names?: ShapeNames
  /** What a body property that is no attribute does. Default `ignore`. */
  readonly unknownProperties?: 'ignore' | 'reject'

  /**
   * Which associations paths may cross. `true` (the default) opens those whose target has a resource of its own;
   * an object says so for each, `{ fields }` also for a target without one. Associations it leaves out stay at the
   * default.
   */
  readonly relations?: boolean | { readonly [association: string]: RelationOption }
  readonly query?: QueryOptions
  readonly limits?: Partial<Limits>

  /** Tells who sends a request. Default `identityFromRequest`. */
  readonly identity?: IdentityFunction
  /** Hears of unexpected errors after the reply is safe. What it throws is dropped. */
  readonly onError?: (error: unknown, request: Request) => void
  /** Says the package's own messages of fields in other words: `(code, parameters) => string | undefined`. */
  readonly messages?: Messages
  /**
   * `ignore` mounts a model that has a `toJSON` of its own, which is never called: what it hides, `fields` must hide. Without
   * it such a model is refused.
   */
  readonly toJSON?: 'ignore'
}

/** The options that `createCrud` shares between resources, and the Socket.IO server of those that push. */
export type CrudDefaults = Pick<CrudOptions, 'identity' | 'policies' | 'limits' | 'onError' | 'messages' | 'toJSON'> & {
  readonly io?: Server
}
