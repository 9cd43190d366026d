// Audit stamps: one instant a request for all of them, the name of the identity, null for anonymous callers. What a client
// sends for them is ignored, and the attributes that the model lacks are added to it.

import ava from 'ava'
import { DataTypes, type Model, type ModelAttributes, type ModelOptions, type ModelStatic } from 'sequelize'
import { CrudConfigError, type CrudOptions, crudRouter, Operations } from '../../../lib/index.js'
import { databaseName, openDatabase } from '../../support/database.js'
import type { Answer } from '../../support/server.js'
import { asUser, identityFromHeader, openStage, readStoredRow, type Stage, timeOf } from '../../support/stage.js'

// Sequelize writes here directly. On SQLite such a write fails while a request holds the lock of the database.
const test = ava.serial

interface Names {
  readonly createdAt: string
  readonly updatedAt: string
  readonly createdBy: string
  readonly updatedBy: string
}

/** One way of keeping the stamps. The same must be true of all of them. */
interface Variant {
  readonly title: string
  readonly options: CrudOptions
  readonly attributes: ModelAttributes
  readonly model: ModelOptions
  readonly prepare?: (model: ModelStatic<Model>) => void
  readonly names: Names
  /** The stamps that responses have. */
  readonly shown: readonly (keyof Names)[]
}

const nothing = (): void => undefined
const NAMES: Names = { createdAt: 'createdAt', updatedAt: 'updatedAt', createdBy: 'createdBy', updatedBy: 'updatedBy' }
const STAMPS = ['createdAt', 'updatedAt', 'createdBy', 'updatedBy'] as const
const CUSTOM = { createdAt: 'madeAt', updatedAt: 'changedAt', createdBy: 'madeBy', updatedBy: 'changedBy' }

const VARIANTS: readonly Variant[] = [
  {
    title: 'with all four added',
    options: { audit: true, softDelete: true },
    attributes: {},
    model: { timestamps: false },
    names: NAMES,
    shown: [],
  },
  {
    title: 'with custom names, all declared',
    options: { audit: CUSTOM, softDelete: true },
    attributes: {
      madeAt: { type: DataTypes.DATE(3), allowNull: false, field: 'made_at' },
      changedAt: { type: DataTypes.DATE(3), allowNull: false },
      madeBy: DataTypes.STRING,
      changedBy: DataTypes.STRING(100),
    },
    model: { timestamps: false },
    names: CUSTOM,
    shown: STAMPS,
  },
  {
    title: 'on a model with time stamps of its own',
    options: { audit: true, softDelete: true },
    attributes: {},
    model: { timestamps: true },
    names: NAMES,
    shown: ['createdAt', 'updatedAt'],
  },
  {
    title: 'on a model with time stamps of its own names',
    options: { audit: true, softDelete: true },
    attributes: { createdBy: DataTypes.STRING },
    model: { timestamps: true, createdAt: 'bornAt', updatedAt: 'touchedAt', underscored: true },
    names: { ...NAMES, createdAt: 'bornAt', updatedAt: 'touchedAt' },
    shown: ['createdAt', 'updatedAt', 'createdBy'],
  },
  {
    title: 'with hooks in the options',
    options: {
      audit: true,
      softDelete: true,
      hooks: { beforeCreate: nothing, afterUpdate: nothing, beforeDelete: nothing, beforeRestore: nothing },
    },
    attributes: {},
    model: { timestamps: true },
    names: NAMES,
    shown: ['createdAt', 'updatedAt'],
  },
  {
    title: 'on a paranoid model with hooks of its own',
    options: { audit: true },
    attributes: {},
    model: { paranoid: true },
    prepare: (model) => {
      for (const hook of ['beforeCreate', 'afterUpdate', 'beforeDestroy', 'afterRestore', 'afterFind'] as const) {
        model.addHook(hook, nothing)
      }
    },
    names: NAMES,
    shown: ['createdAt', 'updatedAt'],
  },
]

interface World extends Stage {
  readonly Note: ModelStatic<Model>
}

async function openWorld({ options, attributes, model, prepare }: Variant): Promise<World> {
  const notes: ModelStatic<Model>[] = []
  const stage = await openStage(({ sequelize }, app) => {
    const own: ModelAttributes = { text: { type: DataTypes.STRING(50), validate: { len: [2, 50] } } }
    const Note = sequelize.define('Note', { ...own, ...attributes }, model)
    prepare?.(Note)
    notes.push(Note)
    const operations = Operations.AllWithBulk | Operations.Restore
    app.use(crudRouter(Note, { operations, identity: identityFromHeader, ...options }))
  })
  const [Note] = notes
  if (Note === undefined) throw new TypeError('no model was defined')
  return { ...stage, Note }
}

