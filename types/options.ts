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

/** Validation rules in addition to the rules of the model. Both apply. */
export interface FieldRules {
  /**
   * Whether bodies must have the field. `false` makes the field optional even if the model has `allowNull: false`;
   * hooks or the database must set its value.
   */
  readonly required?: boolean
  /** The minimum length in characters (Unicode code points). */
  readonly minLength?: number
  /**
   * The maximum length in characters, checked before any pattern. Default 10000 for a text field with a pattern if its
   * column has no length.
   */
  readonly maxLength?: number
  readonly min?: number
  readonly max?: number
  readonly email?: boolean
  readonly match?: RegExp
}

/** Whether a name belongs to an attribute or to an association. */
export type NamedKind = 'field' | 'relation'

/** Returns the API name of an attribute or an association: letters, digits and `_`. */
export type NamingFunction = (
  name: string,
  of: { readonly model: ModelStatic<Model>; readonly kind: NamedKind },
) => string

export interface FieldOptions {
  /** The field's name in the API. Default: the name by `naming`. */
  readonly name?: string
  /**
   * `true` removes the field everywhere. Names of targets remove the field only from bodies, queries, responses or
   * lists.
   */
  readonly exclude?: true | Target | readonly Target[]
  /** The only targets that have the field. `exclude` is applied afterwards. */
  readonly only?: Target | readonly Target[]
  readonly rules?: FieldRules
  /** A joi schema that replaces the field's rules. */
  readonly schema?: Schema
  /** Whether filters accept the field. Default: whether the target `query` has it. */
  readonly filterable?: boolean
  /** Whether sorts accept the field. Default: whether the target `query` has it. */
  readonly sortable?: boolean
  /**
   * For a JSON attribute: the members that query paths may use, by their path in the JSON value, such as `address.city`.
   * The path `''` is the whole value, if it is an array: `{ '': ['string'] }`.
   */
  readonly members?: { readonly [path: string]: MemberDeclaration }
  /** Marks the field as deprecated in OpenAPI documents and generated types. Default: false. */
  readonly deprecated?: false | Deprecated
  /** The JSON type of a DECIMAL. Default: `number` up to 15 declared digits, otherwise `string`. */
  readonly decimal?: 'string' | 'number'
}

/** The type of a JSON member. Brackets enclose the item type of an array: `['string']`. */
export type MemberDeclaration = MemberType | readonly [ItemType]

/** A field that `search` reads: a text attribute, or a path over to-one relations such as `team.name`. */
export type SearchPath<M extends Model = Model> = AttributeName<M> | `${string}.${string}`

export interface QueryOptions<M extends Model = Model> {
  /** Whether requests may sort lists. Default true. */
  readonly sortable?: boolean
  /** The sort expression of requests without `sort`. Default: the key. */
  readonly defaultSort?: string
  /** Default `asc`. */
  readonly defaultDirection?: Direction
  /** The effect of an unknown field name in a request: a 400 error, or none. Default `reject`. */
  readonly unknownFields?: 'reject' | 'ignore'
  /**
   * The effect of an unknown query parameter on a read: a 400 error, or none. A list of names and prefixes (`['utm_*',
   * '_']`) ignores matching parameters and rejects all others. Default `reject`.
   */
  readonly unknownParameters?: 'reject' | 'ignore' | readonly string[]
  /** Items per page. Default 20. */
  readonly pageSize?: number
  /** The largest page size that a request may ask for, in items. Default 1000. */
  readonly maxPageSize?: number
  /**
   * Whether a numbered page counts all records. With `none`, `totalCount` and `totalPages` are null. The parameter
   * `count` (`exact`, `none`) overrides this option. Default `exact`.
   */
  readonly total?: 'exact' | 'none'
  /**
   * Enables the parameter `search`. `fullText` uses a full-text index of the database over the model's own fields. The
   * host creates the index; SQLite has none. Default: no such parameter.
   */
  readonly search?:
    | readonly SearchPath<M>[]
    | { readonly fields: readonly SearchPath<M>[]; readonly fullText?: boolean }
}

/** The option of one association in `relations`: true, false, or an object with `name`, `fields` or other members. */
export type RelationOption = boolean | RelationOptions

export interface RelationOptions {
  /** The relation's name in the API, also in routes. Default: the name by `naming`. */
  readonly name?: string
  /**
   * The attributes of the target that paths may use, even if the target has no resource. Cannot be combined with
   * `routes`, `write` and `resource`.
   */
  readonly fields?: readonly string[]
  /** Adds routes below each record: `/api/teams/7/players`. Default false. */
  readonly routes?: boolean
  /** Accepts the relation's records in bodies, or the keys of a many-to-many. Not for a belongsTo. Default false. */
  readonly write?: boolean
  /**
   * The router for the target's records in `routes` and `write`, or a function that returns it. Default: the only
   * router over the target.
   */
  readonly resource?: MountedResource | (() => MountedResource)
}

/** A value with a compiled resource, such as a router. */
interface MountedResource {
  readonly resource: ResourceInfo
}

export interface ExportOptions {
  /**
   * The treatment of text in CSV that a spreadsheet would run as a formula. `escape` puts an apostrophe in front;
   * `keep` leaves it. Default `escape`.
   */
  readonly formulas?: 'escape' | 'keep'
}

