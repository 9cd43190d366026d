import type { JsonValue } from '../../types/field.js'

const PREFIX = 'sequelize-crud-router:'

/**
 * A room without clients. Every event is also sent to this room. Some adapters choose channels by a single room and
 * would skip servers without clients in it. Skipped servers would report a lost event.
 */
export const EVERY_EVENT_ROOM: string = `${PREFIX}everywhere`

/** Name of the room for a subscription's clients whose scope has these values. Clients never receive room names. */
export function roomNameOf(subscription: string, values: readonly JsonValue[]): string {
  return PREFIX + JSON.stringify([subscription, values])
}

/** Number of slices that a room's clients are distributed over. */
const SLICES = 16

/** Up to this number of a process's clients in a room, all receive an event in one turn of the event loop. */
const LARGE_ROOM = 500

/** Names of a room's slices. Each client of the room is in one slice. */
export function slicesOf(room: string): readonly string[] {
  return Array.from({ length: SLICES }, (_, index) => `${room}#${index}`)
}

export function isSliceOf(room: string, name: string): boolean {
  return name.startsWith(`${room}#`)
}

/**
 * Splits a delivery into steps, between which the process handles requests. `count` is the number of clients. A step
 * for many clients has one slice of each room.
 */
export function splitIntoSteps(rooms: readonly string[], count: number): readonly (readonly string[])[] {
  if (count <= LARGE_ROOM) return [rooms]
  return Array.from({ length: SLICES }, (_, index) => rooms.map((room) => `${room}#${index}`))
}

export function isRoom(name: string): boolean {
  return name.startsWith(PREFIX)
}

/** Text of the room's subscription. Returns null if another version of the package named the room. */
export function readSubscriptionText(room: string): string | null {
  if (!isRoom(room)) return null
  try {
    const [text]: unknown[] = JSON.parse(room.slice(PREFIX.length))
    return typeof text === 'string' ? text : null
  } catch {
    return null
  }
}
