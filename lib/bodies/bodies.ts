import type { Intent } from '../../types/intent.js'

/**
 * Returns the bodies of an intent that may contain nested records. Intents that update or create records return their
 * update bodies.
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
