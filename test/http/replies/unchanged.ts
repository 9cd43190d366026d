// Lists carry a weak tag of what they say, and If-None-Match that names it is answered 304.

import { request } from 'node:http'
import ava from 'ava'
import express from 'express'
import { DataTypes } from 'sequelize'
import { crudRouter } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'
import { identity, withPermission } from '../../support/tokens.js'

// One of them changes records that the others ask for.
const test = ava.serial

const server = await openStage(({ sequelize }, app) => {
  const Player = sequelize.define('Player', { name: DataTypes.STRING, salary: DataTypes.INTEGER })
  app.use(crudRouter(Player))
  const router = crudRouter(Player, { identity, mask: { salary: 'payroll' } })
  for (const [path, setting, value] of [
    ['/spaced', 'json spaces', 2],
    ['/untagged', 'etag', false],
    ['/strong', 'etag', 'strong'],
  ] as const) {
    const inner = express()
    inner.set(setting, value)
    inner.use(router)
    app.use(path, inner)
  }
  return { Player }
})
const { Player } = server
await Player.bulkCreate([1, 2, 3].map((salary) => ({ name: `p${salary}`, salary })))
ava.after.always(() => server.close())

interface Told {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

/** As it stands: fetch would add a Cache-Control of its own to If-None-Match. */
function ask(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Told> {
  return new Promise((resolve, reject) => {
    const sent = request(`${server.url}${path}`, { method, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: Buffer.concat(chunks).toString(),
        }),
      )
    })
    sent.on('error', reject)
    sent.end()
  })
}

const tagOf = ({ headers }: Told): string => String(headers.etag)

const LISTS = ['?page=1', '?count=true', '?count=none', '?cursor=', '?after=&sort=-Name', '?select=name', '?keys=2']

for (const path of ['/api/players', '/spaced/api/players', '/strong/api/players']) {
  for (const query of LISTS) {
    test(`${path}${query} is 304 without a body for who has it, whatever Cache-Control says`, async (t) => {
      const first = await ask(path + query)
      t.is(first.status, 200)
      t.regex(tagOf(first), path.startsWith('/strong') ? /^"/ : /^W\/"/)
      for (const control of [null, 'no-cache', 'max-age=0', 'no-cache, no-store', 'only-if-cached']) {
        for (const known of [tagOf(first), `"x", ${tagOf(first)}`, tagOf(first).replace(/^W\//, ''), '*']) {
          const headers = { 'if-none-match': known, ...(control === null ? {} : { 'cache-control': control }) }
          for (const method of ['GET', 'HEAD']) {
            const { status, text, headers: sent } = await ask(path + query, headers, method)
            t.is(status, 304, `${method} ${known} ${control}`)
            t.is(text, '')
            t.is(sent.etag, first.headers.etag)
            t.is(sent['content-type'], undefined)
          }
        }
        const headers = control === null ? {} : { 'cache-control': control }
        for (const known of ['"x"', 'W/"x"', '']) {
          const { status, text } = await ask(path + query, { ...headers, 'if-none-match': known })
          t.is(status, 200)
          t.is(text, first.text)
        }
      }
    })
  }
}

test('a list that differs has another tag: by its parameters, by its caller, by its records', async (t) => {
  const path = '/spaced/api/players?select=name,salary'
  const masked = await ask(path)
  const whole = await ask(path, withPermission('payroll'))
  t.not(tagOf(masked), tagOf(whole))
  const known = { 'if-none-match': tagOf(masked), 'cache-control': 'no-cache' }
  t.is((await ask(path, known)).status, 304)
  t.is((await ask(path, { ...known, ...withPermission('payroll') })).status, 200)
  t.is((await ask(`${path}&sort=-Name`, known)).status, 200)
})

test('without the setting etag there is no tag, and nothing is 304', async (t) => {
  const { headers, status } = await ask('/untagged/api/players', {
    'if-none-match': '"x"',
    'cache-control': 'no-cache',
  })
  t.is(headers.etag, undefined)
  t.is(status, 200)
})

test('problems are never 304, and more than 50 tags are 400', async (t) => {
  t.is((await ask('/api/players?sort=x', { 'if-none-match': '*', 'cache-control': 'no-cache' })).status, 400)
  const tags = Array.from({ length: 51 }, (_, index) => `"${index}"`).join()
  t.is((await ask('/api/players', { 'if-none-match': tags })).status, 400)
  t.is((await ask('/api/players', { 'if-none-match': tags.slice(5) })).status, 200)
})

test('a record that is unchanged says which preference was honoured, as the document has it', async (t) => {
  const { status, headers } = await server.get('/api/players/1?select=name', {
    'if-none-match': '*',
    prefer: 'handling=strict',
  })
  t.is(status, 304)
  t.is(headers.get('preference-applied'), 'handling=strict')
})
