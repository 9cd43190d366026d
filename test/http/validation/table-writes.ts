// Tables that decide over writes: triggers and policies that skip them without an error, keys and values that the table makes.

import ava, { type ExecutionContext } from 'ava'
import { DataTypes, type Model, type ModelStatic, QueryTypes, type Sequelize } from 'sequelize'
import { type CrudOptions, crudRouter, Operations } from '../../../lib/index.js'
import { databaseName, openAgain } from '../../support/database.js'
import type { Answer, TestServer } from '../../support/server.js'
import { onConnect } from '../../support/session.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

const isMysql = databaseName === 'mysql' || databaseName === 'mariadb'
const isPostgres = databaseName === 'postgres'
const isSqlite = databaseName === 'sqlite'

interface Bench extends TestServer {
  readonly sequelize: Sequelize
  readonly heard: unknown[]
  readonly rows: (sql: string) => Promise<readonly object[]>
}

const operations = Operations.AllWithBulk | Operations.BulkUpdate | Operations.Replace
const HOOKS = { beforeSave: () => undefined, beforeDestroy: () => undefined, beforeRestore: () => undefined }

/** Tables of a database, and over them models that have no hook, as `plain...`, and models that have one, as `hooked...`. */
async function bench(
  t: ExecutionContext,
  sql: readonly string[],
  mount: (define: (name: string, columns: object, options?: object, crud?: CrudOptions) => ModelStatic<Model>) => void,
  role: string | null = null,
): Promise<Bench> {
  const server = await openStage()
  const { app, sequelize } = server
  const admin = openAgain(sequelize)
  for (const each of sql) await admin.query(each)
  if (role !== null) {
    for (const what of ['TABLES', 'SEQUENCES']) {
      await admin.query(`GRANT ALL ON ALL ${what} IN SCHEMA public TO ${role}`)
    }
    onConnect(sequelize, `SET ROLE ${role}`)
  }
  await admin.close()
  const heard: unknown[] = []
  for (const [path, hooks] of [
    ['plain', {}],
    ['hooked', HOOKS],
  ] as const) {
    const routers: (() => void)[] = []
    mount((name, columns, options = {}, crud = {}) => {
      const model = sequelize.define(`${path}_${name}`, columns as never, {
        tableName: name,
        timestamps: false,
        hooks,
        ...options,
      })
      const onError = (error: unknown) => void heard.push(error)
      routers.push(() => app.use(crudRouter(model, { operations, route: `${path}/${name}`, onError, ...crud })))
      return model
    })
    for (const mountRouter of routers) mountRouter()
  }
  t.teardown(server.close)
  const rows = (text: string) => sequelize.query<object>(text, { type: QueryTypes.SELECT })
  return { ...server, heard, rows }
}

const KEY = isMysql
  ? 'INT PRIMARY KEY AUTO_INCREMENT'
  : isPostgres
    ? 'SERIAL PRIMARY KEY'
    : 'INTEGER PRIMARY KEY AUTOINCREMENT'

function assertSkipped(t: ExecutionContext, { status, body, text }: Answer, what: string): void {
  t.is(status, 409, `${what}: ${text}`)
  t.is(body.code, 'not-written', what)
  t.notRegex(text, /trigger|items|canary/, what)
}

/** Triggers of a table that leave a row out, and what they did before is to be undone. */
function skipping(table: string): readonly string[] {
  const events = [
    ['INSERT', 'NEW'],
    ['UPDATE', 'OLD'],
    ['DELETE', 'OLD'],
  ] as const
  if (isSqlite) {
    return events.map(
      ([event, row]) => `CREATE TRIGGER skip_${table}_${event} BEFORE ${event} ON ${table} WHEN ${row}.name LIKE 'skip%'
        BEGIN INSERT INTO log (event) VALUES ('${event}'); SELECT RAISE(IGNORE); END`,
    )
  }
  return [
    `CREATE OR REPLACE FUNCTION skip() RETURNS trigger LANGUAGE plpgsql AS
      $$BEGIN INSERT INTO log (event) VALUES (TG_OP); RETURN NULL; END$$`,
    ...events.map(
      ([event, row]) => `CREATE TRIGGER skip_${event} BEFORE ${event} ON ${table} FOR EACH ROW
        WHEN (${row}.name LIKE 'skip%') EXECUTE FUNCTION skip()`,
    ),
  ]
}

