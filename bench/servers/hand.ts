// The service written as the manuals of Express and Sequelize teach. Finders use `include`, counts use
// `findAndCountAll`, and writes use instances, so that the model's validators run.

import { once } from 'node:events'
import express, { type ErrorRequestHandler } from 'express'
import { type FindAndCountOptions, literal, Op, ValidationError } from 'sequelize'
import { Player, Team } from '../models.js'
import { serve } from './serve.js'
import { placeIn, placeOf } from './sql/service.js'

class BadRequest extends Error {}

function whole(value: unknown, otherwise: number): number {
  if (value === undefined) return otherwise
  const number = Number(value)
  if (!Number.isInteger(number) || number < 0) throw new BadRequest(`not a whole number: ${String(value)}`)
  return number
}

interface Page {
  readonly page: number
  readonly pageSize: number
}

function pageOf(query: Record<string, unknown>): Page {
  return { page: Math.max(1, whole(query.page, 1)), pageSize: Math.min(1000, Math.max(1, whole(query.pageSize, 20))) }
}

function window({ page, pageSize }: Page): { limit: number; offset: number } {
  return { limit: pageSize, offset: (page - 1) * pageSize }
}

function envelope<Row>({ page, pageSize }: Page, found: { rows: Row[]; count: number }) {
  const totalPages = Math.ceil(found.count / pageSize)
  return {
    items: found.rows,
    totalCount: found.count,
    page,
    pageSize,
    totalPages,
    hasNextPage: page < totalPages,
    hasPreviousPage: page > 1,
  }
}

/** Number of rows of an export that are in memory at once. The number equals the router's. */
const BATCH = 500

const WRITABLE = ['name', 'level', 'email', 'teamId'] as const

/** Reads the properties of the body that a client may set. */
function writable(body: unknown): Partial<Player> {
  if (typeof body !== 'object' || body === null) throw new BadRequest('the body is not an object')
  const given = new Map(Object.entries(body))
  return Object.fromEntries(WRITABLE.filter((name) => given.has(name)).map((name) => [name, given.get(name)]))
}

/** Reads the body for `create`. The model validates it. */
function creation(body: unknown): { name: string; teamId: number | null } {
  const { name = '', teamId = null, ...rest } = writable(body)
  return { name, teamId, ...rest }
}

const players = express.Router()

players.get('/', async (req, res) => {
  if (req.query.after !== undefined) {
    const pageSize = Math.min(1000, Math.max(1, whole(req.query.pageSize, 20)))
    const rows = await Player.findAll({
      where: { id: { [Op.gt]: whole(req.query.after, 0) } },
      order: [['id', 'ASC']],
      limit: pageSize + 1,
    })
    const items = rows.slice(0, pageSize)
    res.json({ items, nextCursor: rows.length > pageSize ? items.at(-1)?.id : null, pageSize })
    return
  }
  if (req.query.afterLevel !== undefined) {
    const { pageSize } = pageOf(req.query)
    const [level, id] = placeIn(String(req.query.afterLevel))
    // All cursors in the benchmark belong to players with a level.
    if (level === null) throw new RangeError('a place behind all levels')
    const rows = await Player.findAll({
      where: {
        level: { [Op.lte]: level },
        [Op.or]: [{ level: { [Op.lt]: level } }, { id: { [Op.lt]: id } }],
      },
      order: [
        ['level', 'DESC'],
        ['id', 'DESC'],
      ],
      limit: pageSize + 1,
    })
    const items = rows.slice(0, pageSize)
    const placed = (player: Player | undefined): string | null => (player ? placeOf(player.get({ plain: true })) : null)
    const nextCursor = rows.length > pageSize ? placed(items.at(-1)) : null
    res.json({ items, pageSize, nextCursor, previousCursor: placed(items[0]) })
    return
  }
  if (req.query.format === 'jsonl') {
    res.set('Content-Type', 'application/jsonl')
    const level = { [Op.gt]: whole(req.query.minLevel, 0) }
    for (let last = 0, more = true; more; ) {
      const rows = await Player.findAll({
        where: { level, id: { [Op.gt]: last } },
        order: [['id', 'ASC']],
        limit: BATCH,
      })
      const text = rows.map((row) => `${JSON.stringify(row)}\n`).join('')
      if (text !== '' && !res.write(text)) await once(res, 'drain')
      more = rows.length === BATCH
      last = rows.at(-1)?.id ?? last
    }
    res.end()
    return
  }
  const page = pageOf(req.query)
  if (req.query.count === 'none') {
    const { limit, offset } = window(page)
    const rows = await Player.findAll({ order: [['id', 'ASC']], limit: limit + 1, offset })
    const around = { hasNextPage: rows.length > limit, hasPreviousPage: page.page > 1 }
    res.json({ items: rows.slice(0, limit), totalCount: null, ...page, totalPages: null, ...around })
    return
  }
  const options: FindAndCountOptions<Player> = { order: [['id', 'ASC']], ...window(page) }
  if (req.query.minLevel !== undefined) options.where = { level: { [Op.gt]: whole(req.query.minLevel, 0) } }
  if (req.query.sort === '-level' || req.query.sort === '-level,id') {
    options.order = [
      ['level', 'DESC'],
      ['id', req.query.sort === '-level' ? 'DESC' : 'ASC'],
    ]
  }
  // Without a filter by team, `include` stays undefined. With an empty list, Sequelize would count keys instead of
  // rows, which takes ten times as long.
  if (typeof req.query.team === 'string') {
    options.include = [{ association: 'team', where: { name: req.query.team }, attributes: [], required: true }]
  }
  const found = await Player.findAndCountAll(options)
  res.json(envelope(page, found))
})

