/** Reads what a program was given; where that is wrong or asks for help, says how the program is called, and ends it. */
export function orUsage<T>(usage: string, read: () => T): T {
  if (process.argv.includes('--help')) {
    console.log(usage)
    return process.exit(0)
  }
  try {
    return read()
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n${usage}`)
    return process.exit(2)
  }
}

/** What an option says as a number. @throws RangeError for what is none, and for one that is too small */
export function numberFrom(option: string, text: string, least = 1): number {
  const number = text.trim() === '' ? Number.NaN : Number(text)
  if (Number.isFinite(number) && number >= least) return number
  throw new RangeError(`--${option} ${text} is no number from ${least}`)
}
