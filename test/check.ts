// `npx sequelize-crud-router check`, over applications as projects have them.

import { join } from 'node:path'
import test from 'ava'
import { consumer, dependencies, node, type Outcome, pack, type Tarball } from './support/consumer.js'

const MODELS = `
import express from 'express'
import { DataTypes, Sequelize } from 'sequelize'
import * as crud from 'sequelize-crud-router'

const sequelize = new Sequelize({ dialect: 'sqlite', dialectModule: {}, storage: ':memory:', logging: false })
export const Team = sequelize.define('Team', { name: DataTypes.STRING }, { timestamps: false })
export const Player = sequelize.define('Player', { name: DataTypes.STRING }, { timestamps: false })
Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
export const app = express()
export { crud }
`

const FILES = {
  'package.json': JSON.stringify({ private: true, type: 'module' }),
  'models.js': MODELS,
  'app.js': `
import { Server } from 'socket.io'
import { app, crud, Player, Team } from './models.js'

const actions = { promote: { on: 'record', method: 'post', policy: crud.authenticated, handler: () => {} } }
app.use(crud.crudRouter(Player, { createPolicy: crud.authenticated, updatePolicy: crud.authenticated, actions }))
app.use(crud.crudRouter(Team, { operations: 3, relations: { players: { routes: true } }, authorizePolicy: crud.authenticated, push: { io: new Server() } }))
app.listen(0)
`,
  'guarded.js': `
import { app, crud, Player } from './models.js'

export function createApp() {
  app.use(crud.createCrud({ authorizePolicy: crud.authenticated }).routers([Player]))
  return app
}
export const port = 3000
export function fail() {
  throw new Error('no database')
}
`,
  'hubs.js': `
import { Server } from 'socket.io'
import { app, crud, Player, Team } from './models.js'

const io = new Server()
app.use(crud.crudRouter(Player, { operations: ['create'], createPolicy: crud.authenticated, push: { io } }))
app.use(crud.crudRouter(Team, { operations: 3, getListPolicy: crud.authenticated, push: { io } }))
`,
  'ends.js': `
import { app, crud, Player } from './models.js'

app.use(crud.crudRouter(Player))
process.exit(0)
`,
  'waits.js': `
import { app, crud, Player } from './models.js'

app.use(crud.crudRouter(Player))
await new Promise(() => {})
`,
  'rejects.js': `
import { setTimeout } from 'node:timers/promises'

Promise.reject(new Error('no database'))
await setTimeout(1000)
`,
  'controller.cjs': `
exports.main = async () => {
  const { crud, Player } = await import('./models.js')
  crud.crudController(Player, { operations: 1 })
  crud.createHandler(Player, { operations: 1, route: '/' })
}
`,
  'wrong.js': `
import { app, crud, Player, Team } from './models.js'

const options = { Player: { feilds: {}, query: { pagesize: 5 } }, Team: { route: 5 } }
app.use(crud.createCrud({ requirePolicies: false }).routers([Player, Team], options))
`,
  'broken.js': 'import { missing } from "./models.js"',
  'throwing.js': 'throw undefined',
}

let tarball: Tarball
let folder: string

test.before(async () => {
  tarball = await pack()
  const names = [...(await dependencies()), 'express', 'sequelize', 'socket.io']
  folder = await consumer(tarball, 'checked', Object.fromEntries(names.map((name) => [name, name])), FILES)
})
test.after.always(() => tarball?.remove())

function check(...args: readonly string[]): Promise<Outcome> {
  return node(folder, join(folder, 'node_modules/sequelize-crud-router/dist/check.js'), ...args)
}

/** Lines without those of QUERY, which some versions of Node cannot parse, and without columns. */
function lines(text: string): readonly string[] {
  return text
    .split('\n')
    .filter((line) => !line.includes('QUERY'))
    .map((line) => line.trim().replace(/ {2,}/g, ' | '))
}

const ROUTES = [
  'Player',
  'GET | /api/players | OPEN | (getList)',
  'POST | /api/players | policy | (create)',
  'GET | /api/players/:id | OPEN | (getById)',
  'PATCH | /api/players/:id | policy | (update)',
  'DELETE | /api/players/:id | OPEN | (delete)',
  'POST | /api/players/:id/promote | policy | (promote)',
  '',
  'Team',
  'GET | /api/teams | policy | (getList)',
  'GET | /api/teams/:id | policy | (getById)',
  '* | /api/teams/:id/players | policies of both records',
  'socket | /api/teams/hub | policy',
  '',
]

