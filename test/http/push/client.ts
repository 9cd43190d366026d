// The client's live connections, against real servers that lose clients, refuse them and come back.

import { setTimeout as wait } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { DataTypes } from 'sequelize'
import { type LiveState, resource } from '../../../lib/client/index.js'
import { authenticated, type CrudRouter, crudRouter } from '../../../lib/index.js'
import { openPush, plainToken } from '../../support/push.js'
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

test('events that are no events of the hub end nothing: what happened is unknown, so that the list is asked for', async (t) => {
  const stage = await open(t)
  const api = resource<Note>(`${stage.url}/api/notes`)
  const pairs = resource(`${stage.url}/api/notes`, { key: ['id', 'text'] })
  const states: LiveState[] = []
  const heard: unknown[] = []
  let missed = 0
  const onState = (state: LiveState): void => void states.push(state)
  const onMissed = (): void => {
    missed += 1
  }
  const stops = [
    api.live({ onCreated: (note) => heard.push(note.id), onDeleted: (key) => heard.push(key), onMissed, onState }),
    pairs.live({ onCreated: ({ id }) => heard.push(id), onDeleted: (key) => heard.push(key), onState }),
  ]
  for (const stop of stops) t.teardown(stop)
  await until(t, 'live', () => states.filter((state) => state === 'live').length === 2)
  const hub = stage.io.of('/api/notes/hub')
  const malformed: readonly (readonly unknown[])[] = [
    ['OnCreated'],
    ['OnCreated', null],
    ['OnUpdated', undefined, null],
    ['OnCreated', { id: { toString: 1 }, text: 'x' }],
    ['OnDeleted', { toString: 1 }],
  ]
  for (const [event, ...given] of malformed) hub.emit(String(event), ...given)
  hub.emit('OnDeleted', ['\ud800', 1])
  await api.create({ text: 'one' })
  await until(t, 'the next event', () => heard.length >= 2)
  t.deepEqual(heard, [1, 1])
  t.true(missed >= malformed.length)
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

test('clients that the server cuts off together come back one after the other', async (t) => {
  const stage = await open(t)
  const hub = stage.io.of('/api/notes/hub')
  for (let each = 0; each < 6; each += 1) t.teardown(resource<Note>(`${stage.url}/api/notes`).live({}))
  await until(t, 'all are connected', () => hub.sockets.size === 6)
  const times: number[] = []
  hub.on('connection', () => times.push(performance.now()))
  hub.disconnectSockets(false)
  await until(t, 'all are back', () => times.length === 6)
  const spread = Math.max(...times) - Math.min(...times)
  t.true(spread > 100, `${spread} ms`)
})

test('live.records tries a list again that the server could not answer, without any event', async (t) => {
  const stage = await open(t)
  let failures = 2
  const failing: typeof fetch = (...given) => {
    failures -= 1
    if (failures < 0) return fetch(...given)
    return failures === 1
      ? Promise.resolve(new Response('{}', { status: 503 }))
      : Promise.reject(new TypeError('offline'))
  }
  await resource<Note>(`${stage.url}/api/notes`).create({ text: 'there' })
  const api = resource<Note>(`${stage.url}/api/notes`, { fetch: failing, retries: 0 })
  const heard: unknown[] = []
  let records: readonly Note[] = []
  const stop = api.live.records({}, (found) => (records = found), { onError: (error) => heard.push(error) })
  t.teardown(stop)
  await until(t, 'the failures', () => heard.length === 2)
  await until(t, 'the list', () => records.length === 1)
})

test('live.records tries a list again that was one too many, when the server wants it', async (t) => {
  const stage = await open(t)
  const times: number[] = []
  const limited: typeof fetch = (...given) => {
    times.push(performance.now())
    if (times.length > 1) return fetch(...given)
    return Promise.resolve(new Response('{}', { status: 429, headers: { 'Retry-After': '2' } }))
  }
  await resource<Note>(`${stage.url}/api/notes`).create({ text: 'there' })
  const api = resource<Note>(`${stage.url}/api/notes`, { fetch: limited, retries: 0 })
  let records: readonly Note[] = []
  const errors: unknown[] = []
  const stop = api.live.records({}, (found) => (records = found), { onError: (error) => errors.push(error) })
  t.teardown(stop)
  await until(t, 'the list', () => records.length === 1)
  const [first = 0, second = 0] = times
  t.true(second - first >= 1990, `${second - first} ms`)
  t.is(errors.length, 1)
})

test('live.records does not repeat a list that took the server too long, until the next event', async (t) => {
  const stage = await open(t)
  let lists = 0
  const slow: typeof fetch = (...given) => {
    lists += 1
    if (lists > 1) return fetch(...given)
    return Promise.resolve(new Response('{"code":"timeout"}', { status: 503, headers: { 'Retry-After': '1' } }))
  }
  const api = resource<Note>(`${stage.url}/api/notes`, { fetch: slow })
  let records: readonly Note[] = []
  t.teardown(api.live.records({}, (found) => (records = found), { onError: () => undefined }))
  await until(t, 'the first list', () => lists === 1)
  await wait(2500)
  t.is(lists, 1)
  await stage.post('/api/notes', { text: 'later' })
  await until(t, 'the list after the event', () => records.length === 1)
})

test('live.records repeats no list because onChange throws, and lists again at the next event', async (t) => {
  const stage = await open(t)
  let lists = 0
  const counting: typeof fetch = (...given) => {
    lists += 1
    return fetch(...given)
  }
  const errors: unknown[] = []
  let records: readonly Note[] = []
  const onChange = (found: readonly Note[]): void => {
    if (found.length === 0) throw new Error('of the page')
    records = found
  }
  const api = resource<Note>(`${stage.url}/api/notes`, { fetch: counting })
  t.teardown(api.live.records({}, onChange, { onError: (error) => errors.push(error) }))
  await until(t, 'the error', () => errors.length === 1)
  await wait(1200)
  t.deepEqual([lists, errors.length], [1, 1])
  await stage.post('/api/notes', { text: 'later' })
  await until(t, 'the list after the event', () => records.length === 1)
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
    token: () => plainToken({ sub: 'jan', exp: seconds() + (asked++ === 0 ? 2 : 100) }),
  })
  const stop = api.live({ onState: (state) => states.push(state) })
  t.teardown(stop)
  await until(t, 'live', () => states.at(-1) === 'live')
  await until(t, 'its end', () => states.includes('offline'))
  await until(t, 'live again', () => states.at(-1) === 'live')
  t.is(asked, 2)
})

