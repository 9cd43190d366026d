// What CONTRIBUTING.md says of adding things, done: a row in a table and a file, seen to work over HTTP. Nothing of lib/
// knows of what is added here.

import { once } from 'node:events'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import test from 'ava'
import express from 'express'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { BEHAVIOURS } from '../lib/behaviours.js'
import { requireField } from '../lib/common/columns.js'
import { addCondition, matchValue } from '../lib/common/predicates.js'
import { TABLES } from '../lib/compile/index.js'
import { flag } from '../lib/config/checks.js'
import { FORMATS, type Format } from '../lib/http/formats.js'
import { createRouter } from '../lib/http/router.js'
import { type CrudOptions, hasRole, Operations } from '../lib/index.js'
import { OPERATIONS } from '../lib/operations.js'
import { DIALECTS } from '../lib/sequelize/dialect/index.js'
import { sqlite } from '../lib/sequelize/dialect/sqlite.js'
import type { BehaviourDefinition } from '../types/behaviour.js'
import type { Dialect } from '../types/dialect.js'
import { node, root } from './support/consumer.js'
import { databaseName, openDatabase } from './support/database.js'
import { allowUndocumented } from './support/replies.js'
import { serve } from './support/server.js'
import { asUser, identityFromHeader, openStage } from './support/stage.js'

type Define = (name: string) => ModelStatic<Model>

// ---------------------------------------------------------------- a behaviour

declare module '../types/options.js' {
  interface CrudOptions<M extends Model = Model> {
    /** Records can be locked: a locked one is not written. */
    readonly locks?: boolean
  }
}

const locks: BehaviourDefinition = {
  options: { locks: flag },
  prepare: (_, { locks: isOn = false }) =>
    isOn
      ? {
          attributes: [{ name: 'locked', kind: 'flag' }],
          behaviour: () => ({
            headers: { 'X-Locks': 'on', Vary: 'X-Lock' },
            amend: ({ fields }, plan) =>
              plan.kind === 'update'
                ? { ...plan, where: addCondition(plan.where, matchValue(requireField(fields, 'locked'), true, true)) }
                : plan,
            around: async ({ operation, caller }, reply) => {
              if (caller.request.headers['x-dry'] !== undefined)
                return { status: 200, headers: {}, content: { kind: 'document', value: { operation } } }
              const sent = await reply()
              return { ...sent, headers: { ...sent.headers, 'X-Operation': operation } }
            },
          }),
        }
      : null,
}

test('a behaviour is a definition and a row: its option, check, attribute, headers, plans and replies', async (t) => {
  const tables = { ...TABLES, behaviours: [...BEHAVIOURS, locks] }
  let Note!: ModelStatic<Model>
  const stage = await openStage(({ sequelize }, app) => {
    const define: Define = (name) => sequelize.define(name, { text: DataTypes.STRING }, { timestamps: false })
    Note = define('Note')
    allowUndocumented(app)
    app.use(createRouter(tables, Note, { locks: true }))
    app.use(createRouter(tables, define('Plain'), {}))
    t.throws(() => createRouter(tables, define('Wrong'), { locks: 'yes' as never }), { code: 'INVALID_OPTION' })
    t.throws(() => createRouter(TABLES, define('Without'), { locks: true }), { code: 'UNKNOWN_OPTION' })
  })
  t.teardown(stage.close)
  const created = await stage.post('/api/notes', { text: 'a', locked: true })
  t.is(created.status, 201)
  t.deepEqual(created.body, { id: 1, text: 'a' }, 'an attribute of a behaviour is in no shape')
  t.is(created.headers.get('x-operation'), 'create')
  t.is(created.headers.get('x-locks'), 'on')
  t.is(created.headers.get('vary'), 'X-Lock')
  t.is((await stage.patch('/api/notes/1', { text: 'b' })).status, 200)
  await Note.update({ locked: true }, { where: { id: 1 } })
  t.is((await stage.patch('/api/notes/1', { text: 'c' })).status, 404)
  t.is((await stage.get('/api/notes/1')).body.text, 'b')
  t.deepEqual((await stage.delete('/api/notes/1', { 'x-dry': '1' })).body, { operation: 'delete' })
  t.is(
    (await stage.get('/api/notes?count=true')).body.count,
    1,
    'who answers in the stead of a reply does nothing else',
  )
  const plain = await stage.post('/api/plains', { text: 'a' })
  t.is(plain.status, 201)
  t.is(plain.headers.get('x-operation'), null, 'a resource without the behaviour pays nothing for it')
})