const COLUMNS = {
  code: { type: DataTypes.STRING, unique: true },
  name: DataTypes.STRING,
  note: DataTypes.STRING,
  ownerId: DataTypes.INTEGER,
}

const TABLES = [
  'CREATE TABLE log (event VARCHAR(20))',
  `CREATE TABLE owners (id ${KEY}, name VARCHAR(20))`,
  `CREATE TABLE items (id ${KEY}, code VARCHAR(20) UNIQUE, name VARCHAR(20), note VARCHAR(20), "ownerId" INT, "deletedAt" TIMESTAMP)`,
]

async function serveSkipping(t: ExecutionContext): Promise<Bench> {
  const rows = [
    "INSERT INTO owners (name) VALUES ('canary'), ('a'), ('b')",
    "INSERT INTO items (code, name, note) VALUES ('a', 'canary', 'other tenant'), ('b', 'skip', 'stays'), ('c', 'plain', 'goes')",
  ]
  return bench(t, [...TABLES, ...rows, ...skipping('items')], (define) => {
    const Owner = define('owners', { name: DataTypes.STRING }, {}, { relations: { items: { write: true } } })
    const Item = define('items', COLUMNS)
    Owner.hasMany(Item, { foreignKey: 'ownerId', as: 'items' })
  })
}

const PATHS = ['/plain', '/hooked'] as const

if (!isMysql) {
  test('a new record that a trigger skips is 409, and no other record is shown', async (t) => {
    const { post, send, rows, heard } = await serveSkipping(t)
    const before = await rows('SELECT * FROM items ORDER BY id')
    for (const path of PATHS) {
      const url = `${path}/items`
      t.is((await post(`${path}/owners`, { name: 'last insert id' })).status, 201)
      assertSkipped(t, await post(url, { name: 'skip' }), `POST ${url}`)
      for (const many of [['skip'], ['x', 'skip'], ['skip', 'x'], ['x', 'skip', 'y']]) {
        assertSkipped(
          t,
          await post(
            `${url}/bulk`,
            many.map((name) => ({ name })),
          ),
          `bulk ${url} ${many}`,
        )
      }
      assertSkipped(t, await post(`${url}`, { id: 1, name: 'skip' }), `POST ${url} with a key that is there`)
      assertSkipped(
        t,
        await send('PUT', `${url}/bulk?by=code`, { json: [{ code: 'z', name: 'skip' }] }),
        `upsert ${url}`,
      )
    }
    t.deepEqual(await rows('SELECT * FROM items ORDER BY id'), before)
    t.deepEqual(await rows('SELECT * FROM log'), [])
    t.deepEqual(heard, [])
  })

  test('a change that a trigger skips is 409, not 404, and nothing of it stays', async (t) => {
    const { patch, send, rows, heard, delete: remove, post } = await serveSkipping(t)
    const before = await rows('SELECT * FROM items ORDER BY id')
    for (const path of PATHS) {
      const url = `${path}/items`
      assertSkipped(t, await patch(`${url}/2`, { note: 'x' }), `PATCH ${url}`)
      assertSkipped(t, await send('PUT', `${url}/2`, { json: { name: 'y' } }), `PUT ${url}`)
      const many = [
        { id: 3, note: 'x' },
        { id: 2, note: 'x' },
      ]
      assertSkipped(t, await patch(`${url}/bulk`, many), `bulk PATCH ${url}`)
      assertSkipped(
        t,
        await send('PUT', `${url}/bulk?by=code`, {
          json: [
            { code: 'c', note: 'x' },
            { code: 'b', note: 'x' },
          ],
        }),
        `upsert ${url}`,
      )
      assertSkipped(t, await remove(`${url}/2`), `DELETE ${url}`)
      assertSkipped(t, await post(`${url}/bulk-delete`, [3, 2]), `bulk delete ${url}`)
      t.is((await patch(`${url}/99`, { note: 'x' })).status, 404)
      t.is((await remove(`${url}/99`)).status, 404)
    }
    t.deepEqual(await rows('SELECT * FROM items ORDER BY id'), before)
    t.deepEqual(await rows('SELECT * FROM log'), [])
    t.is((await patch('/plain/items/3', { note: 'x' })).status, 200)
    t.is((await patch('/hooked/items/3', { note: 'y' })).body.note, 'y')
    t.is((await remove('/hooked/items/3')).status, 204)
    t.deepEqual(heard, [])
  })

  test('a soft delete and a restore that a trigger skips are 409', async (t) => {
    const rows = [
      "INSERT INTO items (name) VALUES ('skip')",
      `INSERT INTO items (name, "deletedAt") VALUES ('skip', '2020-01-01')`,
    ]
    const served = await bench(t, [...TABLES, ...rows, ...skipping('items')], (define) => {
      define(
        'items',
        COLUMNS,
        { paranoid: true, timestamps: true, createdAt: false, updatedAt: false },
        {
          softDelete: true,
          operations: operations | Operations.Restore,
          restorePolicy: () => true,
        },
      )
    })
    for (const path of PATHS) {
      assertSkipped(t, await served.delete(`${path}/items/1`), `DELETE ${path}`)
      assertSkipped(t, await served.post(`${path}/items/bulk-delete`, [1]), `bulk delete ${path}`)
      assertSkipped(t, await served.post(`${path}/items/2/restore`, undefined), `restore ${path}`)
    }
    t.deepEqual(await served.rows('SELECT * FROM log'), [])
  })

  test('what a trigger skips of the records in a body undoes the whole request', async (t) => {
    const { post, patch, rows } = await serveSkipping(t)
    for (const path of PATHS) {
      const url = `${path}/owners`
      assertSkipped(t, await post(url, { name: 'new', items: [{ name: 'x' }, { name: 'skip' }] }), `POST ${url}`)
      assertSkipped(t, await patch(`${url}/2`, { name: 'new', items: [{ name: 'skip' }] }), `PATCH ${url}`)
    }
    t.deepEqual(await rows('SELECT name FROM owners ORDER BY id'), [{ name: 'canary' }, { name: 'a' }, { name: 'b' }])
    t.deepEqual(await rows('SELECT * FROM log'), [])
  })
}

