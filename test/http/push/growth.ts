// What a hub keeps for its subscribers goes when they go: who has left costs nothing, and nobody who is there is
// forgotten, whenever others come and go.

import { setTimeout as wait } from 'node:timers/promises'
import ava from 'ava'
import { io as client } from 'socket.io-client'
import type { CrudRouter } from '../../../lib/index.js'
import { costOfPatch, openCrowded, root, SECRETS } from '../../support/crowded.js'
import { plainToken, type Subscriber } from '../../support/push.js'
import { bearer } from '../../support/tokens.js'

// Statements are counted.
const test = ava.serial

const DURATION = 1500
const stage = await openCrowded()
const recovering = await openCrowded({ connectionStateRecovery: { maxDisconnectionDuration: DURATION } })
ava.after.always(async () => {
  await stage.close()
  await recovering.close()
})

/** Resolves when so many are connected to a hub. */
async function connected({ resource }: CrudRouter, count: number): Promise<void> {
  while (resource.hub?.sockets.size !== count) await wait(5)
}

const CROWDS: readonly (readonly [what: string, claims: (index: number) => object])[] = [
  ['a scope of its own', (owner) => ({ owner })],
  ['permissions of its own', (index) => ({ permissions: SECRETS.filter((_, bit) => ((index + 1) >> bit) & 1) })],
]

for (const [what, claims] of CROWDS) {
  test(`when a crowd in which each has ${what} has left, a change costs what it cost before`, async (t) => {
    const witness = await stage.subscribe(stage.notes, { token: plainToken({}) })
    const alone = await costOfPatch(stage, witness)
    const size = what.startsWith('a scope') ? 200 : 126
    const crowd = await Promise.all(
      Array.from({ length: size }, (_, index) => stage.subscribe(stage.notes, { token: plainToken(claims(index)) })),
    )
    t.true((await costOfPatch(stage, witness)) >= size)
    for (const { socket, received } of crowd) {
      t.is(received.length, 1)
      socket.disconnect()
    }
    await connected(stage.notes, 1)
    const after = await costOfPatch(stage, witness)
    t.log(`${alone} statements alone, ${after} behind ${size} who have left`)
    t.is(after, alone)
    witness.socket.disconnect()
    await connected(stage.notes, 0)
    t.deepEqual(stage.errors, [])
  })
}

test('who leaves while being let in, or is refused by a middleware behind it, is forgotten a little later', async (t) => {
  const witness = await stage.subscribe(stage.notes, { token: plainToken({}) })
  const alone = await costOfPatch(stage, witness)
  stage.notes.resource.hub?.use((socket, next) =>
    socket.handshake.headers['x-refused'] === undefined ? next() : next(new Error('not today')),
  )
  const headers = { 'x-refused': '1' }
  const refused = Array.from({ length: 10 }, (_, owner) =>
    stage.subscribe(stage.notes, { token: plainToken({ owner }), headers }),
  )
  for (const { refusal } of await Promise.all(refused)) t.is(refusal?.message, 'not today')
  for (let owner = 20; owner < 40; owner += 1) {
    const auth = { token: plainToken({ owner }) }
    const socket = client(`${stage.url}/api/notes/hub`, { forceNew: true, transports: ['websocket'], auth })
    // Before the connection is there, while it is being let in, or just behind it.
    await wait(owner - 20)
    socket.disconnect()
  }
  const end = performance.now() + 20_000
  while ((await costOfPatch(stage, witness)) > alone && performance.now() < end) await wait(200)
  t.is(await costOfPatch(stage, witness), alone)
  witness.socket.disconnect()
  await connected(stage.notes, 0)
  t.deepEqual(stage.errors, [])
})

test('the class of one who stays goes on when another of it leaves, also while events are told', async (t) => {
  const stays = await stage.subscribe(stage.notes, { token: plainToken({ owner: 7 }) })
  for (let round = 0; round < 30; round += 1) {
    const leaves = await stage.subscribe(stage.notes, { token: plainToken({ owner: 7 }) })
    const told = stage.patch('/api/notes/1', { text: `round ${round}` }, root)
    if (round % 3 === 0) await told
    if (round % 3 === 1) await wait(1)
    leaves.socket.disconnect()
    await told
  }
  await stage.drain(stage.notes, stays)
  t.deepEqual(
    stays.received.map(([, note]) => (note as { text: string }).text),
    Array.from({ length: 30 }, (_, round) => `round ${round}`),
  )
  t.true(stays.received.every(([, note]) => (note as { authorName: unknown }).authorName === 'x'))
  stays.socket.disconnect()
  await connected(stage.notes, 0)
  t.deepEqual(stage.errors, [])
})

