import express, { type Express } from 'express'
import { crudRouter, Operations, Problem, problemHandler } from 'sequelize-crud-router'
import { Order, Player, Team } from './models.js'

/** An Express application with three resources: /api/players, /api/teams and /api/orders. */
export function league(): Express {
  const app = express()
  const operations = Operations.AllWithBulk

  app.use(crudRouter(Player, { operations, fields: { createdAt: { exclude: true } } }))
  app.use(crudRouter(Team, { operations, fields: { createdAt: { exclude: true } } }))
  app.use(crudRouter(Order, { operations }))

  // What nobody has answered, and what the application's own routes throw, in the same format as the resources'.
  app.use(() => {
    throw new Problem({ status: 404 })
  })
  app.use(problemHandler())
  return app
}
