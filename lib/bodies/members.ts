import type { Resource } from '../../types/resource.js'
import type { ForeignKeyBinding } from '../../types/work.js'
import { isObject } from '../common/object.js'
import type { NestedRelation } from './relations.js'

export type Body = Readonly<Record<string, unknown>>

/** Returns the value of a body's member; undefined if the body lacks it. */
export function memberOf(body: unknown, name: string): unknown {
  return isObject(body) && Object.hasOwn(body, name) ? body[name] : undefined
}

/**
 * Returns the version in a body, in the form of `If-Match`. Null if the body has no version. A value that is not an
 * integer matches no version.
 */
export function readBodyMatch({ versionField }: Resource, body: Body): readonly string[] | null {
  const stated = versionField === null ? undefined : memberOf(body, versionField.json)
  if (stated === undefined) return null
  return Number.isSafeInteger(stated) ? [String(stated)] : []
}

/** Whether an element has only a key and a version, so that its record stays unchanged. */
export function isUnchanged(target: Resource, element: Body): boolean {
  const names = new Set([...target.keys.map(({ json }) => json), target.versionField?.json])
  return Object.keys(element).every((name) => names.has(name))
}

/** Whether clients choose the keys of new records, except for the part that the parent sets. */
export function hasClientKeys({ keys }: Resource, { key }: ForeignKeyBinding): boolean {
  return keys.every((field) => field === key || field.targets.has('create'))
}

/** Whether an element has a key. */
export function hasElementKey(relation: NestedRelation, element: Body): boolean {
  return readElementKey(relation, element, undefined) !== null
}

/** Returns the key parts of an element, including the part from the parent; null for an element without a key. */
export function readElementKey(
  { target, binding }: NestedRelation,
  element: Body,
  parentKey: unknown,
): readonly unknown[] | null {
  const { keys } = target
  const parts: unknown[] = []
  for (const field of keys) {
    const isParentPart = field === binding.key && keys.length > 1
    const part = isParentPart ? parentKey : memberOf(element, field.json)
    if (!isParentPart && (part === undefined || part === null)) return null
    parts.push(part)
  }
  return parts
}
