// Text is compared exactly, and folded where `/i` asks for it, whatever the collation and character set of its column:
// held against what JavaScript makes of the same texts.

import ava from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { CrudConfigError, crudController, crudRouter, Operations } from '../../../lib/index.js'
import { databaseName, openDatabase } from '../../support/database.js'
import { list } from '../../support/lists.js'
import { accessesOf } from '../../support/plans.js'
import type { TestClient } from '../../support/server.js'
import { type DatabaseName, versionOf } from '../../support/servers.js'
import { onConnect } from '../../support/session.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

const isMysql = databaseName === 'mysql' || databaseName === 'mariadb'
// The driver mysql2 speaks to both.
const isMariadb = (await versionOf(databaseName)).startsWith('MariaDB')

const mysqlColumns: readonly (readonly [name: string, type: string])[] = [
  ['general', 'VARCHAR(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci'],
  ['unicode', 'VARCHAR(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci'],
  ['binary', 'VARCHAR(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin'],
  ['narrow', 'VARCHAR(100) CHARACTER SET utf8mb3 COLLATE utf8mb3_general_ci'],
]

/** Columns of text as tables have them that Sequelize did not make; the model calls each of them STRING. */
const COLUMNS: Readonly<Record<DatabaseName, readonly (readonly [name: string, type: string])[]>> = {
  sqlite: [
    ['plain', 'VARCHAR(100)'],
    ['nocase', 'VARCHAR(100) COLLATE NOCASE'],
    ['rtrim', 'VARCHAR(100) COLLATE RTRIM'],
  ],
  mysql: mysqlColumns,
  mariadb: [...mysqlColumns, ['nopad', 'VARCHAR(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_nopad_ci']],
  postgres: [
    ['plain', 'VARCHAR(100)'],
    ['c', 'VARCHAR(100) COLLATE "C"'],
    ['icu', 'VARCHAR(100) COLLATE "pl-x-icu"'],
    ['citext', 'CITEXT'],
    ['folding', 'VARCHAR(100) COLLATE folding'],
  ],
}

const columns = COLUMNS[databaseName]
const NARROW = 'narrow'

const TEXTS = [
  ...['abc', 'ABC', 'Abc', 'abc ', ' abc', 'äbc', 'ÄBC', 'Łódź', 'łÓDŹ', 'straße', 'strasse', 'xabcx', ''],
  ...['a%c', 'a_c', 'a*c', '[abc]', '\\', "o'x", 'caf\u00e9', 'cafe\u0301', '\u200dabc', '😀', '😁', 'a😀c'],
]

function textsOf(column: string): readonly string[] {
  return column === NARROW ? TEXTS.filter((text) => !/[\u{10000}-\u{10ffff}]/u.test(text)) : TEXTS
}

const served = await openStage(
  ({ sequelize }, app) => {
    const models = new Map<string, ModelStatic<Model>>()
    for (const [name] of columns) {
      const attributes = { text: DataTypes.STRING(100) }
      const options = { tableName: `t_${name}`, timestamps: false }
      models.set(name, sequelize.define(name, attributes, options))
      models.set(
        `${name}-found`,
        sequelize.define(`${name}Found`, attributes, { ...options, hooks: { beforeFind: () => undefined } }),
      )
    }
    for (const [name, model] of models) {
      app.use(crudRouter(model, { operations: Operations.AllWithBulk, route: `api/${name}` }))
    }
    return { models }
  },
  { sequelize: { logQueryParameters: true } },
)
const { models } = served
for (const [name, type] of columns) {
  const model = models.get(name)
  const { sequelize } = model ?? {}
  if (model === undefined || sequelize === undefined) throw new RangeError(name)
  await model.drop()
  if (databaseName === 'postgres') {
    await sequelize.query('CREATE EXTENSION IF NOT EXISTS citext')
    await sequelize.query(
      `CREATE COLLATION IF NOT EXISTS folding (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`,
    )
  }
  const id = { sqlite: 'INTEGER PRIMARY KEY', postgres: 'SERIAL PRIMARY KEY' }
  const key = isMysql ? 'INT PRIMARY KEY AUTO_INCREMENT' : id[databaseName === 'postgres' ? 'postgres' : 'sqlite']
  await sequelize.query(`CREATE TABLE t_${name} (id ${key}, text ${type})`)
  await sequelize.query(`CREATE INDEX i_${name} ON t_${name} (text)`)
}
const bytes = await openStage(({ sequelize }, app) => {
  const Byte = sequelize.define('Byte', { text: DataTypes.STRING(255, true) }, { timestamps: false })
  app.use(crudRouter(Byte, { operations: Operations.AllWithBulk, route: 'api/bytes' }))
  return { Byte }
})
const latin = isMysql
  ? await openStage(({ sequelize }, app) => {
      const Latin = sequelize.define('Latin', { text: DataTypes.STRING }, { timestamps: false, charset: 'latin1' })
      app.use(crudRouter(Latin, { operations: Operations.AllWithBulk, route: 'api/latin' }))
      return { Latin }
    })
  : null
