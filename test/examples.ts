// Every example, started as `npm start` and `npm run example` start it, driven over HTTP and ended by a signal.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { request } from 'node:http'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import jsonwebtoken from 'jsonwebtoken'
import { QueryTypes, type Sequelize } from 'sequelize'
import { io } from 'socket.io-client'
import { connect as desk } from '../examples/desk/models.js'
import { seed as seedDesk } from '../examples/desk/seed.js'
import { connect as league } from '../examples/league/models.js'
import { seed as seedLeague } from '../examples/league/seed.js'
import { connect as live } from '../examples/live/models.js'
import { seed as seedLive } from '../examples/live/seed.js'
import { ACCOUNTS } from '../examples/secured/accounts.js'
import { connect as secured } from '../examples/secured/models.js'
import { isPassword } from '../examples/secured/passwords.js'
import { seed as seedSecured } from '../examples/secured/seed.js'
import { connect as shop } from '../examples/shop/models.js'
import { seed as seedShop } from '../examples/shop/seed.js'
import { type Reply, readCurl, sendCurl } from './support/curl.js'
import { sqliteOptions } from './support/database.js'
import { findErrors } from './support/linter.js'
import { type Program, root, start, startExample } from './support/program.js'

async function portOf(program: Program): Promise<number> {
  const [, port] = await program.waitForOutput(/localhost:(\d+)[\s\S]*Ctrl-C/)
  return Number(port)
}

const JSON_TYPE = `-H 'Content-Type: application/json'`

/** The commands that an example prints. */
function printed(program: Program): string[] {
  return [...program.output().matchAll(/^ *(curl .*)$/gm)].map(([, command = '']) => command)
}

async function send(command: string, port: number): Promise<Reply> {
  return sendCurl(readCurl(command), port)
}

test.serial('npm start and npm run example compile, and then start what these tests start', (t) => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  t.regex(scripts.start, /compile\.mjs --aloud && node examples\/run\.mjs league$/)
  t.regex(scripts.example, /compile\.mjs --aloud && node examples\/run\.mjs$/)
})

// npm starts a shell, which starts Node: a signal to npm ends the shell, and many shells do not pass it on. Windows has no
// such signals.
const withSignals = process.platform === 'win32' ? test.serial.skip : test.serial

withSignals('an example that npm started ends when the shell between them has been ended', async (t) => {
  const shell = `require('node:child_process').spawn(process.execPath, ['examples/run.mjs', 'league'], { stdio: 'inherit' })`
  const program = start(['--eval', shell], { env: { PORT: '0', npm_lifecycle_event: 'start' } })
  const port = await portOf(program)
  t.is((await send(`curl 'localhost:${port}/api/players/1'`, port)).status, 200)
  // It has ended once nobody holds its output any more.
  t.is(await program.stop(), 'SIGTERM')
  await t.throwsAsync(send(`curl 'localhost:${port}/api/players/1'`, port))
})

test.serial('every example has tests here', (t) => {
  const folders = readdirSync(join(root, 'examples'), { withFileTypes: true }).filter((entry) => entry.isDirectory())
  t.deepEqual(folders.map(({ name }) => name).sort(), [
    'admin',
    'cluster',
    'desk',
    'existing-api',
    'league',
    'live',
    'observed',
    'secured',
    'shop',
  ])
})

test.serial('an example that does not exist is told with those that do', async (t) => {
  const program = startExample('leage')
  t.is(await program.ended(), 1)
  t.is(
    program.output(),
    'There is no example "leage". There are: admin, cluster, desk, existing-api, league, live, observed, secured, shop.\n',
  )
})

for (const name of ['desk', 'league', 'secured', 'shop']) {
  test.serial(`the ${name} example serves its documents`, async (t) => {
    const program = startExample(name)
    t.teardown(() => program.stop())
    const port = await portOf(program)
    t.regex(program.output(), /What they can do: http:\/\/localhost:\d+\/docs/)
    const { status, text } = await send(`curl 'localhost:${port}/openapi.json'`, port)
    t.is(status, 200)
    t.is(await findErrors(JSON.parse(text)), null)
    for (const path of ['docs', 'client.d.ts']) t.is((await send(`curl 'localhost:${port}/${path}'`, port)).status, 200)
  })
}

