import { CrudConfigError } from '../common/errors.js'
import { isObject } from '../common/object.js'

/** The name of an inherited member; null if all members are own ones. */
export function findInheritedMember(value: object): string | null {
  for (let from = Object.getPrototypeOf(value); from !== null; from = Object.getPrototypeOf(from)) {
    // Object.prototype, also that of another realm.
    if (Object.getPrototypeOf(from) === null && Object.hasOwn(from, 'hasOwnProperty')) return null
    const name = Object.getOwnPropertyNames(from).find((member) => member !== 'constructor')
    if (name !== undefined) return name
  }
  return null
}

/**
 * The error for options with an inherited member. Options are merged by their own members, so an inherited policy would
 * be lost.
 */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return isObject(value) && findInheritedMember(value) === null
}

/** Merging objects and reading own members would lose an inherited policy. */
export function createInheritedError(where: string, name: string): CrudConfigError {
  return new CrudConfigError(
    'INVALID_OPTION',
    `${where}: "${name}" is inherited, and options are members of the object itself: pass a plain object.`,
  )
}
