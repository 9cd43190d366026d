import ava from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { type CrudOptions, crudRouter, Operations } from '../../lib/index.js'
import { databaseName } from '../support/database.js'
import { serveModels } from '../support/models.js'

const test = ava.serial

const named = (plural: string): { name: { singular: string; plural: string }; timestamps: false } => ({
  name: { singular: plural, plural },
  timestamps: false,
})

const served = await serveModels({
  define: (sequelize) => {
    const Team = sequelize.define(
      'Team',
      { name: DataTypes.STRING, code: { type: DataTypes.STRING(5), unique: true } },
      named('teams'),
    )
    const Coach = sequelize.define('Coach', { code: { type: DataTypes.STRING(5), primaryKey: true } }, named('coaches'))
    const attributes = {
      name: DataTypes.STRING,
      teamId: { type: DataTypes.INTEGER, field: 'team_id' },
      coach: { type: DataTypes.STRING(5), references: { model: Coach, key: 'code' } },
      secretId: DataTypes.INTEGER,
    }
    const Plain = sequelize.define('Plain', attributes, named('plain'))
    const Saved = sequelize.define('Saved', attributes, { ...named('saved'), hooks: { beforeSave: () => undefined } })
    for (const model of [Plain, Saved]) {
      model.belongsTo(Team, { as: 'team', foreignKey: 'teamId', onDelete: 'RESTRICT' })
      model.belongsTo(Team, { as: 'secret', foreignKey: 'secretId', onDelete: 'RESTRICT' })
    }
    const Flag = sequelize.define('Flag', { teamCode: DataTypes.STRING(5) }, named('flags'))
    Flag.belongsTo(Team, {
      as: 'team',
      foreignKey: 'teamCode',
      targetKey: 'code',
      onDelete: 'RESTRICT',
      onUpdate: 'RESTRICT',
    })
    const Node = sequelize.define('Node', { parentId: DataTypes.INTEGER }, named('nodes'))
    Node.belongsTo(Node, { as: 'parent', foreignKey: 'parentId', onDelete: 'RESTRICT' })
    const Booking = sequelize.define(
      'Booking',
      { hall: DataTypes.STRING(10), seat: DataTypes.INTEGER },
      { ...named('bookings'), tableName: 'bookings' },
    )
    return { Team, Coach, Plain, Saved, Flag, Node, Booking }
  },
  fill: async ({ Team, Coach, Booking }) => {
    const { sequelize } = Booking
    await Booking.drop()
    const key = { sqlite: 'INTEGER PRIMARY KEY', postgres: 'SERIAL PRIMARY KEY' }
    await sequelize?.query('CREATE TABLE halls (hall VARCHAR(10), seat INT, PRIMARY KEY (hall, seat))')
    await sequelize?.query(`CREATE TABLE bookings (
      id ${databaseName in key ? key[databaseName as keyof typeof key] : 'INT PRIMARY KEY AUTO_INCREMENT'},
      hall VARCHAR(10), seat INT,
      FOREIGN KEY (hall, seat) REFERENCES halls (hall, seat))`)
    await sequelize?.query("INSERT INTO halls VALUES ('east', 1)")
    await Team.bulkCreate([{ name: 'A', code: 'a' }, { name: 'B', code: 'b' }, { name: 'Free' }])
    await Coach.create({ code: 'x' })
  },
  mount: (app, { Team, Coach, Plain, Saved, Flag, Node, Booking }) => {
    const operations = Operations.AllWithBulk
    for (const model of [Team, Coach, Flag, Node, Booking]) app.use(crudRouter(model, { operations }))
    const options: CrudOptions = {
      operations,
      fields: { secretId: { exclude: true } },
      scope: ({ request }) => (request.headers.secret === undefined ? null : { secretId: 99 }),
    }
    for (const model of [Plain, Saved] as ModelStatic<Model>[]) app.use(crudRouter(model, options))
  },
})

test.after.always(() => served.close())

const CONFLICT = {
  type: 'https://tools.ietf.org/html/rfc9110#section-15.5.10',
  title: 'Conflict',
  code: 'conflict',
  status: 409,
}
const MISSING = { ...CONFLICT, detail: 'A record that this one refers to does not exist.' }
const WORDS = /constraint|foreign|team_id|Plain|Saved|teams|coaches/i

