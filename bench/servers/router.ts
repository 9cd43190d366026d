// This package, as its README mounts it.

import express from 'express'
import { crudRouter, Operations } from '../../lib/index.js'
import { Player, Team } from '../models.js'
import { serve } from './serve.js'

await serve(() => {
  const app = express()
  app.use(crudRouter(Player, { operations: Operations.AllWithBulk }))
  app.use(crudRouter(Team))
  return app
})