interface Stamps {
  readonly createdAt: number
  readonly updatedAt: number
  readonly createdBy: unknown
  readonly updatedBy: unknown
}

// MySQL keeps whole seconds where a model does not say otherwise.
const UNIT = databaseName === 'mysql' || databaseName === 'mariadb' ? 1000 : 1
const instant = (value: unknown): number => Math.floor(timeOf(value) / UNIT)

async function stampsOf({ Note }: World, id: number, names: Names): Promise<Stamps> {
  const row = await readStoredRow(Note, id)
  return {
    createdAt: instant(row?.[names.createdAt]),
    updatedAt: instant(row?.[names.updatedAt]),
    createdBy: row?.[names.createdBy],
    updatedBy: row?.[names.updatedBy],
  }
}

const LONG_AGO = new Date('2001-02-03T04:05:06.000Z')

/** A record that somebody made and changed long ago, so that a fresh stamp tells itself from the old one. */
async function oldNote(world: World, names: Names): Promise<number> {
  const { status, body, text } = await world.post('/api/notes', { text: 'Old note' }, asUser('ann'))
  if (status !== 201) throw new Error(text)
  await age(world, body.id, names)
  return body.id
}

async function age({ Note }: World, id: number, names: Names): Promise<void> {
  const values = {
    [names.createdAt]: LONG_AGO,
    [names.updatedAt]: LONG_AGO,
    [names.createdBy]: 'ann',
    [names.updatedBy]: 'ann',
  }
  await Note.update(values, { where: { id }, silent: true, hooks: false, paranoid: false })
}

const OLD: Stamps = { createdAt: instant(LONG_AGO), updatedAt: instant(LONG_AGO), createdBy: 'ann', updatedBy: 'ann' }

/** Sends a request and tells between which instants it was answered. */
async function timed(send: () => Promise<Answer>): Promise<{ answer: Answer; from: number; to: number }> {
  const from = instant(new Date())
  const answer = await send()
  return { answer, from, to: instant(new Date()) }
}

