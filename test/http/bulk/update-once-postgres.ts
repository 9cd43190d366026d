// On PostgreSQL, a bulk update whose items differ only in their values is one statement with a table of values. Where the
// order of rows or the conversion of a value matters, the items are written one by one.

import ava from 'ava'
import { DataTypes, type ModelAttributes, type ModelOptions } from 'sequelize'
import { type CrudOptions, crudRouter, Operations } from '../../../lib/index.js'
import { databaseName } from '../../support/database.js'
import { isFast } from '../../support/speed.js'
import { openStage, readStoredRow } from '../../support/stage.js'

const test = ava.serial
const isPostgres = databaseName === 'postgres'
const only = isPostgres ? test : test.skip

const plain: ModelOptions = { timestamps: false }
const level = { level: DataTypes.INTEGER }
const uuidKey = { id: { type: DataTypes.UUID, defaultValue: DataTypes.UUIDV4, primaryKey: true } }

const serve = () =>
  openStage(({ sequelize }, app) => {
    const mount = (name: string, attributes: ModelAttributes, options: CrudOptions = {}): void => {
      app.use(
        crudRouter(sequelize.define(name, attributes, { ...plain, name: { singular: name, plural: name } }), {
          operations: Operations.AllWithBulk | Operations.BulkUpdate,
          ...options,
        }),
      )
    }
    mount('identified', { ...uuidKey, ...level })
    mount('limited', { name: DataTypes.STRING(5), price: DataTypes.DECIMAL(4, 1), small: DataTypes.SMALLINT })
    mount('padded', { code: DataTypes.CHAR(4), ...level })
    mount('keyed', { id: { type: DataTypes.CHAR(4), primaryKey: true }, ...level })
    mount('folded', { id: { type: DataTypes.TEXT, primaryKey: true }, ...level })
    mount('listed', { list: DataTypes.ARRAY(DataTypes.INTEGER), ...level })
    mount('checked', level)
    mount('chained', { ...level, parent: DataTypes.INTEGER }, { concurrency: true })
    mount('ranked', { ...level, rank: DataTypes.INTEGER })
    mount('excluded', level)
    mount('expressed', { name: DataTypes.STRING, ...level })
    mount('named', { ...level, other: { type: DataTypes.INTEGER, field: '_items_1' } })
    mount('parents', level)
    mount('ruled', level)
    mount('guarded', { ...level, owner: { type: DataTypes.INTEGER, defaultValue: 1 } }, { scope: () => ({ owner: 1 }) })
  })

const opened = isPostgres ? await serve() : null
test.after.always(() => opened?.close())

/** The served models, in tests that only run on PostgreSQL. */
function served(): NonNullable<typeof opened> {
  if (opened === null) throw new TypeError('these models are served on PostgreSQL alone')
  return opened
}

const table = (name: string): string => `"${served().sequelize.model(name).getTableName()}"`
const run = (sql: string): Promise<unknown> => served().sequelize.query(sql)

type Item = Readonly<Record<string, unknown>>

async function create(name: string, items: readonly Item[]): Promise<readonly (string | number)[]> {
  const made = await served().post(`/api/${name}/bulk`, items)
  return made.body.map(({ id }: { id: string | number }) => id)
}

interface Updated {
  readonly status: number
  readonly body: unknown
  readonly text: string
  readonly updates: number
}

async function update(name: string, items: readonly Item[]): Promise<Updated> {
  const from = served().statements.length
  const { status, body, text } = await served().patch(`/api/${name}/bulk`, items)
  const updates = served()
    .statements.slice(from)
    .filter((sql) => /: UPDATE /.test(sql)).length
  return { status, body, text, updates }
}

only('records with UUIDs as keys are found by any spelling of the keys', async (t) => {
  const [a = '', b = ''] = await create('identified', [{ level: 1 }, { level: 2 }])
  const items = [
    { id: String(b).toUpperCase(), level: 20 },
    { id: a, level: 10 },
  ]
  const { status, body, text, updates } = await update('identified', items)
  t.is(status, 200, text)
  if (isFast) t.is(updates, 1)
  t.deepEqual(body, [
    { id: b, level: 20 },
    { id: a, level: 10 },
  ])
})

only('values of limited types are stored and refused as in updates of one record', async (t) => {
  const [a, b] = await create('limited', [{ name: 'a' }, { name: 'b' }])
  const rounded = await update('limited', [
    { id: a, name: 'abcde', price: 1.2, small: 7 },
    { id: b, name: 'x', price: -100.4, small: -32768 },
  ])
  t.is(rounded.status, 200, rounded.text)
  if (isFast) t.is(rounded.updates, 1)
  t.deepEqual(rounded.body, [
    { id: a, name: 'abcde', price: 1.2, small: 7 },
    { id: b, name: 'x', price: -100.4, small: -32768 },
  ])
  await run(`ALTER TABLE ${table('limited')} ADD CONSTRAINT short CHECK (length("name") < 5 OR "name" = 'abcde')`)
  const alone = await served().patch(`/api/limited/${b}`, { name: 'vwxyz' })
  const refused = await update('limited', [
    { id: a, name: 'ok' },
    { id: b, name: 'vwxyz' },
  ])
  t.is(refused.status, alone.status)
  t.deepEqual(refused.body, alone.body)
  t.like((await served().get(`/api/limited/${a}`)).body, { name: 'abcde' })
})

