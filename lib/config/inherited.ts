import { CrudConfigError } from '../common/errors.js'
import { isObject } from '../common/object.js'

/** The name of a member that an object inherits from a class or by Object.create; null if all members are its own. */
export function inheritedBy(value: object): string | null {
  for (let from = Object.getPrototypeOf(value); from !== null; from = Object.getPrototypeOf(from)) {
    // Object.prototype, which each realm has of its own.
    if (Object.getPrototypeOf(from) === null && Object.hasOwn(from, 'hasOwnProperty')) return null
    const name = Object.getOwnPropertyNames(from).find((member) => member !== 'constructor')
    if (name !== undefined) return name
  }
  return null
}

/** Whether a value is an object without inherited members. Options are read from such objects alone. */
export function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return isObject(value) && inheritedBy(value) === null
}

/** An inherited policy would be lost where objects are merged or read by their own members. */
export function inheritedMember(where: string, name: string): CrudConfigError {
  return new CrudConfigError(
    'INVALID_OPTION',
    `${where}: "${name}" is inherited, and options are members of the object itself: pass a plain object.`,
  )
}
