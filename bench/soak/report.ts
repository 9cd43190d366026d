import type { Causes, Memory } from './application.js'
import type { Outage, Tally } from './tally.js'

export interface Sample extends Memory {
  readonly minute: number
}

/** Results at the end of a run. */
export interface Findings {
  readonly totals: Tally
  readonly samples: readonly Sample[]
  /** Differences between the database and the oracle at the end of the run. */
  readonly lost: readonly string[]
  /** Errors that the application reported. Null if the application has ended. */
  readonly causes: Causes | null
  readonly minutes: number
}

/** Minutes after which memory must be flat. In short runs, it must be flat after this share of the run. */
const WARM = { minute: 5, share: 1 / 6 }
/** Heap growth below this value is measurement error. A shorter run is not conclusive. */
const FLAT = { bytesPerMinute: 50_000, minutes: 15 }
const SHOWN = 10

/** Prints the results. Returns whether the run found no errors. */
export function report({ totals, samples, lost, causes, minutes }: Findings): boolean {
  const steady = samples.filter(({ minute }) => minute >= Math.min(WARM.minute, minutes * WARM.share))
  const slopeOfHeap = slope(steady, ({ heap }) => heap)
  const isJudged = minutes >= FLAT.minutes
  const isFlat = !isJudged || slopeOfHeap < FLAT.bytesPerMinute
  console.log(`\n${totals}\n`)
  console.log(`success    ${totals.done}`)
  console.log(`503        ${totals.unavailable}`)
  console.log(`in doubt   ${totals.doubts} writes without acknowledgement, ${totals.happened} of them had happened`)
  const { once, events } = totals
  console.log(
    `keyed      ${once.writes} writes, ${once.again} sent again after no answer (${once.cut} cut by the client): ` +
      `${once.replayed} replayed, ${once.doneThen} done then; ${once.inProgress} told to wait for their twin`,
  )
  console.log(`           ${once.repeated} sent once more after their answer, and answered the same`)
  console.log(
    `hub        ${events.expected} events due, ${events.received} heard, ${events.missed} missed, ${events.breaks} breaks`,
  )
  for (const outage of totals.outages) console.log(`restart    ${describe(outage)}`)
  const [first, last] = [steady[0], steady.at(-1)]
  if (first !== undefined && last !== undefined) {
    const perMinute = {
      heap: slopeOfHeap,
      code: slope(steady, ({ code }) => code),
      rss: slope(steady, ({ rss }) => rss),
    }
    console.log(`memory     ${size(first)} at ${first.minute.toFixed(0)} min, ${size(last)} at the end`)
    console.log(`a minute   ${size(perMinute)}`)
  }
  console.log('\nwhat onError and the console heard:')
  for (const [cause, count] of Object.entries(causes ?? {})) console.log(`${String(count).padStart(8)}  ${cause}`)
  for (const failure of totals.failures) console.log(`\nFAILURE ${failure}`)
  for (const each of lost.slice(0, SHOWN)) console.log(`\nDIFFERENCE ${each}`)
  const figures = [
    `${totals.count('wrong')} wrong answers`,
    `${lost.length} differences from what was acknowledged`,
    `${totals.count('other')} replies that must not be`,
    `memory ${isJudged ? (isFlat ? 'flat' : 'grows') : 'not judged in so short a run'}`,
    `application ${causes === null ? 'ended' : 'never restarted'}`,
  ]
  console.log(`\n${figures.join(', ')}`)
  const isClean = totals.failures.length === 0 && lost.length === 0 && isFlat && causes !== null
  console.log(isClean ? 'clean' : 'NOT clean')
  return isClean
}

export function describe(outage: Outage): string {
  const { ending, stopping, gone, starting, ready, firstDone, lastUnavailable, unavailable } = outage
  return [
    `${ending}: gone in ${seconds(stopping, gone)}, away for ${seconds(gone, starting)}`,
    `answers ${seconds(starting, ready)} after its start`,
    `first success ${seconds(starting, firstDone)} after its start, last of ${unavailable} replies of 503 ${seconds(starting, lastUnavailable)}`,
  ].join('; ')
}

function seconds(since: number, until: number): string {
  return `${((until - since) / 1000).toFixed(1)} s`
}

export function size({ heap, code, rss }: Memory): string {
  const [data, compiled, all] = [heap, code, rss].map((bytes) => `${(bytes / 1e6).toFixed(2)} MB`)
  return `heap ${data} and code ${compiled}, rss ${all}`
}

/**
 * Growth in bytes per minute: the median slope of all pairs of samples (Theil-Sen). A single step, for example at the
 * first restart, does not count as growth.
 */
export function slope(samples: readonly Sample[], of: (sample: Sample) => number): number {
  const slopes = samples.flatMap((left, index) =>
    samples.slice(index + 1).map((right) => (of(right) - of(left)) / (right.minute - left.minute)),
  )
  slopes.sort((left, right) => left - right)
  return slopes[slopes.length >> 1] ?? 0
}
