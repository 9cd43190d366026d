// A scope may differ by operation: everybody reads, and writes reach what the caller owns. Then it is the scope of writing that tells
// callers apart who share an Idempotency-Key and have no identity.

import test from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { crudRouter, Operations, type Scope, type ScopeFunction } from '../../../../lib/index.js'
import type { Answer } from '../../../support/server.js'
import { openStage } from '../../../support/stage.js'

/** The scope of slots, which each request evaluates anew. */
let slots: () => Scope | null = () => null

const reading: ReadonlySet<string> = new Set(['getById', 'getList'])
const both = { routes: true, write: true } as const

const stage = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const owned = () => ({ owner: DataTypes.STRING(9), name: { type: DataTypes.STRING(9), unique: true } })
  const Doc = sequelize.define('Doc', owned(), plain)
  const Folder = sequelize.define('Folder', { name: DataTypes.STRING(9) }, plain)
  const Note = sequelize.define('Note', { owner: DataTypes.STRING(9), name: DataTypes.STRING(9) }, plain)
  const Tag = sequelize.define('Tag', { name: DataTypes.STRING(9) }, plain)
  const Mark = sequelize.define('Mark', { owner: DataTypes.STRING(9) }, plain)
  Folder.hasMany(Note, { as: 'notes', foreignKey: 'folderId' })
  Folder.belongsToMany(Tag, { as: 'tags', through: Mark, foreignKey: 'folderId', otherKey: 'tagId' })
  const operations = Operations.AllWithBulk | Operations.BulkUpdate | Operations.Replace
  const scope: ScopeFunction = ({ operation, request }) => {
    return reading.has(operation) ? null : { owner: String(request.headers['x-owner']) }
  }
  app.use(crudRouter(Doc, { operations, scope, idempotency: true }))
  app.use(crudRouter(Folder, { operations, idempotency: true, relations: { notes: both, tags: both } }))
  const Slot = sequelize.define(
    'Slot',
    { hall: DataTypes.INTEGER, since: DataTypes.DATE, until: DataTypes.DATE },
    plain,
  )
  app.use(crudRouter(Slot, { operations, scope: () => slots(), idempotency: true }))
  app.use(crudRouter(Note, { scope, idempotency: true }), crudRouter(Mark, { scope }), crudRouter(Tag))
})
const model = (name: string): ModelStatic<Model> => stage.sequelize.model(name)
await model('Folder').create({ name: 'shared' })
await model('Tag').create({ name: 'new' })
test.after.always(() => stage.close())

let number = 0

/** What two owners get who send the same under one key. */
async function sent(method: string, path: string, json: unknown): Promise<readonly [first: Answer, second: Answer]> {
  number += 1
  const send = (owner: string): Promise<Answer> =>
    stage.send(method, path, { json, headers: { 'X-Owner': owner, 'Idempotency-Key': `key ${number}` } })
  const first = await send('ann')
  return [first, await send('bob')]
}

const isReplay = ({ headers }: Answer): boolean => headers.has('idempotency-replayed')

test.serial('the write of one owner is no replay of that of another', async (t) => {
  const [first, second] = await sent('POST', '/api/docs', { name: null })
  t.deepEqual([first.body.owner, second.body.owner], ['ann', 'bob'])
  t.false(isReplay(second))
  const [bulk, bulkSecond] = await sent('POST', '/api/docs/bulk', [{ name: null }])
  t.deepEqual([bulk.body[0].owner, bulkSecond.body[0].owner], ['ann', 'bob'])
})

