import type { ObjectSchema } from 'joi'
import type { Attributes, Model, ModelStatic } from 'sequelize'
import type { ModelOf, OptionsOf } from '../../types/carrier.js'
import type { FieldName, RelationName } from '../../types/names.js'
import type { Items } from '../../types/reply.js'
import type { CreateOf, EventsOf, ListItemOf, NamingOf, PatchOf, RowOf } from '../../types/shapes.js'
import type { OPERATIONS } from '../operations.js'

/** Types of a resource for a client: written by `clientTypes`, or inferred from a router's type. */
export interface Shapes {
  /** A record as returned by GET by id, with JSON names and JSON types. */
  readonly row: object
  /** Item of a list. */
  readonly item: object
  /** Body of POST. */
  readonly create: object
  /** Body of PATCH. Every member is optional. */
  readonly patch: object
  /** Name of the key member, or names of its parts. */
  readonly key: string | readonly string[]
  /** Names of the enabled operations. */
  readonly operations: string
  /** Members that `select` may add over relations. */
  readonly embedded?: object
  /** True if the resource has versions (`concurrency`). */
  readonly versions?: boolean
  /** Name of the version member in batches: `rowVersion`. */
  readonly version?: string
  readonly events?: Events
  /** Actions by name, or undefined. */
  readonly actions?: ActionShapes | undefined
}

/** Location and method of an action. */
export interface ActionPlace {
  readonly on: 'record' | 'collection'
  readonly method: 'post' | 'get'
}

/** Location, input type and output type of an action. */
export interface ActionShape extends ActionPlace {
  readonly input: unknown
  readonly output: unknown
}

export type ActionShapes = Readonly<Record<string, ActionShape>>

/** Payloads of push events, by event name. */
export interface Events {
  readonly OnCreated: (record: never) => void
  readonly OnUpdated: (record: never) => void
  readonly OnDeleted: (key: never, version?: never) => void
  readonly OnMissed?: () => void
}

/** Resource types from a client's type argument: a router's type, a type from `clientTypes`, or a row. */
export type ShapesFor<R> = R extends Omit<Shapes, 'operations' | 'key'> & Partial<Shapes>
  ? Declared<R>
  : ModelOf<R> extends ModelStatic<Model>
    ? Inferred<R, OptionsOf<R>>
    : { row: R; item: R; create: Partial<R>; patch: Partial<R>; key: DefaultKey<R> | 'id'; operations: string }

type Declared<R> = R &
  (R extends { readonly key: unknown } ? unknown : { readonly key: 'id' }) &
  (R extends { readonly operations: unknown } ? unknown : { readonly operations: string })

interface Inferred<R, O> {
  readonly row: ShownRecord<O, RowOf<R>>
  readonly item: ShownRecord<O, ListItemOf<R>>
  readonly create: CreateOf<R>
  readonly patch: PatchOf<R>
  readonly key: KeyNames<O, RowOf<R>>
  readonly operations: OperationsIn<O>
  readonly embedded: Embedded<ModelOf<R>, O>
  readonly versions: O extends { readonly concurrency: true | object } ? true : false
  readonly version: VersionName<O>
  readonly events: EventsOf<R>
  readonly actions: ActionsIn<O, ShownRecord<O, RowOf<R>, unknown>, ListItemOf<R>>
}

/** Form of the option `format`. The option's own type would require the types of Express. */
type FormatLike = (...given: never[]) => unknown

/** A record in responses. If the resource has `format`, it is the result of that function. */
type ShownRecord<O, T, Made = Readonly<Record<string, unknown>>> = O extends { readonly format: FormatLike } ? Made : T

/** Types of the actions in a resource's options, or undefined without actions. */
type ActionsIn<O, Row, Item> = O extends { readonly actions: infer A }
  ? {
      readonly [name in keyof A]: A[name] extends ActionPlace
        ? {
            readonly on: A[name]['on']
            readonly method: A[name]['method']
            readonly input: InputOf<A[name]>
            readonly output: OutputOf<A[name], Row, Item>
          }
        : never
    }
  : undefined

type InputOf<A> = A extends { readonly input: ObjectSchema<infer T> }
  ? IsAny<T> extends true
    ? Readonly<Record<string, unknown>>
    : T
  : undefined

type OutputOf<A extends ActionPlace, Row, Item> = A extends { readonly output: infer Out }
  ? Out extends keyof ActionOutputs<Row, Item>
    ? ActionOutputs<Row, Item>[Out]
    : ValidatedValue<Out>
  : ActionOutputs<Row, Item>[A['on'] extends 'record' ? 'record' : A['method'] extends 'get' ? 'list' : 'none']

