import type { Comparison } from './compare.js'
import type { Measures } from './measures.js'

/** What was seen, as a page of text. */
export function report(measures: Measures): string {
  const statuses = [...new Set([...measures.kinds.values()].flatMap((each) => [...each.keys()]))].toSorted(
    (a, b) => a - b,
  )
  const rows = [...measures.kinds].toSorted(([a], [b]) => a.localeCompare(b))
  const sum = (of: (status: number) => boolean): number =>
    rows.reduce(
      (all, [, each]) => all + [...each].reduce((some, [status, times]) => some + (of(status) ? times : 0), 0),
      0,
    )
  const line = (name: string, cells: readonly (number | string)[]): string =>
    `${name.padEnd(18)}${cells.map((cell) => String(cell).padStart(8)).join('')}`
  const well = sum((status) => status >= 200 && status < 400)
  const table = [
    line('', ['all', ...statuses.map((status) => (status === 0 ? 'closed' : status))]),
    ...rows.map(([kind, each]) => {
      const cells = statuses.map((status) => each.get(status) ?? '')
      return line(kind, [[...each.values()].reduce((a, b) => a + b, 0), ...cells])
    }),
    line('all', [measures.requests, ...statuses.map((status) => sum((each) => each === status))]),
  ]
  const [early, late] = measures.heaps()
  const { slowest } = measures
  const times = [0.5, 0.99, 0.999].map((share) => `p${share * 100} ${measures.quantile(share)} ms`)
  return [
    ...table,
    `${measures.requests} requests, ${((100 * well) / measures.requests).toFixed(1)} % answered with 2xx or 304`,
    `${(measures.bytes / 2 ** 20).toFixed(1)} MiB of replies searched, ${measures.met} canaries met in them; ${measures.canaries} canaries in rows`,
    `${measures.heard} packets of sockets searched; ${measures.held} invariants of rows held`,
    `${times.join(', ')}, slowest ${Math.round(slowest.milliseconds)} ms: ${slowest.request}`,
    ...(measures.heap.length < 4
      ? []
      : [`heap ${early.toFixed(1)} MiB in the second quarter, ${late.toFixed(1)} MiB in the last`]),
  ].join('\n')
}

export function comparison({ requests, found }: Comparison): string {
  return `${requests} reads compared with a world that lacks what the caller may not see, ${found} of them answered with 200`
}