for (const [name] of columns) {
  await served.post(
    `/api/${name}/bulk`,
    textsOf(name).map((text) => ({ text })),
  )
}
test.after.always(async () => {
  for (const server of [served, bytes, latin]) await server?.close()
})

/** A text as a filter has it. */
function operand(text: string): string {
  return text
    .replace(/[\\,|();/]/g, '\\$&')
    .replace(/^[ =<>]/, '\\$&')
    .replace(/(?<!\\) $/, '\\ ')
}

async function found(path: string, filter: string, server: TestClient = served): Promise<readonly string[]> {
  const { status, body, text } = await list(server, path, { filter, sort: 'id', pageSize: 1000 })
  if (status !== 200) throw new Error(`${path} ${filter}: ${status} ${text}`)
  return body.items.map((item: { text: string }) => item.text)
}

type Law = (stored: string, asked: string) => boolean

const LAWS: readonly (readonly [operator: string, law: Law])[] = [
  ['=', (stored, asked) => stored === asked],
  ['!=', (stored, asked) => stored !== asked],
  ['=*', (stored, asked) => stored.includes(asked)],
  ['!*', (stored, asked) => !stored.includes(asked)],
  ['^', (stored, asked) => stored.startsWith(asked)],
  ['$', (stored, asked) => stored.endsWith(asked)],
]

