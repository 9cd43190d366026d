// What other programs have stored: answers show it as they show what the package writes, and filters find what is shown. Values that
// cannot be shown are null, alone and in the filter too.

import ava from 'ava'
import { DataTypes, type Model, type ModelAttributes, type ModelStatic } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { databaseName } from '../../support/database.js'
import { keysOf, list } from '../../support/lists.js'
import { openStage } from '../../support/stage.js'

const on = (...names: readonly string[]) => (names.includes(databaseName) ? ava.serial : ava.serial.skip)
const onSqlite = on('sqlite')
const onMySql = on('mysql', 'mariadb')
const onPostgres = on('postgres')

const attributes: ModelAttributes = {
  flag: DataTypes.BOOLEAN,
  at: DataTypes.DATE(6),
  day: DataTypes.DATEONLY,
  clock: DataTypes.TIME,
  ratio: DataTypes.DOUBLE,
  price: DataTypes.DECIMAL(20, 2),
  doc: DataTypes.JSON,
}
const told: unknown[] = []
const served = await openStage<{ readonly Odd: ModelStatic<Model>; readonly Hooked: ModelStatic<Model> }>(
  ({ sequelize }, app) => {
    const options = { tableName: 'odd', timestamps: false }
    const hooks = { beforeFind: () => undefined, beforeSave: () => undefined }
    const Odd = sequelize.define('Odd', attributes, options)
    const Hooked = sequelize.define('Hooked', attributes, { ...options, hooks })
    const onError = (error: unknown): void => {
      told.push(error)
    }
    app.use(crudRouter(Odd, { onError, route: 'api/odd', operations: Operations.All | Operations.Aggregate }))
    app.use(crudRouter(Hooked, { onError, route: 'api/hooked' }))
    return { Odd, Hooked }
  },
)
ava.after.always(() => served.close())

const PATHS = ['/api/odd', '/api/hooked'] as const

/** Stores values of one column as SQL, beside nothing else. Rows are numbered from 1 on. */
async function store(column: string, values: readonly string[]): Promise<void> {
  const { sequelize, Odd } = served
  await Odd.destroy({ truncate: true, restartIdentity: true })
  if (databaseName === 'sqlite') await sequelize.query("DELETE FROM sqlite_sequence WHERE name = 'odd'")
  const quoted = sequelize.getQueryInterface().quoteIdentifier(column)
  const rows = values.map((value, index) => `(${index + 1}, ${value})`).join(', ')
  await sequelize.query(`INSERT INTO odd (id, ${quoted}) VALUES ${rows}`)
}

type Wanted = Readonly<Record<string, readonly number[]>>

async function assertFound(
  t: { deepEqual(a: unknown, b: unknown, m?: string): unknown },
  wanted: Wanted,
): Promise<void> {
  for (const path of PATHS) {
    for (const [filter, ids] of Object.entries(wanted)) {
      t.deepEqual(await keysOf(served, path, { filter, sort: 'id' }), ids, `${path} ${filter}`)
    }
  }
}

async function assertShown(
  t: { deepEqual(a: unknown, b: unknown, m?: string): unknown },
  name: string,
  values: readonly unknown[],
): Promise<void> {
  for (const path of PATHS) {
    const { body } = await list(served, path, { sort: 'id' })
    const shown = body.items?.map((item: Readonly<Record<string, unknown>>) => item[name]) ?? body
    t.deepEqual(shown, values, path)
  }
}

on(
  'sqlite',
  'mysql',
  'mariadb',
)('every number but 0 is a true boolean, to answers and to filters', async (t) => {
  await store('flag', ['1', '0', '2', '-1', 'NULL'])
  await assertShown(t, 'flag', [true, false, true, true, null])
  await assertFound(t, {
    'flag=true': [1, 3, 4],
    'flag!=true': [2, 5],
    'flag=false': [2],
    'flag!=false': [1, 3, 4, 5],
    'flag=in=true;null': [1, 3, 4, 5],
    'flag=null': [5],
  })
})

onSqlite('texts in a column of booleans are none: null, and found as null', async (t) => {
  await store('flag', ["'t'", "'false'", "'1'", '0.5'])
  await assertShown(t, 'flag', [null, null, true, true])
  await assertFound(t, { 'flag=true': [3, 4], 'flag=false': [], 'flag=null': [1, 2], 'flag!=true': [1, 2] })
})

