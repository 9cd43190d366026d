import type { EitherBody, Intent } from '../../types/intent.js'
import { isObject } from '../common/object.js'
import { type Body, without } from './members.js'

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

/** The same intent without some members of its bodies. */
export function withoutMembers(intent: Intent, names: ReadonlySet<string>): Intent {
  const own = (body: Body): Body => without(body, names)
  const either = <T extends EitherBody>(item: T): T => {
    return { ...item, update: own(item.update), create: item.create instanceof Error ? item.create : own(item.create) }
  }
  switch (intent.kind) {
    case 'create':
    case 'update':
      return { ...intent, body: own(intent.body) }
    case 'bulkCreate':
      return { ...intent, bodies: intent.bodies.map((body) => (isObject(body) ? own(body) : body)) }
    case 'bulkUpdate':
      return { ...intent, items: intent.items.map((item) => item && { ...item, body: own(item.body) }) }
    case 'replace':
      return either(intent)
    case 'upsert':
      return { ...intent, items: intent.items.map((item) => item && either(item)) }
    default:
      return intent
  }
}
