// What a caller may not see makes no difference: each reading request is answered by the world as it is and by one of
// the caller's own, which lacks the rows and has other values where they may not look, and the answers are the same bytes.

import { CALLERS, type Caller } from './callers.js'
import { Exchange, type RawReply } from './exchange.js'
import type { FuzzRequest } from './request.js'
import { requestAt } from './requests.js'
import { type Seeds, seedsOf } from './rows.js'
import { type Finding, shellOf } from './tell.js'
import { openWorld, type World } from './world.js'

export interface Comparison {
  readonly findings: readonly Finding[]
  readonly requests: number
  /** How many of the answers were 200. */
  readonly found: number
}

interface Side {
  readonly exchange: Exchange
  readonly world: World
}

/** @param names the callers who get a world of their own: each one costs a database */
export async function compare(
  world: World,
  seeds: Seeds,
  names: readonly string[],
  { seed, first, requests, most }: { seed: number; first: number; requests: number; most: number },
): Promise<Comparison> {
  const whole = new Exchange(world.port)
  const sides = new Map<Caller, Side>()
  const callers = CALLERS.filter(({ name }) => names.includes(name))
  for (const caller of callers) {
    const own = await openWorld(seedsOf(seeds, caller), false)
    sides.set(caller, { world: own, exchange: new Exchange(own.port) })
  }
  const findings: Finding[] = []
  let [asked, found] = [0, 0]
  for (let index = first; asked < requests && findings.length < most; index += 1) {
    const request = requestAt({ seed, seeds, writes: false, callers }, index)
    const side = sides.get(request.caller)
    // What may be taken for nobody's is answered from all that nobody may see, which the caller's world does not have.
    if (side === undefined || request.taken.length > 1) continue
    asked += 1
    const [all, own] = await Promise.all([
      whole.send(request.bytes, request.method),
      side.exchange.send(request.bytes, request.method),
    ])
    if (all.status === 200) found += 1
    if (seen(all) !== seen(own)) findings.push(difference(request, all, own))
  }
  whole.close()
  for (const { world: own, exchange } of sides.values()) {
    exchange.close()
    await own.close()
  }
  return { findings, requests: asked, found }
}

/** Everything but when it was said. */
function seen({ head, body }: RawReply): string {
  return `${head.replace(/^date: .*$/im, '')}\n${body.toString('latin1')}`
}

function difference(request: FuzzRequest, all: RawReply, own: RawReply): Finding {
  return {
    index: request.index,
    what: `${request.caller.name} gets another answer where what they may not see is not there`,
    request: shellOf(request),
    reply: `${seen(all).slice(0, 700)}\n--- without it\n${seen(own).slice(0, 700)}`,
  }
}
