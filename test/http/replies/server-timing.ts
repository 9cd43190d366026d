// The header `Server-Timing` of replies, for the callers that the host chooses.

import ava from 'ava'
import { DataTypes } from 'sequelize'
import { createCrud, crudRouter, Operations } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

const reported: string[] = []

const server = await openStage(({ sequelize }, app) => {
  const Note = sequelize.define(
    'Note',
    { name: { type: DataTypes.STRING(20), allowNull: false } },
    { timestamps: false },
  )
  const Line = sequelize.define('Line', { text: DataTypes.STRING(20) }, { timestamps: false })
  Note.hasMany(Line, { as: 'lines', foreignKey: 'noteId' })
  const operations = Operations.AllWithBulk | Operations.Export
  const lines = crudRouter(Line, { route: 'lines' })
  const relations = { lines: { routes: true, resource: lines } }
  app.use('/own', (_req, res, next) => {
    res.set('Server-Timing', 'cache;desc=miss')
    next()
  })
  app.use(lines, crudRouter(Note, { route: 'notes', operations, relations, serverTiming: true }))
  app.use('/own', crudRouter(Note, { route: 'notes', serverTiming: true }))
  app.use(crudRouter(Note, { route: 'asked', serverTiming: (req) => req.headers['x-debug'] === '1' }))
  const failing = { route: 'failing', onError: (error: unknown) => void reported.push(String(error)) }
  const fail = (): boolean => {
    throw new Error('no header today')
  }
  app.use(crudRouter(Note, { ...failing, serverTiming: fail }))
  const crud = createCrud({ serverTiming: true })
  app.use(crud.crudRouter(Note, { route: 'default' }), crud.crudRouter(Note, { route: 'silent', serverTiming: false }))
})
test.after.always(() => server.close())

const TIMING = /^parse;dur=\d+\.\d, plan;dur=\d+\.\d, database;desc="statements: (\d+)";dur=\d+\.\d, total;dur=\d+\.\d$/

const timingOf = ({ headers }: { headers: Headers }): string => headers.get('server-timing') ?? ''
const statementsOf = (reply: { headers: Headers }): number => Number(TIMING.exec(timingOf(reply))?.[1])

test('reads, writes, files, routes below a record and problems have the times of their stages', async (t) => {
  const created = await server.post('/notes', { name: 'first' })
  t.true(statementsOf(created) >= 1)
  const path = `/notes/${created.body.id}`
  t.is(statementsOf(await server.get(path)), 1)
  const list = await server.get('/notes?filter=Lines.Any(Text=x)')
  t.is(list.status, 200)
  t.true(statementsOf(list) >= 1)
  t.regex(timingOf(await server.get('/notes?format=csv')), TIMING)
  t.regex(timingOf(await server.get(`${path}/lines`)), TIMING)
  const invalid = await server.post('/notes', {})
  t.is(invalid.status, 400)
  t.is(statementsOf(invalid), 0)
  const missing = await server.get('/notes/999')
  t.is(missing.status, 404)
  t.is(statementsOf(missing), 1)
})

test('the parts are not longer than the whole', async (t) => {
  const times = timingOf(await server.get('/notes?sort=name'))
  const [parse = 0, plan = 0, , total = 0] = [...times.matchAll(/dur=([\d.]+)/g)].map(([, time]) => Number(time))
  // Each is rounded to a tenth.
  t.true(parse + plan <= total + 0.2, times)
})

test('metrics of the host stand first', async (t) => {
  t.true(timingOf(await server.get('/own/notes')).startsWith('cache;desc=miss, parse;dur='))
})

test('the function decides for each request, and its error costs the header alone', async (t) => {
  t.is(timingOf(await server.get('/asked')), '')
  t.regex(timingOf(await server.send('GET', '/asked', { headers: { 'X-Debug': '1' } })), TIMING)
  const reply = await server.get('/failing')
  t.is(reply.status, 200)
  t.is(timingOf(reply), '')
  t.deepEqual(reported, ['Error: no header today'])
})

test('a default of createCrud holds for its resources, and a resource switches it off', async (t) => {
  t.regex(timingOf(await server.get('/default')), TIMING)
  t.is(timingOf(await server.get('/silent')), '')
  t.is(timingOf(await server.get('/lines')), '')
})
