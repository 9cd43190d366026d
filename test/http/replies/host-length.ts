// A middleware of the host that has set `Content-Length`, for a body that the router does not send.

import { once } from 'node:events'
import { connect } from 'node:net'
import test from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

const stage = await openStage(({ sequelize }, app) => {
  const Note = sequelize.define('Note', { title: DataTypes.STRING }, { timestamps: false })
  app.use((_, res, next) => {
    res.setHeader('Content-Length', '5')
    next()
  })
  app.use(crudRouter(Note, { operations: Operations.All | Operations.Export }))
  return { Note }
})
await stage.Note.bulkCreate(['first', 'second'].map((title) => ({ title })))
test.after.always(() => stage.close())

/** Sends a request and a second one on the same connection, and returns everything that the server sends. */
async function exchange(first: string): Promise<string> {
  const { port, hostname } = new URL(stage.url)
  const socket = connect(Number(port), hostname)
  const next = 'GET /api/notes?count=true HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
  socket.setEncoding('utf8').write(first + next)
  let text = ''
  socket.on('data', (piece) => {
    text += piece
  })
  await once(socket, 'end')
  return text
}

const REQUESTS = {
  'an export as CSV': 'GET /api/notes?format=csv',
  'an export as JSON lines': 'GET /api/notes?format=jsonl',
  'the headers of an export': 'HEAD /api/notes?format=csv',
  'a list': 'GET /api/notes',
  'a 204': 'DELETE /api/notes/2',
  'a problem': 'GET /api/notes/99',
}

for (const [what, target] of Object.entries(REQUESTS)) {
  test.serial(`${what} has no length of the host, and the next response can be read`, async (t) => {
    const text = await exchange(`${target} HTTP/1.1\r\nHost: x\r\n\r\n`)
    t.notRegex(text, /content-length: 5\r/i)
    const answers = text.split(/(?=HTTP\/1\.1 )/)
    t.is(answers.length, 2)
    t.regex(answers[1] ?? '', /^HTTP\/1\.1 200 /)
  })
}

test.serial('a response without a body has no length of the host', async (t) => {
  const body = '{"title":"third"}'
  const head = `POST /api/notes HTTP/1.1\r\nHost: x\r\nPrefer: return=minimal\r\nContent-Type: application/json\r\n`
  const text = await exchange(`${head}Content-Length: ${body.length}\r\n\r\n${body}`)
  t.notRegex(text, /content-length: 5\r/i)
  t.is(text.match(/HTTP\/1\.1 20[01] /g)?.length, 2)
})
