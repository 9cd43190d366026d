// This package, as its README mounts it.

import express, { type Express } from 'express'
import { crudRouter, Operations } from '../../lib/index.js'
import { Player, Team } from '../models.js'

export function application(): Express {
  const app = express()
  app.use(crudRouter(Player, { operations: Operations.AllWithBulk }))
  app.use(crudRouter(Team))
  return app
}