for (const base of ['/api/plain', '/api/saved']) {
  test(`a foreign key that points nowhere is 409 with its field: POST ${base}`, async (t) => {
    const { status, body, text } = await served.post(base, { name: 'x', teamId: 99 })
    t.is(status, 409)
    t.deepEqual(body, { ...MISSING, errors: { teamId: ['does not exist.'] } })
    t.notRegex(text, WORDS)
    const other = await served.post(base, { name: 'x', teamId: 1, coach: 'y' })
    t.deepEqual(other.body, { ...MISSING, errors: { coach: ['does not exist.'] } })
  })

  test(`a foreign key that points nowhere is 409 with its field: PATCH ${base}`, async (t) => {
    const { id } = (await served.post(base, { name: 'x', teamId: 1, coach: 'x' })).body
    const { status, body } = await served.patch(`${base}/${id}`, { teamId: 99 })
    t.is(status, 409)
    t.deepEqual(body, { ...MISSING, errors: { teamId: ['does not exist.'] } })
    t.deepEqual((await served.patch(`${base}/${id}`, { name: 'y', coach: 'y' })).body.errors, {
      coach: ['does not exist.'],
    })
    t.like((await served.get(`${base}/${id}`)).body, { name: 'x', teamId: 1, coach: 'x' })
  })

  test(`a foreign key that points nowhere is named without its place in bulk: ${base}`, async (t) => {
    const records = [{ teamId: 1 }, { teamId: null, coach: 'x' }, { teamId: 99 }, { teamId: 1 }]
    const { status, body } = await served.post(`${base}/bulk`, records)
    t.is(status, 409)
    t.deepEqual(body, { ...MISSING, errors: { teamId: ['does not exist.'] } })
  })

  test(`a foreign key that is excluded has no name in a 409: ${base}`, async (t) => {
    const { status, body } = await served.post(base, { name: 'x' }, { secret: 'yes' })
    t.is(status, 409)
    t.deepEqual(body, MISSING)
  })

  test(`a record that others still point at is 409 that says so: ${base}`, async (t) => {
    const { id } = (await served.post('/api/teams', { name: 'C' })).body
    const dependant = (await served.post(base, { teamId: id })).body
    const { status, body, text } = await served.delete(`/api/teams/${id}`)
    t.is(status, 409)
    t.deepEqual(body, { ...CONFLICT, detail: 'Other records still refer to this one.' })
    t.notRegex(text, WORDS)
    const bulk = await served.post('/api/teams/bulk-delete', [id, 3])
    t.is(bulk.status, 409)
    t.deepEqual(bulk.body, { ...CONFLICT, detail: 'Other records still refer to one of these.' })
    t.is((await served.delete(`${base}/${dependant.id}`)).status, 204)
    t.is((await served.delete(`/api/teams/${id}`)).status, 204)
  })
}

test('a value that others point at cannot be changed, and no field of the record is told as missing', async (t) => {
  t.is((await served.post('/api/flags', { teamCode: 'b' })).status, 201)
  const { status, body } = await served.patch('/api/teams/2', { code: 'c' })
  t.is(status, 409)
  t.is(body.errors, undefined)
  t.regex(body.detail, /other records still refer to this one/i)
  t.deepEqual((await served.post('/api/flags', { teamCode: 'zz' })).body.errors, { teamCode: ['does not exist.'] })
})

test('of many records in bulk one that points nowhere is found', async (t) => {
  const coaches = Array.from({ length: 999 }, (_, index) => ({ code: `c${index}` }))
  t.is((await served.post('/api/coaches/bulk', coaches)).status, 201)
  const records = [...coaches.map(({ code }) => ({ coach: code })), { coach: 'none' }]
  const { status, body } = await served.post('/api/plain/bulk', records)
  t.is(status, 409)
  t.deepEqual(body.errors, { coach: ['does not exist.'] })
})

test('a foreign key of several columns is told with all of them', async (t) => {
  const { status, body } = await served.post('/api/bookings', { hall: 'east', seat: 9 })
  t.is(status, 409)
  t.deepEqual(body.errors, { hall: ['does not exist.'], seat: ['does not exist.'] })
  t.is((await served.post('/api/bookings', { hall: 'east', seat: 1 })).status, 201)
  t.is((await served.post('/api/bookings', { hall: 'east' })).status, 201)
})

test('a record that points at its own table is told alike', async (t) => {
  const { id } = (await served.post('/api/nodes', {})).body
  const child = (await served.post('/api/nodes', { parentId: id })).body
  t.deepEqual((await served.post('/api/nodes', { parentId: 999 })).body.errors, { parentId: ['does not exist.'] })
  t.deepEqual((await served.patch(`/api/nodes/${child.id}`, { parentId: 999 })).body.errors, {
    parentId: ['does not exist.'],
  })
  t.is((await served.delete(`/api/nodes/${id}`)).body.detail, 'Other records still refer to this one.')
})

if (databaseName === 'sqlite') {
  test('all foreign keys that point nowhere are told where the database tells none', async (t) => {
    t.deepEqual((await served.post('/api/plain', { teamId: 99, coach: 'y' })).body.errors, {
      teamId: ['does not exist.'],
      coach: ['does not exist.'],
    })
  })
}
