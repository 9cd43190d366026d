import type { Attributes, Model } from 'sequelize'

/** The names of a model's attributes; any text where the model's types do not tell. */
export type AttributeName<M extends Model = Model> = keyof Attributes<M> & string

/**
 * What may be flattened: attributes and associations, where the model's class declares its associations. Where it
 * declares none, mounting tells what there is.
 */
export type FlattenName<M extends Model = Model> = [Declared<M>] extends [never]
  ? string
  : AttributeName<M> | (Declared<M> & string)

/** What an instance has beside its attributes and what every model has. */
type Declared<M extends Model> = Exclude<keyof M, keyof Model | keyof Attributes<M>>

/** The name in the API of an attribute by the options of its resource; any text where a function makes it. */
export type FieldName<O, Name extends string> = O extends { readonly fields: infer F }
  ? Chosen<F, O, Name>
  : Made<O, Name>

/** The name in the API of an association by the options of its resource. */
export type RelationName<O, Name extends string> = O extends { readonly relations: infer R }
  ? Chosen<R, O, Name>
  : Made<O, Name>

type Chosen<Options, O, Name extends string> = Name extends keyof Options
  ? Options[Name] extends { readonly name: infer N extends string }
    ? N
    : Made<O, Name>
  : Made<O, Name>

type Made<O, Name extends string> = O extends { readonly naming: infer N }
  ? N extends 'attribute'
    ? Name
    : N extends 'camel'
      ? JsonName<Name>
      : string
  : JsonName<Name>

/**
 * An attribute's name on the wire: `first_name`, `FIRST_NAME`, `FirstName` and `firstName` are all `firstName`. Any text where the types of
 * the model do not tell its attributes.
 */
export type JsonName<Name extends string> = string extends Name
  ? string
  : LowerRun<Joined<Name extends Uppercase<Name> ? Lowercase<Name> : Name>>

type Separator = '_' | '-' | ' '

/** Words behind separators begin with a capital; separators at the start stay. */
type Joined<Rest extends string, Done extends string = ''> = Rest extends `${infer First}${infer More}`
  ? First extends Separator
    ? Done extends '' | `${string}${Separator}`
      ? Joined<More, `${Done}${First}`>
      : Behind<More, Done, First>
    : Joined<More, `${Done}${First}`>
  : Done

type Behind<Rest extends string, Done extends string, Gap extends string> = Rest extends `${infer First}${infer More}`
  ? First extends Separator
    ? Behind<More, Done, `${Gap}${First}`>
    : Joined<More, `${Done}${Uppercase<First>}`>
  : `${Done}${Gap}`

type IsUpper<Letter extends string> = Letter extends Lowercase<Letter> ? false : true
type IsLower<Letter extends string> = Letter extends Uppercase<Letter> ? false : true

/** A leading run of capitals is one word, and its last letter begins the next one: `URLPath`, `urlPath`. */
type LowerRun<Rest extends string, Done extends string = ''> = Rest extends `${infer First}${infer More}`
  ? IsUpper<First> extends false
    ? `${Done}${Rest}`
    : More extends `${infer Second}${infer Others}`
      ? IsUpper<Second> extends false
        ? `${Done}${Lowercase<First>}${More}`
        : Others extends `${infer Third}${string}`
          ? IsLower<Third> extends true
            ? `${Done}${Lowercase<First>}${More}`
            : LowerRun<More, `${Done}${Lowercase<First>}`>
          : LowerRun<More, `${Done}${Lowercase<First>}`>
      : `${Done}${Lowercase<First>}`
  : Done
