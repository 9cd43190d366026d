import type { CodedMessage, FieldMessage, MessageCode, MessageParameters, Messages } from '../../types/messages.js'
import { NO_REQUEST } from './noRequest.js'
import { ignoreRejections } from './promise.js'
import { type OnError, reportError } from './report.js'

/** The field messages by code. Names in braces are parameters. */
export const MESSAGES: Readonly<Record<MessageCode, string>> = Object.freeze({
  required: 'is required.',
  null: 'cannot be null.',
  unique: 'is already taken.',
  'foreign-key': 'does not exist.',
  'not-found': 'does not exist.',
  twice: 'is there twice.',
  removed: 'is removed by another part of the body.',
  version: 'must contain the version that you last read.',
  stale: 'has changed since you read it.',
  'path-key': 'must be the key in the path.',
  key: 'cannot be used as a key.',
  owner: 'must be the owner.',
  scope: 'may not be stored.',
  'unknown-property': 'is not a known property.',
  'misspelt-property': 'is not a known property. Did you mean {name}?',
  string: 'must be a string.',
  integer: 'must be an integer.',
  number: 'must be a number.',
  finite: 'must be a finite number.',
  decimal: 'must be a decimal number.',
  boolean: 'must be a boolean.',
  'date-time': 'must be a date-time.',
  date: 'must be a date.',
  time: 'must be a time.',
  uuid: 'must be a UUID.',
  base64: 'must be base64 text.',
  json: 'must be JSON.',
  enum: 'must be one of: {values}.',
  object: 'must be an object.',
  range: 'must be between {min} and {max}.',
  min: 'must be at least {min}.',
  max: 'must be at most {max}.',
  length: 'must be between {min} and {max} characters.',
  'min-length': 'must be at least {min} characters.',
  'max-length': 'must be at most {max} characters.',
  'max-bytes': 'must be at most {max} bytes.',
  scale: 'must have at most {scale} decimal places.',
  digits: 'has more digits than a JSON number keeps; send it as a string.',
  characters: 'must not contain NUL characters or unpaired surrogates.',
  'json-depth': 'must not be nested deeper than {levels} levels.',
  'json-finite': 'must contain only finite numbers.',
  array: 'must be an array.',
  bounds: 'must be an array of a lower and an upper bound.',
  geometry: 'must be a GeoJSON geometry.',
  crs: 'must have the type "name" and a name such as "EPSG:4326".',
  email: 'is not a valid email address.',
  pattern: 'does not match the required pattern.',
  'not-in': 'must not be one of: {values}.',
  blank: 'must not be blank.',
  url: 'is not a valid URL.',
  'uuid-form': 'is not a valid UUID.',
  numeric: 'must be numeric.',
  whole: 'must be a whole number.',
  letters: 'must contain only letters.',
  'letters-digits': 'must contain only letters and digits.',
  'lower-case': 'must be lower case.',
  'upper-case': 'must be upper case.',
  ip: 'is not a valid IP address.',
  'valid-date': 'is not a valid date.',
  after: 'must be after {date}.',
  before: 'must be before {date}.',
  contains: 'must contain "{text}".',
  'not-contains': 'must not contain "{text}".',
  equals: 'must be "{text}".',
  'card-number': 'is not a valid card number.',
  check: 'does not pass the check {check}.',
  invalid: 'is not valid.',
})

const NONE: MessageParameters = Object.freeze({})

export function createMessage(code: MessageCode, parameters: MessageParameters = NONE): CodedMessage {
  return Object.freeze({ code, parameters: Object.freeze(parameters) })
}

/** Translates a message to the text of a response. */
export type Translate = (message: FieldMessage) => string

/** Returns the English text of a message. Text of the host is returned unchanged. */
export function formatEnglish(message: FieldMessage): string {
  if (typeof message === 'string') return message
  const { code, parameters } = message
  const template =
    code === 'scale' && parameters.scale === 1 ? MESSAGES.scale.replace('places', 'place') : MESSAGES[code]
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = parameters[name]
    return Array.isArray(value) ? value.join(', ') : String(value)
  })
}

/** Returns the translator of messages: the host's `messages`, or English texts without it. */
export function createTranslator(messages: Messages | undefined, onError: OnError): Translate {
  if (messages === undefined) return formatEnglish
  return (message) => {
    if (typeof message === 'string') return message
    try {
      const text: unknown = messages(message.code, message.parameters)
      if (text === undefined) return formatEnglish(message)
      if (typeof text === 'string') return text
      ignoreRejections(text)
      throw new TypeError(`the option "messages" must return a text or undefined for the code "${message.code}"`)
    } catch (error) {
      reportError(error, NO_REQUEST, onError)
      return formatEnglish(message)
    }
  }
}