for (const variant of VARIANTS) {
  const { title, names, shown } = variant
  const opened = openWorld(variant)
  test.after.always(async () => (await opened).close())

  test(`${title}, POST stamps all four: one instant and the caller’s name`, async (t) => {
    const world = await opened
    const { answer, from, to } = await timed(() => world.post('/api/notes', { text: 'Hello' }, asUser('ann')))
    t.is(answer.status, 201)
    const { createdAt, updatedAt, createdBy, updatedBy } = await stampsOf(world, answer.body.id, names)
    t.true(createdAt >= from && createdAt <= to, `${from} ${createdAt} ${to}`)
    t.is(updatedAt, createdAt)
    t.is(createdBy, 'ann')
    t.is(updatedBy, 'ann')
  })

  test(`${title}, bulk create stamps every record alike`, async (t) => {
    const world = await opened
    const bodies = Array.from({ length: 5 }, (_, index) => ({ text: `Note ${index}` }))
    const { answer, from, to } = await timed(() => world.post('/api/notes/bulk', bodies, asUser('ann')))
    t.is(answer.status, 201)
    t.is(answer.body.length, 5)
    const all = await Promise.all(answer.body.map(({ id }: { id: number }) => stampsOf(world, id, names)))
    const [first] = all
    t.true(first.createdAt >= from && first.createdAt <= to)
    for (const stamps of all) {
      t.deepEqual(stamps, { ...first, updatedAt: first.createdAt, createdBy: 'ann', updatedBy: 'ann' })
    }
  })

  test(`${title}, an anonymous caller is null`, async (t) => {
    const world = await opened
    const { body } = await world.post('/api/notes', { text: 'Hello' })
    t.like(await stampsOf(world, body.id, names), { createdBy: null, updatedBy: null })
    const { body: bulk } = await world.post('/api/notes/bulk', [{ text: 'Hello' }])
    t.like(await stampsOf(world, bulk[0].id, names), { createdBy: null, updatedBy: null })
    const id = await oldNote(world, names)
    t.is((await world.patch(`/api/notes/${id}`, { text: 'Changed' })).status, 200)
    t.like(await stampsOf(world, id, names), { createdBy: 'ann', updatedBy: null })
  })

  test(`${title}, PATCH refreshes who changed the record and when, and nothing else`, async (t) => {
    const world = await opened
    for (const body of [{ text: 'Changed' }, { text: 'Old note' }, { unknown: 1 }, {}]) {
      const id = await oldNote(world, names)
      const { answer, from, to } = await timed(() => world.patch(`/api/notes/${id}`, body, asUser('bob')))
      t.is(answer.status, 200)
      const stamps = await stampsOf(world, id, names)
      t.deepEqual(stamps, { ...OLD, updatedAt: stamps.updatedAt, updatedBy: 'bob' })
      t.true(stamps.updatedAt >= from && stamps.updatedAt <= to, `${from} ${stamps.updatedAt} ${to}`)
    }
  })

  test(`${title}, a PATCH that is refused leaves the stamps alone, and so does reading`, async (t) => {
    const world = await opened
    const id = await oldNote(world, names)
    t.is((await world.patch(`/api/notes/${id}`, { text: 'x' }, asUser('bob'))).status, 400)
    t.is((await world.get(`/api/notes/${id}`, asUser('bob'))).status, 200)
    t.is((await world.get('/api/notes', asUser('bob'))).status, 200)
    t.deepEqual(await stampsOf(world, id, names), OLD)
  })

  test(`${title}, soft delete refreshes them, with the instant of the deletion`, async (t) => {
    const world = await opened
    const id = await oldNote(world, names)
    const { answer, from, to } = await timed(() => world.delete(`/api/notes/${id}`, asUser('bob')))
    t.is(answer.status, 204)
    const stamps = await stampsOf(world, id, names)
    t.deepEqual(stamps, { ...OLD, updatedAt: stamps.updatedAt, updatedBy: 'bob' })
    t.true(stamps.updatedAt >= from && stamps.updatedAt <= to)
    t.is(instant((await readStoredRow(world.Note, id))?.deletedAt), stamps.updatedAt)
  })

  test(`${title}, bulk delete refreshes them in every record, with one instant`, async (t) => {
    const world = await opened
    const keys = [await oldNote(world, names), await oldNote(world, names), await oldNote(world, names)]
    const { answer, from, to } = await timed(() => world.post('/api/notes/bulk-delete', keys, asUser('bob')))
    t.deepEqual(answer.body, { deleted: 3 })
    const all = await Promise.all(keys.map((id) => stampsOf(world, id, names)))
    const updatedAt = all[0]?.updatedAt ?? Number.NaN
    t.true(updatedAt >= from && updatedAt <= to)
    for (const stamps of all) t.deepEqual(stamps, { ...OLD, updatedAt, updatedBy: 'bob' })
    for (const id of keys) t.is(instant((await readStoredRow(world.Note, id))?.deletedAt), updatedAt)
  })

  test(`${title}, restore refreshes them`, async (t) => {
    const world = await opened
    const id = await oldNote(world, names)
    await world.delete(`/api/notes/${id}`, asUser('bob'))
    await age(world, id, names)
    const { answer, from, to } = await timed(() =>
      world.send('POST', `/api/notes/${id}/restore`, { headers: asUser('cid') }),
    )
    t.is(answer.status, 200)
    const stamps = await stampsOf(world, id, names)
    t.deepEqual(stamps, { ...OLD, updatedAt: stamps.updatedAt, updatedBy: 'cid' })
    t.true(stamps.updatedAt >= from && stamps.updatedAt <= to)
  })

  test(`${title}, stamps that a client sends are ignored`, async (t) => {
    const world = await opened
    const sent = {
      [names.createdAt]: LONG_AGO.toISOString(),
      [names.updatedAt]: 'not even a date',
      [names.createdBy]: 'mallory',
      [names.updatedBy]: 7,
    }
    const { status, body } = await world.post('/api/notes', { text: 'Hello', ...sent }, asUser('ann'))
    t.is(status, 201)
    const { body: bulk } = await world.post('/api/notes/bulk', [{ text: 'Hello', ...sent }], asUser('ann'))
    for (const id of [body.id, bulk[0].id]) {
      const stamps = await stampsOf(world, id, names)
      t.not(stamps.createdAt, OLD.createdAt)
      t.like(stamps, { createdBy: 'ann', updatedBy: 'ann', updatedAt: stamps.createdAt })
    }
    const id = await oldNote(world, names)
    t.is((await world.patch(`/api/notes/${id}`, sent, asUser('bob'))).status, 200)
    t.like(await stampsOf(world, id, names), { createdAt: OLD.createdAt, createdBy: 'ann', updatedBy: 'bob' })
  })

  test(`${title}, responses and the query language have ${shown.length} of the stamps: the declared ones`, async (t) => {
    const world = await opened
    const { body } = await world.post('/api/notes', { text: 'Shown' }, asUser('ann'))
    const read = await world.get(`/api/notes/${body.id}`)
    t.deepEqual(read.body, body)
    t.deepEqual(
      STAMPS.filter((stamp) => names[stamp] in body),
      shown,
    )
    const row = await readStoredRow(world.Note, body.id)
    for (const stamp of STAMPS) {
      const name = names[stamp]
      const answers = [
        await world.get(`/api/notes?filter=${name}!=${stamp.endsWith('By') ? 'x' : '2001-01-01'}`),
        await world.get(`/api/notes?sort=-${name}`),
        await world.get(`/api/notes?select=${name}`),
      ]
      if (shown.includes(stamp)) {
        if (stamp.endsWith('By')) t.is(body[name], 'ann')
        else t.is(timeOf(body[name]), timeOf(row?.[name]))
        for (const { status } of answers) t.is(status, 200)
      } else {
        for (const answer of answers) {
          t.is(answer.status, 400)
          t.is(answer.body.title, 'Unknown field.')
        }
      }
    }
  })
}

