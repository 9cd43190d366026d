// Makes what fails as short as it can be: replayed on a database of its own, while parts of it are dropped.

import { Judge } from './judge.js'
import { parsed } from './parsed.js'
import { isReading } from './place.js'
import { type FuzzRequest, type Parts, sealed } from './request.js'
import type { Seeds } from './rows.js'
import { type Finding, shellOf } from './tell.js'
import { openWorld } from './world.js'

const TRIES = 300
const PATIENCE = 60_000
/** So many of the last writes are tried as what it takes. */
const HISTORY = 80

/** The finding with the shortest requests that still show it, the last of them the one that fails. */
export async function shrunk(seeds: Seeds, finding: Finding, history: readonly FuzzRequest[]): Promise<Finding> {
  const { of = [] } = finding
  if (of.length === 0) return finding
  const world = await openWorld(seeds)
  const judge = await Judge.over(world)
  const end = Date.now() + PATIENCE
  let tries = 0
  const wanted = signature(finding.what)
  const fails = async (requests: readonly FuzzRequest[]): Promise<boolean> => {
    tries += 1
    if (tries > TRIES || Date.now() > end) return false
    await judge.startOver(0)
    let found: readonly Finding[] = []
    for (const request of requests) found = (await judge.batch([request])).findings
    return found.some(({ what }) => signature(what) === wanted)
  }
  try {
    const sequence = await sufficient(of, history, fails)
    if (sequence === null) return { ...finding, what: `${finding.what} (not seen again by itself)` }
    const last = sequence.at(-1)
    if (last === undefined) return finding
    const before = sequence.slice(0, -1)
    const short = last.broken ? last : await shortest(last, (request) => fails([...before, request]))
    const request = [...before, short].map((each) => `${shellOf(each)}   # as ${each.caller.name}`).join('\n  ')
    return { ...finding, request }
  } finally {
    judge.close()
    await world.close()
  }
}

/** What is the same of two findings that are one. */
function signature(what: string): string {
  const text = / answers \d+ /.test(what)
    ? `objection ${what.slice(what.lastIndexOf(': '))}`
    : (what.split(/[:;,]/)[0] ?? '')
  return text
    .replace(/\d+/g, '#')
    .replace(/ that \w+ may/, '')
    .slice(0, 60)
}

type Fails = (requests: readonly FuzzRequest[]) => Promise<boolean>

/** The requests that it takes; null where these do not show it one after the other. */
async function sufficient(
  of: readonly FuzzRequest[],
  history: readonly FuzzRequest[],
  fails: Fails,
): Promise<readonly FuzzRequest[] | null> {
  for (const request of of) if (await fails([request])) return [request]
  const writes = [...history, ...of].filter((request) => !isReading(request)).slice(-HISTORY)
  for (const request of of) {
    const before = writes.filter((each) => each !== request)
    if (!(await fails([...before, request]))) continue
    const kept = await fewest(before, (some) => fails([...some, request]))
    return [...kept, request]
  }
  return null
}

/** What is left when as many as can be are dropped. */
async function fewest<T>(all: readonly T[], holds: (some: readonly T[]) => Promise<boolean>): Promise<readonly T[]> {
  let kept = all
  for (let size = Math.ceil(kept.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < kept.length; ) {
      const some = [...kept.slice(0, at), ...kept.slice(at + size)]
      if (await holds(some)) kept = some
      else at += size
    }
  }
  return kept
}

async function shortest(request: FuzzRequest, fails: (request: FuzzRequest) => Promise<boolean>): Promise<FuzzRequest> {
  let best = request
  for (let found: FuzzRequest | null = best; found !== null; ) {
    found = null
    for (const parts of shorter(best)) {
      const candidate = sealed(best.index, best.caller, parts)
      if (!(await fails(candidate))) continue
      found = candidate
      best = candidate
      break
    }
  }
  return best
}

/** Requests that lack a part of one. */
function* shorter(request: FuzzRequest): Generator<Parts> {
  const { kind, method, target, headers, body } = request
  const parts: Parts = { kind, method, target, headers, body }
  for (const [index, [name]] of headers.entries()) {
    if (name !== 'authorization') yield { ...parts, headers: headers.filter((_, at) => at !== index) }
  }
  const [path = '', query] = splitOnce(target)
  if (query !== null) {
    const pairs = query.split('&')
    for (const index of pairs.keys()) {
      const rest = pairs.filter((_, at) => at !== index).join('&')
      yield { ...parts, target: rest === '' ? path : `${path}?${rest}` }
    }
    yield* pieces(query).map((rest) => ({ ...parts, target: `${path}?${rest}` }))
  }
  if (body === null) return
  const json = parsed(body.toString('utf8'))
  if (json === undefined) {
    yield* pieces(body.toString('latin1')).map((rest) => ({ ...parts, body: Buffer.from(rest, 'latin1') }))
    return
  }
  for (const value of lesser(json)) yield { ...parts, body: Buffer.from(JSON.stringify(value)) }
}

function splitOnce(target: string): [path: string, query: string | null] {
  const at = target.indexOf('?')
  return at < 0 ? [target, null] : [target.slice(0, at), target.slice(at + 1)]
}

/** A text without its halves, its quarters, and so on. */
function pieces(text: string): string[] {
  const found: string[] = []
  for (let size = Math.ceil(text.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    if (text.length / size > 64) break
    for (let at = 0; at < text.length; at += size) found.push(text.slice(0, at) + text.slice(at + size))
  }
  return found
}

/** JSON that lacks one member or element, here or within. */
function lesser(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) {
    const without = value.map((_, index) => value.filter((_, at) => at !== index))
    return [...without, ...value.flatMap((item, index) => lesser(item).map((less) => value.with(index, less)))]
  }
  const entries = Object.entries(value)
  const without = entries.map((_, index) => Object.fromEntries(entries.filter((_, at) => at !== index)))
  const within = entries.flatMap(([name, item], index) =>
    lesser(item).map((less) => Object.fromEntries(entries.with(index, [name, less]))),
  )
  return [...without, ...within]
}
