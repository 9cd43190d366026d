// The hosts and the origins that agents may use: pages whose host name is rebound to the server's address are refused.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter } from '../../../lib/index.js'
import { crudMcp } from '../../../lib/mcp/index.js'
import { openStage } from '../../support/stage.js'

const stage = await openStage(({ sequelize }, app) => {
  const Note = sequelize.define('Note', { text: DataTypes.STRING(20) }, { timestamps: false })
  const notes = crudRouter(Note, { authorizePolicy: () => true })
  const resources = [notes]
  app.use(notes)
  app.all('/default', crudMcp({ resources }))
  app.all('/hosts', crudMcp({ resources, hosts: ['API.example.com', '[::1]'] }))
  app.all('/origins', crudMcp({ resources, origins: ['https://app.example.com', 'http://localhost:5173'] }))
  app.all('/both', crudMcp({ resources, hosts: ['api.example.com'], origins: ['https://app.example.com'] }))
  const authorization = { resource: 'https://api.example.com/known', servers: ['https://login.example.com'] }
  app.all('/known', crudMcp({ resources, authorization }))
})
test.after.always(() => stage.close())

async function statusOf(path: string, host: string, origin?: string): Promise<number> {
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
  const headers = { accept: 'application/json, text/event-stream', host, ...(origin === undefined ? {} : { origin }) }
  const { status } = await stage.post(path, message, headers)
  return status
}

test.serial('programs may use any host, and pages the local ones (CVE-2025-66414)', async (t) => {
  for (const host of ['localhost', '127.0.0.1:3000', '[::1]:3000', 'api.example.com', 'evil.example:3000']) {
    t.is(await statusOf('/default', host), 200, host)
  }
  for (const host of ['localhost', 'localhost:3000', '127.0.0.1:3000', '[::1]:3000']) {
    t.is(await statusOf('/default', host, `http://${host}`), 200, host)
  }
  for (const host of ['evil.example', 'evil.example:3000', 'localhost.evil.example', '192.168.0.1']) {
    t.is(await statusOf('/default', host, `http://${host}`), 403, host)
  }
  const headers = { host: 'evil.example', origin: 'http://evil.example' }
  const { body } = await stage.post('/default', {}, headers)
  t.is(
    body.detail,
    'Requests to the host "evil.example" are not allowed. The option `hosts` of crudMcp lists allowed hosts.',
  )
})

test.serial('with hosts, every request must be sent to one of them', async (t) => {
  for (const [host, status] of [
    ['api.example.com', 200],
    ['api.EXAMPLE.com:8443', 200],
    ['[::1]:3000', 200],
    ['localhost', 403],
    ['evil.example', 403],
    ['api.example.com.evil.example', 403],
  ] as const) {
    t.is(await statusOf('/hosts', host), status, host)
    t.is(await statusOf('/hosts', host, `https://${host}`), status, host)
  }
  t.is(await statusOf('/hosts', 'api.example.com', 'https://evil.example'), 403)
})

test.serial('pages of the origins that are named may use any host, unless hosts are named as well', async (t) => {
  for (const [path, host, origin, status] of [
    ['/origins', 'api.example.com', 'https://app.example.com', 200],
    ['/origins', 'localhost:3000', 'http://localhost:5173', 200],
    ['/origins', 'localhost:3000', 'http://localhost:3000', 200],
    ['/origins', 'api.example.com', 'https://api.example.com', 403],
    ['/origins', 'api.example.com', 'http://app.example.com', 403],
    ['/origins', 'api.example.com', 'https://app.example.com:8443', 403],
    ['/origins', 'api.example.com', 'null', 403],
    ['/both', 'api.example.com', 'https://app.example.com', 200],
    ['/both', 'api.example.com', 'https://api.example.com', 200],
    ['/both', 'evil.example', 'https://app.example.com', 403],
  ] as const) {
    t.is(await statusOf(path, host, origin), status, `${path} ${host} ${origin}`)
  }
})

test.serial('the host of the protected resource is known', async (t) => {
  t.is(await statusOf('/known', 'api.example.com', 'https://api.example.com'), 401)
  t.is(await statusOf('/known', 'evil.example', 'https://evil.example'), 403)
})

test.serial('wrong options are errors when the handler is made', async (t) => {
  const router = crudRouter(stage.sequelize.model('Note'), { route: 'api/others' })
  for (const [option, values] of [
    ['hosts', ['api.example.com', [], ['api.example.com:80'], ['https://api.example.com'], [''], ['a b'], [5]]],
    ['origins', ['https://a.example', ['a.example'], ['https://a.example/'], ['https://a.example/x'], ['*'], [5]]],
  ] as const) {
    for (const value of values) {
      const options = { resources: [router], [option]: value } as Parameters<typeof crudMcp>[0]
      const message = new RegExp(`^crudMcp: ${option} must be an array of`)
      t.throws(() => crudMcp(options), { message, code: 'INVALID_OPTION' }, JSON.stringify(value))
    }
  }
  await router.close()
})
