import type { JsonValue } from '../../types/field.js'

const PREFIX = 'sequelize-crud-router:'

/**
 * A room without clients that every event is also sent to. Some adapters choose channels by a single room. They would
 * skip servers without clients in that room, and those servers would see a lost event.
 */
export const EVERY_EVENT_ROOM: string = `${PREFIX}everywhere`

/** The room of a subscription's clients whose scope has these values. Clients never see its name. */
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
 * Rooms to send to one after the other, so that requests are handled in between. With many clients these are slices.
 */
export function splitIntoSteps(rooms: readonly string[], count: number): readonly (readonly string[])[] {
  if (count <= LARGE_ROOM) return [rooms]
  return Array.from({ length: SLICES }, (_, index) => rooms.map((room) => `${room}#${index}`))
}

export function isRoom(name: string): boolean {
  return name.startsWith(PREFIX)
}

/** Text of the room's subscription, or null if the room is not of this package's version. */
export function readSubscriptionText(room: string): string | null {
  if (!isRoom(room)) return null
  try {
    const [text]: unknown[] = JSON.parse(room.slice(PREFIX.length))
    return typeof text === 'string' ? text : null
  } catch {
    return null
  }
}
