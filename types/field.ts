import type { DateUnit } from '../lib/language/measures.js'
import type { Deprecation } from './deprecated.js'
import type { FieldType } from './fieldType.js'
import type { Told } from './messages.js'
import type { Operator } from './query.js'

export type { FieldType }

/** A field's type with the bounds that its column sets. All members but `type` are absent where they mean nothing. */
export interface ValueType {
  readonly type: FieldType
  /** Strings: the most characters (Unicode code points) that the column takes. Blobs: the most bytes. */
  readonly maxLength?: number
  /** Strings of a fixed length (CHAR): blanks at their end are the column's padding, and no part of the value. */
  readonly padded?: boolean
  /** Strings that the column keeps as bytes (STRING.BINARY), where the database tells the two apart. */
  readonly binary?: boolean
  /** Integers and bigints: the column's inclusive bounds. Unsigned decimals and floats: `min` alone, which is 0. */
  readonly min?: bigint
  readonly max?: bigint
  /** Floats: the largest finite magnitude. */
  readonly maxMagnitude?: number
  /** Floats: whether the column keeps four bytes of them, so that it holds 0.3 as something else than a double does. */
  readonly single?: boolean
  /** Floats: whether the type is declared REAL, which has four bytes on PostgreSQL alone. */
  readonly real?: boolean
  /** Decimals: the column's total digits and digits behind the point; absent when undeclared. */
  readonly precision?: number
  readonly scale?: number
  /** Decimals: how they stand on the wire. */
  readonly wire?: 'string' | 'number'
  /** JSON that the database keeps taken apart (JSONB). */
  readonly parsed?: boolean
  /** JSON documents, which some databases give as text. Other values of the type are those of types that are unknown here. */
  readonly document?: true
  /** JSON of a type that takes arrays only, ranges (two bounds, or none), GeoJSON, or texts only. */
  readonly form?: 'array' | 'range' | 'geometry' | 'text'
  /** Bounds of the values that answers can show. The database holds values outside, which answers show as null. */
  readonly shown?: readonly Bound[]
  /** Booleans: whether the database keeps them as numbers, all of which but 0 are true. */
  readonly loose?: true
  /** Date-times and times: whether the database keeps more digits of a second than answers show. */
  readonly finer?: true
  /** Date-times and dates: whether the column holds whatever format other programs write, as SQLite's do. */
  readonly unformatted?: true
  /** Date-times and dates: whether the column holds years before 1 and after 9999. */
  readonly anyYear?: true
  /** Times: the longest one, where the database has times beyond a day. */
  readonly longest?: LongestTime
  /** Arrays of items that Sequelize writes wrong, or not at all where one is null: their type. */
  readonly items?: 'blob' | 'datetime' | 'date'
  /** JSON: the arrays of scalars in it, whose items bodies and filters know. */
  readonly arrays?: readonly ArrayType[]
  /** Enumerations: the values in the order of their declaration. */
  readonly values?: readonly string[]
}

/** An array of scalars within the value of a column. */
export interface ArrayType {
  /** Where it is in a JSON document; empty where it is the whole value. */
  readonly path: readonly string[]
  readonly item: ValueType
  /** Whether bodies may have null among the items. */
  readonly takesNull: boolean
}

/** A bound that the database compares with the column. */
export interface Bound {
  readonly operator: 'gt' | 'gte' | 'lt' | 'lte'
  readonly value: string | number
}

/** The longest time that a column holds, and whether it holds negative ones. */
export interface LongestTime {
  readonly hours: number
  readonly isSigned: boolean
}

/** Rules on top of the type, those of the model and those of the options merged. */
export interface Rules {
  readonly required: boolean
  /** True where the column takes no null, but a body may be without a value: hooks or the database fill it. */
  readonly filled?: true
  readonly minLength?: number
  readonly maxLength?: number
  readonly min?: number
  readonly max?: number
  readonly email?: boolean
  /** All of them must match; none carries state (no `g` or `y`). */
  readonly match?: readonly RegExp[]
  /** Validators of Sequelize that values in bodies meet as well. */
  readonly checks?: readonly ValueCheck[]
  /** What the model's own validators say, by rule, and by pattern, instead of the package. */
  readonly says?: Says
}

