// A scope that is a condition decides on every write: what exists must meet it, and so must what is stored, behind nested bodies,
// links and hooks. What does not is 403, and nothing is stored.

import test, { type ExecutionContext } from 'ava'
import { crudRouter, filter } from '../../../lib/index.js'
import {
  defineModels,
  EVERY_OPERATION,
  fill,
  idsOf,
  modelsOf,
  mountWorld,
  NAMES,
  type ShapeName,
  scopeOfCaller,
  TICKETS,
} from '../../support/scopeConditions.js'
import type { Answer } from '../../support/server.js'
import { asUser, identityFromHeader, openStage, readStoredRow } from '../../support/stage.js'

const errors: unknown[] = []
const me = 1

/** Memberships of tickets whose members the caller is one of. */
const amongMembers = filter.any('ticket.members', filter.eq('userId', me))

const stage = await openStage(({ sequelize }, app) => {
  const onError = (error: unknown) => errors.push(error)
  const models = defineModels(sequelize, 'w')
  mountWorld(app, models, 'w', { scope: scopeOfCaller, onError })
  const common = { identity: identityFromHeader, operations: EVERY_OPERATION, onError }
  app.use('/w', crudRouter(models.Member, { ...common, route: 'members', scope: () => amongMembers }))
  app.use(
    '/sees',
    crudRouter(models.Member, {
      ...common,
      route: 'members',
      scope: () => filter.or(filter.eq('isLeft', true), amongMembers),
    }),
  )
  app.use(
    '/versioned',
    crudRouter(defineModels(sequelize, 'v').Ticket, {
      ...common,
      route: 'tickets',
      scope: scopeOfCaller,
      fields: { level: { rules: { max: 9 } } },
      hooks: {
        beforeUpdate: ({ instance }) => {
          if (instance.get('title') === 'hooked') instance.set('ownerId', 2)
        },
        beforeCreate: ({ instance }) => {
          if (instance.get('title') === 'hooked') instance.set('ownerId', 2)
        },
      },
    }),
  )
})
const { sequelize } = stage
const models = modelsOf(sequelize, 'w')
const versioned = modelsOf(sequelize, 'v')

test.beforeEach(async () => {
  await fill(models)
  await fill(versioned)
})

test.after.always(async () => {
  await stage.close()
})

const outsideOf = (name: ShapeName) => TICKETS.map(({ id }) => id).filter((id) => !idsOf(name).includes(id))
const stored = ({ Ticket } = models) => Ticket.findAll({ order: ['id'], raw: true })

const REFUSED = { status: 403, code: 'forbidden', detail: 'You may not store this record.' }

function refused(t: ExecutionContext, answer: Answer, places?: readonly string[]): void {
  if (answer.status === 500) t.log(...errors.splice(0))
  t.like(answer, { status: 403, body: REFUSED })
  const told = places && Object.fromEntries(places.map((place) => [place, ['may not be stored.']]))
  t.deepEqual(answer.body.errors, told)
}

