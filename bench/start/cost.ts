/** Cost of some work for its process. */
export interface Cost {
  readonly milliseconds: number
  /** Processor time, which is more accurate than wall time on a busy machine. */
  readonly cpu: number
  /** Growth of the heap in megabytes, after garbage collection. */
  readonly heap: number
}

/** Needs the option `--expose-gc`. */
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
