import type { DateUnit } from '../lib/language/measures.js'
import type { Deprecation } from './deprecated.js'
import type { FieldType } from './fieldType.js'
import type { FieldMessage } from './messages.js'
import type { Operator } from './query.js'

export type { FieldType }

/** A field's type with the bounds of its column. Members other than `type` are absent if they do not apply. */
export interface ValueType {
  readonly type: FieldType
  /** Strings: the most characters (Unicode code points) of the column. Blobs: the most bytes. */
  readonly maxLength?: number
  /** Strings of a fixed length (CHAR): trailing blanks are padding, not part of the value. */
  readonly padded?: boolean
  /** Strings of a binary column (STRING.BINARY), on databases that distinguish them. */
  readonly binary?: boolean
  /** Integers and bigints: the column's inclusive bounds. Unsigned decimals and floats: `min` alone, which is 0. */
  readonly min?: bigint
  readonly max?: bigint
  /** Floats: the largest finite magnitude. */
  readonly maxMagnitude?: number
  /** Floats: whether the column is single-precision, so that a stored 0.3 differs from the double 0.3. */
  readonly single?: boolean
  /** Floats: whether the type is declared as REAL, which has four bytes on PostgreSQL only. */
  readonly real?: boolean
  /** Decimals: the column's total digits; absent if undeclared. */
  readonly precision?: number
  /** Decimals and date-times: the column's fractional digits; absent if undeclared. */
  readonly scale?: number
  /** Decimals: the type of the values in JSON. */
  readonly jsonType?: 'string' | 'number'
  /** JSON in a binary format (JSONB). */
  readonly parsed?: boolean
  /** JSON and JSONB columns, whose documents some databases return as text. Absent for all other JSON values. */
  readonly document?: true
  /** JSON of a restricted form: arrays, ranges (two bounds, or an empty array), GeoJSON, or texts. */
  readonly form?: 'array' | 'range' | 'geometry' | 'text'
  /** Arrays: the form of their elements, if it is restricted too. */
  readonly elements?: RestrictedForm
  /** Geometries: whether only EPSG codes can name the coordinate reference system. */
  readonly hasEpsgNamesOnly?: true
  /** Bounds of the values that responses can show. Stored values outside are shown as null. */
  readonly responseBounds?: readonly Bound[]
  /** Booleans: whether the column is numeric. Every number except 0 is true. */
  readonly isNumericBoolean?: true
  /** Date-times and times: whether the column has more fractional digits than responses. */
  readonly hasMoreDigits?: true
  /** Date-times and dates: whether other programs may store other formats in the column, as on SQLite. */
  readonly hasOtherFormats?: true
  /** Date-times and dates: whether the column can hold years before 1 and after 9999. */
  readonly hasAnyYear?: true
  /** Times: the longest time, on databases with times beyond a day. */
  readonly longestTime?: LongestTime
  /** Arrays that Sequelize writes incorrectly, or not at all with a null item: the type of their items. */
  readonly items?: 'blob' | 'datetime' | 'date'
  /** JSON: the declared arrays of scalars within the document, for bodies and filters. */
  readonly arrays?: readonly ArrayType[]
  /** Enumerations: the values in declaration order. */
  readonly values?: readonly string[]
}

/** JSON of a restricted form, and the form of its elements. */
export interface RestrictedForm {
  readonly form: NonNullable<ValueType['form']>
  readonly elements?: RestrictedForm
}

/** An array of scalars within the value of a column. */
export interface ArrayType {
  /** The array's path in a JSON document; empty for the whole value. */
  readonly path: readonly string[]
  readonly item: ValueType
  /** Whether items in bodies may be null. */
  readonly takesNull: boolean
  /** The number of dimensions. Filters test the items of arrays with one dimension. */
  readonly dimensions: number
}

/** An inclusive bound that the database compares with the column. */
export interface Bound {
  readonly operator: 'gt' | 'gte' | 'lt' | 'lte'
  readonly value: string | number
}

/** The longest time of a column, and whether negative times are possible. */
export interface LongestTime {
  readonly hours: number
  readonly isSigned: boolean
}

/** Validation rules in addition to the type: the rules of the model and of the options, merged. */
export interface Rules {
  readonly required: boolean
  /** True if the column is NOT NULL, but bodies may omit the value because hooks or the database fill it. */
  readonly filled?: true
  readonly minLength?: number
  readonly maxLength?: number
  readonly min?: number
  readonly max?: number
  readonly email?: boolean
  /** Patterns that must all match. None is stateful (no `g` or `y` flag). */
  readonly match?: readonly RegExp[]
  /** Sequelize's validators that values in bodies must pass. */
  readonly checks?: readonly ValueCheck[]
  /** Messages of the model's validators, by rule and by pattern. They replace the package's messages. */
  readonly messages?: RuleMessages
}

