import type { Schema } from 'joi'
import type { Attributes, Model, ModelStatic } from 'sequelize'
import type { OperationName } from '../lib/operations.js'
import type { ActionOptions } from './action.js'
import type { ComputedField } from './computed.js'
import type { Deprecated } from './deprecated.js'
import type { Request, RequestHandler, Router } from './express.js'
import type { ItemType, MemberType, Target } from './field.js'
import type { IdentityFunction } from './identity.js'
import type { ResourceInfo } from './info.js'
import type { Messages } from './messages.js'
import type { AttributeName, FlattenName } from './names.js'
import type { OwnRoutes } from './ownRoutes.js'
import type { PushOptions } from './push.js'
import type { Direction } from './query.js'
import type { FormatFunction } from './reply.js'
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

/** Whether a name is that of an attribute or of an association. */
export type NamedKind = 'field' | 'relation'

/** Makes the name in the API of an attribute or an association. Names are letters, digits and `_`. */
export type NamingFunction = (
  name: string,
  of: { readonly model: ModelStatic<Model>; readonly kind: NamedKind },
) => string

export interface FieldOptions {
  /** Its name in the API. Default: the one that `naming` makes. */
  readonly name?: string
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
  /**
   * Of a JSON attribute: the members that paths lead to, by their own paths in the document, such as `address.city`. The path `''` is
   * the whole document where that is an array: `{ '': ['string'] }`.
   */
  readonly members?: { readonly [path: string]: MemberDeclaration }
  /** Marks the field in documents and declarations of types. Default: false. */
  readonly deprecated?: false | Deprecated
  /** How a DECIMAL stands on the wire. Default: a number up to 15 declared digits, else text. */
  readonly decimal?: 'string' | 'number'
}

/** The type of a member of a JSON document, or of the items of an array in brackets: `['string']`. */
export type MemberDeclaration = MemberType | readonly [ItemType]

/** What `search` looks through: fields of text, by attribute, or by a path over to-one relations such as `team.name`. */
export type SearchPath<M extends Model = Model> = AttributeName<M> | `${string}.${string}`

export interface QueryOptions<M extends Model = Model> {
  /** Default true. */
  readonly sortable?: boolean
  /** A sort expression used when the request has none. Default: the key. */
  readonly defaultSort?: string
  /** Default `asc`. */
  readonly defaultDirection?: Direction
  /** What a name that is no field does to a request: 400, or as if it were not written. Default `reject`. */
  readonly unknownFields?: 'reject' | 'ignore'
  /**
   * What an unknown query parameter does to a read: 400, or nothing. A list of names and prefixes (`['utm_*', '_']`) lets these
   * through and refuses others. Default `reject`.
   */
  readonly unknownParameters?: 'reject' | 'ignore' | readonly string[]
  /** Items per page. Default 20. */
  readonly pageSize?: number
  /** The most items that a request may ask for in a page. Default 1000. */
  readonly maxPageSize?: number
  /**
   * Whether a page by number counts all records where the request does not say: without, `totalCount` and `totalPages` are
   * null. `count=exact` and `count=none` in a request win. Default `exact`.
   */
  readonly total?: 'exact' | 'none'
  /**
   * Switches the parameter `search` on. `fullText` uses the database's own index of words over fields of the model itself, which
   * the host creates; SQLite has none. Default: no such parameter.
   */
  readonly search?:
    | readonly SearchPath<M>[]
    | { readonly fields: readonly SearchPath<M>[]; readonly fullText?: boolean }
}

/** The options of one association in `relations`: true, false, or an object with `name`, `fields` or some of the other members. */
export type RelationOption = boolean | RelationOptions

export interface RelationOptions {
  /** Its name in the API, in paths of routes as well. Default: the one that `naming` makes. */
  readonly name?: string
  /** The attributes of the target that paths may reach, also where it has no resource. Not with `routes`, `write` and `resource`. */
  readonly fields?: readonly string[]
  /** Adds the routes below each record's own: `/api/teams/7/players`. Default false. */
  readonly routes?: boolean
  /** Lets bodies hold the relation's records, or the keys of a many-to-many; not for a belongsTo. Default false. */
  readonly write?: boolean
  /**
   * The router, or a function that gives it, by which `routes` and `write` treat the target's records. Default: the only one
   * over the target.
   */
  readonly resource?: Mounted | (() => Mounted)
}

/** What a router carries. */
interface Mounted {
  readonly resource: ResourceInfo
}

export interface ExportOptions {
  /**
   * What is done to text in CSV that a spreadsheet would take for a formula: an apostrophe is put in front (`escape`), or nothing.
   * Default `escape`.
   */
  readonly formulas?: 'escape' | 'keep'
}

/**
 * The options of `crudRouter`, `crudController` and `queryOf`. All are optional. Those of the optional behaviours are
 * declared with them, in lib/behaviour and lib/push.
 */
