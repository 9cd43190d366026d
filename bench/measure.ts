import { isDeepStrictEqual } from 'node:util'
import { type Call, Client } from './client.js'
import type { Pair, Side, Workload } from './workloads.js'

/** The ports of the servers. */
export type Ports = ReadonlyMap<Side, number>

export interface Plan {
  readonly rounds: number
  readonly connections: number
  /** Multiplies the requests of a round. */
  readonly scale: number
}

/** Requests per second, the medians over all rounds, and the ratio of the measured server to the other. */
export interface Result {
  readonly against: number
  readonly measured: number
  readonly ratio: number
  /** The smallest and the largest ratio that one round gave. */
  readonly lowest: number
  readonly highest: number
}

/** Runs a workload in interleaved rounds, after both servers have shown that they give the same answer. */
export async function measure(
  workload: Workload,
  [measured, against]: Pair,
  ports: Ports,
  plan: Plan,
): Promise<Result> {
  const connections = workload.sequential === true ? 1 : plan.connections
  const requests = Math.max(1, Math.round(workload.requests * plan.scale))
  const contestants = [
    { runner: await Runner.open(workload, against, ports, connections), times: [] as number[] },
    { runner: await Runner.open(workload, measured, ports, connections), times: [] as number[] },
  ] as const
  const [theirs, ours] = contestants
  try {
    await agree(workload, theirs.runner, ours.runner)
    for (const { runner } of contestants) await runner.round(requests)
    for (let round = 0; round < plan.rounds; round += 1) {
      // Whoever runs second may find the machine warmer: each is second every other time.
      const order = round % 2 === 0 ? contestants : contestants.toReversed()
      for (const { runner, times } of order) times.push(await runner.round(requests))
    }
  } finally {
    for (const { runner } of contestants) runner.close()
  }
  const ratios = theirs.times.map((time, round) => time / (ours.times[round] ?? Number.NaN))
  const rate = (times: readonly number[]): number => (1000 * requests) / median(times)
  const rates = { against: rate(theirs.times), measured: rate(ours.times) }
  const ratio = rates.measured / rates.against
  return { ...rates, ratio, lowest: Math.min(...ratios), highest: Math.max(...ratios) }
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

  static async open(workload: Workload, side: Side, ports: Ports, connections: number): Promise<Runner> {
    const port = ports.get(side)
    if (port === undefined) throw new TypeError(`there is no ${side} server`)
    const client = new Client(port, connections, workload.headers ?? {})
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

async function agree({ name, same = (body) => body }: Workload, theirs: Runner, ours: Runner): Promise<void> {
  const left = await theirs.answer()
  const right = await ours.answer()
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