if (isSqlite) {
  test('what ON CONFLICT IGNORE leaves out is 409, whichever record it is a conflict with', async (t) => {
    const served = await bench(
      t,
      [
        `CREATE TABLE items (id ${KEY}, code VARCHAR(20), name VARCHAR(20) UNIQUE ON CONFLICT IGNORE, note VARCHAR(20), "ownerId" INT)`,
        "INSERT INTO items (name, note) VALUES ('a', 'canary'), ('b', 'mine')",
      ],
      (define) => define('items', COLUMNS),
    )
    for (const path of PATHS) {
      const url = `${path}/items`
      assertSkipped(t, await served.post(url, { name: 'a' }), `POST ${url}`)
      assertSkipped(t, await served.post(`${url}/bulk`, [{ name: 'c' }, { name: 'a' }]), `bulk ${url}`)
      assertSkipped(t, await served.patch(`${url}/2`, { name: 'a' }), `PATCH ${url}`)
    }
    t.is((await served.rows('SELECT * FROM items')).length, 2)
  })

  test('an upsert within a trigger stays one', async (t) => {
    const served = await bench(
      t,
      [
        ...TABLES,
        'CREATE TABLE last (one INTEGER PRIMARY KEY, id INT)',
        `CREATE TRIGGER keeps AFTER INSERT ON items BEGIN INSERT OR REPLACE INTO last VALUES (1, NEW.id); END`,
      ],
      (define) => define('items', COLUMNS),
    )
    for (const path of PATHS) {
      for (const name of ['a', 'b']) t.is((await served.post(`${path}/items`, { name })).status, 201)
    }
  })

  test('RAISE(FAIL) leaves nothing of a request behind', async (t) => {
    const served = await bench(
      t,
      [
        ...TABLES,
        `CREATE TRIGGER fails BEFORE INSERT ON items WHEN NEW.name = 'no' BEGIN SELECT RAISE(FAIL, 'no'); END`,
      ],
      (define) => define('items', COLUMNS),
    )
    for (const path of PATHS) {
      t.is((await served.post(`${path}/items/bulk`, [{ name: 'a' }, { name: 'no' }])).status, 409)
    }
    t.deepEqual(await served.rows('SELECT * FROM items'), [])
  })
}