// ---------------------------------------------------------------- an operation

test('an operation is a row: its number, name, route, policy, 405, OPTIONS and documents follow from it', async (t) => {
  const peek = {
    flag: 1 << 20,
    method: 'get',
    path: '/:id/peek',
    intent: 'get',
    body: null,
    policy: 'getByIdPolicy',
    unset: null,
    hook: null,
    status: 200,
  } as const
  const tables = { ...TABLES, operations: { ...OPERATIONS, peek } }
  const options: CrudOptions = {
    identity: identityFromHeader,
    authorizePolicy: () => true,
    getByIdPolicy: ({ operation, identity }) => (operation as string) !== 'peek' || identity !== null,
  }
  const stage = await openStage(({ sequelize }, app) => {
    const define: Define = (name) => sequelize.define(name, { text: DataTypes.STRING }, { timestamps: false })
    app.use(createRouter(tables, define('Note'), { ...options, operations: Operations.All + peek.flag }))
    app.use(createRouter(tables, define('Named'), { operations: ['create', 'peek' as never] }))
    app.use(createRouter(tables, define('Without'), {}))
    t.throws(() => createRouter(TABLES, define('Unknown'), { operations: ['peek' as never] }), {
      code: 'UNKNOWN_OPERATION',
    })
    t.throws(() => createRouter(tables, define('Wrong'), { operations: 1 << 21, deletePolicy: hasRole('x') }), {
      code: 'INVALID_OPTION',
    })
  })
  t.teardown(stage.close)
  await stage.post('/api/notes', { text: 'a' })
  await stage.post('/api/nameds', { text: 'a' })
  await stage.post('/api/withouts', { text: 'a' })
  t.deepEqual((await stage.get('/api/notes/1/peek', asUser('jan'))).body, { id: 1, text: 'a' })
  t.is((await stage.get('/api/notes/2/peek', asUser('jan'))).status, 404)
  t.is((await stage.get('/api/notes/1/peek')).status, 401)
  const wrong = await stage.post('/api/notes/1/peek', {}, asUser('jan'))
  t.is(wrong.status, 405)
  t.is(wrong.headers.get('allow'), 'GET, HEAD, OPTIONS')
  t.is((await stage.get('/api/nameds/1/peek')).status, 200)
  t.is((await stage.get('/api/nameds/1')).status, 404)
  t.is((await stage.get('/api/withouts/1/peek')).status, 404)
})

// ---------------------------------------------------------------- a response format

/** A record a line, written one after the other. */
const csv: Format = {
  mediaType: 'text/csv',
  kinds: new Set(['page', 'records']),
  hasEntityTag: false,
  send: async (out, { kind, value }) => {
    const records = kind === 'page' ? value.items : kind === 'records' ? value : []
    out.setHeader('Content-Type', 'text/csv; charset=utf-8')
    for (const record of records) {
      if (record.text === 'broken') throw new Error('no line for it')
      if (!out.write(`${Object.values(record).join(',')}\r\n`)) await once(out, 'drain')
    }
    out.end()
  },
}

