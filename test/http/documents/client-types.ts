// The types that clientTypes writes, in a TypeScript project of their own: with what is installed of the compiler, and with
// the client at a real server.

import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import test from 'ava'
import Joi from 'joi'
import { DataTypes } from 'sequelize'
import { apiDocs, clientTypes, crudRouter, Operations } from '../../../lib/index.js'
import { INFO } from '../../support/documented.js'
import { root } from '../../support/program.js'
import { openStage } from '../../support/stage.js'

const run = promisify(execFile)

let types = ''

const stage = await openStage(({ sequelize }, app) => {
  const Team = sequelize.define(
    'Team',
    { name: { type: DataTypes.STRING(50), allowNull: false } },
    { timestamps: false },
  )
  const Player = sequelize.define('Player', {
    full_name: { type: DataTypes.STRING(50), allowNull: false },
    level: DataTypes.INTEGER,
    salary: DataTypes.DECIMAL(30, 2),
    kind: DataTypes.ENUM('guard', 'centre'),
    note: DataTypes.TEXT,
    extra: DataTypes.JSON,
    password: DataTypes.STRING,
  })
  const Seat = sequelize.define(
    'seat',
    { hall: { type: DataTypes.STRING(8), primaryKey: true }, number: { type: DataTypes.INTEGER, primaryKey: true } },
    { timestamps: false },
  )
  const Series = sequelize.define('Series', { 'odd-name': DataTypes.STRING })
  Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
  const players = crudRouter(Player, {
    operations: Operations.AllWithBulk + Operations.BulkUpdate + Operations.Aggregate,
    concurrency: true,
    unknownProperties: 'reject',
    flatten: ['team'],
    mask: { salary: 'pay*/roll' },
    fields: {
      password: { exclude: true },
      note: { exclude: 'list' },
      extra: { schema: Joi.object({ shoes: Joi.number() }) },
    },
  })
  const teams = crudRouter(Team, { relations: { players: { write: true } }, names: { response: 'Squad-1' } })
  const seats = crudRouter(Seat, { operations: ['getById', 'create'] })
  const series = crudRouter(Series)
  const resources = [players, teams, seats, series]
  for (const each of resources) app.use(each)
  app.use(apiDocs({ resources, info: INFO }))
  types = clientTypes({ resources })
})

const USE = `
import { resource } from 'sequelize-crud-router/client'
import type { Players, Player, SeriesShapes, Squad1s, Seats } from './client.js'

export async function use(url: string): Promise<unknown> {
  const players = resource<Players>(url + '/api/players', { versions: true })
  const teams = resource<Squad1s>(url + '/api/teams')
  const seats = resource<Seats>(url + '/api/seats', { key: ['hall', 'number'] })
  const series = resource<SeriesShapes>(url + '/api/series')
  const team = await teams.create({ name: 'Bulls', players: [{ fullName: 'Eva', level: null }] })
  const held: number | undefined = team.players?.[0]?.id
  const made: Player = await players.create({ fullName: 'Ana', level: 5, kind: 'guard', teamId: team.id })
  const changed = await players.update(made, { level: null, salary: '12345678901234567890.50' })
  const flat: string | null = changed.teamName
  const salary: string | null = changed.salary
  const { items } = await players.list({ sort: ['-level', 'fullName'], select: 'fullName,team.name' })
  const behind: string | null | undefined = items[0]?.team?.name
  const page = await players.list()
  const level: number | null | undefined = page.items[0]?.level
  const [several] = await players.bulkUpdate([{ id: made.id, rowVersion: 1, level: 9 }])
  const groups = await players.aggregate({ aggregate: ['count', 'max(level)'] })
  const highest: number | undefined = groups.items[0]?.count
  const seat = await seats.create({ hall: 'a', number: 1 })
  const odd = await series.create({ oddName: 'x' })

  // @ts-expect-error: it is left out of lists
  page.items[0]?.note
  // @ts-expect-error: it is nowhere
  made.password
  // @ts-expect-error: there is no such kind
  await players.create.bind(null, { fullName: 'Ana', kind: 'forward' })
  // @ts-expect-error: the name is required
  players.create.bind(null, { level: 5 })
  // @ts-expect-error: it may be read alone
  players.update.bind(null, made, { teamName: 'Heat' })
  // @ts-expect-error: an item says which record it changes
  players.bulkUpdate.bind(null, [{ level: 9 }])
  // @ts-expect-error: the operation is off
  seats.list
  // @ts-expect-error: the key and the versions must be said
  resource.bind<Players>(null, url)
  players.live.bind(null, { onCreated: (player) => player.fullName.length, onDeleted: () => undefined })
  return { held, flat, salary, behind, level, highest, again: several?.level, seat, odd: odd.oddName, names: page.items.map(({ fullName }) => fullName) }
}
`