only('a length that the table alone knows cuts no values', async (t) => {
  await run(`ALTER TABLE ${table('expressed')} ALTER COLUMN "name" TYPE VARCHAR(3)`)
  const [a, b] = await create('expressed', [{ name: 'a' }, { name: 'b' }])
  const alone = await served().patch(`/api/expressed/${b}`, { name: 'long' })
  const refused = await update('expressed', [
    { id: a, name: 'abc' },
    { id: b, name: 'long' },
  ])
  t.true(alone.status >= 400)
  t.is(refused.status, alone.status)
  t.deepEqual(refused.body, alone.body)
  t.like((await served().get(`/api/expressed/${a}`)).body, { name: 'a' })
})

only('padded texts and arrays are written one by one', async (t) => {
  const [a, b] = await create('padded', [{ code: 'a' }, { code: 'b' }])
  const padded = await update('padded', [
    { id: a, code: 'wxyz' },
    { id: b, code: 'v' },
  ])
  t.is(padded.status, 200, padded.text)
  if (isFast) t.is(padded.updates, 2)
  t.like(padded.body, [{ code: 'wxyz' }, { code: 'v' }])
  const [c, d] = await create('listed', [{ level: 1 }, { level: 2 }])
  const listed = await update('listed', [
    { id: c, list: [1, 2] },
    { id: d, list: [] },
  ])
  t.is(listed.status, 200, listed.text)
  t.like(listed.body, [{ list: [1, 2] }, { list: [] }])
})

only('padded keys are found as in updates of one record', async (t) => {
  await create('keyed', [
    { id: 'a', level: 1 },
    { id: 'b', level: 2 },
  ])
  const alone = await served().patch('/api/keyed/a', { level: 5 })
  const { status, body, text } = await update('keyed', [
    { id: 'b', level: 20 },
    { id: 'a', level: 10 },
  ])
  t.is(status, alone.status, text)
  t.deepEqual(body, [
    { ...alone.body, id: 'b', level: 20 },
    { ...alone.body, level: 10 },
  ])
})

only('keys of a collation without case are found as in updates of one record', async (t) => {
  await run("CREATE COLLATION folded_keys (provider = icu, locale = 'und-u-ks-level2', deterministic = false)")
  await run(`ALTER TABLE ${table('folded')} ALTER COLUMN "id" TYPE text COLLATE folded_keys`)
  await create('folded', [
    { id: 'a', level: 1 },
    { id: 'b', level: 2 },
  ])
  const alone = await served().patch('/api/folded/A', { level: 5 })
  const { status, text } = await update('folded', [
    { id: 'B', level: 20 },
    { id: 'A', level: 10 },
  ])
  t.is(status, alone.status, text)
  const exact = await update('folded', [
    { id: 'b', level: 20 },
    { id: 'a', level: 10 },
  ])
  t.is(exact.status, 200, exact.text)
})

only('a value that a CHECK refuses changes no record, and the response is that of one record', async (t) => {
  const [a, b] = await create('checked', [{ level: 1 }, { level: 2 }])
  await run(`ALTER TABLE ${table('checked')} ADD CONSTRAINT low CHECK ("level" < 100)`)
  const alone = await served().patch(`/api/checked/${b}`, { level: 100 })
  const refused = await update('checked', [
    { id: a, level: 10 },
    { id: b, level: 100 },
  ])
  t.is(refused.status, alone.status)
  t.deepEqual(refused.body, alone.body)
  t.like((await served().get(`/api/checked/${a}`)).body, { level: 1 })
  const missing = await update('checked', [
    { id: a, level: 10 },
    { id: 999_999, level: 11 },
  ])
  t.is(missing.status, 404)
  t.like((await served().get(`/api/checked/${a}`)).body, { level: 1 })
})

only('a trigger that changes another record of the request runs between the updates', async (t) => {
  const [a, b] = await create('chained', [{ level: 1 }, { level: 1 }])
  await run(`UPDATE ${table('chained')} SET "parent" = ${b} WHERE "id" = ${a}`)
  await run(
    `CREATE FUNCTION chain() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE ${table('chained')} SET "rowVersion" = "rowVersion" + 1 WHERE "id" = NEW."parent"; RETURN NEW; END $$`,
  )
  await run(
    `CREATE TRIGGER chained AFTER UPDATE OF "level" ON ${table('chained')} FOR EACH ROW EXECUTE FUNCTION chain()`,
  )
  const items = [
    { id: a, level: 5, rowVersion: 0 },
    { id: b, level: 7, rowVersion: 0 },
  ]
  t.is((await update('chained', items)).status, 412)
  t.like(await readStoredRow(served().sequelize.model('chained'), b), { level: 1, rowVersion: '0' })
  await run(`DROP TRIGGER chained ON ${table('chained')}`)
  await run('DROP FUNCTION chain()')
  const written = await update('chained', items)
  t.is(written.status, 200, written.text)
  if (isFast) t.is(written.updates, 1)
  t.like(await readStoredRow(served().sequelize.model('chained'), b), { level: 7, rowVersion: '1' })
})