players.get('/:id', async (req, res) => {
  const player = await Player.findByPk(req.params.id)
  if (player === null) res.status(404).json({ title: 'Not Found', status: 404 })
  else res.json(player)
})

players.post('/', async (req, res) => {
  const player = await Player.create(creation(req.body))
  res.status(201).location(`/api/players/${player.id}`).json(player)
})

players.patch('/bulk', async (req, res) => {
  if (!Array.isArray(req.body)) throw new BadRequest('the body is not an array')
  const bodies: readonly { readonly id: number }[] = req.body
  const changed = await Player.sequelize?.transaction(async (transaction) => {
    const found = await Player.findAll({ where: { id: bodies.map(({ id }) => id) }, transaction })
    const byId = new Map(found.map((player) => [player.id, player]))
    const records: Player[] = []
    for (const body of bodies) {
      const player = byId.get(body.id)
      if (player === undefined) throw new BadRequest(`there is no ${body.id}`)
      records.push(await player.update(writable(body), { transaction }))
    }
    return records
  })
  res.json(changed)
})

players.patch('/:id', async (req, res) => {
  const player = await Player.findByPk(req.params.id)
  if (player === null) res.status(404).json({ title: 'Not Found', status: 404 })
  else res.json(await player.update(writable(req.body)))
})

players.post('/bulk', async (req, res) => {
  if (!Array.isArray(req.body)) throw new BadRequest('the body is not an array')
  const rows = req.body.map(creation)
  const created = await Player.sequelize?.transaction(async (transaction) => {
    const records = await Player.bulkCreate(rows, { validate: true, transaction })
    if (Player.sequelize?.getDialect() !== 'sqlite') return records
    // On SQLite, Sequelize does not return the keys of a bulk insert. The keys are consecutive, because no other writer
    // can insert during the transaction. The last key therefore determines all keys.
    const last = await Player.max<number, Player>('id', { transaction })
    records.forEach((record, index) => {
      record.id = last - records.length + 1 + index
    })
    return records
  })
  res.status(201).json(created)
})

const teams = express.Router()

teams.get('/', async (req, res) => {
  const page = pageOf(req.query)
  const options: FindAndCountOptions<Team> = { order: [['id', 'ASC']], ...window(page) }
  if (req.query.playerLevelOver !== undefined) {
    const level = whole(req.query.playerLevelOver, 0)
    // The form in Sequelize's manual, with `include` and `distinct`, takes several times as long.
    const [key, root] = ['players.teamId', 'Team.id'].map((name) =>
      Team.sequelize?.getQueryInterface().quoteIdentifiers(name),
    )
    options.where = literal(`EXISTS (SELECT 1 FROM players WHERE ${key} = ${root} AND players.level > ${level})`)
  }
  if (req.query.players !== undefined) {
    // `separate` reads the players of all teams with one statement, as in the manual.
    const limit = Math.min(100, whole(req.query.players, 5))
    options.include = [{ association: 'players', separate: true, limit, order: [['id', 'ASC']] }]
  }
  const found = await Team.findAndCountAll(options)
  res.json(envelope(page, found))
})

teams.post('/', async (req, res) => {
  const { name = '', description = null, maxMembers = null, players = [] } = Object(req.body)
  if (!Array.isArray(players)) throw new BadRequest('players is not an array')
  const body = { name, description, maxMembers, players: players.map(creation).map(({ teamId, ...player }) => player) }
  const team = await Team.sequelize?.transaction((transaction) =>
    Team.create(body, { include: [{ association: 'players' }], transaction }),
  )
  res.status(201).location(`/api/teams/${team?.id}`).json(team)
})

const problems: ErrorRequestHandler = (error, _req, res, next) => {
  if (error instanceof BadRequest) res.status(400).json({ title: error.message, status: 400 })
  else if (error instanceof ValidationError)
    res.status(400).json({ title: 'Invalid', errors: error.errors, status: 400 })
  else next(error)
}

await serve(() => {
  const app = express()
  app.use(express.json({ limit: '1mb' }))
  app.use('/api/players', players)
  app.use('/api/teams', teams)
  app.use(problems)
  return app
})