test.serial('every example with a SQLite file keeps it in WAL mode', async (t) => {
  const library = createRequire(import.meta.url)(join(root, 'examples/existing-api/models/index.cjs'))
  const seeds: Readonly<Record<string, (storage: string) => Promise<Sequelize>>> = {
    league: (storage) => seeded(league, seedLeague, storage),
    desk: (storage) => seeded(desk, seedDesk, storage),
    secured: (storage) => seeded(secured, seedSecured, storage),
    live: (storage) => seeded(live, seedLive, storage),
    shop: (storage) => seeded(shop, seedShop, storage),
    library: async (storage) => {
      const models = library.connect(storage)
      await library.seed(models)
      return models.sequelize
    },
  }
  const folder = await mkdtemp(join(tmpdir(), 'examples-'))
  for (const [name, seed] of Object.entries(seeds)) {
    const sequelize = await seed(join(folder, `${name}.sqlite`))
    const modes = await sequelize.query('PRAGMA journal_mode', { type: QueryTypes.SELECT })
    await sequelize.close()
    t.deepEqual(modes, [{ journal_mode: 'wal' }], name)
  }
  await rm(folder, { recursive: true })
})

async function seeded(
  connect: (storage: string, driver?: object) => Sequelize,
  seed: (sequelize: Sequelize) => Promise<void>,
  storage: string,
): Promise<Sequelize> {
  const sequelize = connect(storage, sqliteOptions.dialectModule)
  await seed(sequelize)
  return sequelize
}

// ---------------------------------------------------------------- league

test.serial('every request that the league prints gets its answer, and SIGTERM ends it with status 0', async (t) => {
  const program = startExample('league')
  const port = await portOf(program)
  const commands = printed(program)
  const replies: Reply[] = []
  for (const command of commands) replies.push(await send(command, port))
  t.deepEqual(
    replies.map(({ status }) => status),
    [200, 200, 200, 200, 200, 200, 200, 200, 201, 200, 204, 201, 200, 400],
  )
  const text = commands.join('\n')
  for (const word of [
    'filter=',
    'sort=',
    'select=',
    'count=true',
    'cursor=',
    'POST',
    'PATCH',
    'DELETE',
    '/bulk',
    '/bulk-delete',
  ]) {
    t.true(text.includes(word), word)
  }
  const [, jan] = replies
  t.deepEqual(
    JSON.parse(jan?.text ?? '').items.map(({ name }: { name: string }) => name),
    ['Jan Kowalski'],
  )
  t.is(await program.stop(), 0, program.output())
})

test.serial(
  'the league answers the request of its README with Jan, and a path that is nowhere with a problem',
  async (t) => {
    const program = startExample('league')
    const port = await portOf(program)
    const { text } = await send(`curl -g 'localhost:3000/api/players?filter=Team.Name=Lakers,Level>30'`, port)
    t.deepEqual(JSON.parse(text).items, [
      { id: 1, name: 'Jan Kowalski', level: 42, email: 'jan@test.pl', salary: 5000, teamId: 1 },
    ])
    const nowhere = await send(`curl 'localhost:3000/api/nothing'`, port)
    t.is(nowhere.status, 404)
    t.is(nowhere.headers['content-type'], 'application/problem+json')
    t.is(await program.stop(), 0)
  },
)

