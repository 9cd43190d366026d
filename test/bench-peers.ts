// The benchmark beside other packages: the table of requests and the chart. Nothing is timed here.

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import test from 'ava'
import { chart } from '../bench/chart.js'
import type { Result } from '../bench/measure.js'
import { isInstalled, PEERS } from '../bench/peers/packages.js'
import { ABILITIES, canDo, PEER_WORKLOADS } from '../bench/peers/workloads.js'
import { type Side, WORKLOADS } from '../bench/workloads.js'

const program = fileURLToPath(new URL('../bench/index.js', import.meta.url))

for (const peer of PEERS) {
  test(`every request of ${peer} is for a workload of the benchmark`, (t) => {
    const names = new Set(WORKLOADS.map(({ name }) => name))
    t.deepEqual(
      Object.keys(ABILITIES[peer]).filter((name) => !names.has(name)),
      [],
    )
    t.true(Object.keys(ABILITIES[peer]).length > 0)
    const shown = PEER_WORKLOADS.filter((workload) => canDo(peer, workload))
    t.is(shown.length, Object.keys(ABILITIES[peer]).length)
  })
}

const installed = PEERS.filter(isInstalled)
// The registry is not asked by a test: where nobody has run the benchmark with peers, there is nothing to start.
const answers = installed.length === 0 ? test.skip : test

answers('peers that are installed give the answers of SQL by hand', async (t) => {
  const sides = ['sql', ...installed].flatMap((side) => ['--side', side])
  const args = [
    '--peers',
    '--check',
    '--only',
    'get by id',
    '--only',
    'first page, total',
    '--only',
    'create',
    ...sides,
  ]
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...args])
  t.regex(stdout, /\nget by id: SQL on Express, /)
  t.notRegex(stdout, /left out/)
})

function result(side: Side, cpu: number | null, rate: number): Result {
  return { side, cpu: null, rate: 1, p50: 1, p99: 1, ratios: { cpu, rate } }
}

const GROUPS = [
  {
    name: 'read <one> & all',
    results: [result('sql', 1, 1), result('router', 2.5, 2), result('finale-rest', 0.25, 1)],
  },
  { name: 'write', results: [result('sql', 1, 1), result('router', null, 1.75)] },
]

test('a chart has one bar and one figure for each server and workload but the reference', (t) => {
  const svg = chart('sql', GROUPS)
  t.is(svg.match(/<rect /g)?.length, 3)
  for (const figure of ['2.50', '0.25', '1.75']) t.is(svg.split(`>${figure}</text>`).length, 2, figure)
  const bars = [...svg.matchAll(/<rect x="([\d.]+)" y="\d+" width="([\d.]+)"/g)].map(([, x, width]) => [
    Number(x),
    Number(x) + Number(width),
  ])
  const middle = Number(/<path d="M(\d+) /.exec(svg)?.[1])
  t.is(bars[0]?.[0], middle, 'better than the reference: to the right')
  t.is(bars[1]?.[1], middle, 'worse than the reference: to the left')
})

test('a chart is well-formed XML with the names as text', (t) => {
  const svg = chart('sql', GROUPS)
  const open: string[] = []
  for (const [, slash, name, , closed] of svg.matchAll(
    /<(\/?)([a-z]+)((?:\s[a-z-]+="[^"<&]*"|\sviewBox="[^"]*")*)(\/?)>/g,
  )) {
    if (slash === '/') t.is(open.pop(), name)
    else if (closed !== '/') open.push(name ?? '')
  }
  t.deepEqual(open, [])
  t.notRegex(svg.replaceAll(/<\/?[a-z]+(?:\s[a-zA-Z-]+="[^"<&]*")*\/?>/g, ''), /<|&(?!amp;|lt;)/)
  t.true(svg.includes('>read &lt;one> &amp; all</text>'))
  t.regex(svg, /prefers-color-scheme:dark/)
})
