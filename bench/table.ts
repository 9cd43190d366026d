import type { Result } from './measure.js'
import type { Side, Workload } from './workloads.js'

const WIDTHS = [34, 20, 10, 8, 6, 12, 6, 8, 8] as const

export const NAMES: Readonly<Record<Side, string>> = {
  bare: 'bare node:http',
  sql: 'SQL on Express',
  hand: 'Sequelize by hand',
  router: 'router',
  beside: 'router of the other',
  plain: 'plain',
  behaviours: 'all behaviours',
  'express-crud-router': 'express-crud-router',
  'feathers-sequelize': 'feathers-sequelize',
  'finale-rest': 'finale-rest',
  'dataui-crud': '@dataui/crud with TypeORM',
}

function line(cells: readonly string[], pad = ' '): string {
  const padded = WIDTHS.map((width, index) => {
    const cell = cells[index] ?? ''
    return index < 2 ? cell.padEnd(width, pad) : cell.padStart(width, pad)
  })
  return `| ${padded.join(' | ')} |`
}

/**
 * Writes the head of a Markdown table. Ratios are the reference divided by the server. Above 1, the server is better.
 */
export function heading(reference: Side): string {
  return [
    `Processor time of the server process a request, in microseconds, that of its main thread beside it; milliseconds;`,
    `medians, and medians of the ratios to "${NAMES[reference]}", where more is better.`,
    '',
    line(['workload', 'server', 'CPU', 'main', 'ratio', 'requests/s', 'ratio', 'p50', 'p99']),
    line(['', '', ':', ':', ':', ':', ':', ':', ':'], '-'),
  ].join('\n')
}

export function rows({ name }: Workload, results: readonly Result[]): string {
  return results
    .map(({ side, cpu, rate, p50, p99, ratios }, index) =>
      line([
        index === 0 ? name : '',
        NAMES[side],
        ...[cpu?.all, cpu?.main].map((value) => rounded(value)),
        ratios.cpu?.toFixed(2) ?? '-',
        rounded(rate),
        ratios.rate.toFixed(2),
        p50.toFixed(2),
        p99.toFixed(2),
      ]),
    )
    .join('\n')
}

/** Writes the head of a table with a column per server. */
export function matrixHeading(sides: readonly Side[], reference: Side): string {
  return [
    `Microseconds of processor time of the server process a request, and the ratio to "${NAMES[reference]}": more is better.`,
    'Empty: the server cannot do it.',
    '',
    `| workload | ${sides.map((side) => NAMES[side]).join(' | ')} |`,
    `|---|${sides.map(() => '---:|').join('')}`,
  ].join('\n')
}

export function matrixRow(name: string, sides: readonly Side[], results: readonly Result[]): string {
  const cells = sides.map((side) => {
    const result = results.find((each) => each.side === side)
    return result === undefined ? '' : `${rounded(result.cpu?.all)} (${ratioOf(result).toFixed(2)})`
  })
  return `| ${[name, ...cells].join(' | ')} |`
}

/** Ratio of processor times, or of requests per second if the system does not provide processor times. */
export function ratioOf({ ratios }: Result): number {
  return ratios.cpu ?? ratios.rate
}

/** Writes the peak memory of each server. */
export function memory(peaks: readonly { readonly side: Side; readonly megabytes: number | null }[]): string {
  const shown = peaks.map(({ side, megabytes }) => `${NAMES[side]} ${rounded(megabytes ?? undefined)}`)
  return `Peak of resident memory in MB: ${shown.join(', ')}.`
}

function rounded(value: number | undefined): string {
  return value?.toLocaleString('en', { maximumFractionDigits: value < 100 ? 1 : 0 }) ?? '-'
}
