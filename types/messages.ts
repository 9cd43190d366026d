/** The codes of the field messages in `errors`. Codes never change; more may be added. */
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
  | 'crs'
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
  | 'check'
  | 'invalid'

/**
 * Parameters of a message by name: bounds as numbers, or as digits for DECIMAL and BIGINT; values of an enumeration;
 * texts and dates of validators.
 */
export type MessageParameters = Readonly<Record<string, string | number | readonly string[]>>

/**
 * Translates a message of the package. `undefined` keeps the English text. The function is called for each reported
 * message. If it throws, the error goes to `onError` and the English text is used.
 */
export type Messages = (code: MessageCode, parameters: MessageParameters) => string | undefined

/** A message before translation. */
export interface CodedMessage {
  readonly code: MessageCode
  readonly parameters: MessageParameters
}

/** A message of the package, or text of the host. */
export type FieldMessage = CodedMessage | string
