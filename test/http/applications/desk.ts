// The help desk of `npm run example desk` on the database of this run: its requests, its files, its events and its page's provider.

import test from 'ava'
import { Server } from 'socket.io'
import { io as connectTo, type Socket } from 'socket.io-client'
import { ACCOUNTS } from '../../../examples/desk/accounts.js'
import { desk } from '../../../examples/desk/app.js'
import { define } from '../../../examples/desk/models.js'
import { LISTENER, REQUESTS, textOf } from '../../../examples/desk/requests.js'
import { seed } from '../../../examples/desk/seed.js'
import { dataProvider } from '../../../lib/react-admin/index.js'
import { openDatabase } from '../../support/database.js'
import { type Answer, serve } from '../../support/server.js'

const database = await openDatabase()
const io = new Server({ maxHttpBufferSize: 10_000 })
define(database.sequelize)
const app = desk(io)
await seed(database.sequelize)
const server = await serve(app)
io.attach(server.server)

const tokens = new Map<string, string>()
test.before(async () => {
  for (const { username, password } of ACCOUNTS) {
    tokens.set(username, (await server.post('/login', { username, password })).body.token)
  }
})
test.after.always(async () => {
  await io.close()
  await server.close()
  await database.close()
})

const as = (user: string | null): Record<string, string> =>
  user === null ? {} : { authorization: `Bearer ${tokens.get(user)}` }

const next = (hub: Socket, event: string): Promise<unknown> =>
  new Promise((resolve, reject) => hub.once(event, resolve).once('connect_error', reject))

test.serial(
  'the requests of the desk get the answers that their titles say, and its listener the events',
  async (t) => {
    const hub = connectTo(`${server.url}/api/tickets/hub`, {
      auth: { token: tokens.get(LISTENER) },
      forceNew: true,
      reconnection: false,
    })
    t.teardown(() => hub.disconnect())
    await next(hub, 'connect')
    const answers: Answer[] = []
    const events: unknown[] = []
    for (const { as: user, method, path, headers, body, event } of REQUESTS) {
      const heard = event === undefined ? null : next(hub, event)
      const content = body === undefined ? {} : { 'content-type': 'application/json', ...headers }
      const sent = body === undefined ? {} : { body: textOf(body) }
      answers.push(await server.send(method, path, { headers: { ...content, ...as(user) }, ...sent }))
      if (heard !== null) events.push(await heard)
    }
    t.deepEqual(
      answers.map(({ status }) => status),
      [401, 200, 200, 404, 200, 200, 201, 201, 200, 201, 403, 200, 403, 200, 409, 200, 200, 200, 204, 200, 400],
    )
    for (const [index, { title }] of REQUESTS.entries()) {
      const [, status] = /: (\d{3})/.exec(title) ?? []
      if (status !== undefined) t.is(String(answers[index]?.status), status, title)
    }
    const bodies = answers.map(({ body }) => body)
    t.deepEqual(bodies[1].items, [
      { id: 1, subject: 'No network in room 12', team: { name: 'Network' }, waitingSince: '2026-11-20T08:40:00.000Z' },
      {
        id: 2,
        subject: 'October is missing on my slip',
        team: { name: 'Payroll' },
        waitingSince: '2026-11-20T09:30:00.000Z',
      },
    ])
    t.deepEqual(
      bodies[2].items.map(({ id, waitingSince }: Record<string, unknown>) => [id, waitingSince]),
      [
        [1, '2026-11-20T08:40:00.000Z'],
        [3, null],
      ],
    )
    t.deepEqual(bodies[4], { count: 0 })
    t.deepEqual(bodies[5].items, [{ id: 1, tags: ['vip', 'outage'] }])
    t.like(bodies[6], { id: 4, requesterId: 2, status: 'open', tags: [], waitingSince: bodies[6].openedAt })
    t.deepEqual(bodies[8].attachments, [{ name: 'screen.txt', size: 19 }])
    t.like(bodies[9], { ticketId: 4, authorId: 3 })
    t.deepEqual(bodies[11].tags, ['hardware', 'vip'])
    t.deepEqual(bodies[13], { id: 4, status: 'closed', waitingSince: null })
    t.like(bodies[15], { username: 'mia', person: { name: 'Mia Meyer' } })
    t.false('password' in bodies[15])
    t.deepEqual([bodies[17], bodies[19]], [{ count: 4 }, { count: 4 }])
    t.regex(bodies[20].detail, /Did you mean "pageSize"\?/)

    t.like(events[0], { id: 4, waitingSince: bodies[6].openedAt })
    t.like(events[1], { id: 4, waitingSince: null })
    t.like(events[2], { id: 4, tags: ['hardware', 'vip'] })
    t.like(events[3], { id: 4, status: 'closed' })
  },
)

