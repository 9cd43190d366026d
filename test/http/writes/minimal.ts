// `Prefer: return=minimal` leaves the records out of the replies to writes, and nothing else.

import ava from 'ava'
import { DataTypes } from 'sequelize'
import { crudController, crudRouter, Operations } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

const server = await openStage(({ sequelize }, app) => {
  const Note = sequelize.define('Note', { text: { type: DataTypes.STRING, allowNull: false } }, { timestamps: false })
  const operations = Operations.AllWithBulk | Operations.Restore
  const options = { operations, softDelete: true, concurrency: true } as const
  app.use(crudRouter(Note, { ...options, route: 'notes' }))
  app.post('/own', crudController(Note, options).create)
})
test.after.always(() => server.close())

const MINIMAL = { Prefer: 'return=minimal' }
const APPLIED = 'return=minimal'

test('a create that wants nothing back is 201 without a body, with Location and ETag', async (t) => {
  for (const path of ['/notes', '/own']) {
    const { status, text, headers } = await server.post(path, { text: 'new' }, MINIMAL)
    t.is(status, 201)
    t.is(text, '')
    t.is(headers.get('content-type'), null)
    t.is(headers.get('etag'), 'W/"0"')
    t.is(headers.get('preference-applied'), APPLIED)
    const location = headers.get('location') ?? ''
    t.regex(location, new RegExp(`^${path}/\\d+$`))
    t.is((await server.get(location.replace('/own', '/notes'))).body.text, 'new')
  }
})

test('a patch, a restore and a bulk create that want nothing back have no body, and are done', async (t) => {
  const { body } = await server.post('/notes', { text: 'old' })
  const path = `/notes/${body.id}`
  const patched = await server.patch(path, { text: 'patched' }, { ...MINIMAL, 'If-Match': '*' })
  t.is(patched.status, 204)
  t.is(patched.text, '')
  t.is(patched.headers.get('etag'), 'W/"1"')
  t.is(patched.headers.get('preference-applied'), APPLIED)
  t.is((await server.get(path)).body.text, 'patched')
  t.is((await server.delete(path)).status, 204)
  const restored = await server.send('POST', `${path}/restore`, { headers: MINIMAL })
  t.is(restored.status, 204)
  t.is(restored.headers.get('preference-applied'), APPLIED)
  t.regex(restored.headers.get('etag') ?? '', /^W\/"\d+"$/)
  t.is((await server.get(path)).status, 200)
  const bulk = await server.post('/notes/bulk', [{ text: 'bulk' }, { text: 'bulk' }], MINIMAL)
  t.is(bulk.status, 201)
  t.is(bulk.text, '')
  t.is(bulk.headers.get('preference-applied'), APPLIED)
  t.is((await server.get('/notes?text=bulk')).body.totalCount, 2)
})

test('bulk delete says its number, and reads give what they give, whatever is preferred', async (t) => {
  const { body } = await server.post('/notes', { text: 'x' })
  const read = await server.get(`/notes/${body.id}`, MINIMAL)
  t.is(read.body.text, 'x')
  t.is(read.headers.get('preference-applied'), null)
  const deleted = await server.post('/notes/bulk-delete', [body.id], MINIMAL)
  t.deepEqual(deleted.body, { deleted: 1 })
  t.is(deleted.headers.get('preference-applied'), null)
})

test('problems keep their bodies', async (t) => {
  const { status, body, headers } = await server.post('/notes', {}, MINIMAL)
  t.is(status, 400)
  t.deepEqual(body.errors, { text: ['is required.'] })
  t.is(headers.get('preference-applied'), null)
})

for (const [prefer, isMinimal] of [
  ['RETURN="minimal"; x=1', true],
  ['handling=strict, return=minimal', true],
  ['return=minimal, return=representation', true],
  ['return=representation, return=minimal', false],
  ['note="a, return=minimal"', false],
  ['note="a \\", return=minimal"', false],
  ['note="a, b"; x="c, return=minimal" , return=minimal', true],
  ['return="min\\imal"', true],
  ['note=" a, return=minimal', false],
  ['return', false],
  ['return=nothing', false],
  ['minimal', false],
] as const) {
  test(`Prefer: ${prefer} ${isMinimal ? 'leaves the record out' : 'gives the record'}`, async (t) => {
    const { text, headers } = await server.post('/notes', { text: 'y' }, { Prefer: prefer })
    t.is(text === '', isMinimal)
    t.is(headers.get('preference-applied'), isMinimal ? APPLIED : null)
  })
}
