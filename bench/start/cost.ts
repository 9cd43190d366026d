/** Cost of some work. */
export interface Cost {
  readonly milliseconds: number
  /** Processor time in milliseconds. On a busy machine, it is more accurate than wall time. */
  readonly cpu: number
  /** Growth of the heap in megabytes, measured after garbage collections. */
  readonly heap: number
}

/** Measures the cost of some work. Node.js needs the option `--expose-gc`. */
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