onSqlite('instants in any format are shown and found alike', async (t) => {
  const at = '2024-01-15T12:30:45.000Z'
  const stored = [
    "'2024-01-15 12:30:45.000 +00:00'",
    "'2024-01-15 12:30:45'",
    "'2024-01-15T12:30:45.000Z'",
    '1705321845000',
    "'2024-01-15 12:30:45.000999'",
    "'2024-01-15T23:30:45+11:00'",
    "'2024-01-15 01:30:45-1100'",
    "'2024-01-15 12:30:45+00'",
    "'2024-01-15T12:30:44.999Z'",
    'NULL',
  ]
  await store('at', stored)
  await assertShown(t, 'at', [...stored.slice(0, 8).map(() => at), '2024-01-15T12:30:44.999Z', null])
  const [all, before] = [[1, 2, 3, 4, 5, 6, 7, 8], [9]]
  await assertFound(t, {
    [`at=${at}`]: all,
    [`at!=${at}`]: [9, 10],
    [`at>=${at}`]: all,
    [`at>${at}`]: [],
    [`at<=${at}`]: [...all, 9],
    [`at<${at}`]: before,
    'at>2024-01-15T12:30:44.999Z': all,
    'at=2024-01-15': [...all, 9],
    'at!=2024-01-15': [10],
    'at>2024-01-15': [],
    'at<2024-01-15': [],
    'at>=2024-01-15': [...all, 9],
    'at<=2024-01-15': [...all, 9],
    [`at=in=${at};2020-01-01`]: all,
    'at=null': [10],
    'at!=null': [...all, 9],
  })
  const { body } = await list(served, '/api/odd', { aggregate: 'count,min(at),max(at),distinct(at)', group: 'day(at)' })
  t.deepEqual(
    body.items,
    [
      {
        group: { at: { day: '2024-01-15' } },
        count: 9,
        min: { at: '2024-01-15T12:30:44.999Z' },
        max: { at },
        distinct: { at: 2 },
      },
      { group: { at: { day: null } }, count: 1, min: { at: null }, max: { at: null }, distinct: { at: 0 } },
    ].reverse(),
  )
})

onSqlite('days and times in any format are shown and found alike', async (t) => {
  await store('day', ["'2024-01-15'", "'2024-01-15 00:00:00.000 +00:00'", "'2024-01-15T10:00:00Z'", "'2024-01-16'"])
  await assertShown(t, 'day', ['2024-01-15', '2024-01-15', '2024-01-15', '2024-01-16'])
  await assertFound(t, {
    'day=2024-01-15': [1, 2, 3],
    'day!=2024-01-15': [4],
    'day>2024-01-15': [4],
    'day<=2024-01-15': [1, 2, 3],
    'day<2024-01-15': [],
    'day=in=2024-01-15;2024-01-16': [1, 2, 3, 4],
  })
  await store('clock', ["'12:30:00'", "'12:30'", "'12:30:00.500'", "'12:30:01'"])
  await assertShown(t, 'clock', ['12:30:00', '12:30:00', '12:30:00', '12:30:01'])
  await assertFound(t, { 'clock=12:30': [1, 2, 3], 'clock>12:30': [4], 'clock<=12:30': [1, 2, 3], 'clock<12:30': [] })
})

onSqlite('what cannot be shown is null for its field alone, and told once', async (t) => {
  await store('at', ["'soon'", "'0000-00-00 00:00:00'", "'2024-01-15 12:30:45'", '9e999'])
  told.length = 0
  await assertShown(t, 'at', [null, null, '2024-01-15T12:30:45.000Z', null])
  t.is(told.length, 2)
  t.regex(String(told[0]), /Odd\.at: a stored value of type datetime cannot be shown/)
  await assertFound(t, { 'at=null': [1, 2, 4], 'at>1000-01-01': [3], 'at<=9999-12-31': [3] })
  await store('day', ["'soon'", "'0000-00-00'", "'2024-01-15'"])
  await assertShown(t, 'day', [null, null, '2024-01-15'])
  await assertFound(t, { 'day=null': [1, 2], 'day<2024-01-15': [], 'day<=2024-01-15': [3], 'day>2024-01-15': [] })
  await store('ratio', ['9e999', '1.5'])
  await assertShown(t, 'ratio', [null, 1.5])
  await assertFound(t, { 'ratio=null': [1], 'ratio>1': [2], 'ratio!=1.5': [1] })
  await store('doc', [`'{"a":'`, `'{"a":1}'`, `'null'`])
  await assertShown(t, 'doc', [null, { a: 1 }, null])
})