/**
 * The options of `crudRouter`, `crudController` and `queryOf`. All are optional. Options of optional behaviours are
 * declared in lib/behaviour and lib/push.
 */
export interface CrudOptions<M extends Model = Model> {
  /** The whole path of the resource, such as `api/v2/players`. Takes precedence over `routePrefix`. */
  readonly route?: string
  /** A prefix of the default path: `v2` gives `api/v2/players`. */
  readonly routePrefix?: string
  /**
   * The attribute that is the key: the only primary key, or a unique attribute. Several attributes are a composite key.
   * Default `id`, or the model's primary key.
   */
  readonly keyProperty?: AttributeName<M> | readonly AttributeName<M>[]
  /** The enabled operations: a combination of `Operations` (`|`), or a list of names. Default `Operations.All`. */
  readonly operations?: number | readonly OperationName[]
  /** Middleware that runs first on every route of the resource, and before every handler of `crudController`. */
  readonly use?: RequestHandler | readonly RequestHandler[]
  /**
   * Configures the router before its routes are added; not for `crudController`, which has no router. Routes added here
   * are open to everybody unless they use `guard`.
   */
  readonly configure?: (router: Router, own: OwnRoutes) => void

  /**
   * Options of fields, by the name of the attribute or computed field. Computed fields accept `exclude`, `only`, `name`
   * and `deprecated`.
   */
  readonly fields?: { readonly [attribute in keyof Attributes<M>]?: FieldOptions }
  /** Fields that the application computes for responses. Bodies, filters, sorts and aggregates do not accept them. */
  readonly computed?: { readonly [name: string]: ComputedField<M> }
  /** To-one associations or JSON attributes whose members are added to the response: `team` adds `teamName`. */
  readonly flatten?: readonly FlattenName<M>[]
  /**
   * The names of attributes and associations in JSON, parameters, paths and OpenAPI documents: camelCase, as in the
   * model, or by a function. `fields.x.name` and `relations.y.name` take precedence. Default `camel`.
   */
  readonly naming?: 'camel' | 'attribute' | NamingFunction
  /** The names of the resource's schemas in OpenAPI documents. */
  readonly names?: ShapeNames
  /** The effect of an unknown body property. Misspelt attribute names are always refused. Default `ignore`. */
  readonly unknownProperties?: 'ignore' | 'reject'

  readonly export?: ExportOptions
  /**
   * Returns the body of a JSON reply with records, for clients of another API: `({ reply, request }) => body`. Status
   * and headers stay unchanged. The function is not called for exports, counts, problems and push events.
   */
  readonly format?: FormatFunction

  /**
   * The associations that query paths such as `team.name` may use. `true` (the default) opens every association whose
   * target has a resource. An object sets options per association; `{ fields }` also opens a target without a resource.
   * Associations that the object omits keep the default.
   */
  readonly relations?: boolean | { readonly [association: string]: RelationOption }
  /** Additional routes by name: `POST /api/players/1/publish`. */
  readonly actions?: { readonly [name: string]: ActionOptions<M> }
  readonly query?: QueryOptions<M>
  readonly limits?: Partial<Limits>

  /** Identifies the caller of a request. Default `identityFromRequest`. */
  readonly identity?: IdentityFunction
  /** Called with unexpected errors after the reply is determined. Errors of the function itself are dropped. */
  readonly onError?: (error: unknown, request: Request) => void
  /** Translates the package's field messages: `(code, parameters) => string | undefined`. */
  readonly messages?: Messages
  /** Whether frequent statements are prepared by name on PostgreSQL. Default true. */
  readonly namedStatements?: boolean
  /**
   * `request`: each write is one transaction with its policies and hooks. The transaction is committed before the
   * response is sent. Requires `Sequelize.useCLS`.
   */
  readonly transaction?: 'request'
  /**
   * Whether replies have the header `Server-Timing`, with milliseconds of parsing, planning and the database. A
   * function decides per request. Default false.
   */
  readonly serverTiming?: boolean | ((request: Request) => boolean)
  /**
   * `ignore` mounts a model that overrides `toJSON`. The method is never called, so exclude by `fields` the fields that
   * the method hides. By default such a model is refused.
   */
  readonly toJSON?: 'ignore'
}

/** Options by attribute name that also accept other names, such as computed fields. */
type WithOtherNames<By> = By | (By & { readonly [name: string]: By[keyof By] | undefined })

/** Options whose `fields` and `mask` accept computed fields as well. `KnownNames` checks the names. */
export interface OptionsWithComputed<M extends Model> extends Omit<CrudOptions<M>, 'fields' | 'mask'> {
  readonly fields?: WithOtherNames<NonNullable<CrudOptions<M>['fields']>>
  readonly mask?: WithOtherNames<NonNullable<CrudOptions<M>['mask']>>
}

/** The options that belong to one model. */
type ModelOption =
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

/**
 * The defaults of `createCrud`: every option that does not belong to one model, and the Socket.IO server for `push`.
 */
export type CrudDefaults = Omit<CrudOptions, ModelOption | 'push'> & {
  readonly push?: boolean | Omit<PushOptions, 'path'>
  readonly io?: Server
}
