// Values that tell where they come from: a text with the caller who wrote it, a number, or a UUID, each of which is
// found again among the bytes of a reply. Those with a wrong check sum are none, so that what a mutation makes of one is
// not taken for another.

const TEXT = /zq([0-9a-z]{2})x([0-9a-z]+)y([0-9a-z]{3})q/g
const NUMBER = /(?<![\dA-Za-z])1\d{9}(?!\d)/g
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi

/** The writer of what was there before any request. */
export const SEED = 's0'

function checkOf(text: string): string {
  let sum = 7
  for (let at = 0; at < text.length; at += 1) sum = (Math.imul(sum, 31) + text.charCodeAt(at)) >>> 0
  return (sum % 46_656).toString(36).padStart(3, '0')
}

/** `writer` is two characters. */
export function textCanary(writer: string, serial: number): string {
  const body = `${writer}x${serial.toString(36)}`
  return `zq${body}y${checkOf(body)}q`
}

const STEP = 9973
const FIRST = 1_000_000_017
const NUMBERS = Math.floor((1_999_999_999 - FIRST) / STEP)

/** Ten digits that fit an INTEGER, and that nothing else has by chance. */
export function numberCanary(serial: number): number {
  return FIRST + (serial % NUMBERS) * STEP
}

export function uuidCanary(space: number, serial: number): string {
  return `${space.toString(16).padStart(8, '0')}-0000-4000-8000-${serial.toString(16).padStart(12, '0')}`
}

/** Who wrote a text; null for a canary that is no text. */
export function writerOf(canary: string): string | null {
  return canary.startsWith('zq') ? canary.slice(2, 4) : null
}

/** What of this is in a text, each once. */
export function canariesIn(text: string): ReadonlySet<string> {
  const found = new Set<string>()
  for (const [whole, writer, serial, check] of text.matchAll(TEXT)) {
    if (check === checkOf(`${writer}x${serial}`)) found.add(whole)
  }
  for (const [digits] of text.matchAll(NUMBER)) if ((Number(digits) - FIRST) % STEP === 0) found.add(digits)
  for (const [uuid] of text.matchAll(UUID)) found.add(uuid.toLowerCase())
  return found
}
