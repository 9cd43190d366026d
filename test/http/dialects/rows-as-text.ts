// On SQLite the rows of lists come as one JSON text, which one record by its key never does: both say the same of whatever
// stands in a table, also of what no text can say.

import { once } from 'node:events'
import ava, { type ExecutionContext } from 'ava'
import express from 'express'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { databaseName, openDatabase, type TestDatabase } from '../../support/database.js'
import { serveModels } from '../../support/models.js'

const test = databaseName === 'sqlite' ? ava : ava.skip

interface Bench extends TestDatabase {
  readonly Kept: ModelStatic<Model>
  readonly textOf: (path: string) => Promise<string>
  // biome-ignore lint/suspicious/noExplicitAny: a body is whatever it is
  readonly get: (path: string) => Promise<any>
}

const COLUMNS = {
  whole: DataTypes.INTEGER,
  large: DataTypes.BIGINT,
  text: DataTypes.STRING,
  flag: DataTypes.BOOLEAN,
  at: DataTypes.DATE,
  day: DataTypes.DATEONLY,
  hour: DataTypes.TIME,
  uuid: DataTypes.UUID,
  kind: DataTypes.ENUM('a', 'b'),
  json: DataTypes.JSON,
}

const NAMES = Object.keys(COLUMNS)

/** Without the documents that the server of tests holds answers against: they know nothing of what else stands in a column. */
async function bench(t: ExecutionContext): Promise<Bench> {
  const database = await openDatabase()
  const { sequelize } = database
  const plain = { timestamps: false }
  const Owner = sequelize.define('owner', { name: DataTypes.STRING }, plain)
  const Kept = sequelize.define('kept', COLUMNS, { ...plain, tableName: 'kept', name: { plural: 'kept' } })
  Owner.hasMany(Kept, { as: 'things', foreignKey: 'ownerId' })
  Kept.belongsTo(Owner, { as: 'owner', foreignKey: 'ownerId' })
  await sequelize.sync()
  await Owner.bulkCreate([{ name: 'one' }, { name: 'two' }])
  const app = express()
  const operations = Operations.All | Operations.Export
  app.use(crudRouter(Kept, { route: 'api/kept', operations, relations: { owner: true } }))
  app.use(crudRouter(Owner, { route: 'api/owners', relations: { things: true } }))
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(async () => {
    server.closeAllConnections()
    server.close()
    await database.close()
  })
  const url = `http://127.0.0.1:${Object(server.address()).port}`
  const textOf = async (path: string): Promise<string> => {
    const response = await fetch(url + path)
    t.is(response.status, 200, path)
    return response.text()
  }
  return { ...database, Kept, textOf, get: async (path) => JSON.parse(await textOf(path)) }
}

/** What SQLite keeps in any column, whatever that is called, and whether a text of JSON says it. */
const VALUES: readonly (readonly [sql: string, isTextual: boolean])[] = [
  ['NULL', true],
  ['0', true],
  ['-1', true],
  ['9007199254740991', true],
  ['9007199254740993', true],
  ['-9223372036854775808', true],
  ['9223372036854775807', true],
  ["''", true],
  ["'1'", true],
  ["'007'", true],
  [`'"\\\\ / <b> '' {} []'`, true],
  ['char(1, 8, 9, 10, 13, 27, 31, 127, 159, 8232, 8233, 65279, 65533, 128512)', true],
  ["'a' || char(0) || 'b'", true],
  // No UTF-8: a byte that begins nothing, half of a character, one of two halves of a pair, more bytes than are needed.
  ["CAST(x'41ff42' AS TEXT)", true],
  ["CAST(x'e282' AS TEXT)", true],
  ["CAST(x'eda080' AS TEXT)", true],
  ["CAST(x'c0af' AS TEXT)", true],
  [`'{"b": 1, "a": [1.50, "x"], "__proto__": {"c": 2}}'`, true],
  ["json('[1,2]')", true],
  ["json_quote('q')", true],
  ["'2026-11-23 10:11:12.345 +00:00'", true],
  ["hex(zeroblob(10000)) || 'ü'", true],
  ['0.1 + 0.2', false],
  // With 15 digits these are whole.
  ['1.0000000000000002', false],
  ['-999999999999.0001', false],
  ['1e15 + 0.25', false],
  ['-1.5e300', false],
  ['9e999', false],
  ["x'00ff'", false],
  ["x''", false],
]

