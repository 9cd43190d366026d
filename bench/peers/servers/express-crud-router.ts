// Server with express-crud-router and its connector for Sequelize 6. The connector supports custom filters as options,
// and sorts by a single column.

import { createServer, type RequestListener } from 'node:http'
import { Op } from 'sequelize'
import { Player, Team } from '../../models.js'
import { listen, open } from '../../servers/serve.js'
import { packagesOf } from '../packages.js'

interface Application extends RequestListener {
  use(handler: unknown): void
}

type Filters = Readonly<Record<string, (value: string | number) => unknown>>

const packages = packagesOf('express-crud-router')
const express: () => Application = packages('express')
const { crud }: { crud: (path: string, actions: unknown, options: { filters: Filters }) => unknown } =
  packages('express-crud-router')
const { default: connector }: { default: (model: unknown) => unknown } = packages(
  'express-crud-router-sequelize-v6-connector',
)

const filters: Filters = {
  minLevel: (value) => ({ level: { [Op.gt]: value } }),
  team: async (name) => ({ teamId: (await Team.findOne({ where: { name: String(name) } }))?.id ?? null }),
}

await open()
const app = express()
app.use(crud('/api/players', connector(Player), { filters }))
listen(createServer(app))
