// Sequelize's built-in validators as checks of request bodies, with error messages of this package.

import { Sequelize } from 'sequelize'
import type { ValueCheck } from '../../types/field.js'
import type { CodedMessage } from '../../types/messages.js'
import { createMessage } from '../common/messages.js'

type ValidatorArguments = readonly unknown[]

// Sequelize's type declarations lack `Validator`.
const validatorFunctions: object = Object(Reflect.get(Sequelize, 'Validator'))

/** Validators that get arguments only if the model sets a text, such as a locale, or an array of arguments. */
const LOCALIZED: ReadonlySet<string> = new Set(['isAlpha', 'isAlphanumeric', 'isMobilePhone'])
/** Validators whose arguments Sequelize drops if the model sets a message. */
const ADDRESSES: ReadonlySet<string> = new Set(['isUrl', 'isURL', 'isEmail'])

/** Parses the arguments of a validator like Sequelize. Returns null for a function, or without a setting. */
function argumentsOf(name: string, test: unknown): ValidatorArguments | null {
  if (test === null || test === undefined || typeof test === 'function') return null
  const own = ADDRESSES.has(name) ? addressSettingsOf(test) : test
  const args: unknown = Reflect.get(Object(own), 'args') || own
  if (Array.isArray(args)) return [...args]
  const isLocalized = typeof args !== 'string' && LOCALIZED.has(name)
  return isLocalized || name === 'isIP' ? [] : [args]
}

function addressSettingsOf(test: unknown): unknown {
  if (test === true) return {}
  const message: unknown = Reflect.get(Object(test), 'msg')
  return typeof test === 'object' && message ? { msg: message } : test
}

/** Applies a validator to a text, like Sequelize. */
export function isTextValid({ name, args }: ValueCheck, text: string): boolean {
  const validate: unknown = Reflect.get(validatorFunctions, name)
  return typeof validate === 'function' && Boolean(Reflect.apply(validate, validatorFunctions, [text, ...args]))
}

/** Validators that this package also runs on bodies. Only Sequelize runs other validators and the host's functions. */
const RULES: ReadonlySet<string> = new Set([
  ...['isIn', 'notIn', 'notEmpty', 'isUrl', 'isURL', 'isUUID', 'isNumeric', 'isFloat', 'isDecimal', 'isInt'],
  ...['isAlpha', 'isAlphanumeric', 'isLowercase', 'isUppercase', 'isIP', 'isIPv4', 'isIPv6', 'isDate', 'isAfter'],
  ...['isBefore', 'contains', 'notContains', 'equals', 'isCreditCard', 'isEmail'],
])

/**
 * Creates a check of bodies from an attribute's validator. Returns null if the validator is not in RULES, or if it
 * throws for every value.
 */
export function createCheck(name: string, test: unknown): ValueCheck | null {
  const args = RULES.has(name) ? argumentsOf(name, test) : null
  if (args === null) return null
  const check: ValueCheck = Object.freeze({ name, args: Object.freeze(args), message: messageForValidator(name, args) })
  try {
    isTextValid(check, 'a')
    return check
  } catch {
    return null
  }
}

const PATTERN = createMessage('pattern')

const MESSAGE_CREATORS: Readonly<Record<string, (args: ValidatorArguments) => CodedMessage>> = {
  isIn: ([values]) => createMessage('enum', { values: textsOf(values) }),
  notIn: ([values]) => createMessage('not-in', { values: textsOf(values) }),
  notEmpty: () => createMessage('blank'),
  isUrl: () => createMessage('url'),
  isURL: () => createMessage('url'),
  isUUID: () => createMessage('uuid-form'),
  isNumeric: () => createMessage('numeric'),
  isFloat: () => createMessage('numeric'),
  isDecimal: () => createMessage('numeric'),
  isInt: () => createMessage('whole'),
  isAlpha: () => createMessage('letters'),
  isAlphanumeric: () => createMessage('letters-digits'),
  isLowercase: () => createMessage('lower-case'),
  isUppercase: () => createMessage('upper-case'),
  isIP: () => createMessage('ip'),
  isIPv4: () => createMessage('ip'),
  isIPv6: () => createMessage('ip'),
  isDate: () => createMessage('valid-date'),
  isAfter: ([date]) => createMessage('after', { date: dateOf(date) }),
  isBefore: ([date]) => createMessage('before', { date: dateOf(date) }),
  contains: ([text]) => createMessage('contains', { text: String(text) }),
  notContains: ([text]) => createMessage('not-contains', { text: String(text) }),
  equals: ([text]) => createMessage('equals', { text: String(text) }),
  isCreditCard: () => createMessage('card-number'),
  isEmail: () => createMessage('email'),
  is: () => PATTERN,
  regex: () => PATTERN,
  not: () => PATTERN,
  notRegex: () => PATTERN,
  min: ([min]) => createMessage('min', { min: Number(min) }),
  max: ([max]) => createMessage('max', { max: Number(max) }),
  len: ([min, max]) =>
    max === undefined
      ? createMessage('min-length', { min: Number(min) })
      : createMessage('length', { min: Number(min), max: Number(max) }),
}

/** Returns the error message for a rejected value, if the model sets no message. */
function messageForValidator(name: string, args: ValidatorArguments): CodedMessage {
  return (
    (Object.hasOwn(MESSAGE_CREATORS, name) ? MESSAGE_CREATORS[name]?.(args) : undefined) ??
    createMessage('check', { check: name })
  )
}

function textsOf(values: unknown): readonly string[] {
  // Sequelize passes only the first item of `isIn: ['a', 'b']` to the validator.
  if (typeof values === 'string') return Object.freeze([values])
  // A null item is left out of the message, because no text of a body equals null.
  const texts = Array.isArray(values)
    ? values.filter((value) => value !== null).map(String)
    : Object.keys(Object(values))
  return Object.freeze(texts)
}

/** Returns the date that a validator compares with. A missing date means the current time. */
function dateOf(date: unknown): string {
  const given: unknown = typeof date === 'object' ? Reflect.get(Object(date), 'comparisonDate') : date
  return typeof given === 'string' ? given : 'now'
}

/** An item of a failed Sequelize validation. */
interface ValidationItem {
  readonly path: string | null
  readonly message: string
  readonly validatorKey: string | null
  readonly validatorArgs: ValidatorArguments
}

/** Returns this package's message for a Sequelize validation error, or null if the model sets a message. */
export function packageMessageOf({ path, message, validatorKey, validatorArgs }: ValidationItem): CodedMessage | null {
  if (validatorKey === null || message !== `Validation ${validatorKey} on ${path} failed`) return null
  return messageForValidator(validatorKey, validatorArgs)
}
