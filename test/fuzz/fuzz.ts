import { CALLERS } from './callers.js'
import { compare } from './compare.js'
import { comparison, report } from './report.js'
import { makeSeeds } from './rows.js'
import { run } from './run.js'
import { type Finding, printed } from './tell.js'
import { openWorld } from './world.js'

export interface Wanted {
  readonly seed: number
  readonly first: number
  readonly requests: number
  readonly compared: number
  readonly most: number
  readonly slowest: number
  /** Null for no bound. */
  readonly minutes: number | null
  readonly growth: number
  /** Names; null for everybody. */
  readonly callers: readonly string[] | null
}

/** Between two lines on how far it is: milliseconds. */
const PACE = 30_000

/** Runs and prints. Whether nothing was found. */
export async function fuzz({ growth, compared, minutes, callers: names, ...wanted }: Wanted): Promise<boolean> {
  const unknown = names?.find((name) => !CALLERS.some((caller) => caller.name === name))
  if (unknown !== undefined)
    throw new RangeError(`--callers: there is no ${unknown}, but ${CALLERS.map(({ name }) => name).join(', ')}`)
  const { seed } = wanted
  const seeds = makeSeeds()
  const world = await openWorld(seeds)
  const callers = CALLERS.filter(({ name, standing }) => names?.includes(name) ?? standing === 'known')
  console.log(`seed ${seed}, ${wanted.requests} requests, ${process.env.TEST_DATABASE}, ${callers.length} callers`)
  const start = Date.now()
  let told = start
  const tell = (finding: Finding): void => console.log(`\n${printed(seed, finding)}`)
  const { findings, measures } = await run(world, seeds, {
    ...wanted,
    callers,
    ...(minutes === null ? {} : { until: start + minutes * 60_000 }),
    onFinding: tell,
    onEpoch: ({ requests, heap }, found) => {
      if (Date.now() - told < PACE) return
      told = Date.now()
      const seconds = Math.round((Date.now() - start) / 1000)
      console.log(`${requests} requests in ${seconds} s, ${found} findings, heap ${heap.at(-1)?.toFixed(1)} MiB`)
    },
  })
  console.log(report(measures))
  const known = callers.filter(({ standing }) => standing !== 'refused').map(({ name }) => name)
  const others = compared === 0 ? null : await compare(world, seeds, known, { ...wanted, requests: compared })
  if (others !== null) {
    console.log(comparison(others))
    for (const finding of others.findings) tell(finding)
  }
  await world.close()
  const [early, late] = measures.heaps()
  const grown = measures.heap.length >= 20 && late - early > growth
  if (grown) console.log(`the heap has grown by ${(late - early).toFixed(1)} MiB`)
  const belated = measures.late
  if (belated > 0) console.log(`${belated} replies took longer than ${wanted.slowest} ms`)
  const found = findings.length + (others?.findings.length ?? 0)
  console.log(`${found} findings in ${Math.round((Date.now() - start) / 1000)} s, seed ${seed}`)
  return found === 0 && belated === 0 && !grown
}
