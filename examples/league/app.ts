import express, { type Express } from 'express'
import { apiDocs, crudRouter, Operations, Problem, problemHandler } from 'sequelize-crud-router'
import { Order, Player, Team } from './models.js'

/** An Express application with three resources, /api/players, /api/teams and /api/orders, and their documents. */
export function league(): Express {
  const app = express()
  const operations = Operations.AllWithBulk

  const resources = [
    crudRouter(Player, { operations, fields: { createdAt: { exclude: true } } }),
    crudRouter(Team, { operations, fields: { createdAt: { exclude: true } } }),
    crudRouter(Order, { operations }),
  ]
  for (const resource of resources) app.use(resource)

  // /openapi.json, and /docs for people.
  app.use(apiDocs({ resources, info: { title: 'League', version: '1.0.0' } }))

  // What nobody has answered, and what the application's own routes throw, in the same format as the resources'.
  app.use(() => {
    throw new Problem({ status: 404 })
  })
  app.use(problemHandler())
  return app
}
