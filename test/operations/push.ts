// Push across four processes while processes are killed and Redis is gone: what six followers take for the list is the list.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Sequelize } from 'sequelize'
import { freePort } from '../support/program.js'
import {
  type Follower,
  followBare,
  followEvents,
  followReactAdmin,
  followRecords,
  listAt,
  type Versions,
} from './push/followers.js'
import { defineOrder } from './push/models.js'
import { POSTGRES, REDIS, type RedisServer, startPostgres, startRedis } from './servers/index.js'
import { rig, tell, using } from './servers/rig.js'

const PROCESSES = 4
/** Milliseconds for which Redis is gone. */
const OUTAGE = 8000
/** Milliseconds in which followers have the list behind a fault, or are told to list again. */
const HEALED = 5000
/** Milliseconds in which a follower lists that was told to. */
const LISTED = 3000

const script = fileURLToPath(new URL('push/worker.js', import.meta.url))

/** A process that serves the orders at a port, and is started again at the same one. */
class Worker {
  readonly url: string
  readonly errors: string[] = []
  isUp = false
  crashes = 0
  readonly #env: NodeJS.ProcessEnv
  #child: ChildProcess | null = null
  #isKilled = false

  constructor(port: number, env: Readonly<Record<string, string>>) {
    this.url = `http://127.0.0.1:${port}`
    this.#env = { ...process.env, ...env, PORT: String(port) }
  }