if (isPostgres) {
  test('a change that a row policy hides is 409 where the record can be read', async (t) => {
    const served = await bench(
      t,
      [
        ...TABLES,
        "INSERT INTO items (name, note) VALUES ('a', 'read only'), ('b', 'mine')",
        'ALTER TABLE items ENABLE ROW LEVEL SECURITY',
        'CREATE POLICY seen ON items FOR SELECT USING (true)',
        "CREATE POLICY changed ON items FOR UPDATE USING (note = 'mine')",
        "CREATE POLICY removed ON items FOR DELETE USING (note = 'mine')",
      ],
      (define) => define('items', COLUMNS),
      'pg_monitor',
    )
    for (const path of PATHS) {
      const url = `${path}/items`
      assertSkipped(t, await served.patch(`${url}/1`, { name: 'x' }), `PATCH ${url}`)
      assertSkipped(t, await served.delete(`${url}/1`), `DELETE ${url}`)
      assertSkipped(t, await served.post(`${url}/bulk-delete`, [1, 2]), `bulk delete ${url}`)
      assertSkipped(t, await served.patch(`${url}/bulk`, [{ id: 1, name: 'x' }]), `bulk PATCH ${url}`)
      t.is((await served.patch(`${url}/2`, { name: 'x' })).status, 200)
      t.is((await served.patch(`${url}/9`, { name: 'x' })).status, 404)
    }
  })

  test('children and links that a row policy keeps from being changed are 409 where they can be read', async (t) => {
    const policies = (table: string) => [
      `ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY`,
      `CREATE POLICY seen ON ${table} FOR SELECT USING (true)`,
      `CREATE POLICY made ON ${table} FOR INSERT WITH CHECK (true)`,
      `CREATE POLICY changed ON ${table} FOR UPDATE USING (note = 'mine')`,
      `CREATE POLICY removed ON ${table} FOR DELETE USING (note = 'mine')`,
    ]
    const served = await bench(
      t,
      [
        ...TABLES,
        `CREATE TABLE ties ("ownerId" INT, "labelId" INT, note VARCHAR(20), PRIMARY KEY ("ownerId", "labelId"))`,
        `CREATE TABLE labels (id ${KEY}, name VARCHAR(20))`,
        "INSERT INTO owners (name) VALUES ('a')",
        "INSERT INTO labels (name) VALUES ('a'), ('b'), ('c')",
        `INSERT INTO items (name, note, "ownerId") VALUES ('a', 'read only', 1), ('b', 'mine', 1)`,
        "INSERT INTO ties VALUES (1, 1, 'read only'), (1, 2, 'mine')",
        ...policies('items'),
        ...policies('ties'),
      ],
      (define) => {
        const both = { routes: true, write: true }
        const Owner = define('owners', { name: DataTypes.STRING }, {}, { relations: { children: both, labels: both } })
        const Label = define('labels', { name: DataTypes.STRING })
        const Tie = define('ties', {
          ownerId: { type: DataTypes.INTEGER, primaryKey: true },
          labelId: { type: DataTypes.INTEGER, primaryKey: true },
          note: DataTypes.STRING,
        })
        Owner.hasMany(define('items', COLUMNS), { foreignKey: 'ownerId', as: 'children' })
        Owner.belongsToMany(Label, { through: Tie, foreignKey: 'ownerId', otherKey: 'labelId', as: 'labels' })
      },
      'pg_monitor',
    )
    const stored = () =>
      Promise.all([served.rows('SELECT * FROM items ORDER BY id'), served.rows('SELECT * FROM ties ORDER BY 2')])
    const before = await stored()
    const put = (path: string, json: unknown) => served.send('PUT', path, { json })
    for (const path of PATHS) {
      const owner = `${path}/owners/1`
      const changed = { children: [{ id: 1, name: 'x' }, { id: 2 }] }
      assertSkipped(t, await served.patch(owner, { children: [] }), `${path}: all children removed`)
      assertSkipped(t, await served.patch(owner, { children: [{ id: 2 }] }), `${path}: one child removed`)
      assertSkipped(t, await served.patch(owner, changed), `${path}: one child changed`)
      assertSkipped(t, await served.patch(`${path}/owners/bulk`, [{ id: 1, children: [] }]), `${path}: in bulk`)
      assertSkipped(t, await put(`${owner}/labels`, []), `${path}: all links undone`)
      assertSkipped(t, await put(`${owner}/labels`, [2, 3]), `${path}: one link undone`)
      assertSkipped(t, await served.patch(owner, { labels: [2] }), `${path}: one link left out`)
      assertSkipped(t, await served.delete(`${owner}/labels/1`), `${path}: one link deleted`)
      t.deepEqual(await stored(), before)
    }
    for (const path of PATHS) {
      const kept = await served.patch(`${path}/owners/1`, { children: [{ id: 1 }, { id: 2, name: 'y' }] })
      t.is(kept.status, 200, kept.text)
      const linked = await put(`${path}/owners/1/labels`, [1, 2])
      t.is(linked.status, 200, linked.text)
    }
  })

  test('a deletion that a trigger makes a mark of, which the default scope hides, is done', async (t) => {
    const served = await bench(
      t,
      [
        ...TABLES,
        "INSERT INTO items (name, note) VALUES ('a', 'x'), ('b', 'x')",
        `CREATE FUNCTION mark() RETURNS trigger LANGUAGE plpgsql AS
          $$BEGIN UPDATE items SET "deletedAt" = now() WHERE id = OLD.id; RETURN NULL; END$$`,
        'CREATE TRIGGER mark BEFORE DELETE ON items FOR EACH ROW EXECUTE FUNCTION mark()',
      ],
      (define) =>
        define('items', { ...COLUMNS, deletedAt: DataTypes.DATE }, { defaultScope: { where: { deletedAt: null } } }),
    )
    for (const [index, path] of PATHS.entries()) {
      t.is((await served.delete(`${path}/items/${index + 1}`)).status, 204)
      t.is((await served.get(`${path}/items/${index + 1}`)).status, 404)
    }
    t.is((await served.rows('SELECT * FROM items')).length, 2)
  })
}