test.serial('live without handlers logs refusals, missing hubs and lists that fail, each once', async (t) => {
  const stage = await open(t)
  const guarded = await open(t, true)
  const lines: string[] = []
  const { error } = console
  console.error = (...given: unknown[]) => void lines.push(given.map(String).join(' '))
  t.teardown(() => {
    console.error = error
  })
  const notes = `${stage.url}/api/notes`
  const start = (address: string, parameters = {}): void =>
    t.teardown(resource<Note>(address).live.records(parameters, () => undefined))
  start(`${stage.url}/api/others`)
  start(`${guarded.url}/api/notes`)
  start(notes, { filter: 'Texd=a' })
  await until(t, 'three lines', () => lines.length === 3)
  t.teardown(resource<Note>(notes).live.records({ filter: 'Texd=a' }, () => undefined, { onError: () => undefined }))
  t.teardown(resource<Note>(`${stage.url}/api/others`).live({ onState: () => undefined }))
  await wait(1500)
  t.deepEqual(
    lines.toSorted(),
    [
      'ProblemError: Unknown field. filter: Unknown field "Texd" at position 0. Did you mean "text"?',
      `${guarded.url}/api/notes/hub Unauthorized`,
      `${stage.url}/api/others/hub Invalid namespace`,
    ].toSorted(),
  )
})

test('where records show versions, live drops what is older than what it has heard of the same record', async (t) => {
  let notes: CrudRouter | undefined
  const stage = await openPush(({ sequelize }, app, io) => {
    const Note = sequelize.define('note', { text: DataTypes.STRING(50) }, { timestamps: false })
    notes = crudRouter(Note, { push: { io }, concurrency: { inBody: true } })
    app.use(notes)
  })
  t.teardown(stage.close)
  const hub = notes?.resource.hub
  const heard: unknown[] = []
  let isLive = false
  const stop = resource<Note & { rowVersion: number }>(`${stage.url}/api/notes`).live({
    onCreated: ({ id, rowVersion }) => heard.push(['created', id, rowVersion]),
    onUpdated: ({ id, rowVersion }) => heard.push(['updated', id, rowVersion]),
    onDeleted: (id, version) => heard.push(['deleted', id, version]),
    onMissed: () => heard.push('missed'),
    onState: (state) => (isLive = state === 'live'),
  })
  t.teardown(stop)
  await until(t, 'live', () => isLive)
  // The events of a cluster, as processes that overtake each other send them.
  const send = async (
    events: readonly (readonly [event: string, ...given: unknown[]])[],
  ): Promise<readonly unknown[]> => {
    heard.length = 0
    for (const [event, ...given] of events) hub?.emit(event, ...given)
    hub?.emit('OnCreated', { id: 1000, text: 'the last one' })
    await until(t, 'the last one', () => JSON.stringify(heard.at(-1)) === '["created",1000,null]')
    return heard.slice(0, -1)
  }
  const note = (id: number, rowVersion: number | string): object => ({ id, text: 'a', rowVersion })
  t.deepEqual(
    await send([
      ['OnUpdated', note(1, 2)],
      ['OnCreated', note(1, 0)],
      ['OnUpdated', note(1, 1)],
      ['OnUpdated', note(1, 2)],
      ['OnUpdated', note(1, 10)],
      ['OnUpdated', note(1, 9)],
    ]),
    [
      ['updated', 1, 2],
      ['updated', 1, 2],
      ['updated', 1, 10],
    ],
  )
  t.deepEqual(
    await send([
      ['OnDeleted', 2, 3],
      ['OnUpdated', note(2, 3)],
      ['OnUpdated', note(2, 2)],
      ['OnDeleted', 2, 3],
      ['OnCreated', note(2, 4)],
      ['OnDeleted', 2, 3],
    ]),
    [
      ['deleted', 2, 3],
      ['created', 2, 4],
    ],
    'a deletion is remembered, and a record that is restored is back',
  )
  t.deepEqual(
    await send([
      ['OnDeleted', 3, 7],
      ['OnCreated', note(3, 0)],
      ['OnUpdated', note(3, 1)],
      ['OnDeleted', 3, 8],
    ]),
    [['deleted', 3, 7], 'missed', 'missed', 'missed'],
    'a key that is perhaps in use again has versions that tell nothing',
  )
  t.deepEqual(
    await send([
      ['OnUpdated', note(4, '9007199254740993')],
      ['OnUpdated', note(4, '9007199254740992')],
      ['OnDeleted', 4],
      ['OnCreated', note(4, 0)],
      ['OnCreated', { text: 'without a key', rowVersion: 1 }],
    ]),
    [
      ['updated', 4, '9007199254740993'],
      ['deleted', 4, undefined],
      ['created', 4, 0],
      ['created', undefined, 1],
    ],
    'what shows no version, or no key, is passed on',
  )
  t.deepEqual(
    await send([
      ['OnCreated', note(5, 0)],
      ['OnCreated', note(5, 0)],
      ['OnDeleted', 5, 0],
      ['OnDeleted', 5, 0],
    ]),
    [['created', 5, 0], ['created', 5, 0], 'missed', 'missed'],
    'a record that is created again before its deletion is heard may be any of the two',
  )
})

