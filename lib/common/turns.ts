/** Lets everything else run that waits for the event loop. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

/** Items that are worked on at once, at the most: some milliseconds of work. */
const AT_ONCE = 50

/** Makes something of each item of a list, and lets others run in between where it is long. */
export async function mapInTurns<T, R>(items: readonly T[], make: (item: T, index: number) => R): Promise<R[]> {
  const made: R[] = []
  for (const [index, item] of items.entries()) {
    if (index > 0 && index % AT_ONCE === 0) await nextTurn()
    made.push(make(item, index))
  }
  return made
}

/** Work in steps, each of some milliseconds. */
export type Steps<T> = Generator<void, T>

export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** Runs one step a turn, and lets others run in between. */
export async function inTurns<T>(steps: Steps<T>): Promise<T> {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    await nextTurn()
  }
}
