// The client's live connections, against real servers that lose clients, refuse them and come back.

import { setTimeout as wait } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { DataTypes } from 'sequelize'
import { type LiveState, resource } from '../../../lib/client/index.js'
import { authenticated, crudRouter } from '../../../lib/index.js'
import { openPush, tokenOf } from '../../support/push.js'
import { identity } from '../../support/tokens.js'

interface Note {
  id: number
  text: string
}

/** Waits for something to be so, and fails the test where it never is. */
async function until(t: ExecutionContext, what: string, isSo: () => boolean): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    if (isSo()) {
      t.pass(what)
      return
    }
    await wait(25)
  }
  t.fail(`never: ${what}`)
}

async function open(t: ExecutionContext, isGuarded = false) {
  const stage = await openPush(({ sequelize }, app, io) => {
    const Note = sequelize.define('note', { text: DataTypes.STRING(50) }, { timestamps: false })
    app.use(crudRouter(Note, { push: { io }, identity, ...(isGuarded ? { authorizePolicy: authenticated } : {}) }))
  })
  t.teardown(stage.close)
  return stage
}

test('live hears what is created, patched and deleted, and its state', async (t) => {
  const stage = await open(t)
  const api = resource<Note>(`${stage.url}/api/notes`)
  const heard: unknown[] = []
  const states: LiveState[] = []
  const stop = api.live({
    onCreated: ({ text }) => heard.push(['created', text]),
    onUpdated: ({ text }) => heard.push(['updated', text]),
    onDeleted: (key) => heard.push(['deleted', key]),
    onState: (state) => states.push(state),
  })
  await until(t, 'live', () => states.at(-1) === 'live')
  const note = await api.create({ text: 'one' })
  await api.update(note, { text: 'two' })
  await api.delete(note)
  await until(t, 'three events', () => heard.length === 3)
  t.deepEqual(heard, [
    ['created', 'one'],
    ['updated', 'two'],
    ['deleted', note.id],
  ])
  t.deepEqual(states, ['connecting', 'live'])
  stop()
  await api.create({ text: 'unheard' })
  await wait(200)
  t.is(heard.length, 3)
})

test('live.records keeps an array that is what the list answers, asked for at most once in a quarter of a second', async (t) => {
  const stage = await open(t)
  const api = resource<Note>(`${stage.url}/api/notes`)
  for (const text of ['b', 'a']) await api.create({ text })
  let records: readonly Note[] = []
  let changes = 0
  const stop = api.live.records({ filter: 'text!=hidden', sort: 'text', pageSize: 100 }, (found) => {
    records = found
    changes += 1
  })
  t.teardown(stop)
  await until(t, 'the first list', () => records.length === 2)
  t.deepEqual(
    records.map(({ text }) => text),
    ['a', 'b'],
  )
  const before = changes
  const started = Date.now()
  for (let index = 0; index < 20; index += 1) await api.create({ text: index === 7 ? 'hidden' : `c${index}` })
  await until(t, 'all of them', () => records.length === 21)
  t.true(changes - before <= Math.ceil((Date.now() - started) / 250) + 1, `${changes - before} lists`)
})

test('whoever the server cuts off comes back, and lists again what was missed', async (t) => {
  const stage = await open(t)
  const api = resource<Note>(`${stage.url}/api/notes`)
  const states: LiveState[] = []
  let records: readonly Note[] = []
  const stop = api.live.records({}, (found) => (records = found), { onState: (state) => states.push(state) })
  t.teardown(stop)
  await until(t, 'live', () => states.at(-1) === 'live')
  const [namespace] = [stage.io.of('/api/notes/hub')]
  namespace?.disconnectSockets(false)
  await until(t, 'offline', () => states.includes('offline'))
  await api.create({ text: 'missed' })
  await until(t, 'live again', () => states.at(-1) === 'live')
  await until(t, 'what was missed', () => records.length === 1)
})

test('live.records goes on after a list that failed, also where onError throws', async (t) => {
  const stage = await open(t)
  let isFailing = true
  const failing: typeof fetch = (...given) =>
    isFailing ? Promise.resolve(new Response('{}', { status: 400 })) : fetch(...given)
  const api = resource<Note>(`${stage.url}/api/notes`, { fetch: failing })
  const thrown: unknown[] = []
  const hear = (error: unknown): void => void thrown.push(error)
  const [own] = process.listeners('uncaughtException')
  process.removeAllListeners('uncaughtException')
  process.on('uncaughtException', hear)
  t.teardown(() => {
    process.off('uncaughtException', hear)
    if (own !== undefined) process.on('uncaughtException', own)
  })
  let records: readonly Note[] = []
  const stop = api.live.records({}, (found) => (records = found), {
    onError: (error) => {
      throw error
    },
  })
  t.teardown(stop)
  await until(t, 'the error is nobody’s but the page’s', () => thrown.length === 1)
  isFailing = false
  await stage.post('/api/notes', { text: 'later' })
  await until(t, 'the list after it', () => records.length === 1)
})

test('a token function that throws connects without a token, at once or later', async (t) => {
  const stage = await open(t)
  for (const token of [
    () => {
      throw new Error('at once')
    },
    () => Promise.reject(new Error('later')),
  ]) {
    const states: LiveState[] = []
    const stop = resource<Note>(`${stage.url}/api/notes`, { token }).live({ onState: (state) => states.push(state) })
    t.teardown(stop)
    await until(t, 'live', () => states.at(-1) === 'live')
  }
})

test('a caller whom the server does not let in is refused, and a token that ended is asked for anew', async (t) => {
  const stage = await open(t, true)
  const refused: LiveState[] = []
  const stopRefused = resource<Note>(`${stage.url}/api/notes`).live({ onState: (state) => refused.push(state) })
  t.teardown(stopRefused)
  await until(t, 'refused', () => refused.at(-1) === 'refused')

  let asked = 0
  const states: LiveState[] = []
  const seconds = (): number => Math.floor(Date.now() / 1000)
  const api = resource<Note>(`${stage.url}/api/notes`, {
    token: () => tokenOf({ sub: 'jan', exp: seconds() + (asked++ === 0 ? 2 : 100) }),
  })
  const stop = api.live({ onState: (state) => states.push(state) })
  t.teardown(stop)
  await until(t, 'live', () => states.at(-1) === 'live')
  await until(t, 'its end', () => states.includes('offline'))
  await until(t, 'live again', () => states.at(-1) === 'live')
  t.is(asked, 2)
})
