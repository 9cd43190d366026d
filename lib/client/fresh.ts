import type { ClientOptions } from './types.js'

/** Seconds after a write in which reads ask for the primary, where the option says no number. */
const SECONDS = 10

/** The times of the last writes, by the service: a record of one resource may show what another one wrote. */
const writes = new Map<string, number>()

/** The origin of an address; empty for the page's own. */
function serviceOf(address: string): string {
  return /^[a-z][a-z\d+.-]*:\/\/[^/]+/i.exec(address)?.[0].toLowerCase() ?? ''
}

/** Remembers that something was written, by this program or by whoever an event tells of. */
export function markWritten(address: string): void {
  writes.set(serviceOf(address), performance.now())
}

/** Whether a read may miss a write on a replica that is behind. */
export function followsWrite(address: string, { readYourWrites = false }: ClientOptions): boolean {
  if (readYourWrites === false) return false
  const last = writes.get(serviceOf(address))
  const seconds = readYourWrites === true ? SECONDS : readYourWrites
  return last !== undefined && performance.now() - last < seconds * 1000
}