for (const [what, method, pathOf, bodyOf, status] of [
  ['PATCH', 'PATCH', (id: number) => `/api/docs/${id}`, () => ({ name: 'new' }), 404],
  ['PUT', 'PUT', (id: number) => `/api/docs/${id}`, () => ({ name: 'other' }), 404],
  ['bulk update', 'PATCH', () => '/api/docs/bulk', (id: number) => [{ id, name: 'third' }], 404],
  ['upsert', 'PUT', () => '/api/docs/bulk?by=name', () => [{ name: 'up' }], 409],
] as const) {
  test.serial(`who may not write a record is not replayed that another has written it: ${what}`, async (t) => {
    await model('Doc').destroy({ where: {} })
    const { id } = (await model('Doc').create({ name: 'up', owner: 'ann' })).get()
    const [first, second] = await sent(method, pathOf(id), bodyOf(id))
    t.is(first.status, 200, first.text)
    t.is(second.status, status, second.text)
  })
}

test.serial('that holds for records within a body and for links as well', async (t) => {
  const [first, second] = await sent('POST', '/api/folders', { notes: [{ name: 'one' }] })
  t.deepEqual([first.body.notes[0].owner, second.body.notes[0].owner], ['ann', 'bob'])
  const [linked, linkedSecond] = await sent('POST', '/api/folders', { tags: [1] })
  t.false(isReplay(linkedSecond), linked.text)
  const [put, putSecond] = await sent('PUT', '/api/folders/1/tags', [1])
  t.is(put.status, 200)
  t.false(isReplay(putSecond), putSecond.text)
  const [below, belowSecond] = await sent('POST', '/api/folders/1/notes', { name: 'two' })
  t.deepEqual([below.body.owner, belowSecond.body.owner], ['ann', 'bob'])
})

test.serial('the same owner is replayed', async (t) => {
  const send = (): Promise<Answer> =>
    stage.send('POST', '/api/docs', {
      json: { name: 'again' },
      headers: { 'X-Owner': 'ann', 'Idempotency-Key': 'again' },
    })
  const [first, second] = [await send(), await send()]
  t.true(isReplay(second))
  t.is(second.text, first.text)
})

const UNTIL = '2100-01-01T00:00:00.000Z'
const slot = { hall: 1, since: UNTIL, until: UNTIL }

/** Sends one slot under one key, with one scope after the other. Returns whether the second reply is a replay. */
async function isSecondReplay(first: () => Scope, second: () => Scope): Promise<boolean> {
  number += 1
  const headers = { 'Idempotency-Key': `key ${number}` }
  slots = first
  const made = await stage.send('POST', '/api/slots', { json: slot, headers })
  if (made.status !== 201 || isReplay(made)) throw new Error(made.text)
  slots = second
  return isReplay(await stage.send('POST', '/api/slots', { json: slot, headers }))
}

test.serial(
  'a scope with another condition tells callers apart, and one with the same condition does not',
  async (t) => {
    t.true(
      await isSecondReplay(
        () => 'hall=1',
        () => 'hall=1',
      ),
    )
    t.false(
      await isSecondReplay(
        () => 'hall=1',
        () => 'hall<2',
      ),
    )
    t.false(
      await isSecondReplay(
        () => 'hall<2',
        () => 'hall<3',
      ),
    )
    const instants = ['2030-01-01T00:00:00.000Z', '2040-01-01T00:00:00.000Z'] as const
    t.false(
      await isSecondReplay(
        () => ({ until: [UNTIL, instants[0]] }),
        () => ({ until: [UNTIL, instants[1]] }),
      ),
    )
  },
)

test.serial('a condition with the current time is the same condition in the next request', async (t) => {
  let minute = 0
  const later = (): Scope => {
    minute += 1
    return `until>2026-01-01T00:${10 + minute}:00.000Z`
  }
  t.true(await isSecondReplay(later, later))
  t.true(minute > 1)
})

test.serial('conditions with the current time tell callers apart by their attributes and operators', async (t) => {
  for (const other of ['since<2200-01-01T00:00:00.000Z', 'until>2026-01-01T00:00:00.000Z']) {
    t.false(
      await isSecondReplay(
        () => 'until<2200-01-01T00:00:00.000Z',
        () => other,
      ),
      other,
    )
  }
})
