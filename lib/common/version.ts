import { hash } from 'node:crypto'
import type { Plan } from '../../types/plan.js'
import type { Reply } from '../../types/reply.js'
import type { Resource } from '../../types/resource.js'

/** The version of a new record. A row with a null version counts as this version. */
export const FIRST_VERSION = 0

/** The text of a version tag, with the hash of a view or without it: `3` or `3-5f2a9c01`. Tags of contents are longer. */
const VERSION = /^(\d{1,19})(?:-[\da-f]{8})?$/

/** Returns the version in the text of an entity tag, or null if the text has none. */
export function versionInTag(text: string): string | null {
  return VERSION.exec(text)?.[1] ?? null
}

/**
 * Adds a hash of the masked flattened members to the version tag of a reply. One tag serves the record itself, masked or
 * not.
 */
export function tagView(reply: Reply, plan: Plan, { fields }: Pick<Resource, 'fields'>): Reply {
  const { ETag: tag } = reply.headers
  if (tag === undefined || plan.kind !== 'get') return reply
  const own = new Set(fields.map(({ json }) => json))
  const masked = (plan.projection.masked ?? []).filter((name) => !own.has(name))
  if (masked.length === 0) return reply
  const view = hash('sha256', masked.toSorted().join(), 'hex').slice(0, 8)
  return { ...reply, headers: { ...reply.headers, ETag: tag.replace(/"$/, `-${view}"`) } }
}
