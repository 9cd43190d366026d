// Sends request after request, and counts what was held.

import type { Caller } from './callers.js'
import { chance, mixed, randomOf } from './choose.js'
import { Judge } from './judge.js'
import { Measures } from './measures.js'
import type { FuzzRequest } from './request.js'
import { type Course, KNOWN, requestAt } from './requests.js'
import type { Seeds } from './rows.js'
import { shrunk } from './shrink.js'
import type { Finding } from './tell.js'
import type { World } from './world.js'

export interface Run {
  readonly seed: number
  readonly first: number
  readonly requests: number
  /** Ends the run at so many findings. */
  readonly most: number
  /** Ends the run at this time: milliseconds since 1970. Default: never. */
  readonly until?: number
  /** Who asks, strangers aside. Default: everybody. */
  readonly callers?: readonly Caller[]
  /** Replies that take longer are counted: milliseconds. */
  readonly slowest: number
  readonly onFinding?: (finding: Finding) => void
  /** Hears of progress after each so many requests that the rows are put back. */
  readonly onEpoch?: (measures: Measures, findings: number) => void
}

/** After so many requests the rows are put back, so that there are as many as in the beginning. */
const EPOCH = 500
const TOGETHER = 6
/** The heap is measured about so often in a run. */
const WEIGHINGS = 200

export async function run(
  world: World,
  seeds: Seeds,
  wanted: Run,
): Promise<{ findings: readonly Finding[]; measures: Measures }> {
  const {
    seed,
    first,
    requests,
    most,
    callers = KNOWN,
    until = Number.POSITIVE_INFINITY,
    slowest,
    onEpoch,
    onFinding,
  } = wanted
  const course: Course = { seed, seeds, writes: true, callers }
  const judge = await Judge.over(world)
  const measures = new Measures()
  const findings: Finding[] = []
  const random = randomOf(seed)
  let history: FuzzRequest[] = []
  const between = Math.max(1, Math.floor(requests / EPOCH / WEIGHINGS))

  async function found(each: readonly Finding[]): Promise<void> {
    for (const finding of each.slice(0, most - findings.length)) {
      const short = await shrunk(seeds, finding, history)
      findings.push(short)
      onFinding?.(short)
    }
  }

  async function startOver(index: number): Promise<void> {
    measures.canaries += judge.truth.known
    const { findings: left, held } = await judge.startOver(index)
    measures.held += held
    await found(left)
    history = []
  }

  let done = 0
  for (let epoch = 0; done < requests && findings.length < most && Date.now() < until; ) {
    if (Math.floor(done / EPOCH) > epoch) {
      epoch = Math.floor(done / EPOCH)
      await startOver(first + done)
      // A collection of everything takes as long as some requests: a long run has enough without one an epoch.
      if (epoch % between === 0) measures.weigh()
      onEpoch?.(measures, findings.length)
    }
    const size = Math.min(requests - done, 1 + (mixed(seed, first + done) % TOGETHER))
    if (chance(random, 0.02)) await found(await judge.chatter(random, first + done))
    const batch = Array.from({ length: size }, (_, at) => requestAt(course, first + done + at))
    const { findings: wrong, sent } = await judge.batch(batch)
    for (const each of sent) {
      measures.note(each)
      if (each.milliseconds > slowest) measures.late += 1
    }
    await found(wrong)
    history.push(...batch)
    done += size
  }
  await startOver(first + done)
  measures.heard = judge.heard
  judge.close()
  return { findings, measures }
}