for (const name of NAMES) {
  const user = asUser(name)
  const [inside, outside] = [idsOf(name), outsideOf(name)]

  test.serial(`what is outside the scope "${name}" is missing to every write`, async (t) => {
    const before = await stored()
    for (const id of outside.slice(0, 3)) {
      for (const [method, json] of [
        ['PATCH', { title: 'x' }],
        ['PATCH', { level: 'wrong' }],
        ['PUT', { title: 'x' }],
        ['DELETE', undefined],
      ] as const) {
        const [there, nowhere] = [
          await stage.send(method, `/w/tickets/${id}`, { json, headers: user }),
          await stage.send(method, '/w/tickets/999', { json, headers: user }),
        ]
        t.is(there.status, 404, `${method} ${id}`)
        t.is(there.text, nowhere.text)
      }
      t.is((await stage.send('PUT', `/w/tickets/${id}/labels`, { json: [1], headers: user })).status, 404)
      t.is((await stage.post(`/w/tickets/${id}/notes`, { text: 'x' }, user)).status, 404)
    }
    const keys = [...outside.slice(0, 2), ...inside.slice(0, 2)]
    const many = await stage.patch(
      '/w/tickets/bulk',
      keys.map((id) => ({ id, title: `x${id}` })),
      user,
    )
    if (outside.length > 0) {
      t.is(many.status, 404)
      t.deepEqual(
        Object.keys(many.body.errors),
        outside.slice(0, 2).map((_, index) => `[${index}]`),
      )
      t.deepEqual(await stored(), before)
    } else t.is(many.status, 200)
    const gone = await stage.post(
      '/w/tickets/bulk-delete',
      TICKETS.map(({ id }) => id),
      user,
    )
    t.like(gone, { status: 200, body: { deleted: inside.length } })
    t.deepEqual(
      (await stored()).map((row) => Reflect.get(row, 'id')),
      outside,
    )
    t.deepEqual(errors.splice(0), [])
  })

  test.serial(`what is inside the scope "${name}" is written`, async (t) => {
    for (const id of inside.slice(0, 2)) {
      t.like(await stage.patch(`/w/tickets/${id}`, { title: `new ${id}` }, user), {
        status: 200,
        body: { title: `new ${id}` },
      })
      t.like(await stage.patch(`/w/tickets/${id}`, { notes: [{ text: 'only' }] }, user), { status: 200 })
      t.is(await models.Note.count({ where: { ticketId: id } }), 1)
    }
    const [first, second] = inside
    if (first === undefined || second === undefined) return t.is(name, 'empty')
    t.is(
      (
        await stage.patch(
          '/w/tickets/bulk',
          [
            { id: first, title: 'one' },
            { id: second, title: 'two' },
          ],
          user,
        )
      ).status,
      200,
    )
    t.is((await stage.delete(`/w/tickets/${first}`, user)).status, 204)
    t.is(await readStoredRow(models.Ticket, first), null)
    t.deepEqual(errors.splice(0), [])
  })
}

interface Creation {
  readonly name: ShapeName
  readonly body: Record<string, unknown>
  readonly status: 201 | 403
}

const CREATIONS: readonly Creation[] = [
  { name: 'array', body: { ownerId: 1 }, status: 201 },
  { name: 'array', body: { ownerId: null }, status: 201 },
  { name: 'array', body: {}, status: 201 },
  { name: 'array', body: { ownerId: 2 }, status: 403 },
  { name: 'empty', body: { ownerId: 1 }, status: 403 },
  { name: 'or', body: { ownerId: 2, level: 3 }, status: 201 },
  { name: 'or', body: { ownerId: 1, level: 1 }, status: 201 },
  { name: 'or', body: { ownerId: 2, level: 1 }, status: 403 },
  { name: 'or', body: {}, status: 403 },
  { name: 'one', body: { teamId: 1 }, status: 201 },
  { name: 'one', body: { teamId: 2 }, status: 403 },
  { name: 'one', body: { teamId: 3 }, status: 403 },
  { name: 'one', body: { teamId: null }, status: 403 },
  { name: 'one', body: {}, status: 403 },
  { name: 'quantifier', body: {}, status: 403 },
  { name: 'many', body: {}, status: 403 },
  { name: 'many', body: { labels: [1] }, status: 201 },
  { name: 'many', body: { labels: [1, 2] }, status: 201 },
  { name: 'many', body: { labels: [2] }, status: 403 },
  { name: 'everything', body: { ownerId: 2 }, status: 201 },
  { name: 'both', body: {}, status: 403 },
]

test.serial('a new record must meet the condition as it is stored', async (t) => {
  for (const { name, body, status } of CREATIONS) {
    const what = `${name} ${JSON.stringify(body)}`
    const before = await stored()
    const links = await models.TicketLabel.count()
    const answer = await stage.post('/w/tickets', { title: what, ...body }, asUser(name))
    t.is(answer.status, status, `${what} ${answer.text}`)
    if (status === 403) {
      refused(t, answer)
      t.deepEqual(await stored(), before, what)
      t.is(await models.TicketLabel.count(), links, what)
    } else t.is((await stage.get(`/w/tickets/${answer.body.id}`, asUser(name))).status, 200, what)
  }
  t.deepEqual(errors.splice(0), [])
})