/** A resource whose clients choose the keys and see the versions, and its live list. */
async function openCodes(t: ExecutionContext) {
  const stage = await openPush(({ sequelize }, app, io) => {
    const code = { type: DataTypes.STRING(10), primaryKey: true }
    const Code = sequelize.define('code', { code, text: DataTypes.STRING(50) }, { timestamps: false })
    app.use(crudRouter(Code, { push: { io }, concurrency: { inBody: true } }))
  })
  t.teardown(stage.close)
  const api = resource<{ code: string; text: string }>(`${stage.url}/api/codes`, { key: 'code' })
  const states: LiveState[] = []
  let texts: readonly string[] | undefined
  const stop = api.live.records({}, (found) => (texts = found.map(({ text }) => text)), {
    onState: (state) => states.push(state),
  })
  t.teardown(stop)
  const shows = (...expected: readonly string[]): Promise<void> =>
    until(t, `the list shows ${expected}`, () => JSON.stringify(texts) === JSON.stringify(expected))
  await shows()
  return { stage, api, states, shows }
}

test('a record that is deleted, created again and deleted again with a lower version leaves the list', async (t) => {
  const { api, shows } = await openCodes(t)
  const first = await api.create({ code: 'a', text: 'one' })
  await api.delete(await api.update(first, { text: 'two' }))
  await shows()
  const second = await api.create({ code: 'a', text: 'three' })
  await shows('three')
  await api.delete(second)
  await shows()
})

test('a record that is created again while the connection is lost has versions that are not old', async (t) => {
  const { stage, api, states, shows } = await openCodes(t)
  let first = await api.create({ code: 'a', text: 'one' })
  for (const text of ['two', 'three']) first = await api.update(first, { text })
  await shows('three')
  stage.io.of('/api/codes/hub').disconnectSockets(false)
  await until(t, 'offline', () => states.at(-1) === 'offline')
  await api.delete(first)
  const second = await api.create({ code: 'a', text: 'new' })
  await until(t, 'live again', () => states.at(-1) === 'live')
  await shows('new')
  const third = await api.update(second, { text: 'newer' })
  await shows('newer')
  await api.delete(third)
  await shows()
})

test('live lists again at OnMissed, and says so to whoever takes the events', async (t) => {
  const stage = await open(t)
  const api = resource<Note>(`${stage.url}/api/notes`)
  let lists = 0
  let missed = 0
  const stops = [api.live.records({}, () => (lists += 1)), api.live({ onMissed: () => (missed += 1) })]
  t.teardown(() => {
    for (const stop of stops) stop()
  })
  const namespace = stage.io.of('/api/notes/hub')
  await until(t, 'both are connected, and one has listed', () => lists === 1 && namespace.sockets.size === 2)
  t.is(missed, 0)
  namespace.emit('OnMissed')
  namespace.emit('OnMissed')
  await until(t, 'the list', () => lists > 1 && missed > 0)
  await wait(1200)
  t.deepEqual([lists, missed], [2, 1], 'those that come together are one')
})
