import { CrudConfigError } from '../common/errors.js'
import { isObject } from '../common/object.js'

/** Returns the name of an inherited member; null if the object has only own members. */
export function findInheritedMember(value: object): string | null {
  for (let from = Object.getPrototypeOf(value); from !== null; from = Object.getPrototypeOf(from)) {
    if (isObjectPrototype(from)) return null
    const name = Object.getOwnPropertyNames(from).find((member) => member !== 'constructor')
    if (name !== undefined) return name
  }
  return null
}

/** Whether a value is `Object.prototype`, also that of another realm. */
export function isObjectPrototype(value: object): boolean {
  return Object.getPrototypeOf(value) === null && Object.hasOwn(value, 'hasOwnProperty')
}

/**
 * Whether a value is an object without inherited members. Options are merged by own members, so an inherited policy
 * would be lost.
 */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return isObject(value) && findInheritedMember(value) === null
}

/** Creates the error for options with an inherited member. */
export function createInheritedError(where: string, name: string): CrudConfigError {
  return new CrudConfigError(
    'INVALID_OPTION',
    `${where}: the option "${name}" is inherited from a prototype. Pass a plain object that has the option itself.`,
  )
}
