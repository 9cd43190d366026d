// Server with finale-rest. Filters with an operator or by a relation must be declared as `search`. Nested records have
// separate resources, because `include` makes every request of a resource slower.

import { createServer, type RequestListener } from 'node:http'
import express5 from 'express'
import { Op } from 'sequelize'
import { Player, Team } from '../../models.js'
import { listen, open } from '../../servers/serve.js'
import { packagesOf } from '../packages.js'

interface Application extends RequestListener {
  use(handler: unknown): void
}

const packages = packagesOf('finale-rest')
const express: () => Application = packages('express')
const finale: {
  initialize(options: unknown): void
  resource(options: {
    readonly model: unknown
    readonly endpoints: readonly [plural: string, singular: string]
    readonly include?: readonly unknown[]
    readonly search?: readonly { param: string; operator: symbol; attributes: readonly string[] }[]
  }): void
} = packages('finale-rest')

const sequelize = await open()
const app = express()
app.use(express5.json())
finale.initialize({ app, sequelize, updateMethod: 'patch' })
const minLevel = { param: 'minLevel', operator: Op.gt, attributes: ['level'] }
finale.resource({ model: Player, endpoints: ['/api/players', '/api/players/:id'], search: [minLevel] })
finale.resource({
  model: Player,
  endpoints: ['/api/members', '/api/members/:id'],
  include: [{ model: Team, as: 'team', attributes: [] }],
  search: [minLevel, { param: 'team', operator: Op.eq, attributes: ['$team.name$'] }],
})
finale.resource({
  model: Team,
  endpoints: ['/api/teams', '/api/teams/:id'],
  include: [{ model: Player, as: 'players' }],
})
listen(createServer(app))
