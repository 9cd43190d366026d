import type { Intent } from '../../types/intent.js'

/** The bodies that may hold records of others. Of those that may change a record or make one, what they would change. */
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
