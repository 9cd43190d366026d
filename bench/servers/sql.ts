// Server with handwritten SQL on Express 5. The server uses the drivers of Sequelize.

import { once } from 'node:events'
import { createServer } from 'node:http'
import express, { type ErrorRequestHandler, type Request, type Response } from 'express'
import { listen, target } from './serve.js'
import { driverFor } from './sql/driver.js'
import { BadRequest } from './sql/input.js'
import { type Answer, Service } from './sql/service.js'

const service = new Service(await driverFor(target(), false))

function handler(work: (req: Request<{ id: string }>) => Promise<Answer>) {
  return async (req: Request<{ id: string }>, res: Response): Promise<void> => {
    const { status, body, location, headers } = await work(req)
    if (location !== undefined) res.location(location)
    if (headers !== undefined) res.set(headers)
    res.status(status).json(body)
  }
}

function queryOf({ originalUrl }: Pick<Request, 'originalUrl'>): URLSearchParams {
  const start = originalUrl.indexOf('?')
  return new URLSearchParams(start < 0 ? '' : originalUrl.slice(start))
}

const problems: ErrorRequestHandler = (error, _req, res, next) => {
  if (error instanceof BadRequest) res.status(400).json({ title: error.message, status: 400 })
  else next(error)
}

const players = express.Router()
players.get('/', async (req, res, next) => {
  const query = queryOf(req)
  if (query.get('format') !== 'jsonl') return next()
  res.set('Content-Type', 'application/jsonl')
  for await (const text of service.lines(query)) {
    if (text !== '' && !res.write(text)) await once(res, 'drain')
  }
  res.end()
})
players.get(
  '/',
  handler((req) => service.players(queryOf(req))),
)
players.get(
  '/:id',
  handler((req) => service.player(req.params.id)),
)
players.post(
  '/',
  handler((req) => service.create(req.body)),
)
players.post(
  '/bulk',
  handler((req) => service.createAll(req.body)),
)
players.patch(
  '/bulk',
  handler((req) => service.patchAll(req.body)),
)
players.patch(
  '/:id',
  handler((req) => service.patch(req.params.id, req.body)),
)
const teams = express.Router()
teams.get(
  '/',
  handler((req) => service.teams(queryOf(req))),
)
teams.post(
  '/',
  handler((req) => service.createTeam(req.body)),
)

const app = express()
app.use(express.json({ limit: '1mb' }))
app.use('/api/players', players)
app.use('/api/teams', teams)
app.use(problems)
listen(createServer(app))