only(
  'values move from record to record in the order of the request, under unique indexes and exclusion constraints',
  async (t) => {
    for (const [name, constraint] of [
      ['ranked', `CREATE UNIQUE INDEX ON ${table('ranked')} ("level")`],
      ['excluded', `ALTER TABLE ${table('excluded')} ADD EXCLUDE ("level" WITH =)`],
    ] as const) {
      await run(constraint)
      const ids = await create(name, [{ level: 1 }, { level: 2 }, { level: 3 }])
      const rising = ids.map((id, at) => ({ id, level: at + 2 }))
      t.is((await update(name, rising)).status, 409, name)
      const falling = await update(name, rising.toReversed())
      t.is(falling.status, 200, falling.text)
      if (isFast) t.is(falling.updates, 3)
    }
    const ids = await create('ranked', [{ level: 11 }, { level: 12 }])
    const others = await update(
      'ranked',
      ids.map((id, at) => ({ id, rank: at })),
    )
    if (isFast) t.is(others.updates, 1)
    await run(`CREATE UNIQUE INDEX ON ${table('ranked')} (("rank" + 1))`)
    const expressed = await update('ranked', ids.map((id, at) => ({ id, rank: at + 1 })).toReversed())
    t.is(expressed.status, 200, expressed.text)
    if (isFast) t.is(expressed.updates, 2)
  },
)

only('a column with a name of the table of values is written', async (t) => {
  const [a, b] = await create('named', [{ level: 1 }, { level: 2 }])
  const items = [
    { id: a, level: 10, other: 11 },
    { id: b, level: 20, other: 21 },
  ]
  const { status, body, text, updates } = await update('named', items)
  t.is(status, 200, text)
  if (isFast) t.is(updates, 2)
  t.deepEqual(body, items)
})

only('inherited tables and rules are written one by one', async (t) => {
  const [a, b] = await create('parents', [{ level: 1 }, { level: 2 }])
  await run(`CREATE TABLE heirs () INHERITS (${table('parents')})`)
  const inherited = await update('parents', [
    { id: a, level: 10 },
    { id: b, level: 20 },
  ])
  if (isFast) t.is(inherited.updates, 2)
  t.like(inherited.body, [{ level: 10 }, { level: 20 }])
  await run('DROP TABLE heirs')
  await served()
    .sequelize.model('ruled')
    .bulkCreate([{ level: 1 }, { level: 2 }])
  const [c, d] = [1, 2]
  await run(`CREATE RULE kept AS ON UPDATE TO ${table('ruled')} WHERE NEW."level" > 100 DO INSTEAD NOTHING`)
  const alone = await served().patch(`/api/ruled/${d}`, { level: 200 })
  const ruled = await update('ruled', [
    { id: c, level: 10 },
    { id: d, level: 200 },
  ])
  t.is(ruled.status, alone.status)
  t.deepEqual(ruled.body, alone.body)
  t.like((await served().get(`/api/ruled/${c}`)).body, { level: 1 })
  const kept = await update('ruled', [
    { id: c, level: 10 },
    { id: d, level: 20 },
  ])
  if (isFast) t.is(kept.updates, 2)
  t.like(kept.body, [{ level: 10 }, { level: 20 }])
})

only('records outside the scope are not found, and nothing is written', async (t) => {
  const [a, b] = await create('guarded', [{ level: 1 }, { level: 2 }])
  const items = [
    { id: a, level: 10 },
    { id: b, level: 20 },
  ]
  const own = await update('guarded', items)
  t.is(own.status, 200, own.text)
  if (isFast) t.is(own.updates, 1)
  await run(`UPDATE ${table('guarded')} SET "owner" = 3 WHERE "id" = ${b}`)
  t.is((await update('guarded', [{ id: a, level: 11 }, items[1] ?? {}])).status, 404)
  t.like((await served().get(`/api/guarded/${a}`)).body, { level: 10 })
})

only('a table with row policies is written one by one', async (t) => {
  const [a, b] = await create('expressed', [{ level: 1 }, { level: 2 }])
  const items = [
    { id: a, level: 10 },
    { id: b, level: 20 },
  ]
  const before = await update('expressed', items)
  if (isFast) t.is(before.updates, 1)
  await run(`ALTER TABLE ${table('expressed')} ENABLE ROW LEVEL SECURITY`)
  const after = await update('expressed', items.toReversed())
  if (isFast) t.is(after.updates, 2)
  t.like(after.body, [{ level: 20 }, { level: 10 }])
})
