import type { Result } from './measure.js'
import { NAMES, ratioOf } from './table.js'
import type { Side } from './workloads.js'

export interface Group {
  readonly name: string
  readonly results: readonly Result[]
}

const WIDTH = 860
const MIDDLE = 480
const DOUBLE = 50
const BAR = 12
const GAP = 14
const COLOURS = ['#1f77b4', '#e07b00', '#2ca02c', '#c44e52', '#8e6bbf', '#8c6d5a', '#c05fa5', '#6f8f2f']

/**
 * Draws a bar chart of a table. Each server and workload has a bar whose length is the logarithm of its ratio to the
 * reference. Better results extend to the right. The text has the colours of the reader's theme.
 */
export function chart(reference: Side, groups: readonly Group[]): string {
  const sides = [...new Set(groups.flatMap(({ results }) => results.map(({ side }) => side)))]
  const shown = sides.filter((side) => side !== reference)
  const colourOf = new Map(shown.map((side, index) => [side, COLOURS[index % COLOURS.length] ?? '']))
  const title = `Ratio to ${NAMES[reference]} by processor time, to the right: less time`
  const parts: string[] = [text(10, 20, title)]
  shown.forEach((side, index) => {
    const [x, y] = [10 + (index % 4) * 210, 34 + Math.floor(index / 4) * 18]
    parts.push(
      `<circle cx="${x + 5}" cy="${y + 5}" r="5" fill="${colourOf.get(side)}"/>`,
      text(x + 16, y + 10, NAMES[side]),
    )
  })
  const top = 44 + Math.ceil(shown.length / 4) * 18
  let y = top
  for (const { name, results } of groups) {
    parts.push(text(10, y + BAR - 2, name))
    for (const result of results.filter(({ side }) => side !== reference)) {
      const ratio = ratioOf(result)
      const end = MIDDLE + Math.max(-4, Math.min(5, Math.log2(ratio))) * DOUBLE
      const [left, width] = [Math.min(end, MIDDLE), Math.max(1, Math.abs(end - MIDDLE))]
      parts.push(
        `<rect x="${left.toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="${BAR - 2}" fill="${colourOf.get(result.side)}"/>`,
        text(Math.max(end, MIDDLE) + 6, y + BAR - 3, ratio.toFixed(2)),
      )
      y += BAR
    }
    y += GAP
  }
  parts.push(`<path d="M${MIDDLE} ${top - 4}V${y - GAP + 4}"/>`)
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y}" font-family="sans-serif" font-size="12">
<title>${title}</title>
<style>text{fill:#1f2328}path{stroke:#1f2328}@media(prefers-color-scheme:dark){text{fill:#e6edf3}path{stroke:#e6edf3}}</style>
${parts.join('\n')}
</svg>
`
}

function text(x: number, y: number, content: string): string {
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  return `<text x="${x.toFixed(1)}" y="${y}">${escaped}</text>`
}
