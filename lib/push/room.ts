import type { JsonValue } from '../../types/field.js'

const PREFIX = 'sequelize-crud-router:'

/** The room of a class's subscribers with these values of their scope. Clients never see its name. */
export function roomOf(subscription: string, values: readonly JsonValue[]): string {
  return `${PREFIX}${subscription}${JSON.stringify(values)}`
}

export function isRoom(name: string): boolean {
  return name.startsWith(PREFIX)
}
