import type { Model, ModelStatic } from 'sequelize'

/** The type-level member that carries a router's model and options. It does not exist at run time. */
declare const carried: unique symbol

/** A type that carries the model and the options of a router. */
export interface RouterTypeInfo<M extends Model, O> {
  readonly [carried]?: { readonly model: ModelStatic<M>; readonly options: O }
}

/** The model of a router's type. Other types are returned unchanged. */
export type ModelOf<R> = typeof carried extends keyof R
  ? NonNullable<R[typeof carried]>['model' & keyof NonNullable<R[typeof carried]>]
  : R

/** The options of a router's type; no options for other types. */
export type OptionsOf<R> = typeof carried extends keyof R
  ? NonNullable<R[typeof carried]>['options' & keyof NonNullable<R[typeof carried]>]
  : object

/** The options that affect the types of records and that `createCrud` accepts as defaults. */
type TypingOption = 'concurrency' | 'format' | 'naming' | 'operations'

/** The names of a type's required members, which are the options known to be set. */
type RequiredName<T> = { [K in keyof T]-?: object extends Pick<T, K> ? never : K }[keyof T]

/**
 * The type of options that `createCrud` merged over its defaults. Only defaults that affect record types are merged.
 */
export type WithDefaults<D, O> = [RequiredName<D> & TypingOption] extends [never]
  ? O
  : Omit<O, RequiredName<D> & TypingOption> & {
      readonly [K in RequiredName<D> & TypingOption]: K extends RequiredName<O> ? MergedOption<D[K], O[K]> : D[K]
    }

type MergedOption<Beneath, Own> = Own extends true
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

/** Gives unknown option names the type never, at every depth, so that the compiler refuses unknown names. */
export type KnownNames<Given, Known> = {
  readonly [name in keyof Given]: string extends name
    ? Given[name]
    : name extends MemberName<Known>
      ? name extends ForeignOption
        ? Given[name]
        : KnownMembers<Given[name], MemberOf<Known, name>>
      : never
}

/** Options whose values are objects of other packages, or routers. */
type ForeignOption = 'input' | 'io' | 'model' | 'output' | 'resource' | 'schema'

/** The options that accept computed fields as members: `fields` and `mask`. */
export type ComputedOptions<Given, Fields, Masks> = Given extends { readonly computed: infer C }
  ? {
      readonly fields?: { readonly [name in keyof C]?: Fields }
      readonly mask?: { readonly [name in keyof C]?: Masks }
    }
  : object

type KnownMembers<Given, Known> = Given extends Opaque ? Given : Given extends object ? KnownNames<Given, Known> : Given

/** The member names of all alternatives of a union. */
type MemberName<Known> = Known extends Opaque ? never : Known extends object ? keyof Known : never

/** The types that a member has in the alternatives of a union. */
type MemberOf<Known, Name> = Known extends object ? (Name extends keyof Known ? Known[Name] : never) : never

/** Types without members to check: functions and arrays. */
type Opaque = ((...given: never[]) => unknown) | readonly unknown[]
