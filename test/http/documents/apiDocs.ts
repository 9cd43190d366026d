// What apiDocs serves, and its two pages in a browser that has no other network.

import { request } from 'node:http'
import test, { type ExecutionContext } from 'ava'
import express, { type Express } from 'express'
import type { Browser } from 'playwright-core'
import { DataTypes } from 'sequelize'
import { type ApiDocsOptions, apiDocs, CrudConfigError, crudRouter, Operations, openApi } from '../../../lib/index.js'
import { createApiDocs } from '../../../lib/openapi/apiDocs.js'
import { loadSwaggerUi } from '../../../lib/openapi/assets.js'
import { hasBrowser, launch } from '../../support/browser.js'
import { portOf, readCurl, sendCurl } from '../../support/curl.js'
import { INFO } from '../../support/documented.js'
import { type League, openLeague } from '../../support/league.js'
import { serve, type TestServer } from '../../support/server.js'

const OPTIONS = { operations: Operations.AllWithBulk }

/** The league with its documents below a path of the application. */
async function serveDocs(
  t: ExecutionContext,
  more: Partial<ApiDocsOptions> = {},
  load = loadSwaggerUi,
): Promise<League & TestServer & { readonly app: Express }> {
  const league = await openLeague()
  const app = express()
  const resources = [crudRouter(league.Player, OPTIONS), crudRouter(league.Team, OPTIONS)]
  for (const resource of resources) app.use(resource)
  app.use('/help', createApiDocs(load, { resources, info: { ...INFO, title: 'A <b>League</b>' }, ...more }))
  const server = await serve(app)
  t.teardown(async () => {
    await server.close()
    await league.close()
  })
  return { ...league, ...server, app }
}

const noFiles = async (): Promise<null> => null

test('ui: swagger without the package is an error that names it', async (t) => {
  const { get, app } = await serveDocs(t, { ui: 'swagger' }, noFiles)
  app.use(((error, _req, res, _next) => void res.status(500).send(String(error))) satisfies express.ErrorRequestHandler)
  const { status, text } = await get('/help/docs')
  t.is(status, 500)
  t.is(text, "Error: apiDocs: ui: 'swagger' needs the package swagger-ui-dist: npm install swagger-ui-dist")
})

test('/docs has the introduction of the host in paragraphs, the operators in words, and a form for each list', async (t) => {
  const info = { ...INFO, title: 'League', description: 'Players & teams.\n\nAsk for a `token` first.' }
  const { get } = await serveDocs(t, { info })
  const { text } = await get('/help/docs')
  t.true(text.includes('<p>Players &amp; teams.</p>\n<p>Ask for a <code>token</code> first.</p>'))
  t.true(text.includes('<td><code>=*</code></td><td>contains</td><td><code>field=*a</code></td>'))
  t.true(text.includes('<a href="client.d.ts">') && text.includes('<a href="client.js">'))
  const forms = [...text.matchAll(/<form [^>]*action="([^"]*)"/g)].map(([, action]) => action)
  t.deepEqual(forms, ['/api/players', '/api/teams'])
  // A form without its script sends all of its fields.
  const { status, body } = await get('/api/players?filter=&sort=&select=')
  t.is(status, 200)
  t.true(body.items.length > 0)
})

test('/openapi.json is the document, and 304 for who has it', async (t) => {
  const { get, send } = await serveDocs(t)
  const { status, headers, body } = await get('/help/openapi.json')
  t.is(status, 200)
  t.like(body, { openapi: '3.1.0', info: { title: 'A <b>League</b>' } })
  t.deepEqual(Object.keys(body.paths).slice(0, 2), ['/api/players', '/api/players/bulk'])
  t.is(headers.get('content-type'), 'application/json; charset=utf-8')
  t.is(headers.get('cache-control'), 'no-cache')
  const tag = headers.get('etag') ?? ''
  for (const known of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
    const again = await get('/help/openapi.json', { 'if-none-match': known })
    t.deepEqual([again.status, again.text, again.headers.get('etag')], [304, '', tag], known)
  }
  t.is((await get('/help/openapi.json', { 'if-none-match': '"other"' })).status, 200)
  const head = await send('HEAD', '/help/openapi.json')
  t.deepEqual([head.status, head.text, head.headers.get('etag')], [200, '', tag])
})

