import type { JsonValue } from '../../types/field.js'

const PREFIX = 'sequelize-crud-router:'

/** The room of a class's subscribers with these values of their scope. Clients never see its name. */
export function roomOf(subscription: string, values: readonly JsonValue[]): string {
  return PREFIX + JSON.stringify([subscription, values])
}

export function isRoom(name: string): boolean {
  return name.startsWith(PREFIX)
}

/** The class whose room it is, by its text; null for rooms of other kinds, or of another version of this package. */
export function classOf(room: string): string | null {
  if (!isRoom(room)) return null
  try {
    const [text]: unknown[] = JSON.parse(room.slice(PREFIX.length))
    return typeof text === 'string' ? text : null
  } catch {
    return null
  }
}
