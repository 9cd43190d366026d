// Columns of another type than the model declares, as they are in tables and views that others have made: what is shown is
// found, pages put together are the list, and nothing is an error of the server.

import test, { type ExecutionContext } from 'ava'
import type { Express } from 'express'
import { DataTypes, type ModelAttributes, type Sequelize } from 'sequelize'
import { crudRouter, escapeFilterValue, Operations } from '../../../lib/index.js'
import { type DatabaseName, databaseName } from '../../support/database.js'
import { list } from '../../support/lists.js'
import { allowUndocumented } from '../../support/replies.js'
import type { TestClient } from '../../support/server.js'
import { openStage, type Stage } from '../../support/stage.js'

type Declared =
  | 'STRING'
  | 'INTEGER'
  | 'BIGINT'
  | 'DECIMAL'
  | 'FLOAT'
  | 'DOUBLE'
  | 'BOOLEAN'
  | 'DATE'
  | 'DATEONLY'
  | 'UUID'

const TYPES: Readonly<Record<Declared, ModelAttributes[string]>> = {
  STRING: DataTypes.STRING,
  INTEGER: DataTypes.INTEGER,
  BIGINT: DataTypes.BIGINT,
  DECIMAL: DataTypes.DECIMAL(10, 2),
  FLOAT: DataTypes.FLOAT,
  DOUBLE: DataTypes.DOUBLE,
  BOOLEAN: DataTypes.BOOLEAN,
  DATE: DataTypes.DATE,
  DATEONLY: DataTypes.DATEONLY,
  UUID: DataTypes.UUID,
}

/** A column's type in SQL, with values in SQL that it holds. */
interface Held {
  readonly type: string
  readonly values: readonly string[]
  readonly declared: readonly Declared[]
  /** Those of which no expression makes values of the declared type: comparisons are refused. */
  readonly refused?: readonly Declared[]
}

const numbers = ["'10'", "'9'", "'9'", "'-3'", "'0'", 'NULL']
const fractions = ['10.25', '9.1', '9.1', '-3.123456789', '0.1', 'NULL', '0.3', '0']
const large = ['10', '9', '3000000000', '3000000001', '-3', 'NULL']
const days = ["'2024-05-06'", "'2023-05-06'", "'2023-05-06'", 'NULL']
const instants = ["'2024-05-06 07:08:09.123'", "'2024-05-06 07:08:09.124'", "'2023-01-01 00:00:00'", 'NULL']
const names = ["'a'", "'c'", "'b'", "'b'", 'NULL']
const uuids = ["'0d7b0d1e-3f6c-4c39-9c0a-0f2f4bdf3a01'", "'ffffffff-3f6c-4c39-9c0a-0f2f4bdf3a03'", 'NULL']
const words = ["'true'", "'f'", "'1'", "'0'", 'NULL']

const NUMERIC: readonly Declared[] = ['INTEGER', 'BIGINT', 'DECIMAL', 'FLOAT', 'DOUBLE']

const POSTGRES: readonly Held[] = [
  { type: 'mood', values: names, declared: ['STRING'], refused: ['INTEGER', 'DATE'] },
  { type: 'uuid', values: uuids, declared: ['STRING'], refused: ['INTEGER', 'BOOLEAN'] },
  { type: 'inet', values: ["'10.0.0.1'", "'9.0.0.1'", 'NULL'], declared: ['STRING'], refused: ['INTEGER'] },
  { type: 'integer', values: numbers, declared: ['STRING', ...NUMERIC, 'BOOLEAN'], refused: ['DATE', 'UUID'] },
  { type: 'bigint', values: large, declared: ['STRING', 'INTEGER', 'FLOAT'] },
  { type: 'numeric(20,10)', values: fractions, declared: ['STRING', ...NUMERIC] },
  { type: 'double precision', values: fractions, declared: ['STRING', ...NUMERIC] },
  { type: 'real', values: fractions, declared: ['STRING', 'INTEGER', 'DECIMAL', 'DOUBLE'] },
  { type: 'varchar(100)', values: numbers, declared: NUMERIC },
  { type: 'text', values: words, declared: ['BOOLEAN'] },
  { type: 'text', values: instants, declared: ['DATE'] },
  { type: 'text', values: days, declared: ['DATEONLY', 'DATE'] },
  { type: 'char(40)', values: names, declared: ['STRING'] },
  { type: 'date', values: days, declared: ['STRING', 'DATE'], refused: ['INTEGER'] },
  { type: 'timestamptz', values: instants, declared: ['STRING', 'DATEONLY'], refused: ['INTEGER'] },
  { type: 'boolean', values: ['true', 'false', 'NULL'], declared: ['STRING'], refused: ['INTEGER'] },
  { type: 'jsonb', values: ['\'{"a": 1}\'', "'[1]'", 'NULL'], declared: ['STRING'], refused: ['INTEGER'] },
  { type: 'word', values: names, declared: ['STRING'] },
]

