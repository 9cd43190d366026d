import { isDeepStrictEqual } from 'node:util'
import { type Call, Client } from './client.js'
import type { Side, Workload } from './workloads.js'

/** The ports of the two servers. */
export type Ports = Readonly<Record<Side, number>>

export interface Plan {
  readonly rounds: number
  readonly connections: number
  /** Multiplies the requests of a round. */
  readonly scale: number
}

/** Requests per second, the medians over all rounds, and the ratio of this router to the hand-written code. */
export interface Result {
  readonly hand: number
  readonly router: number
  readonly ratio: number
  /** The smallest and the largest ratio that one round gave. */
  readonly lowest: number
  readonly highest: number
}

const SIDES = ['hand', 'router'] as const

/** Runs a workload in interleaved rounds, after both servers have shown that they give the same answer. */
export async function measure(workload: Workload, ports: Ports, plan: Plan): Promise<Result> {
  const connections = workload.sequential === true ? 1 : plan.connections
  const requests = Math.max(1, Math.round(workload.requests * plan.scale))
  const hand = await Runner.open(workload, 'hand', ports.hand, connections)
  const router = await Runner.open(workload, 'router', ports.router, connections)
  const runners = { hand, router }
  const times: Record<Side, number[]> = { hand: [], router: [] }
  try {
    await agree(workload, hand, router)
    for (const side of SIDES) await runners[side].round(requests)
    for (let round = 0; round < plan.rounds; round += 1) {
      // Whoever runs second may find the machine warmer: each is second every other time.
      const order = round % 2 === 0 ? SIDES : SIDES.toReversed()
      for (const side of order) times[side].push(await runners[side].round(requests))
    }
  } finally {
    for (const side of SIDES) runners[side].close()
  }
  const ratios = times.hand.map((time, round) => time / (times.router[round] ?? Number.NaN))
  const rate = { hand: (1000 * requests) / median(times.hand), router: (1000 * requests) / median(times.router) }
  return { ...rate, ratio: rate.router / rate.hand, lowest: Math.min(...ratios), highest: Math.max(...ratios) }
}

/** One side of a workload: makes its requests and counts them. */
class Runner {
  #next = 0
  readonly #client: Client
  readonly #call: (next: number) => Call

  private constructor(client: Client, call: (next: number) => Call) {
    this.#client = client
    this.#call = call
  }

  static async open(workload: Workload, side: Side, port: number, connections: number): Promise<Runner> {
    const client = new Client(port, connections)
    return new Runner(client, await workload.calls(side, client))
  }

  calls(count: number): Call[] {
    return Array.from({ length: count }, () => this.#call(this.#next++))
  }

  async answer(): Promise<{ call: Call; status: number; body: unknown }> {
    const [call] = this.calls(1)
    if (call === undefined) throw new TypeError('a workload without requests')
    return { call, ...(await this.#client.ask(call)) }
  }

  round(count: number): Promise<number> {
    return this.#client.run(this.calls(count))
  }

  close(): void {
    this.#client.close()
  }
}

async function agree({ name, same = (body) => body }: Workload, hand: Runner, router: Runner): Promise<void> {
  const left = await hand.answer()
  const right = await router.answer()
  if (left.status === right.status && isDeepStrictEqual(same(left.body), same(right.body))) return
  const shown = [left, right].map(
    ({ call, status, body }) => `${call.method} ${call.path}\n${status} ${JSON.stringify(body)}`,
  )
  throw new Error(`${name}: the servers do not give the same answer\n${shown.join('\n')}`)
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right)
  const middle = (sorted.length - 1) / 2
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2
}
