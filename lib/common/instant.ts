// Instants from and to text, many of which stand in each answer.

const DAY = 86_400_000

/** Days whose text is remembered: records that are read together often are of a few. */
const DAYS = 2048

const days = new Map<number, string>()
const TWO = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'))
const THREE = Array.from({ length: 1000 }, (_, number) => String(number).padStart(3, '0'))

/** What `toISOString` gives for a date that is valid, faster. */
export function isoTextOf(date: Date): string {
  const time = date.getTime()
  const day = Math.floor(time / DAY)
  const milliseconds = time - day * DAY
  const seconds = Math.floor(milliseconds / 1000)
  const minutes = Math.floor(seconds / 60)
  const hours = Math.floor(minutes / 60)
  const clock = `${TWO[hours]}:${TWO[minutes - hours * 60]}:${TWO[seconds - minutes * 60]}`
  return `${dayText(day)}${clock}.${THREE[milliseconds - seconds * 1000]}Z`
}

function dayText(day: number): string {
  const known = days.get(day)
  if (known !== undefined) return known
  const text = new Date(day * DAY).toISOString()
  const date = text.slice(0, text.indexOf('T') + 1)
  if (days.size === DAYS) days.clear()
  days.set(day, date)
  return date
}

type Read = (text: string) => unknown

/**
 * What servers write for an instant in UTC: a day that needs no calendar, all but 29 February, and up to six digits of a second,
 * with an offset behind it as PostgreSQL's has one.
 */
const PLAIN =
  /^[1-9]\d{3}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31) (?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?(?:\+00)?$/

/** What tells a reader that does the usual from a host's own. */
const PROBES = [
  '2001-02-03 04:05:06',
  '1999-12-31 23:59:59.9',
  '2024-07-01 00:00:00.05',
  '1970-01-01 00:00:00.007',
  '1021-10-30 12:34:56.123999',
]

/**
 * A reader of instants in UTC that answers what a given one would, faster; null where the given one answers anything else than
 * the instant to the millisecond. `offset` is what stands at the end of the texts. What is not plain is read by the given one.
 */
export function fasterReader(read: Read, offset: '' | '+00'): Read | null {
  const isUsual = PROBES.every((probe) => {
    const date = read(probe + offset)
    return Object.getPrototypeOf(Object(date)) === Date.prototype && Number(date) === readPlain(probe).getTime()
  })
  return isUsual ? (text) => (PLAIN.test(text) && text.endsWith(offset) ? readPlain(text) : read(text)) : null
}

function readPlain(text: string): Date {
  const year = digit(text, 0) * 1000 + digit(text, 1) * 100 + pair(text, 2)
  const milliseconds = digit(text, 20) * 100 + digit(text, 21) * 10 + digit(text, 22)
  return new Date(
    Date.UTC(year, pair(text, 5) - 1, pair(text, 8), pair(text, 11), pair(text, 14), pair(text, 17), milliseconds),
  )
}

function pair(text: string, at: number): number {
  return digit(text, at) * 10 + digit(text, at + 1)
}

/** The digit there; 0 where there is none. */
function digit(text: string, at: number): number {
  const value = text.charCodeAt(at) - 48
  return value >= 0 && value <= 9 ? value : 0
}