/** A POST to each path, alone and in bulk, and what came back, without the keys. */
async function assertMade(
  t: ExecutionContext,
  served: Bench,
  name: string,
  isKnown: (path: string) => boolean,
): Promise<void> {
  for (const path of PATHS) {
    const url = `${path}/${name}`
    const { status, headers, body, text } = await served.post(url, { name: 'a' })
    t.is(status, 201, text)
    t.is(body.name, 'a')
    if (isKnown(path)) {
      t.not(body.id ?? null, null)
      t.is(headers.get('location'), `${url}/${body.id}`)
      t.is((await served.get(`${url}/${body.id}`)).body.name, 'a')
    } else {
      t.false('id' in body, text)
      t.is(headers.get('location'), null)
    }
    const many = await served.post(`${url}/bulk`, [{ name: 'b' }, { name: 'c' }])
    t.is(many.status, 201, many.text)
    t.deepEqual(
      many.body.map((each: { name: string }) => each.name),
      ['b', 'c'],
    )
    for (const each of many.body) {
      if ('id' in each) t.is((await served.get(`${url}/${each.id}`)).body.name, each.name)
    }
  }
  t.is((await served.rows(`SELECT * FROM ${name} WHERE id IS NOT NULL`)).length, 6)
  t.deepEqual(served.heard, [])
}

const ID = { id: { type: DataTypes.STRING(40), primaryKey: true }, name: DataTypes.STRING }
const GIVEN = { fields: { id: { rules: { required: false } } } }

const RANDOM = isSqlite ? '(lower(hex(randomblob(8))))' : isPostgres ? 'md5(random()::text)' : '(uuid())'