const MYSQL: readonly Held[] = [
  { type: "enum('b','a','c')", values: names, declared: ['STRING'] },
  { type: 'int', values: numbers, declared: ['STRING', ...NUMERIC], refused: ['DATE'] },
  { type: 'bigint', values: large, declared: ['STRING', 'INTEGER', 'FLOAT'] },
  { type: 'decimal(20,10)', values: fractions, declared: ['STRING', ...NUMERIC] },
  { type: 'double', values: fractions, declared: ['STRING', ...NUMERIC] },
  { type: 'float', values: fractions, declared: ['INTEGER', 'DECIMAL', 'FLOAT'] },
  { type: 'varchar(100)', values: numbers, declared: NUMERIC },
  { type: 'varchar(100)', values: words, declared: ['BOOLEAN'] },
  { type: 'varchar(100)', values: instants, declared: ['DATE'] },
  { type: 'varchar(100)', values: days, declared: ['DATEONLY', 'DATE'] },
  { type: 'date', values: days, declared: ['STRING', 'DATE'], refused: ['INTEGER'] },
  { type: 'datetime(3)', values: instants, declared: ['STRING', 'DATEONLY'], refused: ['INTEGER', 'UUID'] },
]

const plainNumbers = ['10', '9', '9', '1.5', '-3', 'NULL']

const SQLITE: readonly Held[] = [
  { type: '', values: plainNumbers, declared: ['STRING', 'DECIMAL', 'FLOAT', 'DOUBLE'] },
  { type: '', values: numbers, declared: [...NUMERIC, 'STRING'] },
  { type: '', values: words, declared: ['BOOLEAN'] },
  { type: '', values: ["'a'", "'B'", "'10'", 'NULL'], declared: ['STRING'] },
  { type: 'TEXT', values: numbers, declared: [...NUMERIC, 'STRING'] },
  { type: 'TEXT', values: words, declared: ['BOOLEAN'] },
  { type: 'INTEGER', values: large, declared: ['STRING', ...NUMERIC] },
  { type: 'REAL', values: plainNumbers, declared: ['STRING', 'DECIMAL', 'DOUBLE'] },
  { type: 'NUMERIC', values: ["'10'", "'abc'", "'010'", '1.5', 'NULL'], declared: ['STRING'] },
  { type: 'VIEW', values: numbers, declared: [...NUMERIC, 'STRING'] },
  { type: 'VIEW', values: plainNumbers, declared: ['STRING', 'DECIMAL', 'DOUBLE'] },
]

const TABLES: Readonly<Record<DatabaseName, readonly Held[]>> = {
  postgres: POSTGRES,
  mysql: MYSQL,
  mariadb: MYSQL,
  sqlite: SQLITE,
}

const PREPARED: Readonly<Record<DatabaseName, readonly string[]>> = {
  postgres: ["CREATE TYPE mood AS ENUM ('b', 'a', 'c')", 'CREATE DOMAIN word AS varchar(20)'],
  mysql: [],
  mariadb: [],
  sqlite: [],
}

/** Creates a table, or a view that computes its column. */
async function createTable(sequelize: Sequelize, name: string, { type, values }: Held): Promise<void> {
  const isView = type === 'VIEW'
  const table = isView ? `${name}_rows` : name
  await sequelize.query(`CREATE TABLE ${table} (id INTEGER PRIMARY KEY, v ${isView ? '' : type})`)
  const rows = values.map((value, index) => `(${index + 1}, ${value})`)
  await sequelize.query(`INSERT INTO ${table} VALUES ${rows.join(', ')}`)
  if (isView) await sequelize.query(`CREATE VIEW ${name} AS SELECT id, COALESCE(v, NULL) AS v FROM ${table}`)
}

interface Pair {
  readonly label: string
  readonly path: string
  readonly count: number
  readonly isRefused: boolean
}

