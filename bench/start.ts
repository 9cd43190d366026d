// `npm run bench:start` measures the cost of importing the package in addition to its dependencies. The program also
// measures the cost of mounting 1, 100 and 300 models, and of the first requests to each. A model has twelve attributes
// and three associations. Every figure is the median over separate processes. The client and the server of the requests
// share a process. Prints two tables and writes no files.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { numberFrom, parseOrExit } from '../test/support/usage.js'
import type { Cost } from './start/cost.js'
import type { Mounted } from './start/mount.js'

const USAGE = `Usage: npm run bench:start -- [options]
  --rounds <n>  processes for each row [7]`

const { rounds } = parseOrExit(USAGE, () => {
  const { values } = parseArgs({ options: { rounds: { type: 'string', default: '7' } } })
  return { rounds: numberFrom('rounds', values.rounds) }
})

const OWN = 'sequelize-crud-router'
const IMPORTS: readonly (readonly [measured: string, loaded: readonly string[]])[] = [
  ['express', []],
  ['sequelize', []],
  ['joi', []],
  ['jsonwebtoken', []],
  ['http-problem-details', []],
  [OWN, []],
  [OWN, ['express', 'sequelize']],
]
const COUNTS = [1, 100, 300] as const

/** Runs a script in a new process. Returns the script's result. */
async function runProcess<T>(script: string, args: readonly string[]): Promise<T> {
  const child = fork(fileURLToPath(new URL(`./start/${script}.js`, import.meta.url)), args, {
    execArgv: ['--expose-gc'],
    env: { ...process.env, NODE_ENV: 'production' },
  })
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`${script} ${args.join(' ')} ended with status ${code} and told nothing`)
  })
  const [message] = await Promise.race([once(child, 'message'), ended])
  await ended.catch(() => undefined)
  return message
}

/** Runs a script in a number of new processes, one after the other. */
async function runProcesses<T>(script: string, args: readonly string[]): Promise<readonly T[]> {
  const results: T[] = []
  for (let round = 0; round < rounds; round++) results.push(await runProcess<T>(script, args))
  return results
}

function median<T>(of: readonly T[], value: (each: T) => number): number {
  const sorted = of.map(value).sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

function line(first: string, cells: readonly (number | string)[]): string {
  const texts = cells.map((cell) => (typeof cell === 'number' ? cell.toFixed(cell < 10 ? 2 : 0) : cell).padStart(9))
  return `| ${[first.padEnd(52), ...texts].join(' | ')} |`
}

function heading(first: string, cells: readonly string[]): string {
  return `${line(first, cells)}\n|${[54, ...cells.map(() => 11)].map((width) => '-'.repeat(width)).join('|')}|`
}

console.log(`Milliseconds by the clock and of processor time, and MB of heap: medians of ${rounds} processes.\n`)
console.log(heading('importing', ['ms', 'cpu ms', 'MB']))
for (const [measured, loaded] of IMPORTS) {
  const costs = await runProcesses<Cost>('import', [...loaded, measured])
  const name = loaded.length === 0 ? measured : `${measured}, ${loaded.join(' and ')} loaded`
  console.log(
    line(name, [median(costs, (c) => c.milliseconds), median(costs, (c) => c.cpu), median(costs, (c) => c.heap)]),
  )
}

console.log('')
const columns = ['ms', 'cpu ms', 'cpu each', 'MB', '1st list', '2nd list', '1st POST', '2nd POST']
console.log(heading('mounting', columns))
for (const count of COUNTS) {
  const results = await runProcesses<Mounted>('mount', [String(count)])
  const of = (value: (each: Mounted) => number): number => median(results, value)
  console.log(
    line(`${count} ${count === 1 ? 'model' : 'models'}`, [
      of(({ cost }) => cost.milliseconds),
      of(({ cost }) => cost.cpu),
      of(({ cost }) => cost.cpu / count),
      of(({ cost }) => cost.heap),
      of(({ requests }) => requests.list),
      of(({ requests }) => requests.listAgain),
      of(({ requests }) => requests.create),
      of(({ requests }) => requests.createAgain),
    ]),
  )
}
