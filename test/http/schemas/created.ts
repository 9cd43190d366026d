// Models that `npm create sequelize-crud-router -- --from` writes for tables of other programs: every table has a resource, and every
// foreign key relations both ways, over which the API can be asked.

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { node } from '../../support/consumer.js'
import { type Applications, openApplications } from '../../support/created/application.js'
import { HOSTILE, musicShop, oddities } from '../../support/created/schemas.js'
import { databaseName, openDatabase, type TestDatabase } from '../../support/database.js'
import { start } from '../../support/program.js'
import { serverOptions } from '../../support/servers.js'

let applications: Applications

test.before(async () => {
  applications = await openApplications()
})

test.after.always(() => applications?.remove())

/** Asks each resource for a record over each of its relations. */
const ASK = `
import { api, start } from './src/app.js'

const { port, close } = await start(0)
const told = {}
for (const { resource } of api.resources) {
  const { model, name, route, keys, fields } = resource
  const relations = {}
  for (const { as, associationType, target, foreignKey, through } of Object.values(model.associations)) {
    const key = target.primaryKeyAttributes[0]
    const query = '?pageSize=1&select=' + keys[0].json + ',' + as + '(' + key + ')'
    const response = await fetch('http://127.0.0.1:' + port + route + query)
    const by = through === undefined ? foreignKey : through.model.name
    relations[as] = response.status + ' ' + associationType + ' ' + target.name + ' by ' + by + (response.ok ? '' : await response.text())
  }
  told[name] = { route, table: model.tableName, key: keys.map((key) => key.name), fields: fields.map((field) => field.name), relations }
}
const attributes = Object.fromEntries(api.resources.map(({ resource: { name, model } }) => [name, model.getAttributes()]))
const described = ([name, { type, allowNull, defaultValue, validate, values }]) =>
  [name, { type: type.key, ...(values === undefined ? {} : { values }), ...(allowNull === false ? { allowNull } : {}), ...(defaultValue === undefined ? {} : { defaultValue: typeof defaultValue === 'object' || typeof defaultValue === 'function' ? 'computed' : defaultValue }), ...(validate === undefined ? {} : { validate }) }]
const models = Object.fromEntries(Object.entries(attributes).map(([name, all]) => [name, Object.fromEntries(Object.entries(all).map(described))]))
console.log(JSON.stringify({ told, models }))
await close()
`

interface Told {
  readonly [model: string]: {
    readonly route: string
    readonly table: string
    readonly key: readonly string[]
    readonly fields: readonly string[]
    readonly relations: Readonly<Record<string, string>>
  }
}

interface Answer {
  readonly told: Told
  readonly models: Readonly<Record<string, Readonly<Record<string, object>>>>
}

function addressOf({ sequelize }: TestDatabase): string {
  if (databaseName === 'sqlite') return String(Reflect.get(sequelize, 'options').storage)
  const { host, port, username, password } = serverOptions(databaseName)
  return `${databaseName}://${username}:${password}@${host}:${port}/${sequelize.getDatabaseName()}`
}

interface Created extends Answer {
  readonly folder: string
  readonly output: string
}

async function created(t: ExecutionContext, statements: readonly string[], name: string): Promise<Created> {
  const database = await openDatabase()
  t.teardown(() => database.close())
  for (const statement of statements) await database.sequelize.query(statement)
  const from = addressOf(database)
  const { status, stdout, stderr } = await applications.create(name, '--javascript', '--from', from)
  t.is(status, 0, stderr)
  const folder = join(applications.folder, name)
  await writeFile(join(folder, 'ask.js'), ASK)
  const tested = await node(folder, '--test', 'test/app.test.js')
  t.is(tested.status, 0, tested.stdout + tested.stderr)
  const asked = await node(folder, 'ask.js')
  t.is(asked.status, 0, asked.stdout + asked.stderr)
  const { told, models }: Answer = JSON.parse(asked.stdout)
  // The types depend on the tables, which the second driver of a server reads by the same statements.
  const types = databaseName === 'mariadb' ? null : await typed(name, from)
  if (types !== null) t.deepEqual({ ...types, stderr: '' }, { status: 0, stdout: '', stderr: '' })
  return { folder, told, models, output: stdout }
}

/** The same in TypeScript, with all that may be chosen: whether it compiles. */
async function typed(name: string, from: string) {
  const folder = `${name}-typed`
  const made = await applications.create(folder, '--typescript', '--login', '--agents', '--live', '--from', from)
  if (made.status !== 0) return made
  return node(
    join(applications.folder, folder),
    join(applications.folder, 'node_modules/typescript/bin/tsc'),
    '--noEmit',
  )
}

function relationsOf(told: Told): Readonly<Record<string, Readonly<Record<string, string>>>> {
  return Object.fromEntries(Object.entries(told).map(([name, { relations }]) => [name, relations]))
}