test('who comes hears of every change that begins behind the connection, whoever else comes and goes', async (t) => {
  let isOver = false
  const churn = (async () => {
    for (let owner = 0; !isOver; owner += 1) {
      const { socket } = await stage.subscribe(stage.notes, { token: plainToken({ owner: owner % 50 }) })
      socket.disconnect()
    }
  })()
  for (let round = 0; round < 40; round += 1) {
    const comes = await stage.subscribe(stage.notes, { token: plainToken({ owner: round % 5 }) })
    await stage.patch('/api/notes/1', { text: `of ${round}` }, root)
    await stage.drain(stage.notes, comes)
    t.is(comes.received.filter(([, note]) => (note as { text: string }).text === `of ${round}`).length, 1)
    comes.socket.disconnect()
  }
  isOver = true
  await churn
  await connected(stage.notes, 0)
  t.deepEqual(stage.errors, [])
})

test('the first of a scope hears of a record that was being deleted when the connection was made', async (t) => {
  const { posts, sequelize } = stage
  const Post = sequelize.model('Post')
  await Post.bulkCreate([
    { text: 'a', tenant: 1 },
    { text: 'b', tenant: 1 },
  ])
  let go = (): void => undefined
  const gate = new Promise<void>((resolve) => {
    go = resolve
  })
  let reached = (): void => undefined
  const isThere = new Promise<void>((resolve) => {
    reached = resolve
  })
  Post.addHook('beforeDestroy', 'gate', async () => {
    reached()
    await gate
  })
  t.teardown(() => Post.removeHook('beforeDestroy', 'gate'))
  const deleted = stage.delete('/api/posts/1', root)
  await isThere
  const connecting = stage.subscribe(posts, { token: plainToken({ tenant: 1 }) })
  const ids = async (): Promise<readonly number[]> =>
    (await stage.get('/api/posts', bearer({ tenant: 1 }))).body.items.map(({ id }: { id: number }) => id)
  const isIn = await Promise.race([connecting.then(() => true), wait(200, false)])
  const before = isIn ? await ids() : null
  go()
  t.is((await deleted).status, 204)
  const first = await connecting
  const listed = before ?? (await ids())
  await stage.drain(posts, first, (id) => ({ id, tenant: 1 }))
  t.deepEqual(
    listed.filter((id) => !first.received.some(([event, key]) => event === 'OnDeleted' && key === id)),
    [2],
  )
  first.socket.disconnect()
  await connected(posts, 0)
})

/** Breaks a connection as a network does, and waits until the server has noticed. */
async function cut({ resource }: CrudRouter, { socket }: Subscriber): Promise<void> {
  const peer = resource.hub?.sockets.get(String(socket.id))
  const noticed = new Promise((resolve) => peer?.once('disconnect', resolve))
  socket.io.engine.close()
  await noticed
}

test('the last of a class that is cut off misses nothing until its session has run out, and is forgotten then', async (t) => {
  const witness = await recovering.subscribe(recovering.notes, { token: plainToken({}) })
  const alone = await costOfPatch(recovering, witness)
  const roamer = await recovering.subscribe(recovering.notes, { token: plainToken({ owner: 7, permissions: ['a'] }) })
  await recovering.patch('/api/notes/1', { text: 'before' }, root)
  await recovering.drain(recovering.notes, witness)
  for (let round = 0; round < 3; round += 1) {
    await cut(recovering.notes, roamer)
    await recovering.patch('/api/notes/1', { text: `missed ${round}`, a: 'A', b: 'B' }, root)
    await recovering.drain(recovering.notes, witness)
    const back = new Promise((resolve) => roamer.socket.once('connect', () => resolve(roamer.socket.recovered)))
    roamer.socket.connect()
    t.is(await back, true)
    await recovering.patch('/api/notes/1', { text: `back ${round}` }, root)
    await recovering.drain(recovering.notes, witness)
  }
  t.deepEqual(
    roamer.received.map(([, note]) => {
      const { text, a, b, authorName } = note as { text: string; a: unknown; b: unknown; authorName: unknown }
      return [text, a, b, authorName]
    }),
    ['before', 'missed 0', 'back 0', 'missed 1', 'back 1', 'missed 2', 'back 2'].map((text, index) => [
      text,
      index === 0 ? null : 'A',
      null,
      'x',
    ]),
  )
  await cut(recovering.notes, roamer)
  t.true((await costOfPatch(recovering, witness)) > alone)
  const end = performance.now() + 30_000
  while ((await costOfPatch(recovering, witness)) > alone && performance.now() < end) await wait(200)
  t.is(await costOfPatch(recovering, witness), alone)
  // Who says goodbye does not come back for what it missed.
  const polite = await recovering.subscribe(recovering.notes, { token: plainToken({ owner: 3 }) })
  polite.socket.disconnect()
  await connected(recovering.notes, 1)
  t.is(await costOfPatch(recovering, witness), alone)
  witness.socket.disconnect()
  t.deepEqual(recovering.errors, [])
})
