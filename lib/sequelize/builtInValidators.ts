// The validators that Sequelize brings along: their functions, and their messages in the words of this package.

import { Sequelize } from 'sequelize'
import type { ValueCheck } from '../../types/field.js'
import type { Fault } from '../../types/messages.js'
import { fault } from '../common/messages.js'

type Arguments = readonly unknown[]

// Sequelize has them, and its types do not.
const functions: object = Object(Reflect.get(Sequelize, 'Validator'))

/** Without arguments whatever the model gives, unless it gives an array. */
const LOCALIZED: ReadonlySet<string> = new Set(['isAlpha', 'isAlphanumeric', 'isMobilePhone'])
/** Their arguments are dropped where the model gives a message. */
const ADDRESSES: ReadonlySet<string> = new Set(['isUrl', 'isURL', 'isEmail'])

/** Sequelize's own reading of a validator's settings; null where it reads none. */
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

/** Sequelize hands values to its validators as text. */
export function meets({ name, args }: ValueCheck, text: string): boolean {
  const validate: unknown = Reflect.get(functions, name)
  return typeof validate === 'function' && Boolean(Reflect.apply(validate, functions, [text, ...args]))
}

/** The validators that are rules of bodies. The others, and functions of the host's, are asked by Sequelize alone. */
const RULES: ReadonlySet<string> = new Set([
  ...['isIn', 'notIn', 'notEmpty', 'isUrl', 'isURL', 'isUUID', 'isNumeric', 'isFloat', 'isDecimal', 'isInt'],
  ...['isAlpha', 'isAlphanumeric', 'isLowercase', 'isUppercase', 'isIP', 'isIPv4', 'isIPv6', 'isDate', 'isAfter'],
  ...['isBefore', 'contains', 'notContains', 'equals', 'isCreditCard'],
])

/** A validator of an attribute as a check of bodies; null where it is none, or breaks on whatever it is given. */
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

/** What is said of a value that a validator refuses, where the model says nothing itself. */
function faultOf(name: string, args: Arguments): Fault {
  return (Object.hasOwn(FAULTS, name) ? FAULTS[name]?.(args) : undefined) ?? fault('invalid')
}

function textsOf(values: unknown): readonly string[] {
  // Of `isIn: ['a', 'b']` the validator is given the first alone.
  if (typeof values === 'string') return Object.freeze([values])
  // Null says nothing of texts.
  const texts = Array.isArray(values)
    ? values.filter((value) => value !== null).map(String)
    : Object.keys(Object(values))
  return Object.freeze(texts)
}

/** Compared with no date, a value is compared with the present. */
function dateOf(date: unknown): string {
  const given: unknown = typeof date === 'object' ? Reflect.get(Object(date), 'comparisonDate') : date
  return typeof given === 'string' ? given : 'now'
}

/** One item of a failed validation of Sequelize's. */
interface Item {
  readonly path: string | null
  readonly message: string
  readonly validatorKey: string | null
  readonly validatorArgs: Arguments
}

/** The words of this package for what Sequelize says by itself; null where the model has a message of its own. */
export function ownFaultOf({ path, message, validatorKey, validatorArgs }: Item): Fault | null {
  if (validatorKey === null || message !== `Validation ${validatorKey} on ${path} failed`) return null
  return faultOf(validatorKey, validatorArgs)
}
