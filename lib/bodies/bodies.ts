import type { Intent } from '../../types/intent.js'

/**
 * Returns the bodies of an intent that may contain nested records. A PUT or an item of an upsert has one body for an
 * update and one for a creation. The body for the update is returned.
 */
export function bodiesOf(intent: Intent): readonly unknown[] {
  switch (intent.kind) {
    case 'create':
    case 'update':
      return [intent.body]
    case 'bulkCreate':
      return intent.bodies
    case 'bulkUpdate':
      return intent.items.map((item) => item?.body)
    case 'replace':
      return [intent.update]
    case 'upsert':
      return intent.items.map((item) => item?.update)
    default:
      return []
  }
}
