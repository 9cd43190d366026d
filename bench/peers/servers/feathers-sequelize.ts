// Server with feathers-sequelize behind @feathersjs/express. Pages without a total need a service without pagination.

import type { RequestListener } from 'node:http'
import { createServer } from 'node:http'
import { Player, Team } from '../../models.js'
import { listen, open } from '../../servers/serve.js'
import { packagesOf } from '../packages.js'

interface Context {
  readonly params: { sequelize?: unknown }
}

interface Application extends RequestListener {
  configure(plugin: unknown): void
  use(handler: unknown): void
  use(path: string, service: unknown): void
  service(path: string): { hooks(hooks: unknown): void }
}

const packages = packagesOf('feathers-sequelize')
const { feathers }: { feathers: () => unknown } = packages('@feathersjs/feathers')
const express: {
  (app: unknown): Application
  json(options: { limit: string }): unknown
  rest(): unknown
  errorHandler(): unknown
} = packages('@feathersjs/express')
const { SequelizeService }: { SequelizeService: new (options: unknown) => unknown } = packages('feathers-sequelize')

/** Hook that adds includes to the options of Sequelize's finders and `create`. */
function including(...include: readonly unknown[]): (context: Context) => void {
  return ({ params }) => {
    params.sequelize = { ...Object(params.sequelize), include }
  }
}

await open()
const paginate = { default: 20, max: 1000 }
const app = express(feathers())
app.use(express.json({ limit: '1mb' }))
app.configure(express.rest())
app.use('/api/players', new SequelizeService({ Model: Player, paginate, multi: ['create'] }))
app.use('/api/uncounted', new SequelizeService({ Model: Player }))
app.use(
  '/api/members',
  new SequelizeService({ Model: Player, paginate, filters: { '$team.name$': true }, operators: ['$team.name$'] }),
)
app.service('/api/members').hooks({ before: { find: [including({ model: Team, as: 'team', attributes: [] })] } })
app.use('/api/teams', new SequelizeService({ Model: Team, paginate }))
app.service('/api/teams').hooks({ before: { create: [including({ model: Player, as: 'players' })] } })
app.use(express.errorHandler())
listen(createServer(app))
