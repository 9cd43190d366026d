// `npm run bench:push` measures how fast a hub delivers events to many subscribers. A bare `namespace.emit` of an equal
// payload is measured in interleaved rounds. Memory is measured over many events. Server and clients are separate
// processes.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { numberFrom, parseOrExit } from '../test/support/usage.js'
import { type Order, PERMISSIONS, type ServerReply, type ServerTask, type Task } from './push/messages.js'

const USAGE = `Usage: npm run bench:push -- [options]
  --subscribers <n>  connections to each namespace [1000]
  --events <n>       events of a round [200]
  --rounds <n>       rounds for each side [9]
  --memory <n>       events of the last part, with ten subscribers [100000]; 0 leaves it out`

const { subscribers, events, rounds, lasting } = parseOrExit(USAGE, () => {
  const { values } = parseArgs({
    options: {
      subscribers: { type: 'string', default: '1000' },
      events: { type: 'string', default: '200' },
      rounds: { type: 'string', default: '9' },
      memory: { type: 'string', default: '100000' },
    },
  })
  return {
    subscribers: numberFrom('subscribers', values.subscribers),
    events: numberFrom('events', values.events),
    rounds: numberFrom('rounds', values.rounds),
    lasting: numberFrom('memory', values.memory, 0),
  }
})

const server = start('server')
const clients = start('clients')
const [ready] = await once(server, 'message')
const port: number = ready.port

function start(name: string): ChildProcess {
  const script = fileURLToPath(new URL(`./push/${name}.js`, import.meta.url))
  return fork(script, { env: { ...process.env, NODE_ENV: 'production' }, execArgv: ['--expose-gc'] })
}

async function run(task: Task): Promise<void> {
  const done = once(clients, 'message')
  clients.send(task)
  await done
}

async function memory(): Promise<{ heapUsed: number; rss: number }> {
  const answer = once(server, 'message')
  server.send({ kind: 'memory' } satisfies ServerTask)
  const [reply]: ServerReply[] = await answer
  if (reply?.kind !== 'memory') throw new TypeError('the server did not tell its memory')
  return reply
}

const ORDER: Omit<Order, 'id'> = { product: 'Keyboard', total: 129.9, status: 'Pending', cost: 80, margin: 49 }

/** A hub or the bare namespace: the connections of its clients, and a function that triggers a number of events. */
interface Side {
  readonly name: string
  readonly path: string
  readonly tokens: readonly string[]
  readonly send: (events: number) => Promise<void>
}

async function post(path: string, body: unknown): Promise<unknown> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return response.json()
}

const create =
  (path: string) =>
  async (count: number): Promise<void> => {
    await post(
      `${path}/bulk`,
      Array.from({ length: count }, () => ORDER),
    )
  }

const [cost, margin] = PERMISSIONS
const BARE: Side = {
  name: 'bare namespace.emit',
  path: '/bare',
  tokens: [''],
  send: async (count) => {
    server.send({ kind: 'emit', events: count, payload: { id: 100_000, ...ORDER } } satisfies ServerTask)
  },
}
const SIDES: readonly Side[] = [
  { name: 'hub, nothing masked', path: '/api/plains/hub', tokens: [''], send: create('/api/plains') },
  {
    name: 'hub, three classes of permissions',
    path: '/api/maskeds/hub',
    tokens: ['', cost, `${cost} ${margin}`],
    send: create('/api/maskeds'),
  },
]

/** Runs a round. Returns the number of events per second, which the clients count. */
async function round({ path, tokens, send }: Side): Promise<number> {
  await run({ kind: 'connect', port, path, tokens, clients: subscribers })
  const expected = run({ kind: 'expect', events: events * subscribers })
  const begin = performance.now()
  await send(events)
  await expected
  const seconds = (performance.now() - begin) / 1000
  await run({ kind: 'close' })
  return events / seconds
}

function median(of: readonly number[]): number {
  return [...of].sort((a, b) => a - b)[Math.floor(of.length / 2)] ?? Number.NaN
}

async function compare(side: Side): Promise<void> {
  const pairs: [measured: number, bare: number][] = []
  for (let count = 0; count < rounds + 1; count++) {
    const bare = await round(BARE)
    pairs.push([await round(side), bare])
  }
  // The first pair of rounds is the warm-up.
  pairs.shift()
  const rate = (of: readonly number[]): string => Math.round(median(of) * subscribers).toLocaleString('en')
  const ratio = median(pairs.map(([measured, bare]) => measured / bare)).toFixed(2)
  const [measured, bare] = [pairs.map(([each]) => each), pairs.map(([, each]) => each)]
  console.log(`| ${side.name} | ${rate(measured)} | ${rate(bare)} | ${ratio} |`)
}

async function flat(count: number): Promise<void> {
  const [side] = SIDES
  if (side === undefined) return
  await run({ kind: 'connect', port, path: side.path, tokens: side.tokens, clients: 10 })
  console.log(`\nMemory of the server over ${count.toLocaleString('en')} events to 10 subscribers, in MB:\n`)
  console.log('| events | heap | rss |\n|---:|---:|---:|')
  const step = 1000
  for (let sent = 0; sent <= count; sent += step) {
    if (sent % (count / 10) === 0) {
      const { heapUsed, rss } = await memory()
      console.log(
        `| ${sent.toLocaleString('en')} | ${(heapUsed / 2 ** 20).toFixed(1)} | ${(rss / 2 ** 20).toFixed(0)} |`,
      )
    }
    if (sent === count) break
    const expected = run({ kind: 'expect', events: step * 10 })
    await side.send(step)
    await expected
  }
  await run({ kind: 'close' })
}

try {
  console.log(`${subscribers} subscribers over WebSocket, ${rounds} rounds of ${events} events:\n`)
  console.log('| | deliveries/s | bare | ratio |\n|---|---:|---:|---:|')
  for (const side of SIDES) await compare(side)
  if (lasting > 0) await flat(lasting)
} finally {
  server.kill()
  clients.kill()
}