  async start(): Promise<void> {
    this.#isKilled = false
    const child = spawn(process.execPath, [script], { env: this.#env, stdio: ['ignore', 'pipe', 'inherit'] })
    this.#child = child
    child.once('exit', () => {
      this.isUp = false
      if (this.#isKilled || this.#child !== child) return
      this.crashes += 1
      void this.start()
    })
    const lines = createInterface({ input: child.stdout })
    lines.on('line', (line) => {
      if (line !== 'ready') this.errors.push(line)
    })
    while (!this.isUp) {
      const [line] = await once(lines, 'line')
      this.isUp = line === 'ready'
    }
  }

  async kill(): Promise<void> {
    const child = this.#child
    if (child === null) return
    this.#isKilled = true
    this.isUp = false
    this.#child = null
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }
}

/** Writers that create, change and delete through whatever process is up. Some records are changed by all of them. */
class Load {
  readonly figures = { written: 0, failed: 0 }
  readonly #workers: readonly Worker[]
  #keys: number[] = []
  #isOn = false
  #running: Promise<void>[] = []

  constructor(workers: readonly Worker[]) {
    this.#workers = workers
  }

  start(): void {
    this.#isOn = true
    this.#running = Array.from({ length: 6 }, () => this.#write())
  }

  async stop(): Promise<void> {
    this.#isOn = false
    await Promise.all(this.#running)
  }

  async #write(): Promise<void> {
    while (this.#isOn) {
      await wait(30 + Math.random() * 60)
      const up = this.#workers.filter(({ isUp }) => isUp)
      const worker = up[Math.floor(Math.random() * up.length)]
      if (worker === undefined) continue
      try {
        await this.#writeOne(`${worker.url}/api/orders`)
        this.figures.written += 1
      } catch {
        this.figures.failed += 1
      }
    }
  }

  async #writeOne(url: string): Promise<void> {
    const dice = Math.random()
    const hot = this.#keys.slice(-3)
    const among = dice < 0.6 ? hot : this.#keys
    const key = among[Math.floor(Math.random() * among.length)]
    if (key === undefined || dice > 0.8) {
      const { id } = await this.#send(url, 'POST', { product: `order ${Math.random()}` })
      this.#keys.push(id)
    } else if (dice < 0.7) {
      await this.#send(`${url}/${key}`, 'PATCH', { product: `order ${Math.random()}` })
    } else {
      this.#keys = this.#keys.filter((each) => each !== key)
      await this.#send(`${url}/${key}`, 'DELETE')
    }
  }

  async #send(url: string, method: string, body?: object): Promise<{ readonly id: number }> {
    const response = await fetch(url, {
      method,
      headers: { 'content-type': 'application/json', 'if-match': '*' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(10_000),
    })
    const text = await response.text()
    if (response.ok) return text === '' ? { id: 0 } : JSON.parse(text)
    // Another writer has deleted it.
    if (response.status === 404) return { id: 0 }
    throw new Error(`${response.status} ${text}`)
  }
}

interface Difference {
  readonly ghosts: number
  readonly missing: number
  readonly stale: number
}

function differenceOf(records: Versions, list: Versions): Difference {
  return {
    ghosts: [...records.keys()].filter((id) => !list.has(id)).length,
    missing: [...list.keys()].filter((id) => !records.has(id)).length,
    stale: [...list].filter(([id, version]) => records.has(id) && records.get(id) !== version).length,
  }
}

const isNone = ({ ghosts, missing, stale }: Difference): boolean => ghosts + missing + stale === 0

/** What a follower lacks when it had the time to heal, or to list again if it was told to. */
async function settled(follower: Follower, missedBefore: number, url: string): Promise<Difference & { ms: number }> {
  const begin = performance.now()
  for (;;) {
    const difference = differenceOf(follower.records(), await listAt(url))
    const ms = performance.now() - begin
    const wasTold = follower.missed() > missedBefore
    if (isNone(difference) || ms > HEALED + (wasTold ? LISTED : 0)) return { ...difference, ms }
    await wait(100)
  }
}

async function outage(redis: RedisServer, withData: boolean): Promise<void> {
  await redis.kill()
  await wait(OUTAGE)
  await redis.restart(withData)
}

rig(POSTGRES, REDIS)(
  'six followers have what the list answers after five kills of a process and three outages of Redis',
  async (t) => {
    t.timeout(240_000)
    const postgres = using(t, await startPostgres())
    const redis = using(t, await startRedis())
    const sequelize = new Sequelize(postgres.options)
    defineOrder(sequelize)
    await sequelize.sync()
    await sequelize.close()
    const env = { DATABASE_PORT: String(postgres.port), REDIS_URL: redis.url, NODE_ENV: 'production' }
    const workers: Worker[] = []
    for (let count = 0; count < PROCESSES; count++) workers.push(new Worker(await freePort(), env))
    t.teardown(async () => {
      await Promise.all(workers.map((worker) => worker.kill()))
    })
    await Promise.all(workers.map((worker) => worker.start()))
    const at = (index: number): Worker => workers[index % PROCESSES] as Worker

    const followers = [
      followBare(at(0).url, 'bare'),
      followBare(at(1).url, 'bare'),
      followEvents(at(2).url, 'live'),
      followRecords(at(3).url, 'live.records'),
      followReactAdmin(at(0).url, 'react-admin'),
      followReactAdmin(at(2).url, 'react-admin'),
    ]
    t.teardown(() => {
      for (const follower of followers) follower.stop()
    })

    const load = new Load(workers)
    const totals = { ghosts: 0, missing: 0, stale: 0 }
    let slowest = 0

    const kill = (index: number) => async (): Promise<void> => {
      await at(index).kill()
      // Whoever is connected elsewhere is judged: this one has to be back for those who were connected to it.
      await at(index).start()
    }
    const faults: readonly (readonly [name: string, fault: () => Promise<void>])[] = [
      ['kill', kill(0)],
      ['outage without data', () => outage(redis, false)],
      ['kill', kill(1)],
      ['outage with data', () => outage(redis, true)],
      ['kill', kill(2)],
      ['kill', kill(3)],
      ['outage without data', () => outage(redis, false)],
      ['kill', kill(0)],
    ]
    load.start()
    await wait(3000)
    for (const [name, fault] of faults) {
      load.start()
      await wait(2000)
      const before = followers.map((follower) => follower.missed())
      await fault()
      await load.stop()
      const found = await Promise.all(
        followers.map((follower, index) => settled(follower, before[index] ?? 0, at(0).url)),
      )
      for (const [index, { ghosts, missing, stale, ms }] of found.entries()) {
        totals.ghosts += ghosts
        totals.missing += missing
        totals.stale += stale
        slowest = Math.max(slowest, ms)
        if (ghosts + missing + stale > 0) {
          t.log(`${name}: ${followers[index]?.name} ghosts ${ghosts}, missing ${missing}, stale ${stale}`)
        }
      }
    }
    const errors = workers.flatMap((worker) => worker.errors)
    tell(t, {
      ...load.figures,
      ...totals,
      missed: followers.map((follower) => follower.missed()).join('/'),
      'slowest ms': Math.round(slowest),
      crashes: workers.reduce((sum, { crashes }) => sum + crashes, 0),
      errors: errors.length,
    })
    for (const text of new Set(errors)) t.log(text)
    t.deepEqual(totals, { ghosts: 0, missing: 0, stale: 0 })
  },
)
