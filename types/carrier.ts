import type { Model, ModelStatic } from 'sequelize'

/** The member by which a router's type carries what it was made of. There is none at run time. */
declare const carried: unique symbol

/** What carries a model and options in its type. */
export interface Carrier<M extends Model, O> {
  readonly [carried]?: { readonly model: ModelStatic<M>; readonly options: O }
}

/** The model of a router's type; of anything else, itself. */
export type ModelOf<R> = typeof carried extends keyof R
  ? NonNullable<R[typeof carried]>['model' & keyof NonNullable<R[typeof carried]>]
  : R

/** The options of a router's type; of anything else, none. */
export type OptionsOf<R> = typeof carried extends keyof R
  ? NonNullable<R[typeof carried]>['options' & keyof NonNullable<R[typeof carried]>]
  : object

/** The options that shapes depend on and that may be defaults. */
type Shaping = 'concurrency' | 'format' | 'naming' | 'operations'

/** The names of members that are there for sure. */
type Sure<T> = { [K in keyof T]-?: object extends Pick<T, K> ? never : K }[keyof T]

/** Options with those defaults beneath them that shapes depend on, merged as `createCrud` merges them. */
export type WithDefaults<D, O> = [Sure<D> & Shaping] extends [never]
  ? O
  : Omit<O, Sure<D> & Shaping> & {
      readonly [K in Sure<D> & Shaping]: K extends Sure<O> ? Merged<D[K], O[K]> : D[K]
    }

type Merged<Beneath, Own> = Own extends true
  ? Beneath extends object
    ? Beneath
    : Own
  : Own extends Opaque
    ? Own
    : Own extends object
      ? Beneath extends object
        ? Omit<Beneath, keyof Own> & Own
        : Own
      : Own

/** The names in options that are none are never: the compiler refuses them, however deep they stand. */
export type KnownNames<Given, Known> = {
  readonly [name in keyof Given]: string extends name
    ? Given[name]
    : name extends keyof Known
      ? KnownMembers<Given[name], NonNullable<Known[name]>>
      : never
}

/** The options that name computed fields as well as attributes. */
export type ComputedOptions<Given> = Given extends { readonly computed: infer C }
  ? { readonly [option in 'fields' | 'mask']?: { readonly [name in keyof C]?: unknown } }
  : object

type KnownMembers<Given, Known> = Given extends Opaque
  ? Given
  : Given extends object
    ? {
        readonly [name in keyof Given]: name extends Names<Known>
          ? Given[name]
          : string extends name
            ? Given[name]
            : never
      }
    : Given

/** Names of the members that any of the alternatives has. */
type Names<Known> = Known extends Opaque ? never : Known extends object ? keyof Known : never

/** What is looked at as a whole. */
type Opaque = ((...given: never[]) => unknown) | readonly unknown[]
