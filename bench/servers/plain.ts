// Server with the package, without optional behaviours, on the table of `behaviours.ts`. Clients add the conditions
// that the behaviours would add.

import express from 'express'
import { crudRouter, Operations } from '../../lib/index.js'
import { Employee } from '../models.js'
import { caller } from './caller.js'
import { serve } from './serve.js'

await serve(() => {
  const app = express()
  app.use(caller)
  app.use(crudRouter(Employee, { operations: Operations.AllWithBulk, fields: { salary: { exclude: 'list' } } }))
  return app
})