const TEXT = /^Executing \(default\): SELECT CASE WHEN .* json_group_array/

for (const [sql, isTextual] of VALUES) {
  test(`a list says of ${sql.slice(0, 60)} in every column what GET by the key says`, async (t) => {
    const { sequelize, statements, get, textOf, Kept } = await bench(t)
    const row = `(${NAMES.map(() => sql).join(', ')}, 1)`
    await sequelize.query(
      `INSERT INTO kept (${NAMES.join(', ')}, "ownerId") VALUES ${new Array(5).fill(row).join(', ')}`,
    )
    const one = await get('/api/kept/1')
    const expected = [1, 2, 3, 4, 5].map((id) => ({ ...one, id }))
    statements.length = 0
    t.is((await get('/api/kept?count=true')).count, 5)
    for (const path of [
      '/api/kept',
      '/api/kept?sort=-id',
      '/api/kept?cursor=',
      '/api/kept?after=',
      '/api/kept?count=none',
    ]) {
      const { items } = await get(path)
      t.deepEqual(path.includes('-id') ? items.toReversed() : items, expected, path)
    }
    const [first] = statements.filter((each) => !each.includes('COUNT(*)') || each.includes('_total'))
    t.regex(first ?? '', TEXT)
    const last = statements.at(-1) ?? ''
    // A number is taken from a text only where the column is there for numbers. The large ones are read as text.
    const numbers = ['whole', 'flag', 'json', 'large']
    const kindOf = (name: string): string =>
      numbers.includes(name) ? `typeof(${name})` : `iif(typeof(${name}) = 'integer', 'odd', typeof(${name}))`
    const kinds = await sequelize.query<Model>(
      `SELECT ${NAMES.map((name) => `${kindOf(name)} AS ${name}`).join(', ')} FROM kept`,
      {
        model: Kept,
        mapToModel: false,
        raw: true,
      },
    )
    const isKept = Object.values(kinds[0] ?? {}).every((kind) => !['real', 'blob', 'odd'].includes(String(kind)))
    if (!isTextual) t.false(isKept)
    t.is(TEXT.test(last), isKept, 'whether that is asked for as one text')
    const lines = (await textOf('/api/kept?format=jsonl')).trim().split('\n')
    t.deepEqual(
      lines.map((line) => JSON.parse(line)),
      expected,
    )
    const nested = await get('/api/owners?select=*,things(*)')
    t.deepEqual(nested.items[0].things, expected)
    t.deepEqual(nested.items[1].things, [])
  })
}

test('columns of numbers with a fraction and of bytes are read as the driver makes them', async (t) => {
  const served = await serveModels({
    define: (sequelize) => ({
      Priced: sequelize.define(
        'priced',
        { price: DataTypes.DECIMAL(10, 2), ratio: DataTypes.DOUBLE, bytes: DataTypes.BLOB },
        { timestamps: false },
      ),
    }),
    mount: (app, { Priced }) => {
      app.use(crudRouter(Priced, { route: 'api/priced', fields: { bytes: { sortable: false } } }))
    },
  })
  t.teardown(() => served.close())
  await served.Priced.bulkCreate(
    Array.from({ length: 5 }, () => ({ price: '0.30', ratio: 0.1 + 0.2, bytes: Buffer.from([0, 255]) })),
  )
  served.statements.length = 0
  const { items } = (await served.get('/api/priced')).body
  t.is(items.length, 5)
  t.like(items[4], { price: 0.3, ratio: 0.1 + 0.2 })
  t.deepEqual((await served.get('/api/priced?select=id,price')).body.items[4], { id: 5, price: 0.3 })
  t.true(served.statements.every((each) => !TEXT.test(each)))
  t.deepEqual((await served.get('/api/priced?select=id')).body.items.at(-1), { id: 5 })
  t.regex(served.statements.at(-1) ?? '', TEXT)
})

