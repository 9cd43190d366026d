// Records the functions that instrumented modules enter, in their order.

export interface TracedFunction {
  /** Path of the compiled file, from the root of the build: `lib/handle.js`. */
  readonly file: string
  readonly name: string
  readonly line: number
}

/** Instrumented functions. The index is the function's number. */
const functions: TracedFunction[] = []
let entries: number[] | null = null

export function add(each: TracedFunction): number {
  return functions.push(each) - 1
}

/** Records an entered function. Instrumented functions call it with their number. */
export function enter(number: number): void {
  entries?.push(number)
}

/** Records the functions that are entered while `work` runs, including repetitions. */
export async function recordEntries(work: () => Promise<void>): Promise<readonly TracedFunction[]> {
  const seen: number[] = []
  entries = seen
  try {
    await work()
  } finally {
    entries = null
  }
  return seen.flatMap((number) => functions[number] ?? [])
}
