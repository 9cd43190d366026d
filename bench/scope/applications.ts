import express, { type Express, json, type RequestHandler } from 'express'
import { literal, Op, type Transaction, type WhereOptions } from 'sequelize'
import { crudRouter, filter, type Scope } from '../../lib/index.js'
import { teamsOf, type World } from './models.js'

/**
 * A rule that limits a user's tickets. `scope` is the rule for the router, and `where` is the same rule in Sequelize.
 */
export interface Kind {
  readonly name: string
  readonly scope: (user: number) => Scope
  readonly where: (user: number) => WhereOptions
}

const byTeam = (user: number): WhereOptions => ({
  teamId: { [Op.in]: literal(`(SELECT team_id FROM members WHERE user_id = ${user})`) },
})

const ofMembers = (user: number): string => filter.any('team.members', filter.eq('userId', user))

export const KINDS: readonly Kind[] = [
  {
    name: 'the team is a value',
    scope: (user) => ({ teamId: teamsOf(user)[0] ?? 0 }),
    where: (user) => ({ teamId: teamsOf(user)[0] ?? 0 }),
  },
  { name: 'member of the team', scope: ofMembers, where: byTeam },
  {
    name: 'owner, or member of the team',
    scope: (user) => filter.or(filter.eq('ownerId', user), ofMembers(user)),
    where: (user) => ({ [Op.or]: [{ ownerId: user }, byTeam(user)] }),
  },
]

const userOf = (text: string | undefined): number => Number(text)

export function withRouter({ Ticket }: World, { scope }: Kind): Express {
  const app = express()
  app.use(crudRouter(Ticket, { scope: ({ request }) => scope(userOf(request.get('x-user'))) }))
  return app
}

class Refused extends Error {}

/** The service in handwritten code. After a PATCH, the stored record must still meet the condition. */
export function byHand({ Ticket, sequelize }: World, kind: Kind): Express {
  const app = express()
  const where: (user: string | undefined, id?: string) => WhereOptions = (user, id) => {
    const limit = kind.where(userOf(user))
    return id === undefined ? limit : { [Op.and]: [{ id: Number(id) }, limit] }
  }
  const list: RequestHandler = async (request, response) => {
    const limit = where(request.get('x-user'))
    if (request.query.count !== undefined) return void response.json({ count: await Ticket.count({ where: limit }) })
    const { rows, count } = await Ticket.findAndCountAll({ where: limit, order: [['id', 'ASC']], limit: 20 })
    response.json({ items: rows, totalCount: count })
  }
  const get: RequestHandler<{ id: string }> = async (request, response) => {
    const ticket = await Ticket.findOne({ where: where(request.get('x-user'), request.params.id) })
    if (ticket === null) return void response.sendStatus(404)
    response.json(ticket)
  }
  const change = async (id: string, user: string | undefined, level: number, transaction: Transaction) => {
    const limit = where(user, id)
    const ticket = await Ticket.findOne({ where: limit, transaction, lock: transaction.LOCK.UPDATE })
    if (ticket === null) return null
    await ticket.update({ level }, { transaction })
    if ((await Ticket.count({ where: limit, transaction })) === 0) throw new Refused()
    return ticket
  }
  const patch: RequestHandler<{ id: string }, unknown, { level: number }> = async (request, response) => {
    const { params, body } = request
    const ticket = await sequelize.transaction((transaction) =>
      change(params.id, request.get('x-user'), body.level, transaction),
    )
    if (ticket === null) return void response.sendStatus(404)
    response.json(ticket)
  }
  app.get('/api/tickets', list)
  app.get('/api/tickets/:id', get)
  app.patch('/api/tickets/:id', json(), patch)
  return app
}
