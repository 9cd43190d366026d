import type { Field } from '../../types/field.js'
import type { Resource } from '../../types/resource.js'
import type { Tie } from '../../types/work.js'
import { isObject } from '../common/object.js'
import type { Holding } from './relations.js'

export type Body = Readonly<Record<string, unknown>>

/** The value of a member, or undefined for a body without. */
export function memberOf(body: unknown, name: string): unknown {
  return isObject(body) && Object.hasOwn(body, name) ? body[name] : undefined
}

/** The version of records; undefined where they have none. */
export function versionOf({ fields, version }: Resource): Field | undefined {
  return fields.find(({ name }) => name === version)
}

/** The versions that a body is held against, as those of `If-Match`; null where it states none. What is no whole number fits none. */
export function matchIn(resource: Resource, body: Body): readonly string[] | null {
  const version = versionOf(resource)
  const stated = version && memberOf(body, version.json)
  if (stated === undefined) return null
  return Number.isSafeInteger(stated) ? [String(stated)] : []
}

/** Whether an element says nothing of its record but that it stays. */
export function isKept(target: Resource, element: Body): boolean {
  const names = new Set([...target.keys.map(({ json }) => json), versionOf(target)?.json])
  return Object.keys(element).every((name) => names.has(name))
}

/** Whether clients choose the keys of new records, but for the part that the owner sets. */
export function choosesKeys({ keys }: Resource, { key }: Tie): boolean {
  return keys.every((field) => field === key || field.targets.has('create'))
}

/** Whether an element names a record. */
export function namesRecord(holding: Holding, element: Body): boolean {
  return keyPartsOf(holding, element, undefined) !== null
}

/** What an element has of its key: part by part, the owner's own included. Null for one that names no record. */
export function keyPartsOf({ target, tie }: Holding, element: Body, owner: unknown): readonly unknown[] | null {
  const { keys } = target
  const parts: unknown[] = []
  for (const field of keys) {
    const isOwners = field === tie.key && keys.length > 1
    const part = isOwners ? owner : memberOf(element, field.json)
    if (!isOwners && (part === undefined || part === null)) return null
    parts.push(part)
  }
  return parts
}
