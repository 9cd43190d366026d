import type { Check, OptionRow, OptionShape } from '../../types/check.js'
import { isObject } from '../common/object.js'

export const isText: Check = (value) => typeof value === 'string'
export const isName: Check = (value) => typeof value === 'string' && value.trim() !== ''
/** Accepts paths whose characters have no special meaning in URLs, Express patterns and Socket.IO. */
export const isPath: Check = (value) =>
  typeof value === 'string' &&
  value !== '' &&
  value.split('/').every((word) => /^[A-Za-z0-9._~-]*$/.test(word) && word !== '.' && word !== '..')
export const PATH = 'a path of letters, digits and - . _ ~'
export const isFlag: Check = (value) => typeof value === 'boolean'
export const isFunction: Check = (value) => typeof value === 'function'
export const isArray: Check = Array.isArray
export const isCount: Check = (value) => typeof value === 'number' && Number.isSafeInteger(value) && value >= 1
export const isLength: Check = (value) => value === 0 || isCount(value)
export const isNumber: Check = (value) => typeof value === 'number' && Number.isFinite(value)

export function oneOf(...words: readonly string[]): Check {
  return (value) => typeof value === 'string' && words.includes(value)
}

export function either(...checks: readonly Check[]): Check {
  return (value) => checks.some((check) => check(value))
}

/** Accepts objects whose members all pass the check. */
export function everyMember(check: Check): Check {
  return (value) => isObject(value) && Object.values(value).every(check)
}

export function option(check: Check, what: string, more: Pick<OptionRow, 'members' | 'isRestrictive'> = {}): OptionRow {
  return { check, expected: what, ...more }
}

/** Returns a shape with one row for all names. */
export function repeatRow(names: readonly string[], row: OptionRow): OptionShape {
  return Object.fromEntries(names.map((name) => [name, row]))
}

export const flag: OptionRow = option(isFlag, 'a boolean')
export const count: OptionRow = option(isCount, 'a whole number from 1')

/** Returns the row of an option that enables a behaviour: true, or an object with names of its attributes. */
export function attributeNames(...names: readonly string[]): OptionRow {
  const members = repeatRow(names, option(isName, "an attribute's name"))
  return option(either(isFlag, isObject), 'a boolean or an object of attribute names', { members })
}
