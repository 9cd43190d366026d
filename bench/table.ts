import type { Plan, Result } from './measure.js'
import type { Workload } from './workloads.js'

const WIDTHS = [26, 12, 12, 6, 12] as const

function line(cells: readonly string[], pad = ' '): string {
  const padded = WIDTHS.map((width, index) => {
    const cell = cells[index] ?? ''
    return index === 0 ? cell.padEnd(width, pad) : cell.padStart(width, pad)
  })
  return `| ${padded.join(' | ')} |`
}

/** What was measured, and the head of the table (Markdown, so that it can be pasted). */
export function heading(players: number, { rounds, connections }: Plan): string {
  const what = `${players.toLocaleString('en')} players on SQLite, ${rounds} rounds each, ${connections} connections`
  return [
    `Requests per second: ${what}; medians, and the ratio's range over the rounds.`,
    '',
    line(['workload', 'by hand', 'this router', 'ratio', 'range']),
    line(['', ':', ':', ':', ':'], '-'),
  ].join('\n')
}

export function row({ name }: Workload, { hand, router, ratio, lowest, highest }: Result): string {
  const range = `${lowest.toFixed(2)}-${highest.toFixed(2)}`
  return line([name, rate(hand), rate(router), ratio.toFixed(2), range])
}

function rate(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 1 : 0 })
}
