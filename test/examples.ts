// Every example, started as `npm start` and `npm run example` start it, driven over HTTP and ended by a signal.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import test from 'ava'
import { type Reply, readCurl, sendCurl } from './support/curl.js'
import { type Program, root, start, startExample } from './support/program.js'

async function portOf(program: Program): Promise<number> {
  const [, port] = await program.says(/localhost:(\d+)[\s\S]*Ctrl-C/)
  return Number(port)
}

/** The commands that an example prints. */
function printed(program: Program): string[] {
  return [...program.output().matchAll(/^ *(curl .*)$/gm)].map(([, command = '']) => command)
}

async function send(command: string, port: number): Promise<Reply> {
  return sendCurl(readCurl(command), port)
}

test.serial('npm start and npm run example compile, and then start what these tests start', (t) => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  t.regex(scripts.start, /^npm run (--silent )?example league$/)
  t.regex(scripts.example, /compile && node examples\/run\.mjs$/)
})

test.serial('every example has tests here', (t) => {
  const folders = readdirSync(join(root, 'examples'), { withFileTypes: true }).filter((entry) => entry.isDirectory())
  t.deepEqual(folders.map(({ name }) => name).sort(), ['existing-api', 'league'])
})

test.serial('an example that does not exist is told with those that do', async (t) => {
  const program = startExample('leage')
  t.is(await program.ended(), 1)
  t.is(program.output(), 'There is no example "leage". There are: existing-api, league.\n')
})

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
  const [, storage = ''] = await program.says(/new at every start: (\S+)/)
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