test('columns that a view or the table itself computes by functions of JSON are the texts that these give', async (t) => {
  const served = await serveModels({
    define: (sequelize) => ({
      Seen: sequelize.define(
        'seen',
        { object: DataTypes.TEXT, member: DataTypes.TEXT, quoted: DataTypes.TEXT, made: DataTypes.TEXT },
        { timestamps: false, tableName: 'seen' },
      ),
    }),
    mount: (app, { Seen }) => app.use(crudRouter(Seen, { route: 'api/seen' })),
  })
  t.teardown(() => served.close())
  const { sequelize, get, statements } = served
  await sequelize.query('DROP TABLE seen')
  await sequelize.query(
    `CREATE TABLE kept (id INTEGER PRIMARY KEY, doc TEXT, made TEXT AS (doc -> '$.s') VIRTUAL, stored TEXT AS (doc -> '$.s') STORED)`,
  )
  await sequelize.query(
    `CREATE VIEW seen AS SELECT id, json_object('a', id) AS object, json_extract(doc, '$.t') AS member,
    json_quote(doc ->> '$.s') AS quoted, made FROM kept`,
  )
  for (let row = 0; row < 5; row += 1) await sequelize.query(`INSERT INTO kept (doc) VALUES ('{"t":[1,2],"s":"q"}')`)
  const one = { id: 1, object: '{"a":1}', member: '[1,2]', quoted: '"q"', made: '"q"' }
  t.deepEqual((await get('/api/seen/1')).body, one)
  for (const path of ['/api/seen', '/api/seen?after=', '/api/seen?sort=quoted,id', '/api/seen?filter=object^{']) {
    statements.length = 0
    const { items } = (await get(path)).body
    t.deepEqual(items[0], one, path)
    t.is(items.length, 5)
    t.regex(statements.at(-1) ?? '', TEXT)
  }
})

test('a list that gives few records at the most is read as the driver makes them', async (t) => {
  const { statements, get, Kept } = await bench(t)
  await Kept.bulkCreate(Array.from({ length: 5 }, (_, index) => ({ text: `t${index}` })))
  for (const [size, isText] of [
    [1, false],
    [3, false],
    [4, true],
  ] as const) {
    statements.length = 0
    t.is((await get(`/api/kept?pageSize=${size}`)).items.length, size)
    t.is(TEXT.test(statements[0] ?? ''), isText)
  }
})

test('a list whose text would be too long is read as the driver makes it, whatever SQLite takes for too long', async (t) => {
  const { sequelize, statements, get, Kept } = await bench(t)
  await Kept.bulkCreate(Array.from({ length: 5 }, () => ({ text: 'x'.repeat(1_000_000) })))
  for (const isText of [true, false]) {
    statements.length = 0
    const { items } = await get('/api/kept')
    t.deepEqual(
      items.map(({ text }: { text: string }) => text.length),
      new Array(5).fill(1_000_000),
    )
    t.is(TEXT.test(statements[0] ?? ''), isText)
  }
  const { connections } = Object(sequelize.connectionManager)
  const LENGTH = 0
  for (const name of Object.keys(connections)) connections[name].configure('limit', LENGTH, 2_000_000)
  statements.length = 0
  t.is((await get('/api/kept?sort=-id')).items[4].text.length, 1_000_000)
  t.deepEqual(
    statements.map((each) => TEXT.test(each)),
    [true, false],
  )
})
