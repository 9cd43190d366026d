// AsyncAPI documents are valid for the public parser of AsyncAPI.

import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import test from 'ava'
import { DataTypes, Sequelize } from 'sequelize'
import { Server } from 'socket.io'
import { asyncApi, crudRouter, hasRole } from '../lib/index.js'
import { sqliteOptions } from './support/database.js'
import { INFO } from './support/documented.js'
import { root } from './support/program.js'
import { identity } from './support/tokens.js'

const OWN = join(root, 'test/events/package.json')

/** The parser's package is installed by itself, and not by the root's: without it the test is left out. */
const isInstalled = existsSync(join(root, 'test/events/node_modules/@asyncapi/parser'))
if (!isInstalled) console.warn('THE TEST OF ASYNCAPI IS LEFT OUT: `npm ci` in test/events brings its parser.')

interface Diagnostic {
  readonly code: unknown
  readonly path: readonly unknown[]
  readonly message: string
}

/** Everything that the parser has to say of a document, advice included. */
async function diagnosticsOf(document: object): Promise<readonly string[]> {
  const { Parser } = createRequire(OWN)('@asyncapi/parser') as {
    Parser: new () => { validate: (text: string) => Promise<readonly Diagnostic[]> }
  }
  const found = await new Parser().validate(JSON.stringify(document))
  return found.map(({ code, path, message }) => `${code} at ${path.join('.')}: ${message}`)
}

const check = isInstalled ? test : test.skip

check('the documents of hubs with and without policies are valid, and a broken one is not', async (t) => {
  const sequelize = new Sequelize({ ...sqliteOptions, storage: ':memory:', logging: false })
  const Team = sequelize.define('Team', { name: DataTypes.STRING })
  const Player = sequelize.define('Player', {
    name: { type: DataTypes.STRING(50), allowNull: false },
    level: DataTypes.INTEGER,
    kind: DataTypes.ENUM('junior', 'senior'),
    notes: DataTypes.JSON,
    points: DataTypes.BIGINT,
    since: DataTypes.DATE,
  })
  Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  const io = new Server()
  const resources = [
    crudRouter(Player, {
      push: { io },
      identity,
      getByIdPolicy: hasRole('coach'),
      concurrency: { inBody: true },
      flatten: ['team'],
      mask: { level: 'levels' },
      fields: { points: { exclude: 'list', deprecated: { since: '2026-01-01' } } },
      computed: { mine: { type: 'boolean', perCaller: true, resolve: (all) => all.map(() => true) } },
    }),
    crudRouter(Team, { push: { io } }),
  ]
  const servers = { production: { host: 'api.example.com', protocol: 'wss', pathname: '/socket.io' } } as const
  const document = asyncApi({ resources, info: INFO, servers })
  t.deepEqual(await diagnosticsOf(document), [])
  const channels = { Players: { ...document.channels.Players, messages: { OnCreated: { $ref: '#/nowhere' } } } }
  t.not((await diagnosticsOf({ ...document, channels })).length, 0)
})
