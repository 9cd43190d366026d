// The minimal server of the benchmark, with `node:http` and SQL in prepared statements.

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { listen, target } from './serve.js'
import { driverFor } from './sql/driver.js'
import { BadRequest } from './sql/input.js'
import { type Answer, Service } from './sql/service.js'

const service = new Service(await driverFor(target(), true))
const NOT_FOUND: Answer = { status: 404, body: { title: 'Not Found', status: 404 } }

async function bodyOf(req: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  for await (const chunk of req) chunks.push(chunk)
  try {
    return JSON.parse(Buffer.concat(chunks).toString())
  } catch {
    throw new BadRequest('the body is not JSON')
  }
}

async function answer(req: IncomingMessage): Promise<Answer> {
  const { method, url = '' } = req
  const start = url.indexOf('?')
  const path = start < 0 ? url : url.slice(0, start)
  const query = new URLSearchParams(start < 0 ? '' : url.slice(start))
  const [, , table, key] = path.split('/')
  if (table === 'teams' && method === 'GET') return service.teams(query)
  if (table === 'teams' && method === 'POST') return service.createTeam(await bodyOf(req))
  if (table !== 'players') return NOT_FOUND
  switch (method) {
    case 'GET':
      return key === undefined ? service.players(query) : service.player(key)
    case 'POST':
      return key === undefined ? service.create(await bodyOf(req)) : service.createAll(await bodyOf(req))
    case 'PATCH':
      return key === 'bulk' ? service.patchAll(await bodyOf(req)) : service.patch(key ?? '', await bodyOf(req))
    default:
      return NOT_FOUND
  }
}

/** Handles requests for streamed responses. Returns false for other requests. */
async function stream(req: IncomingMessage, res: ServerResponse): Promise<boolean> {
  const [path = '', query = ''] = (req.url ?? '').split('?')
  const parameters = new URLSearchParams(query)
  if (path !== '/api/players' || parameters.get('format') !== 'jsonl') return false
  res.writeHead(200, { 'Content-Type': 'application/jsonl' })
  for await (const text of service.lines(parameters)) {
    if (text !== '' && !res.write(text)) await once(res, 'drain')
  }
  res.end()
  return true
}

function send(res: ServerResponse, { status, body, location, headers }: Answer): void {
  const text = JSON.stringify(body)
  const own = location === undefined ? {} : { Location: location }
  res.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    ...own,
    ...headers,
  })
  res.end(text)
}

listen(
  createServer((req, res) => {
    const sending = req.url?.includes('format=jsonl') ? stream(req, res).then(() => null) : answer(req)
    sending.then(
      (reply) => reply !== null && send(res, reply),
      (error) => {
        const status = error instanceof BadRequest ? 400 : 500
        send(res, { status, body: { title: String(error), status } })
      },
    )
  }),
)
