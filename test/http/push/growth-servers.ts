// Servers that an adapter connects know the classes of each other's subscribers as long as there are some, and no longer.

import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { createAdapter } from '@socket.io/redis-streams-adapter'
import ava, { type ExecutionContext } from 'ava'
import { createClient } from 'redis'
import type { ServerOptions } from 'socket.io'
import { type Crowded, costOfPatch, openCrowded, root } from '../../support/crowded.js'
import { plainToken, type Subscriber } from '../../support/push.js'
import { openInProcessCluster } from '../../support/wires.js'

const test = ava.serial

const { REDIS_URL = 'redis://127.0.0.1:6379' } = process.env

type Options = Partial<ServerOptions>

/** Gives the options of each of the servers that are connected, and closes what connects them. */
type Connect = (t: ExecutionContext) => Promise<() => Options>

const byText: Connect = async () => {
  const { adapter } = openInProcessCluster()
  return () => ({ adapter })
}

const byRedis: Connect = async (t) => {
  const client = createClient({ url: REDIS_URL })
  await client.connect()
  const name = `growth-${randomUUID()}`
  t.teardown(async () => {
    await client.del(name)
    await client.close()
  })
  const options = { streamName: name, sessionKeyPrefix: `${name}:session:`, channelPrefix: name }
  return () => ({
    adapter: createAdapter(client, options),
    connectionStateRecovery: { maxDisconnectionDuration: 120_000 },
  })
}

async function isThere(): Promise<boolean> {
  const client = createClient({ url: REDIS_URL, socket: { reconnectStrategy: false } })
  try {
    await client.on('error', () => undefined).connect()
    await client.close()
    return true
  } catch {
    return false
  }
}

const hasRedis = await isThere()
if (!hasRedis) console.error(`\n  NOT TESTED, because it does not answer: ${REDIS_URL}\n`)

/** Two servers, each with a database of its own in which there is the same. */
async function openTwo(t: ExecutionContext, connect: Connect): Promise<readonly [Crowded, Crowded]> {
  const optionsOf = await connect(t)
  const two = [await openCrowded(optionsOf()), await openCrowded(optionsOf())] as const
  t.teardown(async () => {
    for (const { close, io } of two) {
      await close()
      await io.close()
    }
  })
  while ((await two[0].notes.resource.hub?.adapter.serverCount()) !== 2) await wait(20)
  while ((await two[1].notes.resource.hub?.adapter.serverCount()) !== 2) await wait(20)
  return two
}

const enter = ({ subscribe, notes }: Crowded, claims: object): Promise<Subscriber> =>
  subscribe(notes, { token: plainToken(claims) })

const textsOf = ({ received }: Subscriber): readonly unknown[] =>
  received.map(([, note]) => (note as { text?: unknown } | null)?.text)

/** Resolves when something is so; rejects when it takes very long. */
async function comes(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 30_000
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`it did not come to be that ${what}`)
    await wait(20)
  }
}

const WAYS: readonly (readonly [way: string, connect: Connect])[] = [
  ['text', byText],
  ...(hasRedis ? [['Redis', byRedis] as const] : []),
]

for (const [way, connect] of WAYS) {
  test(`over ${way}, a crowd on another server costs nothing behind its leaving`, async (t) => {
    const [one, two] = await openTwo(t, connect)
    const witness = await enter(one, {})
    const alone = await costOfPatch(one, witness)
    const crowd = await Promise.all(Array.from({ length: 40 }, (_, owner) => enter(two, { owner })))
    t.true((await costOfPatch(one, witness)) >= 40)
    for (const each of crowd) await comes('it hears', () => each.received.length > 0)
    for (const { socket } of crowd) socket.disconnect()
    await comes('the crowd is forgotten', async () => (await costOfPatch(one, witness)) === alone)
    t.deepEqual([...one.errors, ...two.errors], [])
  })

  test(`over ${way}, a class is known while either server has a subscriber of it`, async (t) => {
    const [one, two] = await openTwo(t, connect)
    const witness = await enter(one, {})
    const stays = await enter(two, { owner: 7 })
    for (let round = 0; round < 10; round += 1) {
      const near = await enter(one, { owner: 7 })
      const far = await enter(two, { owner: 7 })
      const leave = [near, far][round % 2]
      leave?.socket.disconnect()
      await one.patch('/api/notes/1', { text: `one ${round}` }, root)
      await two.patch('/api/notes/1', { text: `two ${round}` }, root)
      await comes('it hears', () => textsOf(stays).filter((text) => String(text).endsWith(` ${round}`)).length === 2)
      near.socket.disconnect()
      far.socket.disconnect()
    }
    t.is(stays.received.length, 20)
    t.true(stays.received.every(([, note]) => (note as { authorName: unknown }).authorName === 'x'))
    stays.socket.disconnect()
    const alone = await costOfPatch(two, await enter(two, {}))
    await comes('it is forgotten', async () => (await costOfPatch(one, witness)) === alone)
    t.deepEqual([...one.errors, ...two.errors], [])
  })

  test(`over ${way}, who leaves and comes again at once hears of every change that another server makes from then on`, async (t) => {
    const [one, two] = await openTwo(t, connect)
    // Another of it comes and goes all the time.
    let isOver = false
    const churn = (async () => {
      while (!isOver) (await enter(two, { owner: 7 })).socket.disconnect()
    })()
    for (let round = 0; round < 30; round += 1) {
      const comer = await enter(two, { owner: 7 })
      await one.patch('/api/notes/1', { text: `round ${round}` }, root)
      await comes(`round ${round} is heard`, () => textsOf(comer).includes(`round ${round}`))
      comer.socket.disconnect()
    }
    isOver = true
    await churn
    t.deepEqual([...one.errors, ...two.errors], [])
  })
}

;(hasRedis ? test : test.skip)(
  'the only one of a class who is cut off goes on with another server, and has missed nothing of any',
  async (t) => {
    const [one, two] = await openTwo(t, byRedis)
    const witness = await enter(one, {})
    const roamer = await enter(two, { owner: 7, permissions: ['a'] })
    await one.patch('/api/notes/1', { text: 'before' }, root)
    await comes('it hears', () => roamer.received.length === 1)
    const peer = two.notes.resource.hub?.sockets.get(String(roamer.socket.id))
    const noticed = new Promise((resolve) => peer?.once('disconnect', resolve))
    roamer.socket.io.engine.close()
    await noticed
    await one.patch('/api/notes/1', { text: 'missed of one', a: 'A', b: 'B' }, root)
    await two.patch('/api/notes/1', { text: 'missed of two', a: 'A', b: 'B' }, root)
    await comes('all is told', () => textsOf(witness).includes('missed of two'))
    Reflect.set(roamer.socket.io, 'uri', one.url)
    const back = new Promise((resolve) => roamer.socket.once('connect', () => resolve(roamer.socket.recovered)))
    roamer.socket.connect()
    t.is(await back, true)
    await two.patch('/api/notes/1', { text: 'after' }, root)
    await comes('it hears', () => textsOf(roamer).includes('after'))
    t.deepEqual([...textsOf(roamer)].sort(), ['after', 'before', 'missed of one', 'missed of two'])
    for (const [, note] of roamer.received.slice(1)) {
      const { b, authorName } = note as { b: unknown; authorName: unknown }
      t.deepEqual([b, authorName], [null, 'x'])
    }
    t.deepEqual([...one.errors, ...two.errors], [])
  },
)