onMySql('zero dates are shown as null and found as null', async (t) => {
  await store('at', ["'0000-00-00 00:00:00'", "'2024-01-15 12:30:45.123456'", 'NULL'])
  await assertShown(t, 'at', [null, '2024-01-15T12:30:45.123Z', null])
  await assertFound(t, {
    'at=null': [1, 3],
    'at!=null': [2],
    'at=2024-01-15T12:30:45.123Z': [2],
    'at!=2024-01-15T12:30:45.123Z': [1, 3],
    'at<=2024-01-15T12:30:45.123Z': [2],
    'at<2025-01-01': [2],
    'at!=2024-01-15': [1, 3],
  })
  await store('day', ["'0000-00-00'", "'2024-01-15'", 'NULL'])
  await assertShown(t, 'day', [null, '2024-01-15', null])
  await assertFound(t, { 'day=null': [1, 3], 'day<2025-01-01': [2], 'day!=2024-01-15': [1, 3] })
})

onPostgres('infinities and NaN are shown as null and found as null', async (t) => {
  await store('at', ["'infinity'", "'-infinity'", "'2024-01-15 12:30:45.123456Z'", 'NULL'])
  await assertShown(t, 'at', [null, null, '2024-01-15T12:30:45.123Z', null])
  await assertFound(t, {
    'at=null': [1, 2, 4],
    'at!=null': [3],
    'at>2000-01-01': [3],
    'at<2025-01-01': [3],
    'at=2024-01-15T12:30:45.123Z': [3],
    'at>2024-01-15T12:30:45.123Z': [],
    'at=in=2024-01-15T12:30:45.123Z;2020-01-01': [3],
    'at!=2024-01-15': [1, 2, 4],
  })
  await store('day', ["'infinity'", "'2024-01-15'", 'NULL'])
  await assertShown(t, 'day', [null, '2024-01-15', null])
  await assertFound(t, { 'day=null': [1, 3], 'day>2000-01-01': [2] })
  await store('ratio', ["'NaN'", "'Infinity'", "'-Infinity'", '1.5'])
  await assertShown(t, 'ratio', [null, null, null, 1.5])
  await assertFound(t, { 'ratio=null': [1, 2, 3], 'ratio>1': [4], 'ratio<2': [4], 'ratio!=1.5': [1, 2, 3] })
  await store('price', ["'NaN'", '1.5'])
  await assertShown(t, 'price', [null, '1.50'])
  await assertFound(t, { 'price=null': [1], 'price>1': [2], 'price<2': [2] })
  const { body } = await list(served, '/api/odd', { aggregate: 'avg(price),sum(price),max(price)' })
  t.deepEqual(body.items, [{ avg: { price: null }, sum: { price: null }, max: { price: null } }])
})

onPostgres('times with a fraction are found as they are shown, and the end of the day is a time', async (t) => {
  await store('clock', ["'12:30:45.5'", "'24:00:00'"])
  await assertShown(t, 'clock', ['12:30:45', '24:00:00'])
  await assertFound(t, { 'clock=12:30:45': [1], 'clock>12:30:45': [2], 'clock=24:00:00': [2], 'clock<=24:00': [1, 2] })
  for (const path of PATHS) t.is((await served.patch(`${path}/1`, { clock: '24:00:00' })).body.clock, '24:00:00')
})

onPostgres('days and instants before the year 1 and after 9999 are told from others', async (t) => {
  await store('day', ["'0044-03-15 BC'", "'0044-03-15'", "'20000-01-01'"])
  await assertShown(t, 'day', ['-000043-03-15', '0044-03-15', '+020000-01-01'])
  await assertFound(t, { 'day<0001-01-01': [1], 'day=0044-03-15': [2], 'day>9999-12-31': [3] })
  await store('at', ["'0044-03-15 12:00:00Z BC'", "'20000-01-01 12:00:00Z'"])
  await assertShown(t, 'at', ['-000043-03-15T12:00:00.000Z', '+020000-01-01T12:00:00.000Z'])
})

onMySql('times beyond a day can be sent back and are found', async (t) => {
  await store('clock', ["'838:59:59'", "'-01:30:00'", "'25:00:00'", "'12:00:00'"])
  const shown = ['838:59:59', '-01:30:00', '25:00:00', '12:00:00']
  await assertShown(t, 'clock', shown)
  await assertFound(t, { 'clock=838:59:59': [1], 'clock<00:00:00': [2], 'clock>24:00:00': [1, 3] })
  for (const path of PATHS) {
    for (const clock of shown) {
      const { status, body } = await served.patch(`${path}/4`, { clock })
      t.deepEqual([status, body.clock], [200, clock])
    }
    t.is((await served.patch(`${path}/4`, { clock: '839:00:00' })).status, 400)
  }
})