test('a key that the table has a default for is left to it, and read back where the database returns rows', async (t) => {
  const served = await bench(
    t,
    [`CREATE TABLE made (id VARCHAR(40) PRIMARY KEY DEFAULT ${RANDOM}, name VARCHAR(20))`],
    (define) => define('made', ID, {}, GIVEN),
  )
  await assertMade(t, served, 'made', (path) => isPostgres || path === '/plain')
})

test('a key that a trigger makes is never a null', async (t) => {
  const trigger = isSqlite
    ? [
        `CREATE TRIGGER makes AFTER INSERT ON made WHEN NEW.id IS NULL
          BEGIN UPDATE made SET id = ${RANDOM} WHERE rowid = NEW.rowid; END`,
      ]
    : isPostgres
      ? [
          `CREATE FUNCTION makes() RETURNS trigger LANGUAGE plpgsql AS
            $$BEGIN NEW.id := coalesce(NEW.id, ${RANDOM}); RETURN NEW; END$$`,
          'CREATE TRIGGER makes BEFORE INSERT ON made FOR EACH ROW EXECUTE FUNCTION makes()',
        ]
      : ['CREATE TRIGGER makes BEFORE INSERT ON made FOR EACH ROW SET NEW.id = coalesce(nullif(NEW.id, ""), uuid())']
  const served = await bench(
    t,
    [`CREATE TABLE made (id VARCHAR(40) PRIMARY KEY${isMysql ? ' DEFAULT ""' : ''}, name VARCHAR(20))`, ...trigger],
    (define) => define('made', ID, {}, GIVEN),
  )
  await assertMade(t, served, 'made', (path) => isPostgres || (isMysql && path === '/plain'))
})

if (!isMysql) {
  test('a record that a view stores by a trigger is told as stored, and no other record is shown', async (t) => {
    const view = isSqlite
      ? [
          'CREATE VIEW made AS SELECT id, name FROM base',
          'CREATE TRIGGER adds INSTEAD OF INSERT ON made BEGIN INSERT INTO base (name) VALUES (NEW.name); END',
          'CREATE TRIGGER changes INSTEAD OF UPDATE ON made BEGIN UPDATE base SET name = NEW.name WHERE id = OLD.id; END',
          'CREATE TRIGGER removes INSTEAD OF DELETE ON made BEGIN DELETE FROM base WHERE id = OLD.id; END',
        ]
      : [
          'CREATE VIEW made AS SELECT id, name FROM base OFFSET 0',
          `CREATE FUNCTION change() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
            IF TG_OP = 'INSERT' THEN INSERT INTO base (name) VALUES (NEW.name) RETURNING id INTO NEW.id; RETURN NEW; END IF;
            IF TG_OP = 'UPDATE' THEN UPDATE base SET name = NEW.name WHERE id = OLD.id; RETURN NEW; END IF;
            DELETE FROM base WHERE id = OLD.id; RETURN OLD;
          END$$`,
          'CREATE TRIGGER change INSTEAD OF INSERT OR UPDATE OR DELETE ON made FOR EACH ROW EXECUTE FUNCTION change()',
        ]
    const served = await bench(t, [`CREATE TABLE base (id ${KEY}, name VARCHAR(20))`, ...view], (define) => {
      // Documents would promise a key that counts by itself.
      define('made', { id: { type: DataTypes.INTEGER, primaryKey: true }, name: DataTypes.STRING }, {}, GIVEN)
      define('base', { name: DataTypes.STRING })
    })
    // The insert id of the connection is that of another record.
    for (const path of PATHS) t.is((await served.post(`${path}/base`, { name: 'canary' })).status, 201)
    await served.sequelize.query("DELETE FROM base WHERE name <> 'canary'")
    for (const path of PATHS) {
      const { status, headers, body } = await served.post(`${path}/made`, { name: 'a' })
      t.is(status, 201)
      t.is(body.name, 'a')
      t.is(headers.get('location'), isPostgres ? `${path}/made/${body.id}` : null)
      t.is('id' in body, isPostgres)
      const { body: many } = await served.post(`${path}/made/bulk`, [{ name: 'b' }, { name: 'c' }])
      t.deepEqual(
        many.map(({ name }: { name: string }) => name),
        ['b', 'c'],
      )
    }
    const ids = (await served.rows("SELECT id FROM base WHERE name <> 'canary' ORDER BY id")).map((row) =>
      Reflect.get(row, 'id'),
    )
    t.is(ids.length, 6)
    for (const [index, path] of PATHS.entries()) {
      const { status, body } = await served.patch(`${path}/made/${ids[index]}`, { name: 'z' })
      t.is(status, 200)
      t.is(body.name, 'z')
      t.is((await served.delete(`${path}/made/${ids[index]}`)).status, 204)
      t.is((await served.delete(`${path}/made/${ids[index]}`)).status, 404)
      const [first, second] = ids.slice(2 + 2 * index)
      t.deepEqual((await served.post(`${path}/made/bulk-delete`, [first, second, 999])).body, { deleted: 2 })
    }
    t.deepEqual(served.heard, [])
  })
}

