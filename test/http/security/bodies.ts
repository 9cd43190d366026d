// What a body may do to a server that reads it: nothing but be refused.

import { connect } from 'node:net'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import test from 'ava'
import express from 'express'
import { DataTypes, Op } from 'sequelize'
import { crudRouter, Operations, problemHandler } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

const server = await openStage()
const { app, sequelize } = server
const Player = sequelize.define('Player', { name: DataTypes.STRING }, { timestamps: false })
await sequelize.sync()
const unexpected: unknown[] = []
// Body-parser reads brotli since its second version, which comes with Express 5.
const hasBrotli = !('del' in express.application)
app.use(
  crudRouter(Player, {
    operations: Operations.AllWithBulk,
    limits: { bodySize: 100_000 },
    onError: (error) => unexpected.push(error),
  }),
)
app.use('/raw', express.raw({ type: () => true }), crudRouter(Player, { operations: Operations.AllWithBulk }))
app.use('/parsed', express.json(), crudRouter(Player), problemHandler({ onError: (error) => unexpected.push(error) }))
test.after.always(() => server.close())

interface Told {
  readonly status: number | null
  readonly type: string | undefined
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into bodies of every shape, and asserts what it finds
  readonly body: any
}

/** Sends bytes as they are and ends, or breaks off; null is no answer at all. */
function exchange(bytes: Buffer, { abort = false }: { abort?: boolean } = {}): Promise<Told> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
    const chunks: Buffer[] = []
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.on('error', (error) => (abort ? undefined : reject(error)))
    socket.on('close', () => {
      const [head = '', text = ''] = Buffer.concat(chunks).toString().split('\r\n\r\n')
      resolve({
        status: head === '' ? null : Number(head.split(' ')[1]),
        type: /^content-type: (.*)$/im.exec(head)?.[1]?.trim(),
        body: text.startsWith('{') ? JSON.parse(text) : text,
      })
    })
    socket.write(bytes, () => {
      if (abort) setTimeout(() => socket.destroy(), 20)
    })
  })
}

function message(headers: Readonly<Record<string, string | number>>, body: Buffer, method = 'POST'): Buffer {
  const path = method === 'POST' ? '/api/players' : '/api/players/1'
  const lines = Object.entries({ host: 'x', connection: 'close', ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  )
  return Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`), body])
}

function sending(
  body: Buffer,
  headers: Readonly<Record<string, string | number>> = {},
  method = 'POST',
): Promise<Told> {
  const all = { 'content-type': 'application/json', 'content-length': body.length, ...headers }
  return exchange(message(all, body, method))
}

/** With other bytes near its end, where neither format keeps what does not matter. */
function broken(whole: Buffer): Buffer {
  const bytes = Buffer.from(whole)
  for (const from of [1, 2, 3, 5]) bytes[bytes.length - 8 - from] = 0xff
  return bytes
}

const JSON_TEXT = Buffer.from('{"name":"Jan"}')
const GARBAGE = Buffer.from('this is no compressed text at all, whatever its header says')
const ENCODERS = { gzip: gzipSync, deflate: deflateSync, ...(hasBrotli ? { br: brotliCompressSync } : {}) }

for (const [encoding, encode] of Object.entries(ENCODERS)) {
  const whole = encode(JSON_TEXT)
  const bad: readonly (readonly [what: string, body: Buffer])[] = [
    ['text', GARBAGE],
    ['plain JSON', JSON_TEXT],
    ['cut off', whole.subarray(0, whole.length - 6)],
    ['a single byte', whole.subarray(0, 1)],
    ['broken in the middle', broken(whole)],
    ['random', Buffer.from(Array.from({ length: 500 }, (_, index) => (index * 7919 + 13) % 256))],
    ['zeros', Buffer.alloc(300)],
    ['ones', Buffer.alloc(300, 255)],
    ['other encoding', encoding === 'gzip' ? deflateRawSync(JSON_TEXT) : gzipSync(JSON_TEXT)],
  ]
  for (const [what, body] of bad) {
    test(`a body that is no ${encoding}, but ${what}, is 400 with the code of a malformed body`, async (t) => {
      for (const method of ['POST', 'PATCH']) {
        const { status, type, body: told } = await sending(body, { 'content-encoding': encoding }, method)
        t.is(status, 400, method)
        t.is(type, 'application/problem+json')
        t.is(told.title, 'Malformed body.')
      }
    })
  }

  test(`problemHandler says the same of what a parser of the host's could not inflate: ${encoding}`, async (t) => {
    const headers = { 'content-type': 'application/json', 'content-encoding': encoding }
    const response = await fetch(`${server.url}/parsed/api/players`, { method: 'POST', headers, body: GARBAGE })
    t.is(response.status, 400)
    t.like(await response.json(), { title: 'Malformed body.', detail: 'The body could not be read.' })
  })

  test(`what inflates beyond the limit is 413, however small it came: ${encoding}`, async (t) => {
    const before = process.memoryUsage().rss
    const bomb = encode(Buffer.alloc(50_000_000, 32))
    t.true(bomb.length < 100_000)
    const all = await Promise.all(Array.from({ length: 8 }, () => sending(bomb, { 'content-encoding': encoding })))
    t.deepEqual(
      all.map(({ status }) => status),
      Array.from({ length: 8 }, () => 413),
    )
    t.true(process.memoryUsage().rss - before < 200_000_000)
  })

  test(`a body that inflates to nothing is none: ${encoding}`, async (t) => {
    const { status, body } = await sending(encode(Buffer.alloc(0)), { 'content-encoding': encoding })
    t.is(status, 400)
    t.is(body.detail, 'The request has no body.')
  })
}