test.serial('the page of the league links its requests, its documents and a live board', async (t) => {
  const program = startExample('league')
  t.teardown(() => program.stop())
  const port = await portOf(program)
  t.regex(program.output(), /^Open http:\/\/localhost:\d+ /)
  const page = await send(`curl 'localhost:3000/'`, port)
  t.is(page.headers['content-type'], 'text/html; charset=utf-8')
  const unescaped = page.text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"')
  const commands = printed(program)
  t.true(commands.length > 10)
  for (const command of commands) t.true(unescaped.replaceAll('&amp;', '&').includes(command), command)
  const links = [...page.text.matchAll(/<a href="([^"]*)"/g)].map(([, link = '']) => link.replaceAll('&amp;', '&'))
  for (const link of ['docs', 'openapi.json', 'live/']) t.true(links.includes(link), link)
  t.true(links.length > 10, `${links.length} links`)
  for (const link of links) {
    const path = link.replaceAll('&gt;', '>').replaceAll('&lt;', '<')
    const { status } = await send(`curl -g 'localhost:3000/${path}'`, port)
    t.is(status, path.endsWith('filter=(Level>5,Name^A') ? 400 : 200, path)
  }

  const [, orders = '', events = ''] =
    /The board .*localhost:\d+(\/\S+), events: (\/\S+)\./.exec(program.output()) ?? []
  const hub = io(`http://localhost:${port}${events}`, { forceNew: true })
  t.teardown(() => hub.disconnect())
  await new Promise<void>((resolve, reject) => hub.on('connect', resolve).on('connect_error', reject))
  const heard = new Promise((resolve) => hub.on('OnUpdated', resolve))
  const patch = `curl -X PATCH 'localhost:3000${orders}/6' ${JSON_TYPE} -H 'If-Match: *' -d '{"status":"Shipped"}'`
  t.is((await send(patch, port)).status, 200)
  t.like(await heard, { id: 6, status: 'Shipped' })
})

test.serial('new orders are Pending, need a product and have a decimal total', async (t) => {
  const program = startExample('league')
  const port = await portOf(program)
  const post = (body: string): Promise<Reply> =>
    send(`curl 'localhost:3000/api/orders' -H 'Content-Type: application/json' -d '${body}'`, port)
  t.like(JSON.parse((await post('{"product":"Net","total":0.1}')).text), { total: 0.1, status: 'Pending' })
  t.deepEqual(JSON.parse((await post('{"total":0.125,"status":"Lost"}')).text).errors, {
    product: ['is required.'],
    total: ['must have at most 2 decimal places.'],
    status: ['must be one of: Pending, Shipped, Delivered, Cancelled.'],
  })
  t.is(await program.stop(), 0)
})

test.serial('the league answers what is under way before SIGTERM ends it, and leaves no file behind', async (t) => {
  const program = startExample('league')
  const port = await portOf(program)
  const [, storage = ''] = await program.waitForOutput(/new at every start: (\S+)/)
  t.true(existsSync(storage))
  const answer = new Promise<number>((resolve, reject) => {
    const body = '{"product":"Late"}'
    const headers = { 'content-type': 'application/json', 'content-length': body.length }
    const late = request({ port, path: '/api/orders', method: 'POST', headers, agent: false }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode ?? 0))
    })
    late.once('error', reject)
    late.write(body.slice(0, 5), () => {
      // The server has the first half when it has answered another request.
      send(`curl 'localhost:3000/api/orders'`, port).then(() => {
        ended = program.stop()
        setTimeout(() => late.end(body.slice(5)), 300)
      }, reject)
    })
  })
  let ended: Promise<number | string> | undefined
  t.is(await answer, 201)
  t.is(await ended, 0, program.output())
  t.false(existsSync(storage))
})

test.serial('SIGINT ends the league with status 0, also when it comes twice as under npm', async (t) => {
  const program = startExample('league')
  await portOf(program)
  const ended = program.stop('SIGINT')
  program.stop('SIGINT')
  t.is(await ended, 0, program.output())
})

test.serial('a port that is in use is told in one line, with what to do', async (t) => {
  const first = startExample('league')
  const port = await portOf(first)
  const second = startExample('league', port)
  t.is(await second.ended(), 1)
  t.is(
    second.output(),
    `Port ${port} is in use. Stop what uses it, or choose another one: PORT=${port + 1} npm start\n`,
  )
  t.is(await first.stop(), 0)
})

