import type { Attributes, Model } from 'sequelize'

/** The names of a model's attributes; any string if the model's type does not declare them. */
export type AttributeName<M extends Model = Model> = keyof Attributes<M> & string

/**
 * The names that `flatten` takes: attributes and declared associations. If the class declares no associations, the type
 * allows any name, and mounting checks the names.
 */
export type FlattenName<M extends Model = Model> = [Declared<M>] extends [never]
  ? string
  : AttributeName<M> | (Declared<M> & string)

/** Members that a model's class declares besides attributes and inherited members. */
type Declared<M extends Model> = Exclude<keyof M, keyof Model | keyof Attributes<M>>

/** The name of an attribute in the API, by the resource's options; any string if `naming` is a function. */
export type FieldName<O, Name extends string> = O extends { readonly fields: infer F }
  ? ConfiguredName<F, O, Name>
  : GeneratedName<O, Name>

/** The name of an association in the API, by the resource's options. */
export type RelationName<O, Name extends string> = O extends { readonly relations: infer R }
  ? ConfiguredName<R, O, Name>
  : GeneratedName<O, Name>

type ConfiguredName<Options, O, Name extends string> = Name extends keyof Options
  ? Options[Name] extends { readonly name: infer N extends string }
    ? N
    : GeneratedName<O, Name>
  : GeneratedName<O, Name>

type GeneratedName<O, Name extends string> = O extends { readonly naming: infer N }
  ? N extends 'attribute'
    ? Name
    : N extends 'camel'
      ? JsonName<Name>
      : string
  : JsonName<Name>

/**
 * An attribute's JSON name: `first_name`, `FIRST_NAME`, `FirstName` and `firstName` all become `firstName`. Any string
 * if the model's type does not declare its attributes.
 */
export type JsonName<Name extends string> = string extends Name
  ? string
  : LeadingCapitals<CamelCased<Name extends Uppercase<Name> ? Lowercase<Name> : Name>>

type Separator = '_' | '-' | ' '

/** Words after separators are capitalized. Leading separators stay. */
type CamelCased<Rest extends string, Done extends string = ''> = Rest extends `${infer First}${infer More}`
  ? First extends Separator
    ? Done extends '' | `${string}${Separator}`
      ? CamelCased<More, `${Done}${First}`>
      : AfterSeparator<More, Done, First>
    : CamelCased<More, `${Done}${First}`>
  : Done

type AfterSeparator<
  Rest extends string,
  Done extends string,
  Gap extends string,
> = Rest extends `${infer First}${infer More}`
  ? First extends Separator
    ? AfterSeparator<More, Done, `${Gap}${First}`>
    : CamelCased<More, `${Done}${Uppercase<First>}`>
  : `${Done}${Gap}`

type IsUpper<Letter extends string> = Letter extends Lowercase<Letter> ? false : true
type IsLower<Letter extends string> = Letter extends Uppercase<Letter> ? false : true

/**
 * A leading run of capitals is one word, except for its last letter, which starts the next word: `URLPath` becomes
 * `urlPath`.
 */
type LeadingCapitals<Rest extends string, Done extends string = ''> = Rest extends `${infer First}${infer More}`
  ? IsUpper<First> extends false
    ? `${Done}${Rest}`
    : More extends `${infer Second}${infer Others}`
      ? IsUpper<Second> extends false
        ? `${Done}${Lowercase<First>}${More}`
        : Others extends `${infer Third}${string}`
          ? IsLower<Third> extends true
            ? `${Done}${Lowercase<First>}${More}`
            : LeadingCapitals<More, `${Done}${Lowercase<First>}`>
          : LeadingCapitals<More, `${Done}${Lowercase<First>}`>
      : `${Done}${Lowercase<First>}`
  : Done
