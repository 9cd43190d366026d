import type { JsonValue } from '../../types/field.js'

const PREFIX = 'sequelize-crud-router:'

/**
 * A room with nobody in it, which every event is sent to as well: adapters that choose channels by a single room would leave out
 * servers without clients in that room, which could not tell that from a loss.
 */
export const EVERYWHERE: string = `${PREFIX}everywhere`

/** The room of a class's subscribers with these values of their scope. Clients never see its name. */
export function roomOf(subscription: string, values: readonly JsonValue[]): string {
  return PREFIX + JSON.stringify([subscription, values])
}

/** How many slices the clients of a room are in. */
const SLICES = 16

/** Clients of this process in a room, up to which all of them are told in one turn of the event loop. */
const CROWD = 500

/** The rooms of the slices of a room: each of its clients is in one of them. */
export function slicesOf(room: string): readonly string[] {
  return Array.from({ length: SLICES }, (_, index) => `${room}#${index}`)
}

export function isSliceOf(room: string, name: string): boolean {
  return name.startsWith(`${room}#`)
}

/** The rooms to be told one after the other, so that requests are let in between: slices, where there are many clients. */
export function stepsOf(rooms: readonly string[], count: number): readonly (readonly string[])[] {
  if (count <= CROWD) return [rooms]
  return Array.from({ length: SLICES }, (_, index) => rooms.map((room) => `${room}#${index}`))
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