test('a response format is a file and a row: it is sent to whom asks for it, in pieces', async (t) => {
  const heard: unknown[] = []
  const stage = await openStage(({ sequelize }, app) => {
    const define: Define = (name) => sequelize.define(name, { text: DataTypes.STRING }, { timestamps: false })
    const options: CrudOptions = { operations: Operations.AllWithBulk, onError: (error) => heard.push(error) }
    allowUndocumented(app)
    app.use(createRouter({ ...TABLES, formats: [...FORMATS, csv] }, define('Note'), options))
    app.use(createRouter(TABLES, define('Plain'), {}))
  })
  t.teardown(stage.close)
  const accept = { Accept: 'text/csv' }
  const created = await stage.post('/api/notes/bulk', [{ text: 'a' }, { text: 'b' }], accept)
  t.is(created.status, 201)
  t.is(created.text, '1,a\r\n2,b\r\n')
  const list = await stage.get('/api/notes', accept)
  t.is(list.headers.get('content-type'), 'text/csv; charset=utf-8')
  t.is(list.headers.get('vary'), 'Accept')
  t.is(list.headers.get('x-total-count'), '2')
  t.is(list.text, '1,a\r\n2,b\r\n')
  for (const Accept of ['application/json', '*/*', 'text/html', 'application/json, text/csv;q=0.5']) {
    const { body, headers } = await stage.get('/api/notes', { Accept })
    t.is(body.totalCount, 2, Accept)
    t.is(headers.get('vary'), 'Accept')
  }
  t.deepEqual((await stage.get('/api/notes/1', accept)).body, { id: 1, text: 'a' }, 'what it cannot write is JSON')
  t.is((await stage.get('/api/notes?page=0', accept)).headers.get('content-type'), 'application/problem+json')
  await stage.post('/api/notes', { text: 'broken' })
  await t.throwsAsync(stage.get('/api/notes', accept), undefined, 'a reply that broke off is not taken for whole')
  t.is(heard.length, 1)
  const plain = await stage.get('/api/plains', accept)
  t.is(plain.body.totalCount, 0)
  t.is(plain.headers.get('vary'), null)
})

// ---------------------------------------------------------------- a dialect

/** SQLite under another name, with a taste of its own. */
const lite: Dialect = { ...sqlite, name: 'lite', orderTerm: (...given) => `${sqlite.orderTerm(...given)} NULLS LAST` }

const onSqlite = databaseName === 'sqlite' ? test : test.skip

onSqlite('a dialect is a file and a row: what is read, compared, ordered and written follows from it', async (t) => {
  const dialects = { ...DIALECTS, lite: () => lite }
  const database = await openDatabase()
  const { sequelize, statements } = database
  const Note = sequelize.define('Note', { text: DataTypes.STRING }, { timestamps: false })
  sequelize.getDialect = () => 'lite'
  t.throws(() => createRouter(TABLES, Note, {}), { code: 'UNKNOWN_DIALECT' })
  const app = express().use(createRouter({ ...TABLES, dialects }, Note, {}))
  sequelize.getDialect = () => 'sqlite'
  await sequelize.sync()
  sequelize.getDialect = () => 'lite'
  const server = await serve(app)
  t.teardown(async () => {
    await server.close()
    await database.close()
  })
  for (const text of ['b', null, 'a']) t.is((await server.post('/api/notes', { text })).status, 201)
  const { body } = await server.get('/api/notes?sort=text')
  t.deepEqual(
    body.items.map(({ text }: { text: string | null }) => text),
    ['a', 'b', null],
  )
  t.true(statements.some((sql) => sql.includes('NULLS LAST')))
  t.is((await server.get('/api/notes?filter=text^A/i')).body.totalCount, 1)
  t.is((await server.patch('/api/notes/1', { text: 'c' })).body.text, 'c')
  t.is((await server.delete('/api/notes/1')).status, 204)
})

// ---------------------------------------------------------------- a filter operator

/** Texts that are part of the value: what `contains` is, the other way round. */
const OPERATOR = `
  partOf: { token: '=@', fields: 'text', list: false, nulls: false, complementOf: null },
  notPartOf: { token: '!@', fields: 'text', list: false, nulls: false, complementOf: 'partOf' },`

