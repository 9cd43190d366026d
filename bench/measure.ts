import { type Call, Client, type Reply } from './client.js'
import { type Cpu, cpuOf } from './processes.js'
import type { Side, Workload } from './workloads.js'

/** A running server. */
export interface Server {
  readonly side: Side
  readonly port: number
  readonly pid: number
}

export interface Plan {
  /** Number of measured rounds. With 0, responses are only compared. */
  readonly rounds: number
  readonly connections: number
  /** Factor for the number of requests per round. */
  readonly scale: number
  /** Maximum milliseconds of the warm-up per server. */
  readonly warmUp: number
}

/** Result of one server for a workload: medians over the rounds. */
export interface Result {
  readonly side: Side
  /** Processor time of the server in microseconds. Null if the system does not provide it. */
  readonly cpu: Cpu | null
  readonly rate: number
  readonly p50: number
  readonly p99: number
  /**
   * Processor time and duration of the reference server, divided by the figures of this server. Values above 1 are
   * better.
   */
  readonly ratios: { readonly cpu: number | null; readonly rate: number }
}

interface Sample {
  readonly cpu: Cpu | null
  readonly milliseconds: number
  readonly p50: number
  readonly p99: number
}

/**
 * Warm-up: minimum and usual number of rounds. V8 compiles during the first ten thousand requests.
 * More rounds follow while the last `window` rounds of a server take less processor time than the rounds before, by
 * more than the factor `gain`.
 */
const WARMING = { least: 3, rounds: 20, window: 5, gain: 0.03 }

/** Runs a workload in interleaved rounds. Before that, it checks that all servers give equal responses. */
export async function measure(
  workload: Workload,
  servers: readonly Server[],
  reference: Side,
  plan: Plan,
): Promise<readonly Result[]> {
  const connections = workload.sequential === true ? 1 : plan.connections
  const requests = Math.max(1, Math.round(workload.requests * plan.scale))
  const runners: Runner[] = []
  for (const server of servers) runners.push(await Runner.open(workload, server, connections))
  for (let compared = workload.compared ?? 1; compared > 0; compared -= 1) await assertEqualAnswers(workload, runners)
  if (plan.rounds === 0) return []
  // Every server has an equal number of rounds, so that new records get equal keys.
  while (!runners.every((runner) => runner.isWarm(plan.warmUp)))
    for (const runner of runners) await runner.round(requests)
  for (const { samples } of runners) samples.length = 0
  for (let round = 0; round < plan.rounds; round += 1) {
    // Servers measured later in a round may be slower on a warm machine, so every server takes every position about
    // equally often.
    const order = runners.map((_, index) => runners[(index + round) % runners.length])
    for (const runner of order) await runner?.round(requests)
  }
  const against = runners.find(({ side }) => side === reference)?.samples ?? []
  return runners.map(({ side, samples }) => resultOf(side, samples, against, requests))
}

function resultOf(side: Side, samples: readonly Sample[], against: readonly Sample[], requests: number): Result {
  const cpus = samples.flatMap(({ cpu }) => cpu ?? [])
  const ratios = samples.map((sample, round) => ({
    cpu: (against[round]?.cpu?.all ?? Number.NaN) / (sample.cpu?.all ?? Number.NaN),
    rate: (against[round]?.milliseconds ?? Number.NaN) / sample.milliseconds,
  }))
  const isMeasured = cpus.length === samples.length
  return {
    side,
    cpu: isMeasured ? { all: median(cpus.map(({ all }) => all)), main: median(cpus.map(({ main }) => main)) } : null,
    rate: (1000 * requests) / median(samples.map(({ milliseconds }) => milliseconds)),
    p50: median(samples.map(({ p50 }) => p50)),
    p99: median(samples.map(({ p99 }) => p99)),
    ratios: {
      cpu: isMeasured ? median(ratios.map(({ cpu }) => cpu)) : null,
      rate: median(ratios.map(({ rate }) => rate)),
    },
  }
}

/** One server of a workload. Creates the server's requests and counts them. */
class Runner {
  readonly samples: Sample[] = []
  #next = 0
  readonly #server: Server
  readonly #client: Client
  readonly #call: (next: number) => Call

  private constructor(server: Server, client: Client, call: (next: number) => Call) {
    this.#server = server
    this.#client = client
    this.#call = call
  }

  static async open(workload: Workload, server: Server, connections: number): Promise<Runner> {
    const client = new Client(server.port, connections, workload.headers ?? {})
    return new Runner(server, client, await workload.calls(server.side, client))
  }

  get side(): Side {
    return this.#server.side
  }

  /** Whether the figures of the last rounds are stable, or the time for the warm-up is over. */
  isWarm(milliseconds: number): boolean {
    const { length } = this.samples
    const { least, rounds, window, gain } = WARMING
    const spent = this.samples.reduce((sum, sample) => sum + sample.milliseconds, 0)
    if (length >= least && spent > milliseconds) return true
    const last = length - window
    return length >= rounds && this.#timeOf(last, length) > (1 - gain) * this.#timeOf(last - window, last)
  }

  /** Median processor time of some rounds, or their duration if the system does not provide the processor time. */
  #timeOf(from: number, to: number): number {
    return median(this.samples.slice(from, to).map(({ cpu, milliseconds }) => cpu?.all ?? milliseconds))
  }

  async answer(): Promise<Reply & { readonly call: Call }> {
    const [call] = this.#calls(1)
    if (call === undefined) throw new TypeError('a workload without requests')
    return { call, ...(await this.#client.request(call)) }
  }

  async round(count: number): Promise<void> {
    const calls = this.#calls(count)
    const before = cpuOf(this.#server.pid)
    const { milliseconds, latencies } = await this.#client.run(calls)
    const after = cpuOf(this.#server.pid)
    const cpu =
      before === null || after === null
        ? null
        : { all: (after.all - before.all) / count, main: (after.main - before.main) / count }
    const sorted = latencies.toSorted((left, right) => left - right)
    this.samples.push({ cpu, milliseconds, p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99) })
  }

  #calls(count: number): Call[] {
    return Array.from({ length: count }, () => this.#call(this.#next++))
  }
}

async function assertEqualAnswers(
  { name, same = (text) => text }: Workload,
  runners: readonly Runner[],
): Promise<void> {
  const answers = []
  for (const runner of runners) answers.push(await runner.answer())
  const [first] = answers
  if (first === undefined) return
  const other = answers.find(
    ({ status, head, text }) => status !== first.status || same(text, head) !== same(first.text, first.head),
  )
  if (other === undefined) return
  const shown = [first, other].map(({ call, status, text }) => `${call.method} ${call.path}\n${status} ${text}`)
  throw new Error(`${name}: the servers do not give the same answer\n${shown.join('\n')}`)
}

function quantile(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right)
  const middle = (sorted.length - 1) / 2
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2
}
