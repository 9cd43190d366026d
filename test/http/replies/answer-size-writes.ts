// Answers of writes have a size as well: larger ones are refused before anything is written, unless no record is wanted back.

import ava, { type ExecutionContext } from 'ava'
import { DataTypes, type Model, type ModelStatic, type Sequelize } from 'sequelize'
import { type CrudOptions, crudRouter, Operations } from '../../../lib/index.js'
import type { Answer } from '../../support/server.js'
import { isFast } from '../../support/speed.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

const operations = Operations.AllWithBulk | Operations.BulkUpdate | Operations.Replace
const MINIMAL = { Prefer: 'return=minimal' }
const LIMIT = 20_000
const FILES = 120
const FOLDERS = ['folder 1', 'folder 2', 'folder 3']
const PATHS = ['plain', 'hooked'] as const
const text = (length: number): string => 'x'.repeat(length)
const statements: string[] = []

type Models = Readonly<Record<string, ModelStatic<Model>>>

/** The same models twice, the second with hooks. */
function define(sequelize: Sequelize): Models {
  const long = sequelize.getDialect().startsWith('m') ? DataTypes.TEXT('long') : DataTypes.TEXT
  const models: Record<string, ModelStatic<Model>> = {}
  for (const path of PATHS) {
    const named = (name: string) => ({ timestamps: false, tableName: `${path}_${name}` })
    const Folder = sequelize.define(
      `${path}Folder`,
      { name: { type: DataTypes.STRING(20), unique: true }, about: long },
      named('folders'),
    )
    const file = { name: DataTypes.STRING(20), large: long }
    const File = sequelize.define(`${path}File`, file, named('files'))
    const Flat = sequelize.define(`${path}Flat`, file, named('files'))
    Folder.hasMany(File, { as: 'files', foreignKey: 'folderId' })
    for (const model of [File, Flat]) model.belongsTo(Folder, { as: 'folder', foreignKey: 'folderId' })
    if (path === 'hooked') {
      for (const model of [Folder, File, Flat]) {
        model.addHook('beforeSave', () => undefined)
        model.addHook('beforeFind', () => undefined)
      }
    }
    Object.assign(models, { [`${path}Folder`]: Folder, [`${path}File`]: File, [`${path}Flat`]: Flat })
  }
  return models
}

async function fill(models: Models): Promise<void> {
  for (const path of PATHS) {
    await models[`${path}Folder`]?.bulkCreate(FOLDERS.map((name) => ({ name, about: text(8000) })))
    const file = { name: 'old', large: text(1000), folderId: 1 }
    await models[`${path}File`]?.bulkCreate(Array.from({ length: FILES }, () => file))
  }
}

const server = await openStage(
  ({ sequelize }, app) => {
    const models = define(sequelize)
    for (const path of PATHS) {
      const { [`${path}Folder`]: Folder, [`${path}File`]: File, [`${path}Flat`]: Flat } = models
      if (Folder === undefined || File === undefined || Flat === undefined) throw new TypeError(path)
      const shared = { operations, limits: { responseBytes: LIMIT } } satisfies CrudOptions
      const fields = { name: { filterable: true } }
      app.use(
        `/${path}`,
        crudRouter(Folder, { ...shared, fields, route: '/folders', relations: { files: { write: true } } }),
        crudRouter(File, { ...shared, route: '/files' }),
        crudRouter(Flat, { ...shared, route: '/flat', relations: { folder: true }, flatten: ['folder'] }),
      )
    }
    return models
  },
  { sequelize: { logging: (sql) => statements.push(sql) } },
)
await fill(server)

test.after.always(() => server.close())

const kept = Array.from({ length: FILES }, (_, index) => ({ id: index + 1 }))

/** How many statements read the large text, or returned it. */
function readings(): number {
  const isReading = (sql: string): boolean => /SELECT\b.*\blarge\b.*\bFROM|RETURNING\b.*\blarge\b/s.test(sql)
  return statements.splice(0).filter(isReading).length
}

function assertRefused(t: ExecutionContext, { status, body }: Answer): void {
  t.is(status, 400)
  t.is(body.code, 'invalid-query')
  t.is(
    body.detail,
    `The response is larger than the limit of ${LIMIT} bytes (responseBytes). Send fewer records, or send the header Prefer: return=minimal.`,
  )
  t.is(body.errors, undefined)
}

/** The names of the records of a list, in the order of their keys. */
async function namesOf(path: string): Promise<string[]> {
  const { body } = await server.get(`${path}?select=name&sort=id&pageSize=1000`)
  return body.items.map(({ name }: { name: string }) => name)
}