test('the document is written anew when something has mounted since', async (t) => {
  const { get, sequelize, Player } = await serveDocs(t)
  const before = await get('/help/openapi.json')
  const Coach = sequelize.define('Coach', { name: DataTypes.STRING })
  Player.belongsTo(Coach, { as: 'coach', foreignKey: 'coachId', constraints: false })
  crudRouter(Coach)
  const after = await get('/help/openapi.json')
  t.not(after.headers.get('etag'), before.headers.get('etag'))
  t.true('CoachProjection' in after.body.components.schemas)
})

test('ui: swagger serves Swagger UI at /docs, and nothing but its fixed files', async (t) => {
  const { get } = await serveDocs(t, { ui: 'swagger' })
  const page = await get('/help/docs')
  t.is(page.status, 200)
  t.regex(page.text, /A &lt;b&gt;League/)
  t.is(
    page.headers.get('content-security-policy'),
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'",
  )
  for (const [, file] of page.text.matchAll(/"docs\/([\w.-]+)"/g)) {
    const { status, headers } = await get(`/help/docs/${file}`)
    t.is(status, 200, file)
    t.is(headers.get('x-content-type-options'), 'nosniff')
    t.is((await get(`/help/docs/${file}`, { 'if-none-match': headers.get('etag') ?? '' })).status, 304)
  }
  const initializer = await get('/help/docs/initializer.js')
  t.regex(initializer.text, /validatorUrl: null/)
  t.regex(initializer.text, /queryConfigEnabled: false/)
  for (const file of [
    'package.json',
    'index.html',
    '..%2fpackage.json',
    '../package.json',
    '__proto__',
    'constructor',
  ]) {
    t.is((await get(`/help/docs/${file}`)).status, 404, file)
  }
  const slash = await get('/help/docs/')
  t.deepEqual([slash.status, slash.headers.get('location')], [308, '../docs'])
})

test('/docs is a page that works without its script, and its lines for a shell do what they say', async (t) => {
  const { get, url } = await serveDocs(t)
  const { status, text, headers } = await get('/help/docs')
  t.is(status, 200)
  t.deepEqual(text.match(/<script[^>]*>[^<]*/gi), ['<script src="docs/try.js">'])
  t.notRegex(text, /javascript:| on\w+=/i)
  t.regex(text, /A &lt;b&gt;League&lt;\/b&gt;/)
  t.regex(headers.get('content-security-policy') ?? '', /^default-src 'none';/)
  for (const file of ['swagger-ui.css', 'initializer.js']) t.is((await get(`/help/docs/${file}`)).status, 404)
  const commands = text.replace(/<span class="key">([^<]*)<\/span>/g, '$1').replace(/<form[\s\S]*?<\/form>/g, '')
  const lines = [...commands.matchAll(/<pre[^>]*>([^<]*)<\/pre>/g)].map(([, line = '']) =>
    line
      .replace(/&#39;/g, "'")
      .replace(/&quot;/g, '"')
      .replace(/&amp;/g, '&'),
  )
  t.is(lines.length, 14)
  // What deletes comes last.
  for (const line of lines.toSorted((a, b) => Number(/delete/i.test(a)) - Number(/delete/i.test(b)))) {
    t.true(line.includes(url), line)
    const curl = readCurl(line)
    const { status } = await sendCurl(curl, portOf(curl))
    t.true(status < 300 || (/DELETE/.test(line) && status === 404), `${status} ${line}`)
  }
})

test('files that could not be read once are read again', async (t) => {
  let asked = 0
  const { get } = await serveDocs(t, { ui: 'swagger' }, async () => {
    asked += 1
    if (asked === 1) throw new Error('too many files are open')
    return loadSwaggerUi()
  })
  t.is((await get('/help/docs')).status, 500)
  t.is((await get('/help/docs')).status, 200)
  t.is((await get('/help/docs/swagger-ui.css')).status, 200)
  t.is(asked, 2)
})

/** Reads the page with headers that `fetch` would not send. */
function readPage(url: string, headers: Readonly<Record<string, string>>): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/help/docs`, { headers }, (res) => {
      let all = ''
      res.on('data', (chunk) => {
        all += chunk
      })
      res.on('end', () => resolve(all))
    })
    sent.on('error', reject).end()
  })
}

test('the page shows no text of an invalid Host header', async (t) => {
  const { get, url } = await serveDocs(t)
  const text = await readPage(url, { host: `a'"><script>` })
  t.false(text.replace('<script src="docs/try.js"></script>', '').includes('script>'))
  t.is((await get('/help/docs')).status, 200)
})