let folder = ''

test.before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sequelize-crud-router-types-'))
  await mkdir(join(folder, 'node_modules'))
  await symlink(root, join(folder, 'node_modules/sequelize-crud-router'), 'junction')
  const strict = { strict: true, noUncheckedIndexedAccess: true, skipLibCheck: false }
  const shared = { target: 'es2022', lib: ['es2022', 'dom'], types: [], module: 'nodenext', rootDir: '.' }
  await Promise.all([
    writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' })),
    writeFile(join(folder, 'client.d.ts'), types),
    writeFile(join(folder, 'use.ts'), USE),
    ...['typescript', 'typescript5'].map((compiler) =>
      writeFile(
        join(folder, `${compiler}.json`),
        JSON.stringify({
          compilerOptions: { ...strict, ...shared, outDir: compiler },
          files: ['use.ts', 'client.d.ts'],
        }),
      ),
    ),
  ])
})
test.after.always(async () => {
  await stage.close()
  await rm(folder, { recursive: true, force: true })
})

test.serial('/client.d.ts is what clientTypes writes, and 304 for who has it', async (t) => {
  const { status, text, headers } = await stage.get('/client.d.ts')
  t.is(status, 200)
  t.is(text, types)
  t.is(headers.get('content-type'), 'text/plain; charset=utf-8')
  const again = await stage.get('/client.d.ts', { 'if-none-match': headers.get('etag') ?? '' })
  t.is(again.status, 304)
  t.false(text.includes('password'))
})

test.serial('/client.js is the client in one file, which pages import without a bundler', async (t) => {
  const { status, text, headers } = await stage.get('/client.js')
  t.is(status, 200)
  t.is(headers.get('content-type'), 'text/javascript; charset=utf-8')
  const file = join(folder, 'client.mjs')
  await writeFile(file, text)
  const { resource } = await import(pathToFileURL(file).href)
  t.is(typeof (await resource(`${stage.url}/api/players`).list({ pageSize: 1 })).totalCount, 'number')
})

for (const compiler of ['typescript5', 'typescript']) {
  test.serial(`the types compile by ${compiler}, strict, and the client does what they say`, async (t) => {
    t.timeout(120_000)
    const tsc = join(root, 'node_modules', compiler, 'bin/tsc')
    const { stdout } = await run(process.execPath, [tsc, '-p', `${compiler}.json`], { cwd: folder }).catch(
      (error) => error,
    )
    t.is(stdout, '')
    // One after the other: each locks rows of those that point at it.
    for (const model of Object.values(stage.sequelize.models)) await model.destroy({ where: {} })
    const { use } = await import(pathToFileURL(join(folder, compiler, 'use.js')).href)
    t.like(await use(stage.url), {
      flat: 'Bulls',
      salary: null,
      behind: 'Bulls',
      seat: { hall: 'a', number: 1 },
      odd: 'x',
      names: ['Eva', 'Ana'],
    })
  })
}

test.serial('two types of one name are refused with the option that helps', (t) => {
  const { sequelize } = stage
  const one = crudRouter(sequelize.define('AB', { name: DataTypes.STRING }), { route: 'api/one' })
  const other = crudRouter(sequelize.define('Cd', { name: DataTypes.STRING }), { names: { response: 'A-b' } })
  t.throws(() => clientTypes({ resources: [one, other] }), {
    code: 'INVALID_OPTION',
    message: /"AB".*names|names.*"AB"/,
  })
  t.throws(() => clientTypes({ resources: [] }), { message: /must be a non-empty array of routers/ })
})