test.serial(
  'a file is open to those who see its ticket, comes back as it was, and is never shown as a page',
  async (t) => {
    const path = '/api/tickets/2/attachments/a%20page.html'
    const page = '<script>alert(1)</script>'
    const headers = { 'content-type': 'text/html' }
    const stored = await server.send('PUT', path, { body: page, headers: { ...headers, ...as('rosa') } })
    t.is(stored.status, 201)
    t.is((await server.get(stored.headers.get('location') ?? '', as('rosa'))).status, 200)
    const read = await server.get(path, as('paul'))
    t.deepEqual([read.status, read.text], [200, page])
    t.is(read.headers.get('content-type'), 'application/octet-stream')
    t.regex(read.headers.get('content-disposition') ?? '', /^attachment; filename="a page.html"$/)
    for (const [user, status] of [
      ['mia', 404],
      ['finn', 404],
      [null, 401],
    ] as const) {
      t.is((await server.get(path, as(user))).status, status)
      t.is((await server.send('PUT', path, { body: page, headers: { ...headers, ...as(user) } })).status, status)
    }
    t.is((await server.get('/api/attachments?count=true', as('mia'))).body.count, 1)
  },
)

test.serial('nobody signs a message or a ticket with the name of somebody else', async (t) => {
  const opened = { teamId: 2, subject: 'Mine' }
  t.is((await server.post('/api/tickets', { ...opened, requesterId: 1 }, as('finn'))).status, 403)
  const ticket = await server.post('/api/tickets', opened, as('finn'))
  t.like(ticket, { status: 201, body: { requesterId: 2 } })
  const message = { ticketId: ticket.body.id, text: 'Hi' }
  t.is((await server.post('/api/messages', { ...message, authorId: 1 }, as('finn'))).status, 403)
  t.like(await server.post('/api/messages', message, as('finn')), { status: 201, body: { authorId: 2 } })
  t.is((await server.patch(`/api/tickets/${ticket.body.id}`, { subject: 'x' }, as('finn'))).status, 403)
  t.is((await server.send('PUT', '/api/teams/1/members/2', { headers: as('finn') })).status, 403)
  t.is((await server.patch('/api/me', { role: 'admin', personId: 5 }, as('finn'))).body.role, 'requester')
})

test.serial(
  'the data provider of the page lists, searches and changes tickets under the rules of the desk',
  async (t) => {
    const provider = dataProvider(`${server.url}/api`, {
      token: () => tokens.get('mia') ?? null,
      resources: { tickets: { search: true } },
    })
    const { data, total } = await provider.getList('tickets', {
      filter: { q: 'network', status: 'open' },
      sort: { field: 'openedAt', order: 'DESC' },
      pagination: { page: 1, perPage: 10 },
      meta: { parameters: { select: '*,team.name,requester.name' } },
    })
    t.is(total, 1)
    const [ticket] = data
    t.like(ticket, { id: 1, team: { name: 'Network' }, requester: { name: 'Rosa Rios' } })
    const previousData = (await provider.getOne('tickets', { id: 1 })).data
    const saved = await provider.update('tickets', { id: 1, data: { ...previousData, tags: ['vip'] }, previousData })
    t.deepEqual(saved.data.tags, ['vip'])
    const { data: messages } = await provider.getManyReference('messages', {
      target: 'ticketId',
      id: 1,
      filter: {},
      sort: { field: 'sentAt', order: 'ASC' },
      pagination: { page: 1, perPage: 25 },
    })
    t.is(messages.length, 3)
  },
)
