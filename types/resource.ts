import type { Request } from 'express'
import type { Association, Model, ModelStatic } from 'sequelize'
import type { Behaviours } from './behaviour.js'
import type { Field, JsonValue, Value } from './field.js'
import type { IdentityFunction } from './identity.js'
import type { Limits, ShapeNames } from './options.js'
import type { Namespace } from './push.js'
import type { Direction, SortNode } from './query.js'

export type OperationName =
  | 'getById'
  | 'getList'
  | 'create'
  | 'update'
  | 'delete'
  | 'bulkCreate'
  | 'bulkDelete'
  | 'restore'

/** What a validated body becomes: attribute name to value. No entry, leave; null, clear; a value, write. */
export type Changes = ReadonlyMap<string, Value>

/** The verdict on a body. */
export type Validation = { readonly changes: Changes } | { readonly errors: Readonly<Record<string, string[]>> }

/**
 * `rules`: nothing that the rules do not say. `attributes`: its own validators, which look at one value each.
 * `instance`: code of the host, or setters, that may look at the whole record. `saved`: types or versions that only
 * Sequelize itself can write.
 */
export type ModelValidation = 'rules' | 'attributes' | 'instance' | 'saved'

export type Validator = (body: Readonly<Record<string, unknown>>) => Validation

/** An association as the query language sees it. `reach` resolves the target and is asked on every use. */
export interface Relation {
  /** The association's name (`as`) in Sequelize. */
  readonly name: string
  readonly json: string
  readonly many: boolean
  readonly association: Association
  /** What may be reached behind it, or null: then the path does not exist. */
  readonly reach: () => Reach | null
}

/** What a path may touch on one model: the intersection of what every resource mounted over it allows. */
export interface Reach {
  readonly model: ModelStatic<Model>
  /** By lower-cased JSON name. */
  readonly fields: ReadonlyMap<string, Field>
  readonly relations: ReadonlyMap<string, Relation>
  /** The resources whose consent the path needs; none where only explicit `relations` opened it. */
  readonly resources: readonly Resource[]
  /** The primary key, which tells a missing record from one whose other fields are null. */
  readonly presence: Field
}

/** The parts of a resource that list requests read. */
export interface QuerySettings {
  readonly sortable: boolean
  readonly defaultSort: string
  readonly defaultDirection: Direction
  readonly unknownFields: 'reject' | 'ignore'
  readonly pageSize: number
  readonly maxPageSize: number
}

/** A Sequelize model compiled for serving: frozen, and everything that a request reads. */
export interface Resource {
  /** The model's name. */
  readonly name: string
  readonly model: ModelStatic<Model>
  /** The path below the mount point, with a leading slash: `/api/players`. */
  readonly route: string
  readonly key: Field
  /** Whether keyset pages exist for the key's type. */
  readonly keyset: boolean
  /** Keys to the opaque tokens of keyset pages and back. */
  readonly cursor: {
    readonly encode: (key: string) => string
    readonly decode: (token: string) => string | null
  }
  readonly operations: ReadonlySet<OperationName>
  readonly fields: readonly Field[]
  /** By lower-cased JSON name. */
  readonly byName: ReadonlyMap<string, Field>
  /** The query parameters that stand for fields, by lower-cased JSON name. */
  readonly parameters: ReadonlyMap<string, Field>
  /** By lower-cased JSON name; found on first use, since models associate and routers mount in any order. */
  readonly relations: () => ReadonlyMap<string, Relation>
  /** The to-one associations and JSON attributes that are flattened into the response. */
  readonly flatten: readonly string[]
  /** True when some field is excluded for the list target, so that lists have a shape of their own. */
  readonly hasListShape: boolean
  readonly names: Required<ShapeNames>
  readonly query: QuerySettings
  readonly defaultSort: readonly SortNode[]
  readonly limits: Limits
  /** What of Sequelize's own validation has a say in writes. */
  readonly validation: ModelValidation
  readonly validateCreate: Validator
  readonly validateUpdate: Validator
  /** True when DELETE marks records, so that deleted ones can be listed and restored. */
  readonly softDeletes: boolean
  readonly behaviours: Behaviours
  /** The Socket.IO namespace that tells of changes; null without `push`. */
  readonly hub: Namespace | null
  /** Who sends a request; null where nothing asks. */
  readonly identity: IdentityFunction | null
  readonly onError: (error: unknown, request: Request) => void
}

/** A record as it goes over the wire. */
export type JsonRecord = { [name: string]: JsonValue }

/** What is sent: a null body is none. */
export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: object | null
}
