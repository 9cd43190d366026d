import ava from 'ava'
import type { RequestHandler } from 'express'
import { DataTypes, type FindOptions } from 'sequelize'
import {
  CrudConfigError,
  type CrudRouter,
  crudController,
  crudRouter,
  hasRole,
  type OperationName,
  type OwnRoutes,
  Problem,
  problemHandler,
} from '../../../lib/index.js'
import type { Identity } from '../../../types/identity.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

const named = (plural: string): object => ({ name: { singular: plural, plural }, timestamps: false })

function identity({ headers }: { headers: Record<string, string | string[] | undefined> }): Identity | null {
  if (headers.broken !== undefined) throw new Problem({ status: 401, detail: 'The token is not valid.' })
  if (headers.role === undefined) return null
  const roles = new Set(String(headers.role).split(','))
  return { name: 'x', roles, permissions: roles, claims: { team: Number(headers.team) } }
}

let players: CrudRouter
let given: OwnRoutes
const seen: FindOptions[] = []

const served = await openStage(({ sequelize }, app) => {
  const Team = sequelize.define('Team', { name: DataTypes.STRING }, named('teams'))
  const Player = sequelize.define(
    'Player',
    {
      name: DataTypes.STRING,
      salary: DataTypes.INTEGER,
      password: DataTypes.STRING,
      label: {
        type: DataTypes.VIRTUAL(DataTypes.STRING),
        get() {
          return `${this.getDataValue('name')}/${this.getDataValue('salary')}/${this.getDataValue('password')}`
        },
      },
      // What Sequelize loads with it, whoever asks.
      isPaid: {
        type: new DataTypes.VIRTUAL(DataTypes.BOOLEAN, ['salary', 'password']),
        get() {
          return this.getDataValue('salary') !== null
        },
      },
      initial: {
        type: new DataTypes.VIRTUAL(DataTypes.STRING, ['name']),
        get() {
          return this.getDataValue('name')?.[0]
        },
      },
    },
    { ...named('players'), paranoid: true, timestamps: true, createdAt: false, updatedAt: false },
  )
  Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  app.use(crudRouter(Team, { identity, getListPolicy: hasRole('scout') }))
  const found: RequestHandler = async (req, res, next) => {
    try {
      const options = await players.findOptions(req, req.query)
      seen.push(options)
      res.json(await Player.findAll(options))
    } catch (error) {
      next(error)
    }
  }
  players = crudRouter(Player, {
    identity,
    authorizePolicy: ({ identity }) => identity !== null,
    deletePolicy: hasRole('boss'),
    mask: { salary: 'payroll' },
    fields: { password: { exclude: true } },
    scope: ({ identity }) => (identity?.roles.has('boss') ? null : { teamId: Number(identity?.claims.team) }),
    configure: (router, own) => {
      given = own
      router.get('/open', (_req, res) => void res.json({ open: true }))
      router.post('/retire', own.guard('delete'), (_req, res) => void res.json({ retired: true }))
      router.get('/report', found)
    },
  })
  app.use(players)
  app.get('/guarded', players.guard('getList'), (_req, res) => void res.json({ ok: true }))
  app.use(problemHandler({ onError: (error) => console.error(error) }))
  return { Team, Player }
})
const { Team, Player } = served
await Team.bulkCreate([{ name: 'A' }, { name: 'B' }])
await Player.bulkCreate([
  { name: 'Ada', salary: 5, password: 'secret', teamId: 1 },
  { name: 'Bob', salary: 6, password: 'secret', teamId: 1 },
  { name: 'Cyd', salary: 7, password: 'secret', teamId: 2 },
  { name: 'Del', salary: 8, password: 'secret', teamId: 1 },
])
await Player.destroy({ where: { name: 'Del' } })

test.after.always(() => served.close())

const ANN = { role: 'player', team: '1' }
const BOSS = { role: 'boss' }

test('a guard asks identity and policy as its operation does, and answers in its stead', async (t) => {
  const anonymous = await served.get('/guarded')
  t.is(anonymous.status, 401)
  t.is(anonymous.headers.get('www-authenticate'), 'Bearer')
  t.is(anonymous.headers.get('content-type'), 'application/problem+json')
  t.is((await served.get('/guarded', { ...ANN, broken: 'yes' })).status, 401)
  const { status, headers } = await served.get('/guarded', ANN)
  t.is(status, 200)
  t.regex(headers.get('cache-control') ?? '', /private/)
  t.is((await served.send('POST', '/api/players/retire', { headers: ANN })).status, 403)
  t.is((await served.send('POST', '/api/players/retire', { headers: BOSS })).status, 200)
})

test('a route of configure without a guard is open', async (t) => {
  t.deepEqual((await served.get('/api/players/open')).body, { open: true })
})

test('configure is given what the router has', (t) => {
  t.is(typeof given.guard, 'function')
  t.is(typeof given.findOptions, 'function')
})

