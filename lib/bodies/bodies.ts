import type { Intent } from '../../types/intent.js'

/**
 * Returns the bodies of an intent that may contain nested records. For an intent that updates or creates records, the
 * update bodies are returned.
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
