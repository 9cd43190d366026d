/**
 * Parses the arguments of a program with `read`. Prints the usage and exits if the arguments are wrong or contain
 * `--help`.
 */
export function parseOrExit<T>(usage: string, read: () => T): T {
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

/** Parses the number of an option. @throws RangeError for an invalid or too small number */
export function numberFrom(option: string, text: string, least = 1): number {
  const number = text.trim() === '' ? Number.NaN : Number(text)
  if (Number.isFinite(number) && number >= least) return number
  throw new RangeError(`--${option} ${text} is no number from ${least}`)
}
