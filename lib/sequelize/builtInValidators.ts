// Sequelize's built-in validators: their functions, and error messages of this package.

import { Sequelize } from 'sequelize'
import type { ValueCheck } from '../../types/field.js'
import type { Fault } from '../../types/messages.js'
import { fault } from '../common/messages.js'

type Arguments = readonly unknown[]

// Missing in Sequelize's type declarations.
const functions: object = Object(Reflect.get(Sequelize, 'Validator'))

/** Validators without arguments unless the model sets an array. */
const LOCALIZED: ReadonlySet<string> = new Set(['isAlpha', 'isAlphanumeric', 'isMobilePhone'])
/** Validators whose arguments Sequelize drops if the model sets a message. */
const ADDRESSES: ReadonlySet<string> = new Set(['isUrl', 'isURL', 'isEmail'])

/** Arguments of a validator, parsed like Sequelize does. Null if Sequelize parses none. */
function argumentsOf(name: string, test: unknown): Arguments | null {
  if (test === null || test === undefined || typeof test === 'function') return null
  const own = ADDRESSES.has(name) ? addressSettings(test) : test
  const args: unknown = Reflect.get(Object(own), 'args') || own
  if (Array.isArray(args)) return [...args]
  const isLocalized = typeof args !== 'string' && LOCALIZED.has(name)
  return isLocalized || name === 'isIP' ? [] : [args]
}

function addressSettings(test: unknown): unknown {
  if (test === true) return {}
  const message: unknown = Reflect.get(Object(test), 'msg')
  return typeof test === 'object' && message ? { msg: message } : test
}

/** Applies a validator to text, like Sequelize does. */
export function meets({ name, args }: ValueCheck, text: string): boolean {
  const validate: unknown = Reflect.get(functions, name)
  return typeof validate === 'function' && Boolean(Reflect.apply(validate, functions, [text, ...args]))
}

/** Validators that also check bodies. Other validators, and functions of the host, are only run by Sequelize. */
const RULES: ReadonlySet<string> = new Set([
  ...['isIn', 'notIn', 'notEmpty', 'isUrl', 'isURL', 'isUUID', 'isNumeric', 'isFloat', 'isDecimal', 'isInt'],
  ...['isAlpha', 'isAlphanumeric', 'isLowercase', 'isUppercase', 'isIP', 'isIPv4', 'isIPv6', 'isDate', 'isAfter'],
  ...['isBefore', 'contains', 'notContains', 'equals', 'isCreditCard'],
])

/** A validator of an attribute as a check of bodies. Null if it is not one of the rules, or if it throws for every value. */
export function checkOf(name: string, test: unknown): ValueCheck | null {
  const args = RULES.has(name) ? argumentsOf(name, test) : null
  if (args === null) return null
  const check: ValueCheck = Object.freeze({ name, args: Object.freeze(args), told: faultOf(name, args) })
  try {
    meets(check, 'a')
    return check
  } catch {
    return null
  }
}

const PATTERN = fault('pattern')

const FAULTS: Readonly<Record<string, (args: Arguments) => Fault>> = {
  isIn: ([values]) => fault('enum', { values: textsOf(values) }),
  notIn: ([values]) => fault('not-in', { values: textsOf(values) }),
  notEmpty: () => fault('blank'),
  isUrl: () => fault('url'),
  isURL: () => fault('url'),
  isUUID: () => fault('uuid-form'),
  isNumeric: () => fault('numeric'),
  isFloat: () => fault('numeric'),
  isDecimal: () => fault('numeric'),
  isInt: () => fault('whole'),
  isAlpha: () => fault('letters'),
  isAlphanumeric: () => fault('letters-digits'),
  isLowercase: () => fault('lower-case'),
  isUppercase: () => fault('upper-case'),
  isIP: () => fault('ip'),
  isIPv4: () => fault('ip'),
  isIPv6: () => fault('ip'),
  isDate: () => fault('valid-date'),
  isAfter: ([date]) => fault('after', { date: dateOf(date) }),
  isBefore: ([date]) => fault('before', { date: dateOf(date) }),
  contains: ([text]) => fault('contains', { text: String(text) }),
  notContains: ([text]) => fault('not-contains', { text: String(text) }),
  equals: ([text]) => fault('equals', { text: String(text) }),
  isCreditCard: () => fault('card-number'),
  isEmail: () => fault('email'),
  is: () => PATTERN,
  regex: () => PATTERN,
  not: () => PATTERN,
  notRegex: () => PATTERN,
  min: ([min]) => fault('min', { min: Number(min) }),
  max: ([max]) => fault('max', { max: Number(max) }),
  len: ([min, max]) =>
    max === undefined
      ? fault('min-length', { min: Number(min) })
      : fault('length', { min: Number(min), max: Number(max) }),
}

/** Error message for a rejected value, if the model sets no message. */
function faultOf(name: string, args: Arguments): Fault {
  return (Object.hasOwn(FAULTS, name) ? FAULTS[name]?.(args) : undefined) ?? fault('invalid')
}

function textsOf(values: unknown): readonly string[] {
  // Of `isIn: ['a', 'b']` the validator receives only the first item.
  if (typeof values === 'string') return Object.freeze([values])
  // Null never matches text.
  const texts = Array.isArray(values)
    ? values.filter((value) => value !== null).map(String)
    : Object.keys(Object(values))
  return Object.freeze(texts)
}

/** A missing date is compared with the current time. */
function dateOf(date: unknown): string {
  const given: unknown = typeof date === 'object' ? Reflect.get(Object(date), 'comparisonDate') : date
  return typeof given === 'string' ? given : 'now'
}

/** An item of a failed Sequelize validation. */
interface Item {
  readonly path: string | null
  readonly message: string
  readonly validatorKey: string | null
  readonly validatorArgs: Arguments
}

/** This package's message for a Sequelize validation error. Null if the model sets its own message. */
export function ownFaultOf({ path, message, validatorKey, validatorArgs }: Item): Fault | null {
  if (validatorKey === null || message !== `Validation ${validatorKey} on ${path} failed`) return null
  return faultOf(validatorKey, validatorArgs)
}