test('records that are removed and not marked need no stamp', async (t) => {
  const stage = await openStage(({ sequelize }, app) => {
    const Note = sequelize.define('Note', { text: DataTypes.STRING }, { timestamps: false })
    app.use(crudRouter(Note, { audit: true, identity: identityFromHeader, operations: Operations.AllWithBulk }))
  })
  try {
    const { body } = await stage.post('/api/notes/bulk', [{ text: 'a' }, { text: 'b' }])
    t.is((await stage.delete(`/api/notes/${body[0].id}`, asUser('ann'))).status, 204)
    t.deepEqual((await stage.post('/api/notes/bulk-delete', [body[1].id], asUser('ann'))).body, { deleted: 1 })
    t.deepEqual((await stage.get('/api/notes?count=true')).body, { count: 0 })
  } finally {
    await stage.close()
  }
})

test('an identity without a name is null, and one from the host’s own middleware is believed', async (t) => {
  const notes: ModelStatic<Model>[] = []
  const stage = await openStage(({ sequelize }, app) => {
    const Note = sequelize.define('Note', { text: DataTypes.STRING })
    notes.push(Note)
    app.use((req, _res, next) => {
      const name = req.headers['x-user']
      if (name !== undefined) Object.assign(req, { auth: name === 'nobody' ? { role: 'guest' } : { sub: name } })
      next()
    })
    app.use(crudRouter(Note, { audit: true }))
  })
  try {
    const writers = []
    for (const user of ['ann', 'nobody', null]) {
      const { body } = await stage.post('/api/notes', { text: 'x' }, user === null ? {} : asUser(user))
      for (const Note of notes) writers.push((await readStoredRow(Note, body.id))?.createdBy)
    }
    t.deepEqual(writers, ['ann', null, null])
  } finally {
    await stage.close()
  }
})

for (const [name, type] of [
  ['createdAt', DataTypes.DATEONLY],
  ['updatedAt', DataTypes.STRING],
  ['createdBy', DataTypes.INTEGER],
  ['updatedBy', DataTypes.DATE],
] as const) {
  test(`a declared ${name} of type ${type.key} is a CrudConfigError`, async (t) => {
    const { sequelize, close } = await openDatabase()
    try {
      const Note = sequelize.define('Note', { [name]: { type } }, { timestamps: false })
      const error = t.throws(() => crudRouter(Note, { audit: true }), { instanceOf: CrudConfigError })
      t.is(error?.code, 'INVALID_ATTRIBUTE')
      t.regex(error?.message ?? '', new RegExp(name))
    } finally {
      await close()
    }
  })
}

for (const [option, attribute, needed] of [
  ['audit', 'created_by', 'createdBy'],
  ['concurrency', 'row_version', 'rowVersion'],
  ['softDelete', 'is_deleted', 'isDeleted'],
] as const) {
  test(`the column of ${attribute} is not given to an attribute that ${option} adds`, async (t) => {
    const { sequelize, close } = await openDatabase()
    try {
      const Note = sequelize.define('Note', { [attribute]: DataTypes.STRING }, { underscored: true, timestamps: false })
      const error = t.throws(() => crudRouter(Note, { [option]: true }), { instanceOf: CrudConfigError })
      t.is(error?.code, 'INVALID_ATTRIBUTE')
      t.regex(error?.message ?? '', new RegExp(`"${needed}", whose column "${attribute}" belongs`))
      t.false(needed in Note.getAttributes())
    } finally {
      await close()
    }
  })
}