if (isMysql) {
  test('a key that is counted under NO_AUTO_VALUE_ON_ZERO is told', async (t) => {
    const served = await bench(t, [`CREATE TABLE made (id ${KEY}, name VARCHAR(20))`], (define) =>
      define('made', { name: DataTypes.STRING }),
    )
    onConnect(served.sequelize, "SET SESSION sql_mode = CONCAT(@@sql_mode, ',NO_AUTO_VALUE_ON_ZERO')")
    await assertMade(t, served, 'made', () => true)
  })
}

test('a bulk create of unlike items leaves to the table what an item leaves out', async (t) => {
  const served = await bench(
    t,
    [
      `CREATE TABLE owners (id ${KEY}, name VARCHAR(20))`,
      `CREATE TABLE things (id ${KEY}, name VARCHAR(20), a VARCHAR(20) DEFAULT 'own', b VARCHAR(20), ${isMysql ? 'ownerId' : '"ownerId"'} INT)`,
    ],
    (define) => {
      const Owner = define('owners', { name: DataTypes.STRING }, {}, { relations: { things: { write: true } } })
      const Thing = define('things', {
        name: DataTypes.STRING,
        a: DataTypes.STRING,
        b: DataTypes.STRING,
        ownerId: DataTypes.INTEGER,
      })
      Owner.hasMany(Thing, { foreignKey: 'ownerId', as: 'things' })
    },
  )
  const items = [{ name: 'a' }, { name: 'b', a: 'x' }, { name: 'c', b: 'y' }, { name: 'd', a: null }]
  const expected = ['own', 'x', 'own', null]
  const of = (all: readonly { a: unknown }[]) => all.map(({ a }) => a)
  for (const path of PATHS) {
    t.deepEqual(of((await served.post(`${path}/things/bulk`, items)).body), expected)
    const { body } = await served.post(`${path}/owners`, { name: 'o', things: items })
    t.deepEqual(of(body.things), expected)
    const patched = await served.patch(`${path}/owners/${body.id}`, { things: items })
    t.deepEqual(of(patched.body.things), expected)
  }
  const stored = await served.rows('SELECT a, b FROM things ORDER BY id')
  t.deepEqual(of(stored as never), [...expected, ...expected, ...expected, ...expected].slice(0, stored.length))
})

if (isMysql) {
  test('a table without transactions is warned of at its first write, once', async (t) => {
    const warnings: Error[] = []
    const listen = (warning: Error): void => {
      if (Reflect.get(warning, 'code') === 'CRUD_NO_TRANSACTIONS') warnings.push(warning)
    }
    process.on('warning', listen)
    t.teardown(() => process.off('warning', listen))
    const served = await bench(
      t,
      [
        `CREATE TABLE things (id ${KEY}, name VARCHAR(20)) ENGINE = MyISAM`,
        `CREATE TABLE safe (id ${KEY}, name VARCHAR(20))`,
      ],
      (define) => {
        define('things', { name: DataTypes.STRING })
        define('safe', { name: DataTypes.STRING })
      },
    )
    for (let times = 0; times < 2; times += 1) {
      t.is((await served.post('/plain/things', { name: 'x' })).status, 201)
      t.is((await served.post('/plain/safe', { name: 'x' })).status, 201)
    }
    t.is(warnings.length, 1)
    t.regex(String(warnings[0]?.message), /plain_things: .*MyISAM/)
  })
}