test('no header of a request multiplies the page', async (t) => {
  const { app, url } = await serveDocs(t)
  app.set('trust proxy', true)
  const page = await readPage(url, { host: 'localhost' })
  for (const headers of [{ 'x-forwarded-proto': '$`'.repeat(20) }, { 'x-forwarded-proto': 'x'.repeat(5000) }]) {
    t.is(await readPage(url, { host: 'localhost', ...headers }), page)
  }
  t.is(await readPage(url, { host: 'a'.repeat(5000) }), page)
  const secure = await readPage(url, { host: 'api.example.com', 'x-forwarded-proto': 'https' })
  t.is(secure, page.replaceAll('http://localhost', 'https://api.example.com'))
})

test('ui gives another page, whose policy is its own', async (t) => {
  const { get } = await serveDocs(t, { ui: ({ openApi }) => `<p>${openApi}</p>` })
  const { text, headers } = await get('/help/docs')
  t.is(text, '<p>openapi.json</p>')
  t.is(headers.get('content-security-policy'), null)
  t.is((await get('/help/docs/swagger-ui.css')).status, 404)
})

test('what apiDocs does not know goes on, and so do other methods', async (t) => {
  const { app, get, post } = await serveDocs(t, { path: '/v1/' })
  app.use((_req, res) => void res.status(418).end())
  t.is((await get('/help/docs')).status, 418)
  t.is((await get('/help/v1/docs')).status, 200)
  t.is((await get('/help/v1/openapi.json')).status, 200)
  t.is((await post('/help/v1/docs', {})).status, 418)
})

test('what is wrong is told where apiDocs is called, or to the error handler once all is mounted', async (t) => {
  const { Player, Team, sequelize, app, get } = await serveDocs(t)
  t.throws(() => apiDocs({ resources: [], info: INFO }), { code: 'INVALID_OPTION' })
  const resources = [crudRouter(Player)]
  // As they come from JavaScript, where nothing else tells.
  const rows: readonly (readonly [make: (options: never) => unknown, options: unknown, message: RegExp])[] = [
    [apiDocs, undefined, /^apiDocs: options are missing/],
    [apiDocs, { resources, info: INFO, pth: '/' }, /^apiDocs: the option "pth" does not exist. Did you mean "path"/],
    [apiDocs, { resources }, /^apiDocs: info must be an object with the texts "title" and "version"/],
    [openApi, { resources, info: { title: 'x' } }, /^openApi: info must be/],
    [
      openApi,
      { resources, info: INFO, server: [] },
      /^openApi: the option "server" does not exist. Did you mean "servers"/,
    ],
    [openApi, null, /^openApi: options are missing/],
    [apiDocs, resources, /^apiDocs: the argument must be an object with "resources" and "info"\. /],
    [openApi, resources[0], /^openApi: the argument must be an object with "resources" and "info"\. /],
  ]
  for (const [make, options, message] of rows) {
    t.throws(() => make(options as never), { instanceOf: CrudConfigError, message })
  }
  t.throws(() => apiDocs({ resources: [crudRouter(Player)], info: INFO, path: 'docs' }), { message: /begin with/ })
  const twins = [crudRouter(Player), crudRouter(Player, { route: 'api/twins' })]
  t.throws(() => apiDocs({ resources: twins, info: INFO }), { instanceOf: CrudConfigError, message: /option "names"/ })
  Team.hasMany(sequelize.define('Fan', { name: DataTypes.STRING }), { as: 'fans' })
  const late = crudRouter(Team, { route: 'api/late', relations: { fans: { routes: true } } })
  app.use('/late', apiDocs({ resources: [late], info: INFO }))
  app.use(
    (error: Error, _req: unknown, res: express.Response, _next: unknown) => void res.status(500).send(error.message),
  )
  const { status, text } = await get('/late/openapi.json')
  t.is(status, 500)
  t.regex(text, /no router is mounted for the model Fan/)
})

