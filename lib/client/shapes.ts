import type { ObjectSchema } from 'joi'
import type { Attributes, Model, ModelStatic } from 'sequelize'
import type { ModelOf, OptionsOf } from '../../types/carrier.js'
import type { FieldName, RelationName } from '../../types/names.js'
import type { Items } from '../../types/reply.js'
import type { CreateOf, EventsOf, ListItemOf, NamingOf, PatchOf, RowOf } from '../../types/shapes.js'
import type { OPERATIONS } from '../operations.js'

/** What a client knows of a resource: what `clientTypes` writes, or what is inferred from a router's type. */
export interface Shapes {
  /** A record as GET by id answers it, JSON names and wire types. */
  readonly row: object
  /** An item of a list. */
  readonly item: object
  /** The body of POST. */
  readonly create: object
  /** The body of PATCH, every member optional. */
  readonly patch: object
  /** The member that is the key, or its parts. */
  readonly key: string | readonly string[]
  /** The names of the operations that are on. */
  readonly operations: string
  /** The members that `select` may add by crossing relations. */
  readonly embedded?: object
  /** True where the resource keeps versions (`concurrency`). */
  readonly versions?: boolean
  /** The member that has the version where several records are written at once: `rowVersion`. */
  readonly version?: string
  readonly events?: Events
  /** The actions by name; undefined for none. */
  readonly actions?: ActionShapes | undefined
}

/** Where an action is, and how it is asked for. */
export interface ActionPlace {
  readonly on: 'record' | 'collection'
  readonly method: 'post' | 'get'
}

/** Where an action is, what it takes and what it answers. */
export interface ActionShape extends ActionPlace {
  readonly input: unknown
  readonly output: unknown
}

export type ActionShapes = Readonly<Record<string, ActionShape>>

/** What the hub tells, by the name of the event. */
export interface Events {
  readonly OnCreated: (record: never) => void
  readonly OnUpdated: (record: never) => void
  readonly OnDeleted: (key: never, version?: never) => void
  readonly OnMissed?: () => void
}

/** The shapes of whatever a client is typed by: a router's type, what `clientTypes` wrote, or a row. */
export type ShapesFor<R> = R extends Omit<Shapes, 'operations' | 'key'> & Partial<Shapes>
  ? Declared<R>
  : ModelOf<R> extends ModelStatic<Model>
    ? Inferred<R, OptionsOf<R>>
    : { row: R; item: R; create: Partial<R>; patch: Partial<R>; key: PlainKey<R>; operations: string }

/** The key of a row that is not the type of a router: any name where the row has any members. */
type PlainKey<R> = string extends keyof R ? string | readonly string[] : 'id'

type Declared<R> = R &
  (R extends { readonly key: unknown } ? unknown : { readonly key: 'id' }) &
  (R extends { readonly operations: unknown } ? unknown : { readonly operations: string })

interface Inferred<R, O> {
  readonly row: Shown<O, RowOf<R>>
  readonly item: Shown<O, ListItemOf<R>>
  readonly create: CreateOf<R>
  readonly patch: PatchOf<R>
  readonly key: KeyNames<O, RowOf<R>>
  readonly operations: OperationsIn<O>
  readonly embedded: Embedded<ModelOf<R>, O>
  readonly versions: O extends { readonly concurrency: true | object } ? true : false
  readonly version: VersionName<O>
  readonly events: EventsOf<R>
  readonly actions: ActionsIn<O, Shown<O, RowOf<R>, unknown>, ListItemOf<R>>
}

/** A function of the option `format`, by its form alone: its declaration needs the types of Express. */
type Formatting = (...given: never[]) => unknown

/** A record in replies: of a resource with `format`, whatever its host makes of it. */
type Shown<O, T, Made = Readonly<Record<string, unknown>>> = O extends { readonly format: Formatting } ? Made : T

/** The actions in options; undefined for none. */
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
  ? Out extends keyof Answers<Row, Item>
    ? Answers<Row, Item>[Out]
    : Valued<Out>
  : Answers<Row, Item>[A['on'] extends 'record' ? 'record' : A['method'] extends 'get' ? 'list' : 'none']

/** The type of values that a schema accepts, where the schema declares it. */
type Valued<S> = S extends { readonly validate: (...given: never[]) => infer R }
  ? Extract<R, { readonly error: undefined }> extends { readonly value: infer T }
    ? IsAny<T> extends true
      ? unknown
      : T
    : unknown
  : unknown

interface Answers<Row, Item> {
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
      : UsualKey<Row>
  : UsualKey<Row>

/** Without an `id` it is the model's primary key, of which types know nothing: any of the members, or several. */
type UsualKey<Row> = string extends keyof Row
  ? string | readonly string[]
  : 'id' extends keyof Row
    ? 'id'
    : (keyof Row & string) | readonly (keyof Row & string)[]

/** Null where there is none. */
type VersionName<O> = O extends { readonly concurrency: infer C extends true | object }
  ? C extends { readonly rowVersion: infer N extends string }
    ? FieldName<O, N>
    : FieldName<O, 'rowVersion'>
  : null

type Name = keyof typeof OPERATIONS

/** The operations that come with those of these names. */
type With<Names extends string> = {
  [N in Name]: (typeof OPERATIONS)[N] extends { readonly with: infer W extends string }
    ? Lowercase<W> extends Lowercase<Names>
      ? N
      : never
    : never
}[Name]

type Flag<F> = { [N in Name]: (typeof OPERATIONS)[N]['flag'] extends F ? N : never }[Name]
type All = 'getById' | 'getList' | 'create' | 'update' | 'delete'
type Bulk = 'bulkCreate' | 'bulkDelete'

/** The sums that have names. */
interface Sums {
  readonly 3: 'getById' | 'getList'
  readonly 28: 'create' | 'update' | 'delete'
  readonly 31: All
  readonly 96: Bulk
  readonly 127: All | Bulk
}

/** The operations that options turn on, where the type can tell: a sum that was added up is any of them. */
type OperationsIn<O> = O extends { readonly operations: infer Given }
  ? Given extends readonly (infer Each extends string)[]
    ? { [N in Name]: Lowercase<N> extends Lowercase<Each> ? N : never }[Name] | With<Each>
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

/** What the class of a model declares beside its attributes, as far as it is records: one hop, every member optional. */
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

/** Those that are arrays of records. */
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
