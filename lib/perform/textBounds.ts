import type { Model } from 'sequelize'
import { problem } from '../common/problem.js'
import { isLonger } from '../common/values.js'
import type { Store } from './store.js'

/**
 * Refuses what is too long for the model's own patterns before Sequelize holds it against them.
 *
 * @throws Problem 400 with the message of the length alone
 */
export function checkLengths(store: Store, instance: Model): void {
  const errors = tooLong(store, instance, '')
  if (errors !== null) throw problem('validation', { errors })
}

/** The messages for the texts of an instance that are too long; null where none is. */
export function tooLong({ resource }: Store, instance: Model, prefix: string): Record<string, string[]> | null {
  const failed = resource.bounded.filter(({ attribute, max }) => {
    if (!instance.isNewRecord && !instance.changed(attribute as never)) return false
    return isLonger(textOf(instance.getDataValue(attribute as never)), max)
  })
  if (failed.length === 0) return null
  return Object.fromEntries(failed.map(({ json, message }) => [prefix + json, [message]]))
}

/** What Sequelize's validators make of a value. The text of an object does not grow with it, but that of an array does. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (!Array.isArray(value) && !Buffer.isBuffer(value)) return ''
  try {
    return String(value)
  } catch {
    // A member of an array has a toString that is none: Sequelize refuses it likewise.
    return ''
  }
}
