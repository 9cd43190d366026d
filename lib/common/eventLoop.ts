/** Resolves after the event loop has run other work. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

/** The number of items that are processed before yielding. Processing them takes some milliseconds. */
const ITEMS_BEFORE_YIELD = 50

/** Maps a list like `map`, and yields to the event loop at intervals. */
export async function mapYielding<T, R>(items: readonly T[], make: (item: T, index: number) => R): Promise<R[]> {
  const made: R[] = []
  for (const [index, item] of items.entries()) {
    if (index > 0 && index % ITEMS_BEFORE_YIELD === 0) await yieldToEventLoop()
    made.push(make(item, index))
  }
  return made
}

/** Work in steps of some milliseconds each. */
export type Steps<T> = Generator<void, T>

export function runAtOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** Runs all steps, and yields to the event loop between them. */
export async function runYielding<T>(steps: Steps<T>): Promise<T> {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    await yieldToEventLoop()
  }
}
