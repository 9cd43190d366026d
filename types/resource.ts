import type { Request } from 'express'
import type { Association, Model, ModelStatic } from 'sequelize'
import type { OperationName } from '../lib/operations.js'
import type { Behaviours, Facts } from './behaviour.js'
import type { Field, JsonValue, Value } from './field.js'
import type { IdentityFunction } from './identity.js'
import type { ResourceInfo } from './info.js'
import type { SortNode } from './query.js'

export type { OperationName }

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

/** The most characters that the text of an attribute may have where the model's own patterns meet it. */
export interface TextBound {
  readonly attribute: string
  readonly json: string
  readonly max: number
  /** What is said of longer ones. */
  readonly message: string
}

/** An association as the query language sees it. `reach` resolves the target and is asked on every use. */
export interface Relation {
  /** The association's name (`as`) in Sequelize. */
  readonly name: string
  readonly json: string
  readonly many: boolean
  /** Of a to-one relation: whether nothing in the models says that it leads to one record at most. */
  readonly doubtful: boolean
  readonly association: Association
  /** What may be reached behind it, or null: then the path does not exist. */
  readonly reach: () => Reach | null
  /** The table between the two ends of a many-to-many; null for other relations. */
  readonly link: Link | null
}

/** The table whose rows link the records of a many-to-many. */
export interface Link {
  readonly model: ModelStatic<Model>
  /** Its foreign keys, by attribute. */
  readonly keys: readonly string[]
  /** The resources over it, whose consent a path needs as well. */
  readonly resources: () => readonly Resource[]
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

/** A Sequelize model compiled for serving: frozen, and everything that a request reads. */
export interface Resource extends ResourceInfo, Facts {
  readonly softDeletes: boolean
  /** Keys to the opaque tokens of keyset pages and back. */
  readonly cursor: {
    readonly encode: (key: string) => string
    readonly decode: (token: string) => string | null
  }
  /** By lower-cased JSON name. */
  readonly byName: ReadonlyMap<string, Field>
  /** The query parameters that stand for fields, by lower-cased JSON name. */
  readonly parameters: ReadonlyMap<string, Field>
  /** By lower-cased JSON name; found on first use, since models associate and routers mount in any order. */
  readonly relations: () => ReadonlyMap<string, Relation>
  readonly defaultSort: readonly SortNode[]
  /** What of Sequelize's own validation has a say in writes. */
  readonly validation: ModelValidation
  /** The attributes that take no null, and may be left to hooks or the database by a body. */
  readonly filled: readonly string[]
  /** The attributes whose values must be short enough before Sequelize validates them. */
  readonly bounded: readonly TextBound[]
  readonly validateCreate: Validator
  readonly validateUpdate: Validator
  /** Fulfilled when the two above can be called: what they take loads after mounting, and only where bodies come. */
  readonly canValidate: Promise<void>
  readonly behaviours: Behaviours
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