const UNKNOWN = ['compress', 'gzip, gzip', 'gzip, identity', 'x', '*', 'constructor', '__proto__', 'gzip;q=1']

for (const encoding of [...UNKNOWN, ...(hasBrotli ? [] : ['br'])]) {
  test(`an encoding that nobody reads is 415: ${encoding}`, async (t) => {
    const { status, type, body } = await sending(gzipSync(JSON_TEXT), { 'content-encoding': encoding })
    t.is(status, 415)
    t.is(type, 'application/problem+json')
    t.is(body.title, 'Unsupported Media Type')
  })
}

for (const charset of ['latin1', 'utf-9', 'utf-zzz', 'x'.repeat(1000), 'constructor', '__proto__', 'utf-constructor']) {
  test(`a charset that nobody reads is 415: ${charset.slice(0, 20)}`, async (t) => {
    const { status, body } = await sending(JSON_TEXT, { 'content-type': `application/json; charset=${charset}` })
    t.is(status, 415)
    t.is(body.title, 'Unsupported Media Type')
  })
}

for (const type of [
  'application/json; x',
  'application/json; charset',
  'application/json;',
  'application/json; =',
  'application/json; charset="',
]) {
  test(`the body behind a content type with a broken parameter is read all the same: ${type}`, async (t) => {
    const { status, body } = await sending(Buffer.from('{"name":"Ola"}'), { 'content-type': type })
    t.is(status, 201)
    t.is(body.name, 'Ola')
  })
}

// Latin-1, cut off within a character, a surrogate, an overlong form.
for (const bytes of [[0xe9], [0xe2, 0x82], [0xed, 0xa0, 0x80], [0xc0, 0xaf]]) {
  const hex = Buffer.from(bytes).toString('hex')
  test(`a body that is not UTF-8 is refused instead of stored with other characters: ${hex}`, async (t) => {
    const body = Buffer.concat([Buffer.from('{"name":"Jos'), Buffer.from(bytes), Buffer.from('"}')])
    for (const [path, type] of [
      ['/api/players', 'application/json'],
      ['/api/players', 'application/json; charset=utf-8'],
      ['/api/players/bulk', 'application/jsonl'],
      ['/raw/api/players', 'application/json'],
      ['/raw/api/players/bulk', 'application/jsonl'],
    ] as const) {
      const response = await fetch(server.url + path, { method: 'POST', headers: { 'content-type': type }, body })
      t.is(response.status, 400, `${path} ${type}`)
      t.like(await response.json(), { title: 'Malformed body.', detail: 'The body is not valid UTF-8.' })
    }
    t.is(await Player.count({ where: { name: { [Op.startsWith]: 'Jos' } } }), 0)
  })
}

test('a body of other bytes than its length says is no body, and costs nothing', async (t) => {
  const headers = { 'content-type': 'application/json' }
  // Longer than said: what is left over is no request.
  const longer = await exchange(message({ ...headers, 'content-length': JSON_TEXT.length - 3 }, JSON_TEXT))
  t.is(longer.status, 400)
  // Shorter, and then gone: there is nobody to answer.
  const shorter = message({ ...headers, 'content-length': JSON_TEXT.length + 100 }, JSON_TEXT)
  t.is((await exchange(shorter, { abort: true })).status, null)
  const chunked = message({ ...headers, 'transfer-encoding': 'chunked' }, Buffer.from('5\r\n{"na'))
  t.is((await exchange(chunked, { abort: true })).status, null)
  const wrong = message({ ...headers, 'transfer-encoding': 'chunked' }, Buffer.from('zz\r\n{}\r\n0\r\n\r\n'))
  t.is((await exchange(wrong)).status, 400)
  t.is((await server.get('/api/players')).status, 200)
  t.is((await server.get('/api/players?filter=Name^%7B')).body.totalCount, 0)
})

test('bodies at random, compressed or not, are answered and never fail', async (t) => {
  let state = 42
  const random = (below: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  const encodings = ['identity', ...Object.keys(ENCODERS)]
  const statuses = new Set<number | null>()
  for (let count = 0; count < 400; count += 1) {
    const encoding = encodings[random(encodings.length)] ?? 'identity'
    const text = Buffer.from(JSON.stringify({ name: 'x'.repeat(random(300)), other: [random(9)] }))
    const encode = Object.entries(ENCODERS).find(([name]) => name === encoding)?.[1]
    const body = encode === undefined ? text : encode(text)
    for (let flips = random(4); flips > 0; flips -= 1) body[random(body.length)] = random(256)
    const { status } = await sending(body.subarray(0, body.length - random(2) * random(body.length)), {
      'content-encoding': encoding,
    })
    statuses.add(status)
  }
  t.deepEqual(
    [...statuses].filter((status) => ![201, 400, 413].includes(status ?? 0)),
    [],
  )
})

test.after('nothing of all that was unexpected', (t) => {
  t.deepEqual(unexpected, [])
})