test.serial('a PORT that is none is told in one line', async (t) => {
  const program = start(['examples/run.mjs', 'league'], { env: { PORT: 'three' } })
  t.is(await program.ended(), 1)
  t.is(program.output(), 'PORT=three is no port: it must be a whole number from 0 to 65535.\n')
})

// ---------------------------------------------------------------- existing-api

test.serial(
  'the existing application gets its resource by one line, and keeps its own routes and errors',
  async (t) => {
    const source = readFileSync(join(root, 'examples/existing-api/app.cjs'), 'utf8')
    t.is(source.match(/\bcrudRouter\(/g)?.length, 1)

    const program = startExample('existing-api')
    const port = await portOf(program)
    const get = (path: string): Promise<Reply> => send(`curl -g 'localhost:3000${path}'`, port)
    const post = (path: string, body: string): Promise<Reply> =>
      send(`curl 'localhost:3000${path}' -H 'Content-Type: application/json' -d '${body}'`, port)

    t.deepEqual(JSON.parse((await get('/health')).text), { ok: true })
    t.deepEqual(JSON.parse((await get('/nothing')).text), { error: 'There is nothing here.' })
    t.deepEqual(JSON.parse((await post('/loans', '{"bookId":9}')).text), { error: 'No such book.' })

    const books = await get('/api/books?filter=Author.Name=*Lem&select=title,author.name')
    t.deepEqual(JSON.parse(books.text).items, [{ title: 'Solaris', author: { name: 'Stanislaw Lem' } }])
    t.is((await get('/api/books?filter=Author.Id=1')).status, 400, 'only the names of authors are open')

    const created = await post('/api/books', '{"title":"Fiasco","isbn":"9780156306300","authorId":1}')
    t.is(created.status, 201)
    t.is(created.headers.location, '/api/books/3')
    t.deepEqual(JSON.parse((await post('/loans', '{"bookId":3}')).text), { lent: 'Fiasco' })
    t.is(JSON.parse((await get('/api/books/3')).text).copies, 0)

    const taken = await post('/api/books', '{"title":"Copy","isbn":"9780156306300"}')
    t.is(taken.status, 409)
    t.deepEqual(JSON.parse(taken.text).errors, { isbn: ['is already taken.'] })

    // The application's body parser comes first, so its error handler answers for what that cannot read.
    const broken = await post('/api/books', '{"title":')
    t.is(broken.status, 400)
    t.deepEqual(Object.keys(JSON.parse(broken.text)), ['error'])

    t.is(await program.stop(), 0, program.output())
  },
)

test.serial('every request that the existing application prints gets its answer', async (t) => {
  const program = startExample('existing-api')
  const port = await portOf(program)
  const statuses: number[] = []
  for (const command of printed(program)) statuses.push((await send(command, port)).status)
  t.deepEqual(statuses, [200, 200, 201, 200, 200, 400])
  t.is(await program.stop(), 0, program.output())
})

// ---------------------------------------------------------------- shop

test.serial('every request that the shop prints gets the answer that its title says', async (t) => {
  const program = startExample('shop')
  const port = await portOf(program)
  const replies: Reply[] = []
  for (const command of printed(program)) replies.push(await send(command, port))
  t.deepEqual(
    replies.map(({ status }) => status),
    [200, 200, 200, 201, 201, 400, 200, 200, 204, 204, 200, 201, 200, 200],
  )
  const bodies = replies.map(({ text }) => (text === '' ? null : JSON.parse(text)))
  t.deepEqual(bodies[0].items[0], {
    id: 1,
    status: 'Paid',
    customer: { name: 'Ewa' },
    lines: [
      { quantity: 2, product: { name: 'Net' } },
      { quantity: 1, product: { name: 'Hoop with backboard' } },
    ],
  })
  t.deepEqual(bodies[1].items[0], {
    name: 'Basketball, size 7',
    tagsCount: 2,
    stock: [{ quantity: 12, warehouse: { city: 'Gdynia' } }],
    'stock@more': true,
  })
  t.deepEqual(
    bodies[4].lines.map(({ productId, quantity }: Record<string, number>) => [productId, quantity]),
    [
      [1, 2],
      [3, 1],
    ],
  )
  t.deepEqual(Object.keys(bodies[5].errors), ['lines[0].quantity'])
  const lines = JSON.parse((await send(`curl 'localhost:3000/api/orders/1/lines'`, port)).text).items
  t.deepEqual(
    lines.map(({ productId, quantity }: Record<string, number>) => [productId, quantity]),
    [
      [1, 2],
      [2, 3],
    ],
    'one has stayed, one has gone, one is new',
  )
  const tags = JSON.parse((await send(`curl 'localhost:3000/api/products/2/tags?sort=name'`, port)).text).items
  t.deepEqual(
    tags.map(({ name }: { name: string }) => name),
    ['court', 'player'],
  )
  t.deepEqual(bodies[10], { linked: 1, unlinked: 1 })
  t.deepEqual(bodies[11].tags, [3, 1])
  t.is(await program.stop(), 0, program.output())
})

// ---------------------------------------------------------------- live

test.serial(
  'every request that the live example prints gets its answer, and whoever listens hears of it',
  async (t) => {
    const program = startExample('live')
    const port = await portOf(program)
    const hub = io(`http://localhost:${port}/api/orders/hub`, { forceNew: true })
    t.teardown(() => hub.disconnect())
    const heard: unknown[] = []
    hub.onAny((event, payload) => heard.push([event, payload]))
    await new Promise<void>((resolve) => hub.on('connect', resolve))
    const deleted = new Promise((resolve) => hub.on('OnDeleted', resolve))

    t.is((await send(`curl 'localhost:3000/'`, port)).headers['content-type'], 'text/html; charset=utf-8')
    const statuses: number[] = []
    for (const command of printed(program)) statuses.push((await send(command, port)).status)
    t.deepEqual(statuses, [201, 200, 204])
    await deleted
    t.deepEqual(heard, [
      ['OnCreated', { id: 9, product: 'Towel', total: 9.9, status: 'Pending', rowVersion: 0 }],
      ['OnUpdated', { id: 6, product: 'Net', total: 12.5, status: 'Shipped', rowVersion: 1 }],
      ['OnDeleted', 1],
    ])

    // Listeners do not keep it from its end.
    const [, storage = ''] = await program.waitForOutput(/new at every start: (\S+)/)
    t.true(existsSync(storage))
    t.is(await program.stop(), 0, program.output())
    t.false(existsSync(storage))
  },
)

test.serial('the live example on a port that is in use ends with what to do', async (t) => {
  const first = startExample('live')
  const port = await portOf(first)
  const second = startExample('live', port)
  t.is(await second.ended(), 1)
  t.regex(second.output(), /in use\. .*: PORT=\d+ npm run example live\n$/)
  t.is(await first.stop(), 0)
})

// ---------------------------------------------------------------- secured

/** What a shell knows behind the lines that an example prints for it: `ERIN=eyJ...`. */
function variables(program: Program): ReadonlyMap<string, string> {
  const lines = [...program.output().matchAll(/^ *([A-Z]+)=(\S+)$/gm)]
  return new Map(lines.map(([, name = '', value = '']) => [name, value]))
}

interface Secured {
  readonly program: Program
  readonly port: number
  readonly tokens: ReadonlyMap<string, string>
  /** Sends a request as one of the accounts, or as nobody. */
  readonly as: (user: string | null, path: string, ...more: string[]) => Promise<Reply>
}

async function startSecured(): Promise<Secured> {
  const program = startExample('secured')
  const port = await portOf(program)
  const tokens = variables(program)
  const as = (user: string | null, path: string, ...more: string[]): Promise<Reply> => {
    const token = user === null ? [] : [`-H 'Authorization: Bearer ${tokens.get(user.toUpperCase())}'`]
    return send(['curl -g', ...more, ...token, `'localhost:3000${path}'`].join(' '), port)
  }
  return { program, port, tokens, as }
}

function itemsOf({ text }: Reply): Readonly<Record<string, unknown>>[] {
  return JSON.parse(text).items
}

test.serial('every request that the secured example prints gets the answer that its title says', async (t) => {
  const { program, port, tokens } = await startSecured()
  const replies: Reply[] = []
  for (const command of printed(program)) {
    replies.push(
      await send(
        command.replace(/\$([A-Z]+)/g, (_, name: string) => tokens.get(name) ?? ''),
        port,
      ),
    )
  }
  t.deepEqual(
    replies.map(({ status }) => status),
    [401, 401, 200, 400, 200, 200, 404, 200, 428, 200, 412, 200, 403, 403, 204, 200, 200],
  )
  const titles = [...program.output().matchAll(/^ *# (.*)\n *curl /gm)].map(([, title = '']) => title)
  t.is(titles.length, replies.length)
  for (const [index, title] of titles.entries()) {
    const [, status] = /: (\d{3})/.exec(title) ?? []
    if (status !== undefined) t.is(String(replies[index]?.status), status, title)
  }

  const [anonymous, , erins, unknown, salaries, guss, , record, , promoted, , raised, , , , deleted, restored] = replies
  t.is(anonymous?.headers['www-authenticate'], 'Bearer')
  t.deepEqual(
    itemsOf(erins as Reply).map(({ name, salary }) => [name, salary]),
    [
      ['Erin Eriksen', null],
      ['Mara Moreno', null],
      ['Ada Adamska', null],
    ],
  )
  t.is(JSON.parse(unknown?.text ?? '').title, 'Unknown field.')
  t.deepEqual(itemsOf(salaries as Reply), [
    { name: 'Mara Moreno', salary: 8100 },
    { name: 'Ada Adamska', salary: 6400 },
  ])
  t.deepEqual(
    itemsOf(guss as Reply).map(({ tenant, salary }) => [tenant, salary]),
    [
      ['globex', 7700],
      ['globex', 4300],
    ],
  )
  t.is(record?.headers.etag, 'W/"0"')
  t.is(promoted?.headers.etag, 'W/"1"')
  t.like(JSON.parse(promoted?.text ?? ''), { title: 'Lead', salary: 5200, updatedBy: 'mara' })
  t.like(JSON.parse(raised?.text ?? ''), { title: 'Lead', salary: 5600, updatedBy: 'ada' })
  const [gone, ...others] = itemsOf(deleted as Reply)
  t.deepEqual(others, [])
  t.is(gone?.id, 1)
  t.regex(String(gone?.deletedAt), /^\d{4}-\d\d-\d\dT/)
  t.like(JSON.parse(restored?.text ?? ''), { id: 1, deletedAt: null, updatedBy: 'ada' })
  t.is(await program.stop(), 0, program.output())
})

test.serial(
  'the callers of the secured example may do what their roles say, and nothing in another tenant',
  async (t) => {
    const { program, as } = await startSecured()
    const statuses = async (path: string, ...more: string[]): Promise<Record<string, number>> => {
      const entries: [string, number][] = []
      for (const user of ['erin', 'mara', 'ada', 'gus']) entries.push([user, (await as(user, path, ...more)).status])
      entries.push(['nobody', (await as(null, path, ...more)).status])
      return Object.fromEntries(entries)
    }
    const body = (json: string): string[] => [JSON_TYPE, `-d '${json}'`]
    const employees = '/api/employees'

    t.deepEqual(await statuses(employees), { erin: 200, mara: 200, ada: 200, gus: 200, nobody: 401 })
    t.deepEqual(await statuses(`${employees}/2`), { erin: 200, mara: 200, ada: 200, gus: 404, nobody: 401 })
    t.deepEqual(await statuses(employees, ...body('{"name":"Uma Uhl","salary":1}')), {
      erin: 403,
      mara: 201,
      ada: 201,
      gus: 201,
      nobody: 401,
    })
    t.deepEqual(await statuses(employees, ...body('{"name":"Uma Uhl","tenant":"globex"}')), {
      erin: 403,
      mara: 403,
      ada: 403,
      gus: 201,
      nobody: 401,
    })
    t.deepEqual(await statuses(`${employees}/2`, '-X PATCH', `-H 'If-Match: *'`, ...body('{"title":"Boss"}')), {
      erin: 403,
      mara: 200,
      ada: 200,
      gus: 404,
      nobody: 401,
    })
    t.deepEqual(await statuses(`${employees}?includeDeleted=true&count=true`), {
      erin: 403,
      mara: 403,
      ada: 200,
      gus: 403,
      nobody: 401,
    })
    t.deepEqual(await statuses(`${employees}/2`, '-X DELETE'), {
      erin: 403,
      mara: 403,
      ada: 204,
      gus: 403,
      nobody: 401,
    })
    t.deepEqual(await statuses(`${employees}/2/restore`, '-X POST'), {
      erin: 403,
      mara: 403,
      ada: 200,
      gus: 403,
      nobody: 401,
    })

    const hired = await as('mara', `${employees}?name=Uma+Uhl&select=name,salary,tenant&sort=id`)
    t.deepEqual(itemsOf(hired), [
      { name: 'Uma Uhl', salary: null, tenant: 'acme' },
      { name: 'Uma Uhl', salary: 1, tenant: 'acme' },
    ])
    t.is(hired.headers.vary, 'Authorization')
    t.is(hired.headers['cache-control'], 'private')
    t.is(await program.stop(), 0, program.output())
  },
)

test.serial('a login of the secured example gives a token, and does not tell what was wrong', async (t) => {
  const { program, port, as } = await startSecured()
  const login = (body: unknown): Promise<Reply> =>
    send(`curl 'localhost:3000/login' ${JSON_TYPE} -d '${JSON.stringify(body)}'`, port)
  for (const { username, password, role, tenant } of ACCOUNTS) {
    const reply = await login({ username, password })
    t.is(reply.status, 200)
    t.is(reply.headers['cache-control'], 'no-store')
    const { token, expiresIn } = JSON.parse(reply.text)
    const { payload, header } = jsonwebtoken.decode(token, { complete: true }) ?? {}
    t.is(header?.alg, 'HS256')
    t.like(payload, { name: username, role, tenant })
    const { iat = 0, exp = 0 } = payload as jsonwebtoken.JwtPayload
    t.is(exp - iat, expiresIn)
    t.true(expiresIn <= 15 * 60)
    const list = await send(`curl 'localhost:3000/api/employees?count=true' -H 'Authorization: Bearer ${token}'`, port)
    t.is(list.status, 200)
    t.false(program.output().includes(password), 'a password is printed')
  }

  const wrong = await login({ username: 'ada', password: 'one lemon tree' })
  const nobody = await login({ username: 'nobody', password: 'one lemon tree' })
  t.is(wrong.status, 401)
  t.deepEqual([nobody.status, nobody.text], [wrong.status, wrong.text])
  for (const body of [{}, [], 'ada', { username: 'ada' }, { username: { ne: '' }, password: 'x' }]) {
    t.is((await login(body)).status, 400, JSON.stringify(body))
  }
  t.is((await login({ username: 'ada', password: 'x'.repeat(2000) })).status, 413)

  const [head, payload] = String(variables(program).get('ERIN')).split('.')
  const forged = jsonwebtoken.sign({ name: 'erin', role: 'admin', tenant: 'acme' }, 'x'.repeat(32))
  const unsigned = jsonwebtoken.sign({ name: 'erin', role: 'admin', tenant: 'acme' }, '', { algorithm: 'none' })
  for (const token of [forged, unsigned, `${head}.${payload}.`, 'nonsense']) {
    const reply = await as(null, '/api/employees', `-H 'Authorization: Bearer ${token}'`)
    t.is(reply.status, 401)
    t.is(reply.headers['www-authenticate'], 'Bearer error="invalid_token"')
  }
  t.is(await program.stop(), 0, program.output())
})

test.serial('the secured example verifies with the secret that it is given, and refuses a short one', async (t) => {
  const JWT_SECRET = 'an example of thirty-two characters or more'
  const program = start(['examples/run.mjs', 'secured'], { env: { PORT: '0', JWT_SECRET } })
  await portOf(program)
  t.false(program.output().includes(JWT_SECRET))
  t.notThrows(() => jsonwebtoken.verify(String(variables(program).get('ADA')), JWT_SECRET, { algorithms: ['HS256'] }))
  t.is(await program.stop(), 0)
  const short = start(['examples/run.mjs', 'secured'], { env: { PORT: '0', JWT_SECRET: 'secret' } })
  t.is(await short.ended(), 1)
  t.is(short.output(), 'JWT_SECRET is too short: it must have at least 32 characters.\n')
})

test.serial('the secured example keeps no password, no file behind, and ends by SIGINT with status 0', async (t) => {
  const { program } = await startSecured()
  const [, storage = ''] = await program.waitForOutput(/new at every start: (\S+)/)
  // What was written last is in the log beside the file.
  const files = ['', '-wal', '-shm'].map((suffix) => storage + suffix)
  const file = files
    .filter((name) => existsSync(name))
    .map((name) => readFileSync(name, 'latin1'))
    .join()
  for (const { username, password } of ACCOUNTS) {
    t.true(file.includes(username))
    t.false(file.includes(password))
  }
  const ended = program.stop('SIGINT')
  program.stop('SIGINT')
  t.is(await ended, 0, program.output())
  t.deepEqual(
    files.filter((name) => existsSync(name)),
    [],
  )
})

test('a kept password is held against its salt and hash, and what is neither matches nothing', async (t) => {
  t.false(await isPassword('', ''))
  t.false(await isPassword('x', '.'))
  t.false(await isPassword('x', 'AAAA.AAAA'))
})

// ---------------------------------------------------------------- observed

/** Its libraries are a package of their own, and not the root's: without it these tests are left out. */
const isObserved = existsSync(join(root, 'examples/observed/telemetry/node_modules/prom-client'))
if (!isObserved)
  console.warn('THE TESTS OF SPANS AND METRICS ARE LEFT OUT: `npm ci` in examples/observed/telemetry brings them.')

test.serial('where its libraries are not installed, the observed league says so and serves all the same', async (t) => {
  const program = startExample('observed')
  t.teardown(() => program.stop())
  const port = await portOf(program)
  t.is(program.output().includes('Nobody listens to it yet'), !isObserved)
  t.is((await send(`curl 'localhost:${port}/api/players/1'`, port)).status, 200)
  t.is(await program.stop(), 0, program.output())
})

const observed = isObserved ? test.serial : test.serial.skip

observed(
  'what the observed league prints becomes spans, of statements as children of their requests, and metrics',
  async (t) => {
    const program = startExample('observed')
    t.teardown(() => program.stop())
    const port = await portOf(program)
    const replies: Reply[] = []
    for (const command of printed(program)) replies.push(await send(command, port))
    t.deepEqual(
      replies.map(({ status }) => status),
      [200, 200, 404, 200],
    )
    const metrics = replies.at(-1)?.text ?? ''
    for (const line of [
      'crud_request_duration_seconds_count{resource="Player",operation="getList",status="200"} 1',
      'crud_request_duration_seconds_count{resource="Player",operation="update",status="200"} 1',
      'crud_errors_total{kind="request",code="not-found"} 1',
    ]) {
      t.true(metrics.includes(line), line)
    }
    t.regex(metrics, /crud_statement_duration_seconds_count\{command="SELECT"\} [1-9]/)
    t.is(await program.stop(), 0, program.output())
    const said = program.output()
    const ids = [...said.matchAll(/name: '(getList Player|SELECT)',\s+id: '(\w+)'/g)].map(([, name, id]) => ({
      name,
      id,
    }))
    const list = ids.find(({ name }) => name === 'getList Player')
    t.truthy(list, said)
    t.regex(said, new RegExp(`parentSpanContext: \\{[^}]*spanId: '${list?.id}'`))
    t.regex(said, /'db\.query\.text': 'SELECT /)
    t.notRegex(said, /'db\.query\.text': .*Lakers/)
  },
)