test.serial('of several new records each place is told that may not be stored, and none is stored', async (t) => {
  const before = await stored()
  const bodies = [{ ownerId: 1 }, { ownerId: 2 }, { ownerId: null }, { ownerId: 2 }].map((body, index) => ({
    title: `n${index}`,
    ...body,
  }))
  refused(t, await stage.post('/w/tickets/bulk', bodies, asUser('array')), ['[1]', '[3]'])
  const teams = [{ teamId: 1 }, {}, { teamId: 1 }].map((body, index) => ({ title: `n${index}`, ...body }))
  refused(t, await stage.post('/w/tickets/bulk', teams, asUser('one')), ['[1]'])
  const mixed = [{ teamId: 1 }, {}, { teamId: 2 }].map((body, index) => ({ title: `n${index}`, ...body }))
  refused(t, await stage.post('/w/tickets/bulk', mixed, asUser('one')), ['[1]', '[2]'])
  t.deepEqual(await stored(), before)
  t.is((await stage.post('/w/tickets/bulk', [bodies[0], bodies[2]], asUser('array'))).status, 201)
})

test.serial('a change that takes a record out of the scope is refused, and undone', async (t) => {
  const before = await stored()
  const links = await models.TicketLabel.count()
  const [[array = 0], [or = 0], [one = 0], [many = 0]] = [idsOf('array'), idsOf('or'), idsOf('one'), idsOf('many')]
  refused(t, await stage.patch(`/w/tickets/${array}`, { ownerId: 2 }, asUser('array')))
  refused(t, await stage.patch(`/w/tickets/${or}`, { ownerId: 2, level: 1 }, asUser('or')))
  refused(t, await stage.patch(`/w/tickets/${one}`, { teamId: 2 }, asUser('one')))
  refused(t, await stage.patch(`/w/tickets/${one}`, { teamId: 3 }, asUser('one')))
  refused(t, await stage.patch(`/w/tickets/${many}`, { labels: [2] }, asUser('many')))
  refused(t, await stage.patch(`/w/tickets/${many}`, { labels: [] }, asUser('many')))
  refused(t, await stage.send('PUT', `/w/tickets/${many}/labels`, { json: [2], headers: asUser('many') }))
  refused(t, await stage.delete(`/w/tickets/${many}/labels/1`, asUser('many')))
  refused(t, await stage.delete(`/w/labels/1/tickets/${many}`, asUser('many')))
  refused(
    t,
    await stage.patch(
      '/w/tickets/bulk',
      [
        { id: array, title: 'x' },
        { id: idsOf('array')[1], ownerId: 2 },
      ],
      asUser('array'),
    ),
    ['[1]'],
  )
  refused(t, await stage.send('PUT', `/w/tickets/${one}`, { json: { title: 'x', teamId: 2 }, headers: asUser('one') }))
  refused(t, await stage.send('PUT', `/w/tickets/${one}`, { json: { title: 'x' }, headers: asUser('one') }))
  t.deepEqual(await stored(), before)
  t.is(await models.TicketLabel.count(), links)
  t.is((await stage.patch(`/w/tickets/${array}`, { ownerId: null }, asUser('array'))).status, 200)
  t.is((await stage.patch(`/w/tickets/${many}`, { labels: [1, 2] }, asUser('many'))).status, 200)
  t.is((await stage.delete(`/w/tickets/${many}/labels/2`, asUser('many'))).status, 204)
  t.deepEqual(errors.splice(0), [])
})