/** A built-in validator of Sequelize with its arguments, and the message for values that it refuses. */
export interface ValueCheck {
  readonly name: string
  readonly args: readonly unknown[]
  readonly told: Told
}

export interface Says {
  readonly required?: string
  readonly minLength?: string
  readonly maxLength?: string
  readonly min?: string
  readonly max?: string
  readonly email?: string
  readonly match?: ReadonlyMap<RegExp, string>
}

/**
 * A value inside the program: what Sequelize takes for the type. Decimals and bigints travel as text so that they
 * never pass through floating point; date-times are `Date`, dates `YYYY-MM-DD`, times `HH:MM:SS`, blobs `Buffer`.
 */
export type Value = string | number | boolean | Date | Buffer | null | JsonValue

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue }

/** The value side of a filter clause, read for its field's type. */
export type FilterValue =
  | { readonly kind: 'value'; readonly value: string | number | boolean | Date }
  /** A bare day against a date-time: from the day's first instant up to, not including, the next day's; null for none. */
  | { readonly kind: 'day'; readonly start: Date; readonly end: Date | null }

export type Target = 'create' | 'update' | 'query' | 'response' | 'list'

/** What a value is made of that the database computes: of rows (of nothing), of a field in them, or of a part of one. */
export type Derivation = 'rows' | 'count' | 'distinct' | 'sum' | 'avg' | 'min' | 'max' | 'instant' | DateUnit

/** What a declared member of a JSON document may be. An array is one of texts. */
export type MemberType = 'string' | 'integer' | 'number' | 'boolean' | 'date' | 'datetime' | 'array'

/** The type of the items of an array in a JSON document. */
export type ItemType = Exclude<MemberType, 'array'>

/** A member of a JSON document: null where it is absent or of another type. */
export interface MemberOf {
  readonly what: 'member'
  readonly of: Field
  readonly path: readonly string[]
  readonly type: MemberType
}

/** An item of an array: null where it is of another type. */
export interface ItemOf {
  readonly what: 'item'
  /** The array: a member of a JSON document, or a column of arrays. */
  readonly of: Field
  /** Null for a column of arrays, which holds no items of another type. */
  readonly type: ItemType | null
}

/** A value that the database computes of a column. */
export type Derived = { readonly what: Derivation; readonly of: Field } | MemberOf | ItemOf

/** How the application computes the values of a field. */
export interface Computation {
  /** The model and the field, for errors. */
  readonly where: string
  readonly type: MemberType
  readonly needs: readonly Field[]
  readonly isPerCaller: boolean
  /** Whether `resolve` may give null. */
  readonly isNullable: boolean
}

/** One attribute of a model, compiled. */
export interface Field {
  /** The attribute's name in Sequelize. */
  readonly name: string
  /** Its name in the API. */
  readonly json: string
  /** The column in the table; the attribute's own name for virtual attributes. */
  readonly column: string
  readonly valueType: ValueType
  readonly nullable: boolean
  /** True when the attribute has no column. */
  readonly virtual: boolean
  /** True when the model gives the attribute a getter, so that reading it needs an instance. */
  readonly getter: boolean
  readonly isKey: boolean
  /** True when the database assigns the value of a new record: an auto-increment column. */
  readonly assigned: boolean
  readonly targets: ReadonlySet<Target>
  readonly filterable: boolean
  readonly sortable: boolean
  readonly operators: ReadonlySet<Operator>
  readonly rules: Rules
  /** What it is computed of, which then has the column; absent for attributes. */
  readonly derived?: Derived
  /** How the application computes its values; absent for fields that the database has. */
  readonly computed?: Computation
  /** As its values are compared in statements, where that is another type than clients see; absent for the same. */
  readonly stored?: Field
  /** Absent for a field that stays. */
  readonly deprecated?: Deprecation
  /** The declared members of a JSON document, by their paths in lower case; absent for none. */
  readonly members?: ReadonlyMap<string, Field>
  /** The items of an array of scalars, as filters compare them; absent where it is none. */
  readonly item?: Field
  /** What the database may compute of it, one object for each; null for what it may not. */
  readonly derive?: (what: Derivation) => Field | null
  /** Database value to JSON value; pure, and total for whatever a driver may return for the type. */
  readonly decode: (raw: unknown) => JsonValue
}