const inBrowser = hasBrowser ? test : test.skip

let browser: Promise<Browser> | undefined

/** The browser of all tests of this file. */
function openBrowser(): Promise<Browser> {
  browser ??= launch()
  return browser
}

test.after.always(async () => (await browser)?.close())

for (const [name, more, selector] of [
  ['Swagger UI', { ui: 'swagger' }, '.opblock'],
  ["the package's own page", {}, 'main section details summary'],
] as const) {
  inBrowser(
    `${name} shows every operation in a browser without any other network, on narrow and wide screens`,
    async (t) => {
      t.timeout(120_000)
      const { url } = await serveDocs(t, more)
      const browser = await openBrowser()
      for (const [colorScheme, width] of [
        ['light', 400],
        ['dark', 1400],
      ] as const) {
        const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme })
        const wrong: string[] = []
        await page.route('**/*', (route) => {
          if (route.request().url().startsWith(url)) return route.continue()
          wrong.push(route.request().url())
          return route.abort()
        })
        page.on('console', (message) => void (message.type() === 'error' && wrong.push(message.text())))
        page.on('pageerror', (error) => wrong.push(String(error)))
        await page.goto(`${url}/help/docs`)
        const first = page.locator(selector).first()
        await first.waitFor()
        t.true((await page.locator(selector).count()) >= 14)
        t.true(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth'), `${width}`)
        await first.click()
        await page.getByText('pageSize').first().waitFor()
        t.deepEqual(wrong, [])
        await page.close()
      }
    },
  )
}

inBrowser('a form of the page sends the GET, shows the answer, and writes a key of it into the commands', async (t) => {
  t.timeout(120_000)
  const { url, Player } = await serveDocs(t)
  const last = await Player.findOne({ order: [['id', 'DESC']] })
  const page = await (await openBrowser()).newPage({ viewport: { width: 1000, height: 900 } })
  const wrong: string[] = []
  page.on('console', (message) => void (message.type() === 'error' && wrong.push(message.text())))
  page.on('pageerror', (error) => wrong.push(String(error)))
  await page.goto(`${url}/help/docs`)
  const form = page.locator('#Players form')
  await form.locator('input[name=sort]').fill('-id')
  await form.getByRole('button').click()
  const answer = form.locator('pre')
  await answer.getByText('200 OK').waitFor()
  const text = (await answer.textContent()) ?? ''
  t.true(text.startsWith('GET /api/players?sort=-id\n200 OK\n'))
  t.true(text.includes(String(last?.get('name'))))
  const command = page.locator('#getPlayer pre')
  t.true((await command.textContent())?.includes(`/api/players/${last?.get('id')}'`))
  t.deepEqual(wrong, [])
  await form.locator('input[name=filter]').fill('Nmae=x')
  await form.getByRole('button').click()
  await answer.getByText('400 Bad Request').waitFor()
  t.true((await answer.textContent())?.includes('Did you mean'))
})
