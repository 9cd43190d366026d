import express, { type Express } from 'express'
import { apiDocs, crudRouter, Operations, Problem, problemHandler } from 'sequelize-crud-router'
import { Order, Player, Team } from './models.js'

/**
 * Creates an Express application with three resources, /api/players, /api/teams and /api/orders, and their API
 * documents.
 */
export function league(): Express {
  const app = express()
  const operations = Operations.AllWithBulk

  const resources = [
    crudRouter(Player, { operations, fields: { createdAt: { exclude: true } } }),
    crudRouter(Team, { operations, fields: { createdAt: { exclude: true } } }),
    crudRouter(Order, { operations }),
  ]
  for (const resource of resources) app.use(resource)

  // Serves /openapi.json, and /docs for readers.
  app.use(apiDocs({ resources, info: { title: 'League', version: '1.0.0' } }))

  // Requests without a route, and errors of the application's own routes, get responses in the format of the resources.
  app.use(() => {
    throw new Problem({ status: 404 })
  })
  app.use(problemHandler())
  return app
}