test('find options are the caller’s whole view: scope, masks, soft delete', async (t) => {
  const { status, body, text } = await served.get('/api/players/report?sort=Name', ANN)
  t.is(status, 200, text)
  t.deepEqual(
    body.map(({ name, label }: { name: string; label: string }) => [name, label]),
    [
      ['Ada', 'Ada/undefined/undefined'],
      ['Bob', 'Bob/undefined/undefined'],
    ],
  )
  for (const record of body) t.false('salary' in record || 'password' in record)
  t.notRegex(text, /secret/)
  const boss = await served.get('/api/players/report?sort=-Name', { ...BOSS })
  t.deepEqual(
    boss.body.map(({ name }: { name: string }) => name),
    ['Cyd', 'Bob', 'Ada'],
  )
  const paid = await served.get('/api/players/report?select=Name,Salary', { ...BOSS, role: 'boss,payroll' })
  t.is(paid.status, 200)
})

test('find options load nothing in the mode of a count, and count', async (t) => {
  seen.length = 0
  const { status, text } = await served.get('/api/players/report?count=true', ANN)
  t.is(status, 200, text)
  t.notRegex(text, /secret|Ada|salary|password/)
  t.is(await served.Player.count(seen[0] ?? {}), 2)
})

test('find options leave out what is computed of what the caller may not read, and keep the rest', async (t) => {
  for (const query of ['', '?select=IsPaid,Name', '?select=IsPaid']) {
    const { status, text, body } = await served.get(`/api/players/report${query}`, ANN)
    t.is(status, 200, text)
    t.notRegex(text, /secret|salary|password/)
    t.is(body.length, 2)
  }
  const { body } = await served.get('/api/players/report?select=Initial&sort=Name', ANN)
  t.deepEqual(
    body.map(({ initial }: { initial: string }) => initial),
    ['A', 'B'],
  )
})

test('find options ask the policies of paths, and know only what the caller may name', async (t) => {
  t.is((await served.get('/api/players/report?filter=Team.Name=A', ANN)).body.title, 'Unknown field.')
  t.is((await served.get('/api/players/report?filter=Salary>1', ANN)).body.title, 'Unknown field.')
  t.is((await served.get('/api/players/report?filter=Name=Ada', ANN)).body.length, 1)
})

test('find options refuse whom the list refuses', async (t) => {
  t.is((await served.get('/api/players/report')).status, 401)
  t.is((await served.get('/api/players/report', { ...ANN, broken: 'yes' })).status, 401)
})

test('find options ask who wants them before they read what is wanted', async (t) => {
  for (const query of ['count=maybe', 'page=x', 'sort=Nothing']) {
    const path = `/api/players/report?${query}`
    t.is((await served.get(path)).status, 401, query)
    t.is((await served.get(path, { ...ANN, broken: 'yes' })).status, 401, query)
    t.is((await served.get(path, ANN)).status, 400, query)
  }
})

test('find options have a window only where one is asked for', async (t) => {
  seen.length = 0
  await served.get('/api/players/report', BOSS)
  await served.get('/api/players/report?pageSize=1&page=2', BOSS)
  const [whole, page] = seen
  t.false('limit' in (whole ?? {}) || 'offset' in (whole ?? {}))
  t.like(page, { limit: 1, offset: 1 })
})

test('find options can list deleted records, for those who may', async (t) => {
  const { body } = await served.get('/api/players/report?includeDeleted=true&select=Name', ANN)
  t.deepEqual(body.map(({ name }: { name: string }) => name).sort(), ['Ada', 'Bob', 'Del'])
})

test('controllers have both as well, and a name that is no operation is refused', (t) => {
  const handlers = crudController(served.Player, { identity })
  t.is(typeof handlers.guard('update'), 'function')
  t.is(typeof handlers.findOptions, 'function')
  const error = t.throws(() => handlers.guard('delte' as OperationName), { instanceOf: CrudConfigError })
  t.is(error?.code, 'UNKNOWN_OPERATION')
  t.regex(error?.message ?? '', /Did you mean "delete"\?/)
})

test('find options load no key that the caller is not shown, of the records themselves and behind relations', async (t) => {
  let books: CrudRouter
  const library = await openStage(({ sequelize }, app) => {
    const Shelf = sequelize.define('Shelf', { code: { type: DataTypes.STRING, unique: true } }, named('shelves'))
    const Book = sequelize.define('Book', { title: DataTypes.STRING }, named('books'))
    Book.belongsTo(Shelf, { as: 'shelf', foreignKey: 'shelfId' })
    app.use(crudRouter(Shelf, { identity, keyProperty: 'code', mask: { id: 'archive' } }))
    books = crudRouter(Book, { identity, fields: { id: { exclude: 'response' } } })
    app.get('/report', async (req, res, next) => {
      books
        .findOptions(req, req.query)
        .then(async (options) => res.json(await Book.findAll(options)))
        .catch(next)
    })
    return { Shelf, Book }
  })
  const { Shelf, Book } = library
  await Shelf.create({ code: 'A' })
  await Book.create({ title: 'Atlas', shelfId: 1 })
  t.teardown(library.close)
  t.deepEqual((await library.get('/report')).body, [{ title: 'Atlas', shelfId: 1 }])
  const selected = '/report?select=Title,Shelf.Code'
  t.deepEqual((await library.get(selected)).body[0].shelf, { code: 'A' })
  t.deepEqual((await library.get(selected, { role: 'archive' })).body[0].shelf, { code: 'A', id: 1 })
})
