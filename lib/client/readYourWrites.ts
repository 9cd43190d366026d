import type { ClientOptions } from './types.js'

/** Default number of seconds after a write during which reads use the primary. */
const DEFAULT_SECONDS = 10

/**
 * Instants of the last writes, by origin. One resource may show data that another resource wrote, so resources of an
 * origin share an instant.
 */
const lastWrites = new Map<string, number>()

/** Origin of an address. Empty for an address without an origin. */
export function originOf(address: string): string {
  return /^[a-z][a-z\d+.-]*:\/\/[^/]+/i.exec(address)?.[0] ?? ''
}

/** Stores the time of a write. Both this program's writes and received events count. */
export function noteWrite(address: string): void {
  lastWrites.set(originOf(address).toLowerCase(), performance.now())
}

/** Whether a read may miss a recent write because a replica lags behind. */
export function isAfterWrite(address: string, { readYourWrites = false }: ClientOptions): boolean {
  if (readYourWrites === false) return false
  const last = lastWrites.get(originOf(address).toLowerCase())
  const seconds = readYourWrites === true ? DEFAULT_SECONDS : readYourWrites
  return last !== undefined && performance.now() - last < seconds * 1000
}
