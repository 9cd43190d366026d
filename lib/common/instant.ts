// Formats instants as text faster than `Date`, because a response may have thousands of instants.

const DAY = 86_400_000

/** The number of cached days. The records of a page often share few days. */
const DAYS = 2048

const cachedDays = new Map<number, string>()
const TWO = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'))
const THREE = Array.from({ length: 1000 }, (_, number) => String(number).padStart(3, '0'))

/** Formats a valid date like `toISOString`, but faster. */
export function formatIsoDate(date: Date): string {
  const time = date.getTime()
  const day = Math.floor(time / DAY)
  const milliseconds = time - day * DAY
  const seconds = Math.floor(milliseconds / 1000)
  const minutes = Math.floor(seconds / 60)
  const hours = Math.floor(minutes / 60)
  const timeOfDay = `${TWO[hours]}:${TWO[minutes - hours * 60]}:${TWO[seconds - minutes * 60]}`
  return `${formatDay(day)}${timeOfDay}.${THREE[milliseconds - seconds * 1000]}Z`
}

function formatDay(day: number): string {
  const known = cachedDays.get(day)
  if (known !== undefined) return known
  const text = new Date(day * DAY).toISOString()
  const date = text.slice(0, text.indexOf('T') + 1)
  if (cachedDays.size === DAYS) cachedDays.clear()
  cachedDays.set(day, date)
  return date
}
