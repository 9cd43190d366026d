import type { Request, RequestHandler, Router } from 'express'
import type { Schema } from 'joi'
import type { Attributes, Model } from 'sequelize'
import type { Target } from './field.js'
import type { Hooks } from './hooks.js'
import type { IdentityFunction, Policy, PolicyRef, ScopeFunction } from './identity.js'
import type { PushOptions, Server } from './push.js'
import type { Direction } from './query.js'
import type { OperationName } from './resource.js'

/** The bounds on what one request may ask for. Each breach is a 400 that names the limit. */
export interface Limits {
  /** Characters of the `filter` parameter. Default 4096. */
  readonly filterLength: number
  /** Groups within groups, quantifier groups included. Default 10. */
  readonly nesting: number
  /** Comparisons in one filter. Default 100. */
  readonly clauses: number
  /** Values of one `=in=` or `=out=`. Default 200. */
  readonly listItems: number
  /** Keys of one `sort`. Default 10. */
  readonly sortKeys: number
  /** Paths of one `select`. Default 50. */
  readonly selectFields: number
  /** Relation hops in one path; quantifier words do not count. Default 3. */
  readonly pathDepth: number
  /** Records of one bulk request. Default 1000. */
  readonly bulkItems: number
  /** Bytes of one request body. Default 1048576 (1 MiB). */
  readonly bodySize: number
}

/** Rules added to those that the model declares; both apply. */
export interface FieldRules {
  readonly required?: boolean
  /** In characters (Unicode code points). */
  readonly minLength?: number
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
  /** Items per page. Default 20. */
  readonly pageSize?: number
  /** The most items that a request may ask for in a page. Default 1000. */
  readonly maxPageSize?: number
}

export interface ShapeNames {
  readonly create?: string
  readonly update?: string
  readonly response?: string
  readonly list?: string
  readonly query?: string
}

/** What `relations` says of one association. */
export type RelationOption = boolean | { readonly fields: readonly string[] }

/** The options of `crudRouter`, `crudController` and `queryOf`. All are optional. */
export interface CrudOptions<M extends Model = Model> {
  /** The whole path, `api/v2/players`; wins over `routePrefix`. */
  readonly route?: string
  /** `v2` gives `api/v2/players`. */
  readonly routePrefix?: string
  /** The attribute that is the key. Default `id`, or the model's own single primary key. */
  readonly keyProperty?: string
  /** A sum of `Operations`, or names. Default `Operations.All`. */
  readonly operations?: number | readonly OperationName[]
  /** Runs first on every route of the resource. */
  readonly use?: RequestHandler | readonly RequestHandler[]
  /** The last word on the router before its routes are added. */
  readonly configure?: (router: Router) => void

  readonly fields?: { readonly [attribute in keyof Attributes<M>]?: FieldOptions }
  /** To-one associations or JSON attributes whose members become members of the response: `team` gives `teamName`. */
  readonly flatten?: readonly string[]
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

  /**
   * Deleting marks records instead of removing their rows. `true`, or the names of the attributes that hold the mark;
   * those that the model lacks are added. Default: whether the model is `paranoid`, whose own mark is used.
   */
  readonly softDelete?: boolean | SoftDeleteOptions
  /** Records carry a version: responses an ETag, and PATCH needs an `If-Match` that fits. Default false. */
  readonly concurrency?: boolean | ConcurrencyOptions
  /** Records carry who wrote them and when. Default false. */
  readonly audit?: boolean | AuditOptions
  /** Attributes that only callers with a permission, or a role of that name, may read or write. */
  readonly mask?: { readonly [attribute: string]: string | MaskOptions }

  /** Tells who sends a request. Default `identityFromRequest`. */
  readonly identity?: IdentityFunction
  /** Decides on every operation that has no policy of its own. */
  readonly authorizePolicy?: PolicyRef
  readonly getByIdPolicy?: PolicyRef
  readonly getListPolicy?: PolicyRef
  /** POST and bulk create. */
  readonly createPolicy?: PolicyRef
  readonly updatePolicy?: PolicyRef
  /** DELETE and bulk delete. */
  readonly deletePolicy?: PolicyRef
  /** Who may list deleted records. Default: whoever is not anonymous, when any policy is set; else anyone. */
  readonly includeDeletedPolicy?: PolicyRef
  /** Default: `authorizePolicy`; without it whoever is not anonymous, when any policy is set; else anyone. */
  readonly restorePolicy?: PolicyRef
  /** What names of policies stand for. */
  readonly policies?: { readonly [name: string]: Policy }
  /** Limits every operation to the records that have these values. */
  readonly scope?: ScopeFunction

  /**
   * Tells the clients of a Socket.IO namespace what was created, updated and deleted. `true` takes the server of
   * `createCrud({ io })`. Default false.
   */
  readonly push?: boolean | PushOptions

  /** Run inside the transaction of each write, once per record. */
  readonly hooks?: Hooks<M>

  /** Hears of unexpected errors after the reply is safe. What it throws is dropped. */
  readonly onError?: (error: unknown, request: Request) => void
}

export interface SoftDeleteOptions {
  /** Default `isDeleted`. */
  readonly isDeleted?: string
  /** Default `deletedAt`. */
  readonly deletedAt?: string
}

export interface ConcurrencyOptions {
  /** Default `rowVersion`. */
  readonly rowVersion?: string
}

export interface AuditOptions {
  /** Default `createdAt`. */
  readonly createdAt?: string
  /** Default `updatedAt`. */
  readonly updatedAt?: string
  /** Default `createdBy`. */
  readonly createdBy?: string
  /** Default `updatedBy`. */
  readonly updatedBy?: string
}

/** Permissions by what they open. What is left out is open to everybody. */
export interface MaskOptions {
  readonly read?: string
  readonly write?: string
}

/** The options that `createCrud` shares between resources, and the Socket.IO server of those that push. */
export type CrudDefaults = Pick<CrudOptions, 'identity' | 'policies' | 'limits' | 'onError'> & { readonly io?: Server }
