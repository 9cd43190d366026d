import type { Attributes, CreationAttributes, CreationOptional, Model, ModelStatic } from 'sequelize'
import type { ModelOf, OptionsOf } from './carrier.js'
import type { Target } from './field.js'
import type { FieldName, RelationName } from './names.js'

/** The options that affect the types of records. Declare the options object `as const`. */
export interface ShapeOptions {
  readonly keyProperty?: string | undefined
  readonly fields?: object
  readonly computed?: object
  readonly mask?: object
  readonly concurrency?: boolean | object
  readonly relations?: object
  readonly naming?: unknown
}

type InstanceOf<M> = ModelOf<M> extends ModelStatic<infer I extends Model> ? I : never
type RowAttributes<M> = Attributes<InstanceOf<M>>

type KeyOf<O> = O extends { readonly keyProperty: infer K extends string | readonly string[] }
  ? K extends readonly string[]
    ? K[number]
    : K
  : 'id'

/** The type of the key in `OnDeleted`. A composite key is one text. */
type DeletedKey<M, O> = O extends { readonly keyProperty: readonly string[] }
  ? string
  : KeyOf<O> extends keyof RowAttributes<M>
    ? JsonTypeOf<RowAttributes<M>[KeyOf<O>], unknown>
    : string | number
type Settings<O, K> = O extends { readonly fields: infer F } ? (K extends keyof F ? F[K] : unknown) : unknown

type IncludesTarget<Given, T extends Target> = Given extends true
  ? true
  : [Extract<T, Given extends readonly (infer Each)[] ? Each : Given>] extends [never]
    ? false
    : true

/**
 * Whether a field's options include the field in a shape. A field excluded from the response is excluded from list
 * items too.
 */
type IsInShape<S, T extends Target> = S extends { readonly exclude: infer E }
  ? IncludesTarget<E, T | (T extends 'list' ? 'response' : never)> extends true
    ? false
    : IsInOnly<S, T>
  : IsInOnly<S, T>
type IsInOnly<S, T extends Target> = S extends { readonly only: infer N } ? IncludesTarget<N, T> : true

/** The attributes of a shape. */
type ShapeAttribute<M, O, T extends Target> = {
  [K in keyof RowAttributes<M> & string]: IsInShape<Settings<O, K>, T> extends true ? K : never
}[keyof RowAttributes<M> & string]

/** Removes the brand of Sequelize's `CreationOptional`. */
type WithoutBrand<V> = V extends CreationBrand ? (V extends infer T & CreationBrand ? T : V) : V
type CreationBrand = { [K in keyof CreationOptional<object>]?: true }

/** The JSON type of a value. */
export type JsonTypeOf<V, S> = V extends null
  ? null
  : S extends { readonly decimal: 'string' }
    ? string
    : S extends { readonly decimal: 'number' }
      ? number
      : V extends Date | Uint8Array
        ? string
        : V extends bigint
          ? number | string
          : WithoutBrand<V>

/** The type of a field in responses. A masked field may be null, 0 or false for callers without the permission. */
type MaskedValue<M, O, K extends keyof RowAttributes<M>> =
  | JsonTypeOf<NonNullable<RowAttributes<M>[K]> | Extract<RowAttributes<M>[K], null>, Settings<O, K>>
  | (O extends { readonly mask: infer F } ? (K extends keyof F ? null : never) : never)

/** Sequelize's timestamps. */
type Timestamp = 'createdAt' | 'updatedAt' | 'deletedAt'

/** The attributes that a new record may omit. */
type OptionalAttribute<M> = {
  [K in keyof CreationAttributes<InstanceOf<M>>]-?: object extends Pick<CreationAttributes<InstanceOf<M>>, K>
    ? K
    : never
}[keyof CreationAttributes<InstanceOf<M>>]

/** The attributes with the rule `required: false`, which hooks or the database fill. */
type FilledAttribute<M, O> = {
  [K in keyof RowAttributes<M> & string]: Settings<O, K> extends { readonly rules: { readonly required: false } }
    ? K
    : never
}[keyof RowAttributes<M> & string]

/** The attributes that bodies accept: no key assigned by the database, and no timestamps. */
type WritableAttribute<M, O, T extends 'create' | 'update'> = Exclude<
  ShapeAttribute<M, O, T>,
  | (T extends 'update'
      ? KeyOf<O>
      : O extends { readonly singleton: unknown }
        ? KeyOf<O>
        : Extract<OptionalAttribute<M>, KeyOf<O>>)
  | Extract<OptionalAttribute<M>, Timestamp>
>

/** The JSON types of computed fields, by their declared type. */
interface ComputedTypes {
  readonly string: string
  readonly integer: number
  readonly number: number
  readonly boolean: boolean
  readonly date: string
  readonly datetime: string
  readonly array: readonly string[]
}

type Computations<O> = O extends { readonly computed: infer C } ? C : object

/** The computed fields of a shape. */
type ComputedNames<O, T extends 'response' | 'list'> = {
  [K in keyof Computations<O> & string]: IsInShape<Settings<O, K>, T> extends true ? K : never
}[keyof Computations<O> & string]

type ComputedValue<D> =
  | (D extends { readonly type: infer T extends keyof ComputedTypes } ? ComputedTypes[T] : unknown)
  | (D extends { readonly nullable: true } ? null : never)

