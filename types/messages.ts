/** What the package has messages for in `errors`. Codes never change; others may be added. */
export type MessageCode =
  | 'required'
  | 'null'
  | 'unique'
  | 'foreign-key'
  | 'not-found'
  | 'twice'
  | 'removed'
  | 'version'
  | 'stale'
  | 'path-key'
  | 'key'
  | 'owner'
  | 'scope'
  | 'unknown-property'
  | 'misspelt-property'
  | 'string'
  | 'integer'
  | 'number'
  | 'finite'
  | 'decimal'
  | 'boolean'
  | 'date-time'
  | 'date'
  | 'time'
  | 'uuid'
  | 'base64'
  | 'json'
  | 'enum'
  | 'object'
  | 'range'
  | 'min'
  | 'max'
  | 'length'
  | 'min-length'
  | 'max-length'
  | 'max-bytes'
  | 'scale'
  | 'digits'
  | 'characters'
  | 'json-depth'
  | 'json-finite'
  | 'array'
  | 'bounds'
  | 'geometry'
  | 'email'
  | 'pattern'
  | 'not-in'
  | 'blank'
  | 'url'
  | 'uuid-form'
  | 'numeric'
  | 'whole'
  | 'letters'
  | 'letters-digits'
  | 'lower-case'
  | 'upper-case'
  | 'ip'
  | 'valid-date'
  | 'after'
  | 'before'
  | 'contains'
  | 'not-contains'
  | 'equals'
  | 'card-number'
  | 'invalid'

/** What a message is about, by name: bounds as numbers, those of DECIMAL and BIGINT as digits; values of an enumeration; texts and dates of validators. */
export type MessageParameters = Readonly<Record<string, string | number | readonly string[]>>

/**
 * Says a message of the package's in other words; undefined leaves the English ones. Asked each time that one is told; what
 * it throws goes to `onError`, and the English words stay.
 */
export type Messages = (code: MessageCode, parameters: MessageParameters) => string | undefined

/** A message before it is put into words. */
export interface Fault {
  readonly code: MessageCode
  readonly parameters: MessageParameters
}

/** A message of the package's, or the host's own words. */
export type Told = Fault | string