test.serial('upserts and replacements are held to the condition', async (t) => {
  const before = await stored()
  const [id = 0] = idsOf('array')
  const title = before.find((row) => Reflect.get(row, 'id') === id)
  const upsert = (items: readonly object[]) =>
    stage.send('PUT', '/w/tickets/bulk?by=title', { json: items, headers: asUser('array') })
  refused(
    t,
    await upsert([
      { title: 'new', ownerId: 1 },
      { title: Reflect.get(title ?? {}, 'title'), ownerId: 2 },
    ]),
    ['[1]'],
  )
  refused(t, await upsert([{ title: 'new', ownerId: 2 }]), ['[0]'])
  t.deepEqual(await stored(), before)
  t.is(
    (
      await upsert([
        { title: 'new', ownerId: 1 },
        { title: Reflect.get(title ?? {}, 'title'), ownerId: null },
      ])
    ).status,
    200,
  )
})

test.serial('nobody is admitted by what the same request makes', async (t) => {
  const mine = 2
  const others = 1
  const count = () => models.Member.unscoped().count()
  const before = await count()
  for (const path of ['/w/members', '/sees/members']) {
    const isLeft = false
    refused(t, await stage.post(path, { ticketId: others, userId: me, isLeft }, asUser('root')))
    refused(
      t,
      await stage.post(
        `${path}/bulk`,
        [
          { ticketId: others, userId: me, isLeft },
          { ticketId: others, userId: 2, isLeft },
        ],
        asUser('root'),
      ),
      ['[0]', '[1]'],
    )
    refused(
      t,
      await stage.post(
        `${path}/bulk`,
        [
          { ticketId: mine, userId: 3, isLeft },
          { ticketId: others, userId: me, isLeft },
        ],
        asUser('root'),
      ),
      ['[1]'],
    )
  }
  const own = await models.Member.findOne({ where: { ticketId: mine, userId: me } })
  refused(t, await stage.patch(`/w/members/${own?.get('id')}`, { ticketId: others }, asUser('root')))
  refused(t, await stage.patch('/w/members/bulk', [{ id: own?.get('id'), ticketId: others }], asUser('root')), ['[0]'])
  t.is(await count(), before)
  t.is((await stage.post('/w/members', { ticketId: mine, userId: 5, isLeft: false }, asUser('root'))).status, 201)
  t.is((await stage.patch(`/w/members/${own?.get('id')}`, { ticketId: 5 }, asUser('root'))).status, 200)
  // A membership that was left admits nobody.
  refused(t, await stage.post('/w/members', { ticketId: 4, userId: me, isLeft: false }, asUser('root')))
  t.deepEqual(errors.splice(0), [])
})

test.serial('what hooks store is read back', async (t) => {
  const before = await stored(versioned)
  const [id = 0] = idsOf('array')
  refused(t, await stage.post('/versioned/tickets', { title: 'hooked', ownerId: 1 }, asUser('array')))
  refused(t, await stage.patch(`/versioned/tickets/${id}`, { title: 'hooked' }, asUser('array')))
  t.deepEqual(await stored(versioned), before)
  t.is((await stage.post('/versioned/tickets', { title: 'plain', ownerId: 1 }, asUser('array'))).status, 201)
})

test.serial('errors come in order: 404, 400, 403, 409', async (t) => {
  const [id = 0] = idsOf('array')
  const [outside = 0] = outsideOf('array')
  const taken = Reflect.get((await stored())[3] ?? {}, 'title')
  const patch = (key: number, json: object) => stage.patch(`/versioned/tickets/${key}`, json, asUser('array'))
  t.is((await patch(outside, { level: 'x', ownerId: 2 })).status, 404)
  t.is((await patch(id, { level: 99, ownerId: 2 })).status, 400)
  t.is((await patch(id, { ownerId: 2, title: taken })).status, 403)
  t.is((await patch(id, { title: taken })).status, 409)
  const post = (json: object) => stage.post('/versioned/tickets', json, asUser('array'))
  t.is((await post({ level: 99, ownerId: 2, title: taken })).status, 400)
  t.is((await post({ ownerId: 2, title: taken })).status, 403)
  t.is((await post({ ownerId: 1, title: taken })).status, 409)
})