export interface CrudOptions<M extends Model = Model> {
  /** The whole path, `api/v2/players`; wins over `routePrefix`. */
  readonly route?: string
  /** `v2` gives `api/v2/players`. */
  readonly routePrefix?: string
  /**
   * The attribute that is the key, the only primary key or unique by itself; or several that are so together. Default `id`, or
   * the model's primary key.
   */
  readonly keyProperty?: AttributeName<M> | readonly AttributeName<M>[]
  /** A sum of `Operations`, or names. Default `Operations.All`. */
  readonly operations?: number | readonly OperationName[]
  /** Runs first on every route of the resource, and in front of every handler of `crudController`. */
  readonly use?: RequestHandler | readonly RequestHandler[]
  /**
   * The last word on the router before its routes are added; not for `crudController`, which makes none. Routes that it adds
   * are open to everybody but for what `guard` refuses.
   */
  readonly configure?: (router: Router, own: OwnRoutes) => void

  /** By attribute, or by computed field: these take `exclude`, `only` and `name`. */
  readonly fields?: { readonly [attribute in keyof Attributes<M>]?: FieldOptions }
  /** Fields that the application computes for responses. Bodies, filters, sorts and aggregates do not have them. */
  readonly computed?: { readonly [name: string]: ComputedField<M> }
  /** To-one associations or JSON attributes whose members become members of the response: `team` gives `teamName`. */
  readonly flatten?: readonly FlattenName<M>[]
  /**
   * The names of attributes and associations in JSON, parameters, paths and documents: in camelCase, those of the model, or what a function
   * makes. `fields.x.name` and `relations.y.name` win. Default `camel`.
   */
  readonly naming?: 'camel' | 'attribute' | NamingFunction
  /** The names of the shapes in documents. */
  readonly names?: ShapeNames
  /** What a body property that is no attribute does. Misspelt ones are always refused. Default `ignore`. */
  readonly unknownProperties?: 'ignore' | 'reject'

  readonly export?: ExportOptions
  /**
   * Makes the bodies of JSON replies of records and lists, for clients of another API: `({ reply, request }) => body`. Status and headers
   * stay. Exports, counts, problems and push are as they are.
   */
  readonly format?: FormatFunction

  /**
   * Which associations paths may cross. `true` (the default) opens those whose target has a resource of its own;
   * an object says so for each, `{ fields }` also for a target without one, and asks for routes and nested bodies.
   * Associations it leaves out stay at the default.
   */
  readonly relations?: boolean | { readonly [association: string]: RelationOption }
  /** Routes of the resource's own kind: `POST /api/players/1/publish`, by name. */
  readonly actions?: { readonly [name: string]: ActionOptions<M> }
  readonly query?: QueryOptions<M>
  readonly limits?: Partial<Limits>

  /** Tells who sends a request. Default `identityFromRequest`. */
  readonly identity?: IdentityFunction
  /** Hears of unexpected errors after the reply is safe. What it throws is dropped. */
  readonly onError?: (error: unknown, request: Request) => void
  /** Says the package's own messages of fields in other words: `(code, parameters) => string | undefined`. */
  readonly messages?: Messages
  /** Whether statements that run often are prepared by name on PostgreSQL. Default true. */
  readonly namedStatements?: boolean
  /**
   * `request`: each write is one transaction, in which policies, hooks and the write run, and which is committed before the answer.
   * It needs `Sequelize.useCLS`.
   */
  readonly transaction?: 'request'
  /**
   * Whether replies have the header `Server-Timing`, with milliseconds of parsing, planning and the database; or a function that tells for a
   * request. Default false.
   */
  readonly serverTiming?: boolean | ((request: Request) => boolean)
  /**
   * `ignore` mounts a model that has a `toJSON` of its own, which is never called: what it hides, `fields` must hide. Without
   * it such a model is refused.
   */
  readonly toJSON?: 'ignore'
}

/** Options by attribute, and by further names. */
type Further<By> = By | (By & { readonly [name: string]: By[keyof By] | undefined })

/** Options whose members `fields` and `mask` name computed fields as well. Which of their names exist, `KnownNames` tells. */
export interface WrittenOptions<M extends Model> extends Omit<CrudOptions<M>, 'fields' | 'mask'> {
  readonly fields?: Further<NonNullable<CrudOptions<M>['fields']>>
  readonly mask?: Further<NonNullable<CrudOptions<M>['mask']>>
}

/** The options that are about one model. */
type OfOneModel =
  | 'actions'
  | 'route'
  | 'keyProperty'
  | 'configure'
  | 'fields'
  | 'computed'
  | 'flatten'
  | 'names'
  | 'relations'
  | 'scope'
  | 'singleton'
  | 'mask'
  | 'hooks'

/** The defaults of `createCrud`: every option that is not about one model, and the Socket.IO server of those that push. */
export type CrudDefaults = Omit<CrudOptions, OfOneModel | 'push'> & {
  readonly push?: boolean | Omit<PushOptions, 'path'>
  readonly io?: Server
}