/** Type of the values that a schema accepts. `unknown` if the schema declares no type. */
type ValidatedValue<S> = S extends { readonly validate: (...given: never[]) => infer R }
  ? Extract<R, { readonly error: undefined }> extends { readonly value: infer T }
    ? IsAny<T> extends true
      ? unknown
      : T
    : unknown
  : unknown

interface ActionOutputs<Row, Item> {
  readonly record: Row
  readonly list: unknown extends Row ? unknown : Items<Item>
  readonly none: undefined
}

type IsAny<T> = 0 extends 1 & T ? true : false

type KeyNames<O, Row> = O extends { readonly keyProperty: infer K }
  ? K extends string
    ? FieldName<O, K>
    : K extends readonly string[]
      ? { readonly [I in keyof K]: FieldName<O, K[I] & string> }
      : DefaultKey<Row>
  : DefaultKey<Row>

/**
 * Key of a resource without the option `keyProperty`: `id`, if it exists. Otherwise any member or members, because types
 * do not know the primary key.
 */
type DefaultKey<Row> = string extends keyof Row
  ? string | readonly string[]
  : 'id' extends keyof Row
    ? 'id'
    : (keyof Row & string) | readonly (keyof Row & string)[]

/** Name of the version member, or null without versions. */
type VersionName<O> = O extends { readonly concurrency: infer C extends true | object }
  ? C extends { readonly rowVersion: infer N extends string }
    ? FieldName<O, N>
    : FieldName<O, 'rowVersion'>
  : null

type Name = keyof typeof OPERATIONS

/** Operations that one of the named operations enables too, because both share a flag. */
type EnabledTogether<Names extends string> = {
  [N in Name]: (typeof OPERATIONS)[N] extends { readonly with: infer W extends string }
    ? Lowercase<W> extends Lowercase<Names>
      ? N
      : never
    : never
}[Name]

type Flag<F> = { [N in Name]: (typeof OPERATIONS)[N]['flag'] extends F ? N : never }[Name]
type All = 'getById' | 'getList' | 'create' | 'update' | 'delete'
type Bulk = 'bulkCreate' | 'bulkDelete'

/** Operations of each named sum of flags: `Operations.All` is 31. */
interface Sums {
  readonly 3: 'getById' | 'getList'
  readonly 28: 'create' | 'update' | 'delete'
  readonly 31: All
  readonly 96: Bulk
  readonly 127: All | Bulk
}

/**
 * Operations that a resource's options enable. TypeScript gives `Operations.All | Operations.Replace` the type
 * `number`, so any operation is possible.
 */
type OperationsIn<O> = O extends { readonly operations: infer Given }
  ? Given extends readonly (infer Each extends string)[]
    ? { [N in Name]: Lowercase<N> extends Lowercase<Each> ? N : never }[Name] | EnabledTogether<Each>
    : Given extends number
      ? number extends Given
        ? string
        : Given extends keyof Sums
          ? Sums[Given]
          : [Flag<Given>] extends [never]
            ? string
            : Flag<Given>
      : string
  : All

/**
 * Relation members that the model class declares. The members reach one relation deep, and every member is optional.
 */
type Embedded<S, O> =
  S extends ModelStatic<infer M>
    ? {
        [K in Exclude<keyof M, keyof Model | keyof Attributes<M>> & string as RecordIn<M[K]> extends never
          ? never
          : RelationName<O, K>]?: NonNullable<M[K]> extends readonly unknown[]
          ? readonly Members<RecordIn<M[K]>, O>[]
          : Members<RecordIn<M[K]>, O> | null
      } & {
        [K in Collections<M> as `${RelationName<O, K>}@more`]?: true
      } & {
        [K in Collections<M> as `${RelationName<O, K>}Count`]?: number
      }
    : object

/** Names of a model's members that are arrays of records. */
type Collections<M> = {
  [K in Exclude<keyof M, keyof Model> & string]: NonNullable<M[K]> extends readonly unknown[]
    ? [RecordIn<M[K]>] extends [never]
      ? never
      : K
    : never
}[Exclude<keyof M, keyof Model> & string]

type RecordIn<V> =
  NonNullable<V> extends readonly (infer Each)[] ? Extract<Each, Model> : Extract<NonNullable<V>, Model>

type Members<M, O> = M extends Model ? Partial<RowOf<ModelStatic<M>, NamingOf<O>>> : never
