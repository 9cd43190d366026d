import ava from 'ava'
import { DataTypes, type Model, type ModelStatic, type SaveOptions } from 'sequelize'
import { type CrudOptions, crudRouter, Operations } from '../../../lib/index.js'
import { databaseName } from '../../support/database.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

const named = (plural: string): { name: { singular: string; plural: string }; timestamps: false } => ({
  name: { singular: plural, plural },
  timestamps: false,
})

const served = await openStage(({ sequelize }, app) => {
  const Team = sequelize.define(
    'Team',
    { name: DataTypes.STRING, code: { type: DataTypes.STRING(5), unique: true } },
    named('teams'),
  )
  const Coach = sequelize.define('Coach', { code: { type: DataTypes.STRING(5), primaryKey: true } }, named('coaches'))
  const attributes = {
    name: DataTypes.STRING,
    slug: { type: DataTypes.STRING(20), unique: true },
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
  const Badge = sequelize.define(
    'Badge',
    {
      code: { type: DataTypes.STRING(5), primaryKey: true },
      coach: { type: DataTypes.STRING(5), defaultValue: 'gone', references: { model: Coach, key: 'code' } },
    },
    named('badges'),
  )
  const Visit = sequelize.define(
    'Visit',
    { teamId: { type: DataTypes.INTEGER, field: 'team_id' }, hall: DataTypes.STRING(10), seat: DataTypes.INTEGER },
    { ...named('visits'), tableName: 'visits' },
  )
  // What it writes elsewhere points nowhere where its own record says so, and never what it writes itself.
  const Noted = sequelize.define('Noted', { name: DataTypes.STRING, team_id: DataTypes.INTEGER }, named('noted'))
  const note = async (record: Model, { transaction }: SaveOptions): Promise<void> => {
    if (record.get('name') === 'nowhere') await Plain.create({ teamId: 99 }, { transaction: transaction ?? null })
  }
  Noted.addHook('afterCreate', note)
  Noted.addHook('afterUpdate', note)
  Noted.addHook('afterBulkCreate', async ([record], saving) => {
    if (record !== undefined) await note(record, saving)
  })
  const operations = Operations.AllWithBulk | Operations.BulkUpdate | Operations.Replace
  const Ground = sequelize.define('Ground', { city: DataTypes.STRING(5) }, named('grounds'))
  const Referee = sequelize.define('Referee', { name: DataTypes.STRING(5) }, named('referees'))
  const Match = sequelize.define('Match', { day: DataTypes.STRING(10) }, named('matches'))
  Match.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  Match.belongsTo(Ground, { as: 'ground', foreignKey: 'groundId' })
  Match.belongsTo(Referee, { as: 'referee', foreignKey: 'refereeId' })
  const Branch = sequelize.define(
    'Branch',
    { code: { type: DataTypes.STRING(5), primaryKey: true } },
    named('branches'),
  )
  Branch.belongsTo(Branch, { as: 'parent', foreignKey: 'parentCode' })
  Branch.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  app.use(crudRouter(Branch, { operations }))
  app.use(crudRouter(Ground, { scope: () => ({ city: 'Here' }) }))
  app.use(crudRouter(Referee, { softDelete: true }))
  app.use(crudRouter(Match, { operations }))
  for (const model of [Team, Coach, Flag, Node, Booking, Badge, Visit, Noted])
    app.use(crudRouter(model, { operations }))
  const options: CrudOptions = {
    operations,
    fields: { secretId: { exclude: true } },
    scope: ({ request }) => (request.headers.secret === undefined ? null : { secretId: 99 }),
  }
  for (const model of [Plain, Saved] as ModelStatic<Model>[]) app.use(crudRouter(model, options))
  return { Team, Coach, Plain, Saved, Flag, Node, Booking, Badge, Visit, Noted }
})
const { Team, Coach, Booking, Visit } = served
const { sequelize } = Booking
await Booking.drop()
const key = { sqlite: 'INTEGER PRIMARY KEY', postgres: 'SERIAL PRIMARY KEY' }
await sequelize?.query('CREATE TABLE halls (hall VARCHAR(10), seat INT, PRIMARY KEY (hall, seat))')
await sequelize?.query(`CREATE TABLE bookings (
      id ${databaseName in key ? key[databaseName as keyof typeof key] : 'INT PRIMARY KEY AUTO_INCREMENT'},
      hall VARCHAR(10), seat INT,
      FOREIGN KEY (hall, seat) REFERENCES halls (hall, seat))`)
await sequelize?.query("INSERT INTO halls VALUES ('east', 1)")
// Of two of its foreign keys the model knows not every column, or none.
await Visit.drop()
const quoted = ({ tableName }: ModelStatic<Model>): string =>
  sequelize?.getQueryInterface().quoteIdentifier(tableName) ?? ''
await sequelize?.query(`CREATE TABLE visits (
      id ${databaseName in key ? key[databaseName as keyof typeof key] : 'INT PRIMARY KEY AUTO_INCREMENT'},
      team_id INT, hall VARCHAR(10), seat INT, guide VARCHAR(5), door INT,
      FOREIGN KEY (guide) REFERENCES ${quoted(Coach)} (code),
      FOREIGN KEY (hall, door) REFERENCES halls (hall, seat),
      FOREIGN KEY (team_id) REFERENCES ${quoted(Team)} (id),
      FOREIGN KEY (hall, seat) REFERENCES halls (hall, seat))`)
await Team.bulkCreate([{ name: 'A', code: 'a' }, { name: 'B', code: 'b' }, { name: 'Free' }])
await Coach.create({ code: 'x' })

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

  test(`all foreign keys that point nowhere are named in one 409: ${base}`, async (t) => {
    const errors = { teamId: ['does not exist.'], coach: ['does not exist.'] }
    const { id } = (await served.post(base, { name: 'x' })).body
    for (const [method, path, json] of [
      ['POST', '', { teamId: 99, coach: 'y' }],
      ['PATCH', `/${id}`, { teamId: 99, coach: 'y' }],
      ['PUT', `/${id}`, { teamId: 99, coach: 'y' }],
      ['POST', '/bulk', [{ teamId: 99 }, { teamId: 1, coach: 'x' }, { coach: 'y' }]],
    ] as const) {
      const { body } = await served.send(method, base + path, { json })
      t.deepEqual(body, { ...MISSING, errors }, `${method} ${path}`)
      t.deepEqual(Object.keys(body.errors), Object.keys(errors), `in the order of the model: ${method} ${path}`)
    }
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

  test(`a foreign key that points nowhere is named by whatever writes it: ${base}`, async (t) => {
    const slug = 'one'
    const one = (await served.post(base, { slug, name: 'x', teamId: 1 })).body.id
    const two = (await served.post(base, { slug: `${slug}2`, name: 'y', coach: 'x' })).body.id
    const before = (await served.get(`${base}/${one}`)).body
    const items = (...given: readonly [object, object]): readonly object[] => given
    for (const [method, path, json, field] of [
      ['PUT', `/${one}`, { name: 'z', teamId: 99 }, 'teamId'],
      ['PUT', `/${one}`, { name: 'z', coach: 'y' }, 'coach'],
      ['PATCH', '/bulk', items({ id: one, name: 'z' }, { id: two, teamId: 99 }), 'teamId'],
      ['PATCH', '/bulk', items({ id: one, coach: 'y' }, { id: two, teamId: 1 }), 'coach'],
      ['PUT', '/bulk?by=slug', items({ slug, name: 'z' }, { slug: `${slug}2`, coach: 'y' }), 'coach'],
      ['PUT', '/bulk?by=slug', items({ slug, name: 'z' }, { slug: 'new', teamId: 99 }), 'teamId'],
    ] as const) {
      const { status, text, body } = await served.send(method, base + path, { json })
      t.is(status, 409, text)
      t.deepEqual(body, { ...MISSING, errors: { [field]: ['does not exist.'] } }, `${method} ${path}`)
      t.deepEqual((await served.get(`${base}/${one}`)).body, before)
    }
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
  const either = 'A record that this one refers to does not exist, or other records still refer to this one.'
  t.is(body.detail, databaseName === 'sqlite' ? either : 'Other records still refer to this one.')
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

test('a foreign key of columns that the model does not have is no reason to leave out another', async (t) => {
  const told = async (record: object): Promise<unknown> => (await served.post('/api/visits', record)).body.errors
  t.deepEqual(await told({ teamId: 99 }), { teamId: ['does not exist.'] })
  t.deepEqual(await told({ teamId: 99, hall: 'east', seat: 1 }), { teamId: ['does not exist.'] })
  t.deepEqual(await told({ teamId: 1, hall: 'east', seat: 9 }), {
    hall: ['does not exist.'],
    seat: ['does not exist.'],
  })
  t.is((await served.post('/api/visits', { teamId: 1, hall: 'east', seat: 1 })).status, 201)
})

test('a default that points nowhere is told as what is sent, by a PUT that makes the record and one that replaces it', async (t) => {
  const errors = { coach: ['does not exist.'] }
  const put = (json: object) => served.send('PUT', '/api/badges/b', { json })
  t.deepEqual((await put({})).body, { ...MISSING, errors })
  t.is((await put({ coach: 'x' })).status, 201)
  t.deepEqual((await put({})).body, { ...MISSING, errors })
  t.deepEqual((await served.get('/api/badges/b')).body, { code: 'b', coach: 'x' })
})

test('hidden records and records that the database misses are named in one 409', async (t) => {
  await served.sequelize.model('Ground').bulkCreate([
    { id: 1, city: 'Here' },
    { id: 2, city: 'There' },
  ])
  await served.post('/api/referees', { name: 'gone' })
  t.is((await served.delete('/api/referees/1')).status, 204)
  const { id } = (await served.post('/api/matches', { day: 'x' })).body
  const told = async (method: string, path: string, json: object, ...fields: readonly string[]): Promise<void> => {
    const { body } = await served.send(method, `/api/matches${path}`, { json })
    const errors = Object.fromEntries(fields.map((field) => [field, ['does not exist.']]))
    t.deepEqual(body, { ...MISSING, errors }, `${method} ${path} ${JSON.stringify(json)}`)
    t.deepEqual(
      Object.keys(body.errors),
      fields,
      `in the order of the model: ${method} ${path} ${JSON.stringify(json)}`,
    )
  }
  for (const [json, ...fields] of [
    [{ teamId: 99, groundId: 2, refereeId: 1 }, 'teamId', 'groundId', 'refereeId'],
    [{ teamId: 99, groundId: 1, refereeId: 1 }, 'teamId', 'refereeId'],
    [{ teamId: 1, groundId: 2, refereeId: 1 }, 'groundId', 'refereeId'],
    [{ teamId: 99, groundId: 99 }, 'teamId', 'groundId'],
    [{ teamId: 99, groundId: 1 }, 'teamId'],
  ] as const) {
    await told('POST', '', json, ...fields)
    await told('PATCH', `/${id}`, json, ...fields)
    await told('PUT', `/${id}`, json, ...fields)
    await told('POST', '/bulk', [{ teamId: 1 }, json], ...fields)
    await told('PATCH', '/bulk', [{ id, ...json }], ...fields)
  }
})

test('references to the record itself, and to records of the same batch, are not named as missing', async (t) => {
  const teamless = { teamId: 99 }
  for (const [method, path, json] of [
    ['POST', '', { code: 'a', parentCode: 'a', ...teamless }],
    ['PUT', '/a', { parentCode: 'a', ...teamless }],
    ['POST', '/bulk', [{ code: 'a' }, { code: 'b', parentCode: 'a', ...teamless }]],
    ['PUT', '/bulk?by=code', [{ code: 'a' }, { code: 'b', parentCode: 'a', ...teamless }]],
  ] as const) {
    const { body } = await served.send(method, `/api/branches${path}`, { json })
    t.deepEqual(body.errors, { teamId: ['does not exist.'] }, `${method} ${path}`)
  }
  const json = [{ code: 'a' }, { code: 'b', parentCode: 'c', ...teamless }]
  const { body } = await served.send('POST', '/api/branches/bulk', { json })
  t.deepEqual(body.errors, { teamId: ['does not exist.'], parentCode: ['does not exist.'] })
})

test('what a hook of the host writes elsewhere is not told as a field of the record', async (t) => {
  const { id } = (await served.post('/api/noted', { name: 'fine', teamId: 1 })).body
  for (const [method, path, json] of [
    ['POST', '', { name: 'nowhere', teamId: 1 }],
    ['POST', '/bulk', [{ name: 'nowhere', teamId: 1 }]],
  ] as const) {
    const { status, body } = await served.send(method, `/api/noted${path}`, { json })
    t.is(status, 409)
    t.deepEqual(body, MISSING)
  }
  const changed = await served.patch(`/api/noted/${id}`, { name: 'nowhere' })
  t.is(changed.status, 409)
  t.deepEqual(changed.body, {
    ...CONFLICT,
    detail: 'A record that this one refers to does not exist, or other records still refer to this one.',
  })
  t.is((await served.get(`/api/noted/${id}`)).body.name, 'fine')
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