function mountPairs(app: Express, sequelize: Sequelize, table: string, held: Held): Pair[] {
  const { declared, refused = [], type, values } = held
  return [...declared, ...refused].flatMap((name) =>
    [false, true].map((isHooked): Pair => {
      const label = `${name} over ${type}${isHooked ? ' with a find hook' : ''}`
      const route = `api/${table}-${name.toLowerCase()}${isHooked ? '-hooked' : ''}`
      const model = sequelize.define(
        route.replace(/\W/g, '_'),
        { id: { type: DataTypes.INTEGER, primaryKey: true }, v: TYPES[name] },
        { tableName: table, timestamps: false },
      )
      if (isHooked) model.addHook('beforeFind', () => undefined)
      app.use(crudRouter(model, { route, operations: Operations.All | Operations.Aggregate }))
      return { label, path: `/${route}`, count: values.length, isRefused: refused.includes(name) }
    }),
  )
}

/** The keys of all pages by `after`, or the status of one that is none. */
async function walk(client: TestClient, path: string, sort: string, most: number): Promise<readonly number[] | string> {
  const keys: number[] = []
  let after = ''
  for (let page = 0; page <= most; page++) {
    const { status, body, text } = await list(client, path, { sort, after, pageSize: 2, select: 'id' })
    if (status !== 200) return `${status} ${text}`
    keys.push(...body.items.map(({ id }: { id: number }) => id))
    if (body.nextCursor === null) return keys
    after = body.nextCursor
  }
  return 'endless'
}

async function keysBy(client: TestClient, path: string, filter: string): Promise<readonly number[] | string> {
  const { status, body, text } = await list(client, path, { filter, sort: 'id' })
  return status === 200 ? body.items.map(({ id }: { id: number }) => id) : `${status} ${text}`
}

async function assertConsistent(t: ExecutionContext, client: TestClient, { label, path, count }: Pair): Promise<void> {
  const all = await list(client, path, { sort: 'id' })
  t.is(all.status, 200, `${label}: ${all.text}`)
  const items: readonly { id: number; v: unknown }[] = all.body.items
  t.is(items.length, count, label)
  for (const sort of ['v', '-v']) {
    const sorted = await list(client, path, { sort })
    t.is(sorted.status, 200, `${label}: ${sorted.text}`)
    const keys = sorted.body.items.map(({ id }: { id: number }) => id)
    t.deepEqual(await walk(client, path, sort, count), keys, `${label}, pages by ${sort}`)
  }
  const valued = items.filter(({ v }) => v !== null)
  const [first] = valued
  for (const shown of new Set(valued.map(({ v }) => v))) {
    const value = escapeFilterValue(String(shown))
    const same = valued.filter(({ v }) => v === shown).map(({ id }) => id)
    t.deepEqual(await keysBy(client, path, `v=${value}`), same, `${label}, v=${value}`)
    if (shown !== first?.v) continue
    const others = items.filter(({ v }) => v !== shown).map(({ id }) => id)
    t.deepEqual(await keysBy(client, path, `v!=${value}`), others, `${label}, v!=${value}`)
    if (typeof shown !== 'number') continue
    const greater = valued.filter(({ v }) => Number(v) > shown).map(({ id }) => id)
    t.deepEqual(await keysBy(client, path, `v>${value}`), greater, `${label}, v>${value}`)
  }
  const largest = typeof first?.v === 'boolean' ? 'count(v)' : 'min(v),max(v)'
  const { status, text } = await client.get(`${path}?group=v&aggregate=count,${largest}`)
  t.is(status, 200, `${label}: ${text}`)
}

async function assertRefused(t: ExecutionContext, client: TestClient, { label, path, count }: Pair): Promise<void> {
  const all = await list(client, path)
  t.is(all.status, 200, `${label}: ${all.text}`)
  t.is(all.body.items.length, count, label)
  for (const query of ['sort=v', 'sort=-v&after=', 'group=v&aggregate=count', 'aggregate=distinct(v)']) {
    const { status, text } = await client.get(`${path}?${query}`)
    t.is(status, 400, `${label}, ${query}: ${text}`)
    t.regex(text, /\\"v\\" cannot be/, label)
  }
}

let stage: Stage

test.before(async () => {
  stage = await openStage()
  // The documents are those of the models, and not of the tables.
  allowUndocumented(stage.app)
  for (const sql of PREPARED[databaseName]) await stage.sequelize.query(sql)
})

test.after.always(() => stage.close())

for (const [index, held] of TABLES[databaseName].entries()) {
  const { type, values } = held
  test(`a column ${type || 'without a type'} of ${values.join(', ')} is used as what the model declares`, async (t) => {
    const { app, sequelize } = stage
    const table = `held${index}`
    await createTable(sequelize, table, held)
    const pairs = mountPairs(app, sequelize, table, held)
    for (const pair of pairs) await (pair.isRefused ? assertRefused : assertConsistent)(t, stage, pair)
  })
}
