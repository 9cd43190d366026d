/** What something cost the process it was done in. */
export interface Cost {
  readonly milliseconds: number
  /** Of processor time, which tells more than the clock where other work is going on. */
  readonly cpu: number
  /** Megabytes by which the heap has grown, garbage taken away. */
  readonly heap: number
}

/** Needs `--expose-gc`. */
export async function costOf(work: () => unknown): Promise<Cost> {
  const heap = used()
  const cpu = process.cpuUsage()
  const start = performance.now()
  await work()
  const milliseconds = performance.now() - start
  const { user, system } = process.cpuUsage(cpu)
  return { milliseconds, cpu: (user + system) / 1000, heap: used() - heap }
}

function used(): number {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed / 2 ** 20
}
