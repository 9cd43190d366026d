// Who is asking. Each test is named after its rule. Those about sockets are in push.ts.

import { createHmac } from 'node:crypto'
import test from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter, jwtIdentity, Operations, type Scope } from '../../../lib/index.js'
import { openGuarded } from '../../support/guarded.js'
import type { Answer } from '../../support/server.js'
import { openStage } from '../../support/stage.js'
import { bearer, identity, SECRET, withPermission } from '../../support/tokens.js'

const guarded = await openGuarded()
const scoped = await openStage(({ sequelize }, app) => {
  const Letter = sequelize.define(
    'Letter',
    { owner: { type: DataTypes.STRING, allowNull: false }, text: DataTypes.STRING },
    { timestamps: false },
  )
  app.use(
    crudRouter(Letter, {
      identity,
      operations: Operations.AllWithBulk | Operations.Restore,
      softDelete: true,
      concurrency: true,
      scope: ({ identity: caller }) => ({ owner: caller?.name }) as Scope,
      onError: () => undefined,
    }),
  )
})
await scoped.sequelize.model('Letter').bulkCreate([
  { owner: 'jan', text: 'dear' },
  { owner: 'eva', text: 'secret' },
])
test.after.always(async () => {
  await guarded.close()
  await scoped.close()
})

const jan = bearer({ sub: 'jan' })
const payroll = withPermission('payroll')

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

test('algorithms are fixed by the host, empty keys are refused, and none never holds (CVE-2022-23540)', async (t) => {
  const claims = encoded({ sub: 'jan', permissions: ['payroll'] })
  const forged = (alg: string, key: string | null): string => {
    const content = `${encoded({ alg, typ: 'JWT' })}.${claims}`
    return `${content}.${key === null ? '' : createHmac('sha256', key).update(content).digest('base64url')}`
  }
  const tokens = [
    forged('none', null),
    forged('None', null),
    forged('none', ''),
    forged('HS256', ''),
    forged('HS512', SECRET),
  ]
  for (const token of [...tokens, forged('HS256', 'undefined'), forged('HS256', 'null'), forged('RS256', SECRET)]) {
    const { status, headers, text } = await guarded.get('/api/players', { authorization: `Bearer ${token}` })
    t.is(status, 401, token)
    t.is(headers.get('www-authenticate'), 'Bearer error="invalid_token"')
    t.notRegex(text, /5000|algorithm|signature|jwt/i)
  }
  const { body } = await guarded.get('/api/players/1', { authorization: `Bearer ${forged('HS256', SECRET)}` })
  t.is(body.salary, 5000)
  for (const key of ['', ' ', undefined as unknown as string]) {
    t.throws(() => jwtIdentity({ key, algorithms: ['HS256'] }), { instanceOf: TypeError })
  }
  t.throws(() => jwtIdentity({ key: SECRET, algorithms: ['none' as 'HS256'] }), { instanceOf: TypeError })
})

test('a token ends at its exp, on every request (CVE-2025-3930, CVE-2025-4643)', async (t) => {
  const now = Math.floor(Date.now() / 1000)
  t.is((await guarded.get('/api/players/1', bearer({ permissions: ['payroll'], exp: now + 600 }))).body.salary, 5000)
  t.is((await guarded.get('/api/players/1', bearer({ permissions: ['payroll'], exp: now - 1 }))).status, 401)
})

/** Every envelope that records come in. */
const ENVELOPES: readonly (readonly [title: string, send: (headers: Record<string, string>) => Promise<Answer>])[] = [
  ['GET by id', (headers) => guarded.get('/api/players/1', headers)],
  ['a page', (headers) => guarded.get('/api/players', headers)],
  ['a cursor page', (headers) => guarded.get('/api/players?cursor=', headers)],
  ['a select', (headers) => guarded.get('/api/players?select=name,salary,team.name,team.budget', headers)],
  ['a filtered page', (headers) => guarded.get('/api/players?filter=name=Jan', headers)],
  ['POST', (headers) => guarded.post('/api/players', { name: 'E', salary: 5000 }, headers)],
  ['POST bulk', (headers) => guarded.post('/api/players/bulk', [{ name: 'E', salary: 5000 }], headers)],
  ['PATCH', (headers) => guarded.patch('/api/players/1', { level: 42 }, headers)],
]

for (const [title, send] of ENVELOPES) {
  test(`masks hold per record and per caller in ${title}, and are never cached across callers (CVE-2023-25575)`, async (t) => {
    const callers = [payroll, {}, payroll, jan, {}, payroll, bearer({ sub: 'x', roles: ['payroll'] }), jan]
    for (const headers of callers) {
      const { status, text, headers: sent } = await send(headers)
      t.true(status === 200 || status === 201)
      const sees = headers === payroll || callers.indexOf(headers) === 6
      t.is(/5000/.test(text), sees, text)
      t.notRegex(text, /"budget":(?!0)/)
      t.is(sent.get('cache-control'), 'private')
      t.regex(sent.get('vary') ?? '', /Authorization/)
    }
    // All at once, too.
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => send(index % 2 === 0 ? payroll : {})))
    for (const [index, { text }] of answers.entries()) t.is(/5000/.test(text), index % 2 === 0)
  })
}

test('masking is pure: nothing that one caller sees is changed by what another sees (CVE-2026-34363)', async (t) => {
  const before = (await guarded.get('/api/players/2', payroll)).text
  await guarded.get('/api/players/2')
  await guarded.get('/api/players?cursor=')
  await guarded.patch('/api/players/2', { name: 'Anna' })
  t.is((await guarded.get('/api/players/2', payroll)).text, before)
})

test('out of scope is 404, byte for byte the same as missing', async (t) => {
  const attempts: readonly (readonly [method: string, suffix: string, options: object])[] = [
    ['GET', '', {}],
    ['HEAD', '', {}],
    ['PATCH', '', { json: { text: 'mine' } }],
    ['PATCH', '', { json: { text: 5 } }],
    ['PATCH', '', { json: {}, headers: { 'if-match': 'W/"0"' } }],
    ['PATCH', '', { json: {}, headers: { 'if-match': '"9"' } }],
    ['DELETE', '', {}],
    ['DELETE', '', { headers: { 'if-match': '"9"' } }],
    ['POST', '/restore', {}],
  ]
  for (const [method, suffix, options] of attempts) {
    const send = async (key: string): Promise<unknown> => {
      const given = options as { headers?: Record<string, string> }
      const { status, headers, text } = await scoped.send(method, `/api/letters/${key}${suffix}`, {
        ...given,
        headers: { ...given.headers, ...jan },
      })
      return { status, text, headers: [...headers].filter(([name]) => name !== 'date') }
    }
    const [foreign, missing, impossible] = await Promise.all([send('2'), send('9'), send('x')])
    t.deepEqual(foreign, missing, `${method} ${JSON.stringify(options)}`)
    t.deepEqual(impossible, missing)
    t.like(foreign, { status: 404 })
  }
  t.deepEqual((await scoped.post('/api/letters/bulk-delete', [2], jan)).body, { deleted: 0 })
  t.is((await scoped.get('/api/letters/2', bearer({ sub: 'eva' }))).body.text, 'secret')
})

test('a caller without a scope sees nothing, and least of all everything', async (t) => {
  for (const path of ['/api/letters', '/api/letters/1', '/api/letters?count=true', '/api/letters?cursor=']) {
    const { status, text } = await scoped.get(path)
    t.is(status, 500)
    t.notRegex(text, /dear|secret|owner|scope/)
  }
})
