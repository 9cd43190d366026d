// What programs tell problems apart by.

import test from 'ava'
import { type CrudOptions, crudRouter, Operations, Problem, problemHandler } from '../../../lib/index.js'
import { serveLeague } from '../../support/league.js'
import { identity, withRole } from '../../support/tokens.js'

const operations = Operations.AllWithBulk
const league = await serveLeague()
const { app, Player, Team } = league
const onError = (): void => undefined
const thrower = (error: unknown): CrudOptions => ({
  onError,
  authorizePolicy: () => {
    throw error
  },
})
app.use(
  '/guarded',
  crudRouter(Team, { identity, authorizePolicy: ({ identity }) => identity?.roles.has('admin') === true }),
)
app.use('/strict', crudRouter(Player, { operations, concurrency: { rowVersion: 'level' }, limits: { bodySize: 50 } }))
app.use('/broken', crudRouter(Player, thrower(new Error('no'))))
app.use('/measured', crudRouter(Player, { operations: Operations.Read | Operations.Aggregate }))
app.use('/busy', crudRouter(Player, thrower(new Problem({ status: 503 }))))
app.use('/own', crudRouter(Player, thrower(new Problem({ status: 409, code: 'season-is-over' }))))
app.use('/bare', crudRouter(Player, thrower(new Problem({ status: 402 }))))
app.get('/host', () => {
  throw new Problem({ status: 403 })
})
app.get('/lost', () => {
  throw Object.assign(new Error('gone'), { status: 410 })
})
app.use(problemHandler({ onError }))
test.after.always(() => league.close())

const json = { 'content-type': 'application/json' }

/** One way into each problem that this package answers with, and into those of hosts. */
const PROBLEMS: readonly (readonly [code: string, status: number, method: string, path: string, more?: object])[] = [
  ['validation', 400, 'POST', '/api/players', { json: {} }],
  ['validation', 400, 'POST', '/api/players/bulk', { json: [{}] }],
  ['malformed-body', 400, 'POST', '/api/players', { body: '{', headers: json }],
  ['malformed-filter', 400, 'GET', '/api/players?filter=Name'],
  ['malformed-sort', 400, 'GET', '/api/players?sort=,'],
  ['malformed-select', 400, 'GET', '/api/players?select=,'],
  ['malformed-aggregate', 400, 'GET', '/measured/api/players?aggregate=x'],
  ['malformed-group', 400, 'GET', '/measured/api/players?group=,'],
  ['malformed-having', 400, 'GET', '/measured/api/players?group=name&having=x'],
  ['unknown-field', 400, 'GET', '/api/players?sort=nobody'],
  ['invalid-query', 400, 'GET', '/api/players?page=0'],
  ['unknown-parameter', 400, 'GET', '/api/players?nobody=1', { headers: { prefer: 'handling=strict' } }],
  ['unauthorized', 401, 'GET', '/guarded/api/teams'],
  ['unauthorized', 401, 'GET', '/guarded/api/teams', { headers: { authorization: 'Basic x' } }],
  ['forbidden', 403, 'GET', '/guarded/api/teams', { headers: withRole('user') }],
  ['not-found', 404, 'GET', '/api/players/999'],
  ['not-found', 404, 'GET', '/api/players/%zz'],
  ['method-not-allowed', 405, 'PUT', '/api/players'],
  ['conflict', 409, 'POST', '/api/players', { json: { name: 'Jan', teamId: 999 } }],
  ['precondition-failed', 412, 'PATCH', '/strict/api/players/1', { json: {}, headers: { 'if-match': '"7"' } }],
  ['content-too-large', 413, 'POST', '/strict/api/players', { json: { name: 'x'.repeat(100) } }],
  ['unsupported-media-type', 415, 'POST', '/api/players', { body: 'x', headers: { 'content-type': 'text/plain' } }],
  ['precondition-required', 428, 'PATCH', '/strict/api/players/1', { json: {} }],
  ['bad-request', 400, 'PATCH', '/strict/api/players/1', { json: {}, headers: { 'if-match': '1,'.repeat(60) } }],
  ['internal', 500, 'GET', '/broken/api/players'],
  ['unavailable', 503, 'GET', '/busy/api/players'],
  ['season-is-over', 409, 'GET', '/own/api/players'],
  ['status-402', 402, 'GET', '/bare/api/players'],
  ['forbidden', 403, 'GET', '/host'],
  ['status-410', 410, 'GET', '/lost'],
]

for (const [code, status, method, path, more] of PROBLEMS) {
  const about = `${method} ${path} ${more === undefined ? '' : JSON.stringify(more).slice(0, 60)}`
  test(`a problem document carries its code: ${about} is ${status} ${code}`, async (t) => {
    const answer = await league.send(method, path, more)
    t.is(answer.status, status, answer.text)
    t.is(answer.headers.get('content-type'), 'application/problem+json')
    t.is(answer.body.code, code)
    t.is(answer.body.status, status)
  })
}