for (const [name, type] of columns) {
  test(`every operator compares exactly in a ${type}`, async (t) => {
    const stored = textsOf(name)
    const asked = TEXTS.flatMap((text) =>
      LAWS.filter(([operator]) => text !== '' || operator === '=' || operator === '!=').map(([operator, law]) => ({
        filter: `Text${operator}${operand(text)}`,
        expected: stored.filter((each) => law(each, text)),
        through: operator === '=' || operator === '^' ? [`/api/${name}`, `/api/${name}-found`] : [`/api/${name}`],
      })),
    )
    for (const { filter, expected, through } of asked) {
      for (const path of through) t.deepEqual(await found(path, filter), expected, filter)
    }
    const some = ['abc', 'straße', '😁', 'nobody']
    const listed = `Text=in=${some.join(';')}`
    t.deepEqual(
      await found(`/api/${name}`, listed),
      stored.filter((text) => some.includes(text)),
    )
    t.deepEqual(
      await found(`/api/${name}`, listed.replace('=in=', '=out=')),
      stored.filter((text) => !some.includes(text)),
    )
  })

  test(`/i finds a text by itself in any case, and no other letters, in a ${type}`, async (t) => {
    for (const asked of textsOf(name).filter((text) => text !== '')) {
      for (const operator of ['=', '=*', '^', '$', '=in=']) {
        const filter = `Text${operator}${operand(asked)}/i`
        t.true((await found(`/api/${name}`, filter)).includes(asked), filter)
      }
    }
    t.deepEqual(await found(`/api/${name}-found`, 'Text^AB/i'), await found(`/api/${name}`, 'Text^ab/i'))
    t.deepEqual(await found(`/api/${name}`, 'Text=ABC/i'), ['abc', 'ABC', 'Abc'])
    t.false((await found(`/api/${name}`, 'Text^A/i')).includes('äbc'))
    t.deepEqual(await found(`/api/${name}`, 'Text=STRASSE/i'), ['strasse'])
    // SQLite folds ASCII only.
    const folded = databaseName === 'sqlite' ? [] : ['Łódź', 'łÓDŹ']
    t.deepEqual(await found(`/api/${name}`, 'Text=ŁÓDŹ/i'), folded)
  })

  test(`equality and the first letters lead into the index of a ${type}`, async (t) => {
    // As many rows as make an index worth its while.
    const model = served.models.get(name)
    if (model === undefined) return t.fail()
    const rows = Array.from({ length: 3000 }, (_, index) => ({ text: `filler ${index}` }))
    await model.bulkCreate(rows)
    if (databaseName === 'postgres') await served.sequelize.query(`ANALYZE t_${name}`)
    for (const [filter, isIndexed] of [
      ['Text=filler 7', true],
      ['Text=in=filler 7;filler 8', true],
      // Of other collations than its own SQLite's GLOB knows no index, PostgreSQL's LIKE of none but "C".
      [
        'Text^filler 77',
        databaseName === 'sqlite' ? name === 'plain' : databaseName === 'postgres' ? name === 'c' : true,
      ],
    ] as const) {
      await found(`/api/${name}`, filter)
      const page = served.statements.findLast((line) => /FROM [`"]?t_/.test(line)) ?? ''
      const accesses = await accessesOf(served.sequelize, page)
      const seeks = accesses.some(({ index, seeks: isSought }) => index === `i_${name}` && isSought)
      t.is(seeks, isIndexed, `${filter}: ${page}`)
    }
    await model.destroy({ where: { text: rows.map(({ text }) => text) } })
  })
}

test('a STRING.BINARY is text in answers and filters, also where the database keeps it as bytes', async (t) => {
  const stored = ['abc', 'ABC', 'żółw', 'abc ', '😀', '']
  const { status, body } = await bytes.post(
    '/api/bytes/bulk',
    stored.map((text) => ({ text })),
  )
  t.is(status, 201)
  t.deepEqual(
    body.map(({ text }: { text: string }) => text),
    stored,
  )
  const rows: readonly (readonly [filter: string, texts: readonly string[]])[] = [
    ['Text=abc', ['abc']],
    ['Text!=abc', ['ABC', 'żółw', 'abc ', '😀', '']],
    ['Text=in=abc;żółw', ['abc', 'żółw']],
    ['Text=*b', ['abc', 'abc ']],
    ['Text^abc', ['abc', 'abc ']],
    ['Text$c', ['abc']],
    ['Text!$ółw', ['abc', 'ABC', 'abc ', '😀', '']],
    ['Text=ABC/i', ['abc', 'ABC']],
    ['Text^ab/i', ['abc', 'ABC', 'abc ']],
    ['Text=\\\\x616263', []],
    ['Text=a\\\\bc', []],
    ['Text=', ['']],
  ]
  for (const [filter, texts] of rows) t.deepEqual(await found('/api/bytes', filter, bytes), texts, filter)
})

if (latin !== null) {
  test('text beyond the character set of its column is 400 in bodies, and nothing is stored in its stead', async (t) => {
    for (const text of ['Łódź', '漢', '😀']) {
      const { status, body } = await latin.post('/api/latin', { text })
      t.is(status, 400, text)
      t.is(body.detail, 'A value does not fit its column.')
      t.is((await latin.post('/api/latin/bulk', [{ text: 'ok' }, { text }])).status, 400)
    }
    t.is(await latin.Latin.count(), 0)
    t.is((await latin.post('/api/latin', { text: 'äbc' })).body.text, 'äbc')
  })

  test('/i folds the letters of a column of another character set', async (t) => {
    const { body } = await latin.post('/api/latin/bulk', [{ text: 'Élan' }, { text: 'élan' }, { text: 'elan' }])
    const keys = body.map(({ id }: { id: number }) => id)
    for (const filter of ['Text=éLAN/i', 'Text^É/i', 'Text=*ÉL/i']) {
      const { body: page } = await list(latin, '/api/latin', { filter })
      t.deepEqual(
        page.items.map(({ id }: { id: number }) => id),
        keys.slice(0, 2),
        filter,
      )
    }
  })

  test('text beyond the character set of its column is 400 in orderings, and no error of the database', async (t) => {
    for (const operator of ['>', '<=']) {
      const { status, body } = await list(served, `/api/${NARROW}`, { filter: `Text${operator}😀` })
      t.is(status, 400)
      t.is(body.detail, 'A value has characters that its column cannot hold.')
    }
  })

  test('a session that is not strict cuts what does not fit, unless MySQL refuses it; the answer says what is stored', async (t) => {
    const lax = await openStage(({ sequelize }, app) => {
      onConnect(sequelize, "SET sql_mode = ''")
      const Lax = sequelize.define('Lax', { text: DataTypes.STRING }, { timestamps: false, charset: 'latin1' })
      app.use(crudRouter(Lax, { operations: Operations.AllWithBulk, route: 'api/lax' }))
      return { Lax }
    })
    t.teardown(() => lax.close())
    const many = await lax.post('/api/lax/bulk', [{ text: 'Łx' }])
    t.is(many.status, 201)
    t.is(many.body[0].text, '?x')
    t.deepEqual((await lax.get(`/api/lax/${many.body[0].id}`)).body, many.body[0])
    const { status, body } = await lax.post('/api/lax', { text: 'Łx' })
    if (isMariadb) {
      t.is(status, 201)
      t.is(body.text, '?x')
      t.deepEqual((await lax.get(`/api/lax/${body.id}`)).body, body)
    } else {
      // Sequelize binds the values of one record, and MySQL refuses to convert what is bound in every mode.
      t.is(status, 400)
      t.is(body.detail, 'A value does not fit its column.')
      t.is(await lax.Lax.count(), 1)
    }
    // What the model knows of is refused before the database could cut it.
    t.is((await lax.post('/api/lax', { text: 'x'.repeat(256) })).status, 400)
  })

  // The drivers send a character that the connection's set lacks as its last byte: U+0127 as a quote.
  for (const driver of [
    { charset: 'latin1' },
    { charset: 'LATIN1_SWEDISH_CI' },
    { charset: 'ascii' },
    { charset: 'binary' },
  ]) {
    test(`a connection of ${driver.charset} is refused at mount: escaping is not safe in it`, async (t) => {
      const database = await openDatabase({ dialectOptions: driver })
      t.teardown(() => database.close())
      const Note = database.sequelize.define('Note', { text: DataTypes.STRING }, { timestamps: false })
      const options = { instanceOf: CrudConfigError, code: 'UNSAFE_CONNECTION', message: /utf8mb4/ }
      t.throws(() => crudRouter(Note), options)
      t.throws(() => crudController(Note), options)
    })
  }

  test('connections of the UTF-8 family are taken, and quotes of all kinds are text in them', async (t) => {
    for (const charset of ['utf8mb4', 'utf8']) {
      const { warn } = console
      console.warn = () => undefined
      const notes = await openStage(
        ({ sequelize }, app) => {
          const Note = sequelize.define('Note', { text: DataTypes.STRING }, { timestamps: false })
          app.use(crudRouter(Note))
          return { Note }
        },
        { sequelize: { dialectOptions: { charset } } },
      )
      try {
        for (const text of ["x' OR 1=1 -- ", 'x\u0127 OR 1=1 -- ', 'x\u5c27', "x\\' OR 1=1 -- ", 'x"']) {
          const { status, body } = await notes.post('/api/notes', { text })
          t.is(status, 201)
          t.is(body.text, text)
          const answer = await list(notes, '/api/notes', { text })
          t.deepEqual(answer.body.items, [body])
        }
      } finally {
        console.warn = warn
        await notes.close()
      }
    }
  })
}