for (const path of PATHS) {
  const folders = `/${path}/folders`
  const files = `/${path}/files`
  const renamed = kept.map(({ id }) => ({ id, name: 'new' }))
  const whole = { name: 'other', about: null }

  test(`writes whose answers hold too many kept records are undone, and read few of these: ${path}`, async (t) => {
    for (const [method, url, json] of [
      ['PATCH', `${folders}/1`, { name: 'other', files: kept }],
      ['PUT', `${folders}/1`, { ...whole, files: kept }],
      [
        'PATCH',
        `${folders}/bulk`,
        [
          { id: 2, name: 'changed' },
          { id: 1, name: 'other', files: kept },
        ],
      ],
    ] as const) {
      statements.length = 0
      assertRefused(t, await server.send(method, url, { json }))
      t.is(readings(), 1, method)
      t.deepEqual(await namesOf(folders), FOLDERS)
    }
  })

  test(`writes whose answers hold too many changed records are undone: ${path}`, async (t) => {
    for (const [method, url, json] of [
      ['PATCH', `${folders}/1`, { name: 'other', files: renamed }],
      ['PUT', `${folders}/1`, { ...whole, files: renamed }],
      ['PATCH', `${folders}/bulk`, [{ id: 1, name: 'other', files: renamed }]],
      ['PATCH', `${files}/bulk`, renamed],
    ] as const) {
      assertRefused(t, await server.send(method, url, { json }))
      t.deepEqual(await namesOf(folders), FOLDERS)
      t.deepEqual([...new Set(await namesOf(files))], ['old'])
    }
  })

  test(`the same writes are done where no record is wanted back, and large values stay unread: ${path}`, async (t) => {
    // Instances of Sequelize have all columns.
    const loaded = path === 'plain' && isFast ? 0 : FILES * 2
    for (const [method, url, json, most] of [
      ['PATCH', `${folders}/1`, { name: 'one', files: kept }, 0],
      ['PUT', `${folders}/1`, { name: 'two', files: kept }, 0],
      ['PATCH', `${folders}/bulk`, [{ id: 1, name: 'three', files: kept }], 0],
      ['PATCH', `${folders}/1`, { name: 'four', files: renamed }, loaded],
      ['PATCH', `${files}/bulk`, renamed.map(({ id }) => ({ id, name: 'old' })), loaded],
    ] as const) {
      statements.length = 0
      const answer = await server.send(method, url, { json, headers: MINIMAL })
      t.is(answer.status, 204, answer.text)
      t.is(answer.headers.get('preference-applied'), 'return=minimal')
      t.true(readings() <= most, `${method} ${url}`)
    }
    t.is((await namesOf(folders))[0], 'four')
    statements.length = 0
    const upserted = await server.send('PUT', `${folders}/bulk?by=name`, { json: [{ name: 'four', files: kept }] })
    t.deepEqual([upserted.status, upserted.body], [200, { created: 0, updated: 1 }])
    t.is(readings(), 0)
    t.is((await server.patch(`${folders}/1`, { name: 'folder 1', about: text(8000) })).status, 200)
  })

  test(`records that a request sends itself may be larger than the limit: ${path}`, async (t) => {
    const large = text(LIMIT + 1)
    const created = await server.post(files, { large })
    t.deepEqual([created.status, created.body.large], [201, large])
    const url = `${files}/${created.body.id}`
    const patched = await server.patch(url, { name: 'patched' })
    t.deepEqual([patched.status, patched.body.large], [200, large])
    const replaced = await server.send('PUT', url, { json: { name: 'replaced', large } })
    t.deepEqual([replaced.status, replaced.body.large], [200, large])
    const many = Array.from({ length: 30 }, () => ({ name: 'many', large: text(1000) }))
    t.is((await server.post(`${files}/bulk`, many)).status, 201)
    const folder = await server.post(folders, { name: 'own', files: many })
    t.deepEqual([folder.status, folder.body.files?.length], [201, 30])
    const own = `${folders}/${folder.body.id}`
    const exchanged = await server.patch(own, { files: many })
    t.deepEqual([exchanged.status, exchanged.body.files?.length], [200, 30])
    const changed = exchanged.body.files.map(({ id }: { id: number }) => ({ id, large: text(1001) }))
    t.is((await server.patch(own, { files: changed })).status, 200)
    t.is((await server.patch(own, { files: [] })).status, 200)
    t.is((await server.delete(own)).status, 204)
    await server.delete(url)
  })

  test(`new records that show too much of another record are undone: ${path}`, async (t) => {
    const before = await namesOf(files)
    const records = FOLDERS.map(() => ({ name: 'flat', folderId: 1 }))
    assertRefused(t, await server.post(`/${path}/flat/bulk`, records))
    t.deepEqual(await namesOf(files), before)
    t.is((await server.post(`/${path}/flat/bulk`, records.slice(1))).status, 201)
    t.is((await server.post(`/${path}/flat/bulk`, records, MINIMAL)).status, 201)
    t.is((await namesOf(files)).length, before.length + 5)
  })
}

test('a write without records in its answer is as long as none, even if records have long keys and versions', async (t) => {
  const { sequelize, close, ...stage } = await openStage(({ sequelize: database }, app) => {
    const plain = { timestamps: false }
    const Folder = database.define('Folder', { name: DataTypes.STRING(20) }, plain)
    const code = { type: DataTypes.STRING(150), primaryKey: true }
    const Sheet = database.define('Sheet', { code, name: DataTypes.STRING(20) }, plain)
    Folder.hasMany(Sheet, { as: 'sheets', foreignKey: 'folderId' })
    app.use(
      crudRouter(Folder, { operations, limits: { responseBytes: 1000 }, relations: { sheets: { write: true } } }),
      crudRouter(Sheet, { operations, concurrency: true }),
    )
  })
  try {
    const { id } = (await sequelize.model('Folder').create({ name: 'one' })).get()
    const codes = Array.from({ length: 10 }, (_, index) => `${text(140)}${index}`)
    await sequelize.model('Sheet').bulkCreate(codes.map((code) => ({ code, name: 'old', folderId: id, rowVersion: 0 })))
    const sheets = codes.map((code) => ({ code, name: 'new', rowVersion: 0 }))
    const refused = await stage.patch(`/api/folders/${id}`, { sheets })
    t.is(refused.status, 400, refused.text)
    t.regex(refused.body.detail, /responseBytes/)
    const done = await stage.patch(`/api/folders/${id}`, { sheets }, MINIMAL)
    t.is(done.status, 204, done.text)
  } finally {
    await close()
  }
})