/** How each database writes it; a complement needs no SQL. */
const ENTRIES: Readonly<Record<string, string>> = {
  sqlite: `createSearch((column, operand) => 'instr(' + operand + ', ' + column + ') > 0')`,
  postgres: `(how) => createSearch((left, right) => 'position((' + left + ') in ' + right + ') > 0', createSides(how))`,
  mysql: `({ ignoreCase }) => {
    const side = ignoreCase ? foldCase : bytes
    return {
      encode: keepText,
      write: (column, [operand = '']) => 'LOCATE(' + side(column) + ', ' + side(operand) + ') > 0',
    }
  }`,
}

/** The table is what types are made of, so nothing can be handed in: it is changed in a copy, which is compiled. */
test('a filter operator is a row and an entry for each database, which the compiler asks for', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'sequelize-crud-router-operator-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const copied = ['lib', 'types', 'grammar', 'package.json', 'tsconfig.json']
  for (const path of copied) await cp(join(root, path), join(folder, path), { recursive: true })
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction')
  const insert = async (path: string, behind: RegExp, text: string): Promise<void> => {
    const before = await readFile(join(folder, path), 'utf8')
    t.is(before.split(behind).length, 2, `one place in ${path}`)
    await writeFile(
      join(folder, path),
      before.replace(behind, (found) => `${found}${text}`),
    )
  }
  const plainly = ['declaration', 'isolatedDeclarations', 'sourceMap'].flatMap((option) => [`--${option}`, 'false'])
  const compile = () =>
    node(folder, 'node_modules/typescript/bin/tsc', '--outDir', '.build', '--incremental', ...plainly)

  await insert('lib/language/operators.ts', /OPERATOR_ROWS = \{/, OPERATOR)
  const { stdout } = await compile()
  const wanting = stdout.split('\n').filter((line) => line.includes('error TS'))
  t.deepEqual(
    wanting.map((line) => line.split('(')[0]).sort(),
    Object.keys(ENTRIES)
      .map((name) => `lib/sequelize/dialect/${name}.ts`)
      .sort(),
    stdout,
  )
  for (const [name, entry] of Object.entries(ENTRIES)) {
    await insert(`lib/sequelize/dialect/${name}.ts`, /: TextComparisons = \{/, `\n  partOf: ${entry},`)
  }
  t.deepEqual(await compile(), { status: 0, stdout: '', stderr: '' })
  await cp(join(root, 'grammar/query.js'), join(folder, '.build/grammar/query.js'))

  const made: typeof import('../lib/index.js') = await import(pathToFileURL(join(folder, '.build/lib/index.js')).href)
  const stage = await openStage(({ sequelize }, app) => {
    const Note = sequelize.define('Note', { text: DataTypes.STRING, size: DataTypes.INTEGER }, { timestamps: false })
    app.use(made.crudRouter(Note, {}))
  })
  t.teardown(stage.close)
  for (const text of ['note', 'NOT', 'book', null]) t.is((await stage.post('/api/notes', { text })).status, 201)
  const found = async (clause: string): Promise<unknown> => {
    const { status, body } = await stage.get(`/api/notes?filter=${encodeURIComponent(clause)}&sort=id`)
    return status === 200 ? body.items.map((item: { text: string | null }) => item.text) : body.type
  }
  t.deepEqual(await found('text=@notebook'), ['note', 'book'])
  t.deepEqual(await found('text=@notebook/i'), ['note', 'NOT', 'book'])
  t.deepEqual(await found('text!@notebook'), ['NOT', null], 'a complement has what the operator has not, and null')
  const wrong = await stage.get('/api/notes?filter=size%3D@1')
  t.is(wrong.status, 400)
  t.regex(wrong.text, /=@/)
  const builder: object = made.filter
  const write: unknown = Reflect.get(builder, 'notPartOf')
  if (typeof write !== 'function') return t.fail('the filter builder lacks the operator')
  t.is(write('text', 'a,b'), 'text!@a\\,b')
  t.deepEqual(await found(write('text', 'book, note')), ['NOT', null])
})
