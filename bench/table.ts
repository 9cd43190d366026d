import type { Plan, Result } from './measure.js'
import type { Pair, Side, Workload } from './workloads.js'

const WIDTHS = [36, 14, 14, 6, 12] as const

const NAMES: Readonly<Record<Side, string>> = {
  hand: 'by hand',
  router: 'this router',
  plain: 'plain',
  behaviours: 'all behaviours',
}

function line(cells: readonly string[], pad = ' '): string {
  const padded = WIDTHS.map((width, index) => {
    const cell = cells[index] ?? ''
    return index === 0 ? cell.padEnd(width, pad) : cell.padStart(width, pad)
  })
  return `| ${padded.join(' | ')} |`
}

/** What was measured, and the head of the table (Markdown, so that it can be pasted). */
export function heading(players: number, { rounds, connections }: Plan, [measured, against]: Pair): string {
  const what = `${players.toLocaleString('en')} players on SQLite, ${rounds} rounds each, ${connections} connections`
  return [
    `Requests per second: ${what}; medians, and the ratio's range over the rounds.`,
    '',
    line(['workload', NAMES[against], NAMES[measured], 'ratio', 'range']),
    line(['', ':', ':', ':', ':'], '-'),
  ].join('\n')
}

export function row({ name }: Workload, { against, measured, ratio, lowest, highest }: Result): string {
  const range = `${lowest.toFixed(2)}-${highest.toFixed(2)}`
  return line([name, rate(against), rate(measured), ratio.toFixed(2), range])
}

function rate(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 1 : 0 })
}
