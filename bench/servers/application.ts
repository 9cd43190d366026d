// Application with this package, mounted as in the README.

import express, { type Express } from 'express'
import { crudRouter, Operations } from '../../lib/index.js'
import { Player, Team } from '../models.js'

export function application(): Express {
  const app = express()
  app.use(crudRouter(Player, { operations: Operations.AllWithBulk | Operations.BulkUpdate | Operations.Export }))
  app.use(crudRouter(Team, { relations: { players: { write: true } } }))
  return app
}