/** By the name of the association: its kind, its target, and the foreign key or the join model. */
const MUSIC = {
  Album: { artist: '200 BelongsTo Artist by artistId', tracks: '200 HasMany Track by albumId' },
  Artist: { albums: '200 HasMany Album by artistId' },
  Customer: { supportRep: '200 BelongsTo Employee by supportRepId', invoices: '200 HasMany Invoice by customerId' },
  Employee: {
    customers: '200 HasMany Customer by supportRepId',
    reportsToEmployee: '200 BelongsTo Employee by reportsTo',
    employeesByReportsTo: '200 HasMany Employee by reportsTo',
  },
  Genre: { tracks: '200 HasMany Track by genreId' },
  Invoice: { customer: '200 BelongsTo Customer by customerId', invoiceLines: '200 HasMany InvoiceLine by invoiceId' },
  InvoiceLine: { invoice: '200 BelongsTo Invoice by invoiceId', track: '200 BelongsTo Track by trackId' },
  MediaType: { tracks: '200 HasMany Track by mediaTypeId' },
  Playlist: {
    playlistTracks: '200 HasMany PlaylistTrack by playlistId',
    tracks: '200 BelongsToMany Track by PlaylistTrack',
  },
  PlaylistTrack: { playlist: '200 BelongsTo Playlist by playlistId', track: '200 BelongsTo Track by trackId' },
  Track: {
    invoiceLines: '200 HasMany InvoiceLine by trackId',
    playlistTracks: '200 HasMany PlaylistTrack by trackId',
    album: '200 BelongsTo Album by albumId',
    mediaType: '200 BelongsTo MediaType by mediaTypeId',
    genre: '200 BelongsTo Genre by genreId',
    playlists: '200 BelongsToMany Playlist by PlaylistTrack',
  },
}

test('the tables of a music shop have resources, and relations for all foreign keys', async (t) => {
  t.timeout(120_000)
  const { told, output } = await created(t, musicShop(databaseName), 'music')
  t.deepEqual(relationsOf(told), MUSIC)
  t.regex(output, /music has 11 tables/)
})

const ODDITIES = {
  Date: {},
  Friend: { person: '200 BelongsTo Person by personId', friend: '200 BelongsTo Person by friendId' },
  Order: { tenant: '200 BelongsTo Tenant by tenantId' },
  OrderLine: {},
  Passport: { person: '200 BelongsTo Person by personId' },
  Person: {
    friendsByPerson: '200 HasMany Friend by personId',
    friendsByFriend: '200 HasMany Friend by friendId',
    passport: '200 HasOne Passport by personId',
    managerPerson: '200 BelongsTo Person by manager',
    peopleByManager: '200 HasMany Person by manager',
    homeTenantTenant: '200 BelongsTo Tenant by homeTenant',
    workTenantTenant: '200 BelongsTo Tenant by workTenant',
    peopleByFriend: '200 BelongsToMany Person by Friend',
    peopleByPerson: '200 BelongsToMany Person by Friend',
  },
  Tenant: {
    orders: '200 HasMany Order by tenantId',
    peopleByHomeTenant: '200 HasMany Person by homeTenant',
    peopleByWorkTenant: '200 HasMany Person by workTenant',
  },
  XProcessExit7: {},
}

test('keys of several columns, enumerations, reserved and hostile names are served', async (t) => {
  t.timeout(120_000)
  const { told, models, output, folder } = await created(t, oddities(databaseName), 'oddities')
  const { Shape, ...relations } = relationsOf(told)
  t.deepEqual(relations, ODDITIES)
  t.deepEqual(Shape, databaseName === 'postgres' ? {} : undefined)

  const keys = Object.fromEntries(Object.entries(told).map(([name, { key }]) => [name, key.join()]))
  t.like(keys, {
    Order: 'tenantId,number',
    OrderLine: 'tenantId,order,line',
    Friend: 'personId,friendId',
    Passport: 'personId',
  })
  t.is(told.XProcessExit7?.table, HOSTILE.table)
  t.deepEqual(told.XProcessExit7?.fields, ['id', 'processExit8', 'grosse', 'grosseValue', 'dates'])

  const values = ['small', HOSTILE.value]
  const size = databaseName === 'sqlite' ? { type: 'TEXT', validate: { isIn: [values] } } : { type: 'ENUM', values }
  t.like(models.Order, {
    size,
    class: { ...size, allowNull: false, defaultValue: 'small' },
    from: { defaultValue: 'computed' },
  })
  t.like(models.Person, {
    fullName: { type: 'STRING', allowNull: false, validate: { len: [2, 30] } },
    level: { type: 'INTEGER', allowNull: false, defaultValue: 1, validate: { min: 1, max: 100 } },
    constructorValue: { type: 'STRING' },
    updateValue: { type: 'STRING' },
  })
  if (databaseName === 'postgres') {
    const computed = { defaultValue: 'computed' }
    t.like(models.Shape, {
      id: { type: 'UUID', ...computed },
      tags: { type: 'ARRAY', ...computed },
      net: { type: 'INET' },
    })
  }

  const app = await readFile(join(folder, 'src/app.js'), 'utf8')
  t.regex(app, /OrderLine: \{ fields: \{ total: \{ exclude: \['create', 'update'\] \} \} \}/)
  t.regex(app, /Passport: \{ keyProperty: 'personId' \}/)
  t.regex(app, /Date: \{ fields: \{ passwordHash: \{ exclude: \['query', 'response'\] \} \} \}/)
  t.regex(output, /The column password_hash of dates is in no response, because it has the name of a secret\./)
  t.regex(output, /The table log is left out: it has no primary key and no required unique key\./)
  t.regex(
    output,
    /The table crud_idempotency_keys is left out: it has the replies that the option idempotency stores\./,
  )
  t.regex(
    output,
    /The foreign key order lines \(tenant_id, order\) is left out: Sequelize's associations have one column\./,
  )
  t.regex(output, /The column a `" of .* is left out: Sequelize does not support the quote in its name\./)
})

test('an application with a database of its own creates its tables, and passes its test twice', async (t) => {
  t.timeout(120_000)
  const database = await openDatabase()
  t.teardown(() => database.close())
  const options = ['--javascript', '--login', '--live', '--database', databaseName]
  t.is((await applications.create('own', ...options)).status, 0)
  const env = { DATABASE_URL: addressOf(database) }
  for (const _ of [1, 2]) {
    const program = start(['--test', 'test/app.test.js'], { cwd: join(applications.folder, 'own'), env })
    t.is(await program.ended(), 0, program.output())
  }
})