test('routes are listed with what no policy covers, though the application listens', async (t) => {
  const { status, stdout, stderr } = await check('check', 'app.js')
  t.is(stderr, '')
  t.is(status, 0)
  const listed = lines(stdout)
  t.deepEqual(listed.slice(0, ROUTES.length), ROUTES)
  t.regex(listed[ROUTES.length] ?? '', /^2 resources, \d+ routes, [34] without a policy\.$/)
  t.is(listed[ROUTES.length + 1], '1 hub, 0 without a policy.')
  t.regex(stdout, /The option requirePolicies: true refuses to mount OPEN routes\.\n$/)
})

test('--fail-on-open is status 1 for routes without a policy, and 0 where each has one', async (t) => {
  t.is((await check('check', 'app.js', '--fail-on-open')).status, 1)
  const { status, stdout } = await check('check', 'guarded.js', '--call', 'createApp', '--fail-on-open')
  t.is(status, 0)
  t.regex(stdout, /1 resource, \d routes, 0 without a policy\.\n$/)
})

test('a hub is open where no policy decides who connects, whatever covers the routes', async (t) => {
  const { status, stdout } = await check('check', 'hubs.js', '--fail-on-open')
  t.is(status, 1)
  const listed = lines(stdout)
  t.true(listed.includes('socket | /api/players/hub | OPEN'))
  t.true(listed.includes('socket | /api/teams/hub | policy'))
  t.true(listed.includes('GET | /api/teams/:id | OPEN | (getById)'))
  t.regex(stdout, /2 resources, \d routes, 1 without a policy\.\n2 hubs, 1 without a policy\.\n/)
})

test('handlers without routes are listed, of CommonJS as well', async (t) => {
  const { status, stdout } = await check('check', 'controller.cjs', '--call', 'main')
  t.is(status, 0)
  t.deepEqual(lines(stdout).slice(0, 6), [
    'Player (handlers: your code sets the paths)',
    'GET | /api/players/:id | OPEN | (getById)',
    '',
    'Player',
    'GET | /:id | OPEN | (getById)',
    '',
  ])
})

test('wrong options of all models are status 1, each with what was probably meant', async (t) => {
  const { status, stdout } = await check('check', 'wrong.js')
  t.is(status, 1)
  t.regex(stdout, /^3 options are wrong:\n/)
  t.regex(stdout, /Player: the option "feilds" does not exist\. Did you mean "fields"\?/)
  t.regex(stdout, /Player: .*"?pagesize"? .*Did you mean "pageSize"\?/)
  t.regex(stdout, /Team: the option "route" must be/)
})

test('what cannot be checked is status 2 with a reason', async (t) => {
  for (const [args, reason] of [
    [[], /sequelize-crud-router check FILE/],
    [['chekc', 'app.js'], /sequelize-crud-router check FILE/],
    [['check', 'missing.js'], /The file .*missing\.js does not exist\./],
    [['check', 'models.js'], /models\.js mounts no resource\. .*--call createApp/],
    [['check', 'guarded.js', '--call', 'port'], /^The module does not export a function "port"\.\s*$/],
    [['check', 'guarded.js', '--call', 'fail'], /The function "fail" failed\. Error: no database/],
    [['check', 'broken.js'], /The module cannot be imported\. [\s\S]*SyntaxError/],
    [['check', 'throwing.js'], /The module cannot be imported\. undefined/],
    [['check', 'ends.js'], /^The process ended before the module was imported\.\s*$/],
    [['check', 'waits.js'], /^The process ended before the module was imported\.\s*$/],
    [['check', 'rejects.js'], /^The process ended before the module was imported\.[\s\S]*Error: no database/],
    [['check', 'app.js', '--strict'], /Unknown option '--strict'/],
  ] as const) {
    const { status, stdout, stderr } = await check(...args)
    t.deepEqual([status, stdout], [2, ''], stderr)
    t.regex(stderr, reason)
  }
  const help = await check('--help')
  t.is(help.status, 0)
  t.regex(help.stdout, /--fail-on-open/)
})