/** A built-in validator of Sequelize with its arguments, and its message. */
export interface ValueCheck {
  readonly name: string
  readonly args: readonly unknown[]
  readonly message: FieldMessage
}

export interface RuleMessages {
  readonly required?: string
  readonly minLength?: string
  readonly maxLength?: string
  readonly min?: string
  readonly max?: string
  readonly match?: ReadonlyMap<RegExp, string>
}

/**
 * An internal value, in the form that Sequelize takes for its type. Decimals and bigints are text, so that they never
 * become floating point. Date-times are `Date`, dates `YYYY-MM-DD`, times `HH:MM:SS`, blobs `Buffer`.
 */
export type Value = string | number | boolean | Date | Buffer | null | JsonValue

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue }

/** The value of a filter comparison, parsed for its field's type. */
export type FilterValue =
  | { readonly kind: 'value'; readonly value: string | number | boolean | Date }
  /**
   * A day compared with a date-time. `start` is the first instant of the day. `end` is the first instant of the next
   * day (exclusive); null after the last day.
   */
  | { readonly kind: 'day'; readonly start: Date; readonly end: Date | null }

export type Target = 'create' | 'update' | 'query' | 'response' | 'list'

/** The kinds of values that the database computes: a number of rows, an aggregate of a field, or a part of a date. */
export type Derivation = 'rows' | 'count' | 'distinct' | 'sum' | 'avg' | 'min' | 'max' | 'instant' | DateUnit

/** The declared types of JSON members. `array` is an array of texts. */
export type MemberType = 'string' | 'integer' | 'number' | 'boolean' | 'date' | 'datetime' | 'array'

/** The type of the items of an array in a JSON document. */
export type ItemType = Exclude<MemberType, 'array'>

/** A member of a JSON document. Its value is null if the member is missing or has another type. */
export interface MemberOf {
  readonly kind: 'member'
  readonly source: Field
  readonly path: readonly string[]
  readonly type: MemberType
}

/** An item of an array. Its value is null if the item has another type. */
export interface ItemOf {
  readonly kind: 'item'
  /** The array: a member of a JSON document, or a column of arrays. */
  readonly source: Field
  /** The type of the items; null for an array column, whose declared type covers its items. */
  readonly type: ItemType | null
}

/** A value that the database computes from a column. */
export type Derived = { readonly kind: Derivation; readonly source: Field } | MemberOf | ItemOf

/** How the application computes a field's values. */
export interface Computation {
  /** The model and the field, for error messages. */
  readonly where: string
  readonly type: MemberType
  readonly needs: readonly Field[]
  readonly isPerCaller: boolean
  /** Whether `resolve` may return null. */
  readonly isNullable: boolean
}

/** A compiled attribute of a model. */
export interface Field {
  /** The attribute's name in Sequelize. */
  readonly name: string
  /** The attribute's name in the API. */
  readonly json: string
  /** The column in the table; the attribute's own name for virtual attributes. */
  readonly column: string
  readonly valueType: ValueType
  readonly nullable: boolean
  /** True if the attribute has no column. */
  readonly virtual: boolean
  /** True if the attribute has a getter, so that reading it needs an instance. */
  readonly getter: boolean
  readonly isKey: boolean
  /** True if the database assigns the value on insert: an auto-increment column. */
  readonly assigned: boolean
  readonly targets: ReadonlySet<Target>
  readonly filterable: boolean
  readonly sortable: boolean
  readonly operators: ReadonlySet<Operator>
  readonly rules: Rules
  /** The source of a value that the database computes; absent for attributes. */
  readonly derived?: Derived
  /** The computation of a field whose values the application computes; absent for other fields. */
  readonly computed?: Computation
  /** The field as statements compare it, if its stored type differs from the type in the API; absent otherwise. */
  readonly stored?: Field
  /** The field's deprecation; absent if it is not deprecated. */
  readonly deprecated?: Deprecation
  /** The declared members of a JSON document, by lower-case path; absent without the option `members`. */
  readonly members?: ReadonlyMap<string, Field>
  /** The items of an array of scalars, as filters compare them; absent for other fields. */
  readonly item?: Field
  /** Returns the field of a derived value, always the same object; null if the derivation is not allowed. */
  readonly derive?: (what: Derivation) => Field | null
  /** Converts a database value to JSON. Pure, and defined for every value that a driver may return for the type. */
  readonly decode: (raw: unknown) => JsonValue
}