test('the attribute that has the column is maintained where the option names it, and no body writes it', async (t) => {
  const stage = await openStage(({ sequelize }, app) => {
    const Note = sequelize.define('Note', { created_by: DataTypes.STRING }, { underscored: true, timestamps: false })
    app.use(crudRouter(Note, { audit: { createdBy: 'created_by' }, identity: identityFromHeader }))
  })
  t.teardown(() => stage.close())
  const created = await stage.post('/api/notes', { createdBy: 'bob' }, asUser('ann'))
  t.is(created.body.createdBy, 'ann')
  t.is((await stage.patch('/api/notes/1', { createdBy: 'bob' })).body.createdBy, 'ann')
})

test('a virtual attribute has no column that could be taken', async (t) => {
  const { sequelize, close } = await openDatabase()
  try {
    const created_by = { type: DataTypes.VIRTUAL, get: () => 'x' }
    const Note = sequelize.define('Note', { created_by }, { underscored: true, timestamps: false })
    t.notThrows(() => crudRouter(Note, { audit: true, fields: { created_by: { exclude: true } } }))
  } finally {
    await close()
  }
})

test('a name that is longer than its column is a 500 on every database, whose reason onError gets', async (t) => {
  const errors: unknown[] = []
  const onError = (error: unknown): void => void errors.push(error)
  const operations = Operations.AllWithBulk | Operations.BulkUpdate | Operations.Replace
  const stage = await openStage(({ sequelize }, app) => {
    const plain = { timestamps: false }
    const options = { identity: identityFromHeader, audit: true, softDelete: true, operations, onError }
    const text = { text: DataTypes.STRING }
    const names = { createdBy: DataTypes.STRING(4), updatedBy: DataTypes.TEXT }
    app.use(
      crudRouter(sequelize.define('Added', text, { ...plain, name: { plural: 'added', singular: 'added' } }), options),
    )
    const Short = sequelize.define(
      'Short',
      { ...text, ...names },
      { ...plain, name: { plural: 'short', singular: 'short' } },
    )
    app.use(crudRouter(Short, options))
    return { Short }
  })
  t.teardown(() => stage.close())
  const refuses = async (user: string, reason: string, requests: readonly (readonly [string, string, unknown])[]) => {
    for (const [method, path, json] of requests) {
      const { status, text } = await stage.send(method, path, { json, headers: asUser(user) })
      t.is(status, 500, `${method} ${path} ${text}`)
      t.deepEqual(errors.splice(0).map(String), [`TypeError: ${reason}`])
    }
  }
  const name = 'n'.repeat(255)
  t.is((await stage.post('/api/added', { text: 'a' }, asUser(name))).status, 201)
  await refuses(
    `${name}n`,
    'Added: the name of the caller is longer than the attribute "createdBy", which holds 255 characters. Declare it with a longer type.',
    [
      ['POST', '/api/added', { text: 'a' }],
      ['POST', '/api/added/bulk', [{ text: 'a' }]],
    ],
  )
  await refuses(
    `${name}n`,
    'Added: the name of the caller is longer than the attribute "updatedBy", which holds 255 characters. Declare it with a longer type.',
    [
      ['PATCH', '/api/added/1', { text: 'b' }],
      ['PATCH', '/api/added/bulk', [{ id: 1, text: 'b' }]],
      ['PUT', '/api/added/1', { text: 'b' }],
      ['DELETE', '/api/added/1', undefined],
      ['POST', '/api/added/bulk-delete', [1]],
    ],
  )
  t.is((await stage.get('/api/added/1')).body.text, 'a')
  t.is((await stage.post('/api/short', { text: 'a' }, asUser('anna'))).status, 201)
  await refuses(
    'annas',
    'Short: the name of the caller is longer than the attribute "createdBy", which holds 4 characters. Declare it with a longer type.',
    [['POST', '/api/short', { text: 'a' }]],
  )
  const changed = await stage.patch('/api/short/1', { text: 'b' }, asUser('annas'))
  t.deepEqual([changed.status, changed.body.createdBy, changed.body.updatedBy], [200, 'anna', 'annas'], changed.text)
})
