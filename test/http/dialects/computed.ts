// Generated columns and indexes over expressions refuse the values that cannot be computed with. The databases have many
// errors for that; the answer is one.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { databaseName } from '../../support/database.js'
import { versionOf } from '../../support/servers.js'
import { openStage } from '../../support/stage.js'

interface Computed {
  /** What is computed of the table's own columns. */
  readonly sql: readonly string[]
  readonly fit: object
  readonly unfit: readonly object[]
}

const column = (name: string, type: string, expression: string): string =>
  `ALTER TABLE notes ADD COLUMN ${name} ${type} GENERATED ALWAYS AS (${expression}) STORED`

const COMPUTED: Readonly<Record<string, Computed>> = {
  // It computes something of almost every value.
  SQLite: {
    sql: [
      "CREATE INDEX by_kind ON notes (json_extract(label, '$.kind'))",
      'CREATE INDEX by_share ON notes (abs(share))',
    ],
    fit: { share: 3, label: '{"kind":"a"}' },
    unfit: [{ label: 'x' }, { share: '-9223372036854775808' }],
  },
  MySQL: {
    sql: [
      column('ratio', 'DOUBLE', '100 / share'),
      column('began', 'DATE', "STR_TO_DATE(day, '%Y-%m-%d')"),
      column('kind', 'JSON', "JSON_EXTRACT(label, '$.kind')"),
      column('number', 'INT', "data->'$.number'"),
      'CREATE INDEX by_size ON notes ((CAST(size AS UNSIGNED)))',
      "CREATE INDEX by_code ON notes ((CAST(data->>'$.code' AS CHAR(3))))",
      "CREATE INDEX by_points ON notes ((CAST(data->'$.points' AS UNSIGNED ARRAY)))",
      "CREATE INDEX by_tags ON notes ((CAST(data->'$.tags' AS CHAR(3) ARRAY)))",
    ],
    fit: {
      ...{ share: 3, day: '2024-02-29', label: '{"kind":"a"}', size: '12' },
      data: { number: 5, code: 'abc', points: [1, 2], tags: ['a', 'b'] },
    },
    unfit: [
      ...[{ share: 0 }, { day: 'x' }, { label: 'x' }, { size: 'x' }],
      ...[{ data: { number: 'x' } }, { data: { number: [1] } }, { data: { number: 1e300 } }],
      ...[{ data: { code: 'abcd' } }, { data: { tags: ['abcd'] } }],
      ...[{ data: { points: ['x'] } }, { data: { points: [-1] } }, { data: { points: [1e300] } }],
    ],
  },
  MariaDB: {
    sql: [
      column('ratio', 'DOUBLE', '100 / share'),
      column('began', 'DATE', "STR_TO_DATE(day, '%Y-%m-%d')"),
      column('kind', 'VARCHAR(20)', "JSON_EXTRACT(label, '$.kind')"),
      column('number', 'INT', "JSON_EXTRACT(data, '$.number')"),
      column('plain', 'VARCHAR(20)', 'CONVERT(size USING ascii)'),
    ],
    fit: { share: 3, day: '2024-02-29', label: '{"kind":"a"}', size: '12', data: { number: 5 } },
    unfit: [
      ...[{ share: 0 }, { day: 'x' }, { label: 'x' }, { size: 'ż' }],
      ...[{ data: { number: 'x' } }, { data: { number: [1] } }, { data: { number: 1e300 } }],
    ],
  },
  PostgreSQL: {
    sql: [
      column('ratio', 'INT', '100 / share'),
      column('kind', 'TEXT', "label::json->>'kind'"),
      column('number', 'INT', "(data->>'number')::int"),
      'CREATE INDEX by_size ON notes ((size::int))',
    ],
    fit: { share: 3, label: '{"kind":"a"}', size: '12', data: { number: 5 } },
    unfit: [
      ...[{ share: 0 }, { label: 'x' }, { size: 'x' }, { size: '9999999999' }],
      ...[{ data: { number: 'x' } }, { data: { number: [1] } }],
    ],
  },
}

const [product = ''] = (await versionOf(databaseName)).split(' ')
const computed = COMPUTED[product]

test('a value that cannot be computed with is 400 on every way to write, and nothing is written', async (t) => {
  if (computed === undefined) return t.fail(product)
  const heard: unknown[] = []
  const notes = await openStage(({ sequelize }, app) => {
    const text = DataTypes.STRING
    const attributes = { share: DataTypes.BIGINT, day: text, label: text, size: text, data: DataTypes.JSON }
    const options = { tableName: 'notes', timestamps: false }
    const Plain = sequelize.define('Plain', attributes, options)
    const Hooked = sequelize.define('Hooked', attributes, { ...options, hooks: { beforeSave: () => undefined } })
    const common = { operations: Operations.AllWithBulk, onError: (error: unknown) => heard.push(error) }
    app.use(crudRouter(Plain, { ...common, route: 'api/plain' }))
    app.use(crudRouter(Hooked, { ...common, route: 'api/hooked' }))
    return { Plain, Hooked }
  })
  const { Plain } = notes
  for (const sql of computed.sql) await Plain.sequelize?.query(sql)
  t.teardown(() => notes.close())
  for (const path of ['/api/plain', '/api/hooked']) {
    const { status, body, text } = await notes.post(path, computed.fit)
    t.is(status, 201, `${text} ${heard}`)
    const before = await notes.Plain.findAll({ raw: true, order: ['id'] })
    for (const values of computed.unfit) {
      for (const answer of [
        await notes.post(path, values),
        await notes.post(`${path}/bulk`, [{ share: 1 }, values]),
        await notes.patch(`${path}/${body.id}`, values),
      ]) {
        t.is(answer.status, 400, `${JSON.stringify(values)}: ${answer.text} ${heard.at(-1)}`)
        t.is(answer.body.detail, 'A value does not fit its column.')
        t.is(answer.body.errors, undefined)
      }
    }
    t.deepEqual(await notes.Plain.findAll({ raw: true, order: ['id'] }), before)
  }
  t.deepEqual(heard, [])
})
