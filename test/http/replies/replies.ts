// What is sent is what Express itself would send, by all that a host can set.

import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import ava from 'ava'
import express, { type Express, type RequestHandler, type Response } from 'express'
import express4 from 'express4'
import { DataTypes } from 'sequelize'
import { crudRouter } from '../../../lib/index.js'
import { openDatabase } from '../../support/database.js'

const database = await openDatabase()
const Player = database.sequelize.define(
  'Player',
  { name: DataTypes.STRING, note: DataTypes.STRING },
  { timestamps: false },
)
await database.sequelize.sync()
await Player.create({ name: 'Zażółć <b>&</b> 漢字 😀', note: 'n'.repeat(240) })
ava.after.always(() => database.close())

const RECORD = { id: 1, name: 'Zażółć <b>&</b> 漢字 😀', note: 'n'.repeat(240) }

/** The bytes of a reply, but for the time of it. */
async function received(port: number, request: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.write(`${request}Host: here\r\nConnection: close\r\n\r\n`)
  const chunks: Buffer[] = []
  for await (const chunk of socket) chunks.push(chunk)
  return Buffer.concat(chunks)
    .toString('latin1')
    .replace(/^Date: .*$/m, '')
}

interface Case {
  readonly title: string
  readonly set?: (app: Express) => void
  readonly before?: RequestHandler
  /** The first line and headers. */
  readonly request?: string
}

/** Middleware that does something to the response. */
function first(change: (res: Response) => unknown): RequestHandler {
  return (_req, res, next) => {
    change(res)
    next()
  }
}

function wrap(res: Response): void {
  const json = res.json
  res.json = (body) => json.call(res, { wrapped: body })
}

const etag = (buf: Buffer, options: string): string => `"${options}-${buf.length}"`

/** Its last line is that of the functions that Express makes. */
const tagged = (buf: Buffer): string => {
  const options = 'mine'
  return etag(buf, options)
}

const CASES: readonly Case[] = [
  { title: 'nothing is set' },
  { title: 'etag is off', set: (app) => app.set('etag', false) },
  { title: 'etag is strong', set: (app) => app.set('etag', 'strong') },
  {
    title: 'etag is a function',
    set: (app) =>
      app.set('etag', (body: Buffer, encoding: unknown) => `"${body.length}-${Buffer.isBuffer(body)}-${encoding}"`),
  },
  { title: "etag is a function that reads like one of Express' own", set: (app) => app.set('etag', tagged) },
  { title: 'etag is a function that gives none', set: (app) => app.set('etag', () => undefined) },
  { title: 'x-powered-by is off', set: (app) => app.disable('x-powered-by') },
  { title: 'json spaces are set', set: (app) => app.set('json spaces', 2) },
  { title: 'json escape is set', set: (app) => app.set('json escape', true) },
  {
    title: 'json replacer is set',
    set: (app) => app.set('json replacer', (key: string, value: unknown) => (key === 'note' ? undefined : value)),
  },
  { title: 'a content type is there', before: first((res) => res.type('application/vnd.league+json')) },
  { title: 'an entity tag is there', before: first((res) => res.set('ETag', '"mine"')) },
  { title: 'it is chunked', before: first((res) => res.set('Transfer-Encoding', 'chunked')) },
  { title: 'a header is not ASCII', before: first((res) => res.set('X-Name', 'é')) },
  { title: 'res.json is replaced', before: first((res) => wrap(res)) },
  {
    title: 'res.send is replaced for all',
    set: (app) => {
      const send = app.response.send
      app.response.send = function (this: Response, body) {
        return send.call(this, typeof body === 'string' ? `${body} ` : body)
      }
    },
  },
  { title: 'it is a HEAD', request: 'HEAD / HTTP/1.1\r\n' },
  { title: 'any entity tag will do', request: 'GET / HTTP/1.1\r\nIf-None-Match: *\r\n' },
  { title: 'the entity tag is another', request: 'GET / HTTP/1.1\r\nIf-None-Match: "other"\r\n' },
  {
    title: 'it is for changes since a day',
    request: 'GET / HTTP/1.1\r\nIf-Modified-Since: Sun, 01 Jan 2040 00:00:00 GMT\r\n',
  },
  { title: 'the client speaks HTTP/1.0', request: 'GET / HTTP/1.0\r\n' },
]

for (const [framework, create] of [
  ['Express 5', express],
  ['Express 4', express4 as unknown as typeof express],
] as const) {
  for (const { title, set, before, request = 'GET / HTTP/1.1\r\n' } of CASES) {
    ava(`${framework}: a record is sent as res.json sends it where ${title}`, async (t) => {
      const app = create()
      set?.(app)
      if (before !== undefined) app.use(before)
      app.get('/by-hand/1', (_req, res) => {
        res.status(200).json(RECORD)
      })
      app.use(crudRouter(Player))
      const server = app.listen(0, '127.0.0.1')
      await once(server, 'listening')
      t.teardown(() => server.close())
      const { port } = server.address() as AddressInfo
      const at = (path: string): Promise<string> => received(port, request.replace(' / ', ` ${path} `))
      const expected = await at('/by-hand/1')
      t.regex(expected, /^HTTP\/1\.1 (?:200 OK|304 Not Modified)\r\n/)
      t.is(await at('/api/players/1'), expected)
    })
  }
}