/** The type of a computed field. A masked field may be null, 0 or false for callers without the permission. */
type MaskedComputedValue<O, K extends keyof Computations<O>> =
  | ComputedValue<Computations<O>[K]>
  | (O extends { readonly mask: infer F } ? (K extends keyof F ? null : never) : never)

/** The version member in responses, if the model does not declare the version. */
type Version<M, O> = O extends { readonly concurrency: infer C extends { readonly inBody: true } }
  ? Exclude<C extends { readonly rowVersion: infer N extends string } ? N : 'rowVersion', keyof RowAttributes<M>>
  : never

/** The associations with the option `write`, whose records bodies accept. */
type NestedAssociation<O> = O extends { readonly relations: infer R }
  ? { [K in keyof R & string]: R[K] extends { readonly write: true } ? K : never }[keyof R & string]
  : never

/** The declared type of an association; unknown if the class does not declare it. */
type Declared<M, K> = K extends keyof InstanceOf<M> ? NonNullable<InstanceOf<M>[K]> : unknown

/** A nested record in a body. The target's rules and renamed fields are not known here. */
type NestedAssociationBody<V, O> = V extends readonly (infer Each)[]
  ? readonly (NestedRecordBody<Each, O> | string | number)[]
  : V extends Model
    ? NestedRecordBody<V, O>
    : object

type NestedRecordBody<V, O> = V extends Model
  ? {
      readonly [K in keyof Attributes<V> & string as FieldName<NamingOf<O>, K>]?: JsonTypeOf<Attributes<V>[K], unknown>
    } & {
      readonly [member: string]: unknown
    }
  : object

/** The option `naming`. Nested records are assumed to use the same `naming`. */
export type NamingOf<O> = O extends { readonly naming: infer N } ? { readonly naming: N } : object

type Flat<T> = { [K in keyof T]: T[K] }

/**
 * The record in responses of GET by id, POST and PATCH, inferred from the model and the options. Members from `flatten`
 * and changes by `schema` are not included.
 */
export type RowOf<M, O = OptionsOf<M>> = Flat<
  { [K in ShapeAttribute<M, O, 'response'> as FieldName<O, K>]: MaskedValue<M, O, K> } & {
    [K in Version<M, O> as FieldName<O, K>]: number
  } & { [K in ComputedNames<O, 'response'> as FieldName<O, K>]: MaskedComputedValue<O, K> }
>

/** The record as an item of a list. */
export type ListItemOf<M, O = OptionsOf<M>> = Flat<
  { [K in ShapeAttribute<M, O, 'list'> as FieldName<O, K>]: MaskedValue<M, O, K> } & {
    [K in Version<M, O> as FieldName<O, K>]: number
  } & { [K in ComputedNames<O, 'list'> as FieldName<O, K>]: MaskedComputedValue<O, K> }
>

/** The body of POST. The types of nested records come from the associations that the model's class declares. */
export type CreateOf<M, O = OptionsOf<M>> = Flat<
  {
    [K in Exclude<WritableAttribute<M, O, 'create'>, OptionalAttribute<M> | FilledAttribute<M, O>> as FieldName<
      O,
      K
    >]: JsonTypeOf<RowAttributes<M>[K], Settings<O, K>>
  } & {
    [K in Extract<WritableAttribute<M, O, 'create'>, OptionalAttribute<M> | FilledAttribute<M, O>> as FieldName<
      O,
      K
    >]?: JsonTypeOf<RowAttributes<M>[K], Settings<O, K>>
  } & { [K in NestedAssociation<O> as RelationName<O, K>]?: NestedAssociationBody<Declared<M, K>, O> }
>

/** The body of PATCH. Null clears a field; a missing member keeps it. */
export type PatchOf<M, O = OptionsOf<M>> = Flat<
  { [K in WritableAttribute<M, O, 'update'> as FieldName<O, K>]?: JsonTypeOf<RowAttributes<M>[K], Settings<O, K>> } & {
    [K in NestedAssociation<O> as RelationName<O, K>]?:
      | NestedAssociationBody<Declared<M, K>, O>
      | (Declared<M, K> extends readonly unknown[] ? never : null)
  }
>

/** The names of computed fields with `perCaller`. */
type PerCaller<O> = {
  [K in keyof Computations<O> & string]: Computations<O>[K] extends { readonly perCaller: true }
    ? FieldName<O, K>
    : never
}[keyof Computations<O> & string]

/** The record in push events, which have no `perCaller` fields. */
type PushedOf<M, O> = [PerCaller<O>] extends [never] ? RowOf<M, O> : Omit<RowOf<M, O>, PerCaller<O>>

/** The events of a hub, for a Socket.IO client: `Socket<EventsOf<typeof Order>>`. */
export interface EventsOf<M, O = OptionsOf<M>> {
  OnCreated: (record: PushedOf<M, O>) => void
  OnUpdated: (record: PushedOf<M, O>) => void
  OnDeleted: O extends { readonly concurrency: { readonly inBody: true } }
    ? (key: DeletedKey<M, O>, version?: number) => void
    : (key: DeletedKey<M, O>) => void
  /** Events may have been lost, so the client must list the records again. */
  OnMissed: () => void
}
