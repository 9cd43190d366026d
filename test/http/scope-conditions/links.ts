// A link may take the linked record out of the caller's scope. The refusal names its place in the body.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter, filter, Operations, Problem } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

/** How many pins hooks have seen. */
let pinned = 0
/** Whether nobody may make pins. */
let isClosed = false

const stage = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const Ticket = sequelize.define('Ticket', { level: DataTypes.INTEGER }, plain)
  const Label = sequelize.define('Label', { name: DataTypes.STRING(20) }, plain)
  const Link = sequelize.define('TicketLabel', {}, plain)
  Ticket.belongsToMany(Label, { through: Link, as: 'labels', foreignKey: 'ticketId', otherKey: 'labelId' })
  Label.belongsToMany(Ticket, { through: Link, as: 'tickets', foreignKey: 'labelId', otherKey: 'ticketId' })
  const id = { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true }
  const Mark = sequelize.define('Mark', { id }, plain)
  const Reason = sequelize.define('Reason', { why: { type: DataTypes.STRING(20), allowNull: false } }, plain)
  const Pin = sequelize.define('Pin', {}, plain)
  const Claim = sequelize.define('Claim', { why: { type: DataTypes.STRING(20), allowNull: false } }, plain)
  for (const [as, through] of [
    ['marks', Mark],
    ['reasons', Reason],
    ['pins', Pin],
    ['claims', Claim],
  ] as const) {
    Ticket.belongsToMany(Label, { through, as, foreignKey: 'ticketId', otherKey: 'labelId' })
  }
  Label.belongsToMany(Ticket, { through: Mark, as: 'marked', foreignKey: 'labelId', otherKey: 'ticketId' })
  Pin.belongsTo(Ticket, { as: 'ticket', foreignKey: 'ticketId' })
  Pin.belongsTo(Label, { as: 'label', foreignKey: 'labelId' })
  Claim.belongsTo(Label, { as: 'label', foreignKey: 'labelId' })
  const operations = Operations.AllWithBulk | Operations.BulkUpdate | Operations.Replace
  const both = { write: true, routes: true }
  app.use(crudRouter(Link, { route: 'links' }), crudRouter(Mark, { route: 'marks', softDelete: true }))
  app.use(crudRouter(Claim, { route: 'claims', scope: () => filter.eq('label.name', 'any') }))
  app.use(
    crudRouter(Pin, {
      route: 'pins',
      scope: ({ operation }) => {
        if (isClosed && operation === 'create') throw new Problem({ status: 403, detail: 'No pins.' })
        return filter.or(filter.lt('ticket.level', 9), filter.eq('label.name', 'any'))
      },
      hooks: {
        beforeCreate: () => {
          pinned += 1
        },
      },
    }),
  )
  app.use(
    crudRouter(Ticket, {
      route: 'tickets',
      operations,
      relations: { labels: both, marks: both, reasons: both, pins: both, claims: both },
    }),
    crudRouter(Label, {
      route: 'labels',
      scope: () => {
        const none = ['tickets', 'marked'].map((relation) => filter.none(relation, filter.gte('level', 9)))
        return filter.or(filter.eq('name', 'any'), filter.and(...none))
      },
    }),
  )
})
const { sequelize } = stage
const [Ticket, Label, Link] = [sequelize.model('Ticket'), sequelize.model('Label'), sequelize.model('TicketLabel')]
const [Mark, Pin] = [sequelize.model('Mark'), sequelize.model('Pin')]
const idsOf = async (model: typeof Ticket, all: readonly object[]): Promise<readonly number[]> =>
  (await model.bulkCreate([...all] as never)).map((record) => Number(record.get('id')))
const [low = 0, high = 0] = await idsOf(Ticket, [{ level: 1 }, { level: 9 }])
const [any = 0, plain = 0, other = 0] = await idsOf(Label, [{ name: 'any' }, { name: 'x' }, { name: 'y' }])

test.after.always(async () => {
  await stage.close()
})

const refusalAt = (...places: readonly string[]) => ({
  status: 403,
  body: {
    detail: 'You may not store this record.',
    errors: Object.fromEntries(places.map((place) => [place, ['may not be stored.']])),
  },
})

test.serial('a link that lacks a required value is 400, although its row would be outside the scope', async (t) => {
  const required = (place: string) => ({ status: 400, body: { errors: { [place]: ['is required.'] } } })
  t.like(await stage.patch(`/tickets/${low}`, { claims: [plain] }), required('claims[0].why'))
  t.like(await stage.post('/tickets', { level: 1, claims: [plain] }), required('claims[0].why'))
  t.like(await stage.send('PUT', `/tickets/${low}/claims/${plain}`, { json: {} }), required('why'))
  const stated = await stage.send('PUT', `/tickets/${low}/claims/${plain}`, { json: { why: 'x' } })
  t.like(stated, { status: 403, body: { detail: 'You may not store this record.' } })
})

test.serial('a linked record that a link takes out of its scope is named by its place', async (t) => {
  const labels = [any, plain, other]
  t.like(await stage.patch(`/tickets/${high}`, { labels }), refusalAt('labels[1]', 'labels[2]'))
  t.like(await stage.post('/tickets', { level: 9, labels }), refusalAt('labels[1]', 'labels[2]'))
  t.like(
    await stage.post('/tickets/bulk', [
      { level: 1, labels },
      { level: 9, labels: [plain] },
    ]),
    { status: 403 },
  )
  t.like(await stage.patch('/tickets/bulk', [{ id: high, labels: [any, other] }]), refusalAt('[0].labels[1]'))
  t.is(await Link.count(), 0)
  t.is((await stage.patch(`/tickets/${high}`, { labels: [any] })).status, 200)
  t.is((await stage.patch(`/tickets/${low}`, { labels })).status, 200)
  t.is(await Link.count(), 4)
})

test.serial('a link is removed, and made again, where its record stays in its scope', async (t) => {
  const at = `/tickets/${low}/marks`
  t.is((await stage.send('PUT', at, { json: [any, plain, other] })).status, 200)
  for (const [method, path, json, status] of [
    ['DELETE', `${at}/${plain}`, undefined, 204],
    ['PUT', `${at}/${plain}`, undefined, 204],
    ['PUT', at, [any], 200],
    ['POST', at, [plain, any], 200],
    ['PATCH', `/tickets/${low}`, { marks: [] }, 200],
    ['PATCH', `/tickets/${low}`, { marks: [other, any] }, 200],
  ] as const) {
    const answer = await stage.send(method, path, { json })
    t.is(answer.status, status, `${method} ${path} ${answer.text}`)
  }
  t.deepEqual(await Mark.count(), 3)
})

test.serial('a link that is made again and takes its record out of the scope is named by its place', async (t) => {
  const rows = [any, plain, other].map((labelId) => ({ ticketId: high, labelId, isDeleted: true }))
  await Mark.bulkCreate(rows as never)
  const countDeleted = () => Mark.count({ where: { ticketId: high, isDeleted: true } })
  t.like(await stage.post(`/tickets/${high}/marks`, [any, plain]), refusalAt('[1]'))
  t.like(await stage.patch(`/tickets/${high}`, { marks: [other, any, plain] }), refusalAt('marks[0]', 'marks[2]'))
  t.is(await countDeleted(), 3)
  t.is((await stage.post(`/tickets/${high}/marks`, [any])).status, 200)
  t.is(await countDeleted(), 2)
})

test.serial('what the row of a link requires is told of links under a scope as of others', async (t) => {
  const { status, body } = await stage.patch(`/tickets/${low}`, { level: 2, reasons: [any] })
  t.deepEqual([status, body.errors], [400, { 'reasons[0].why': ['is required.'] }])
  t.is((await Ticket.findByPk(low))?.get('level'), 1)
})

test.serial('a link outside the scope of its table is named by its place, before hooks see it', async (t) => {
  t.is((await stage.patch(`/tickets/${low}`, { pins: [any, plain] })).status, 200)
  t.is((await stage.post(`/tickets/${high}/pins`, [any])).status, 200)
  pinned = 0
  t.like(await stage.post(`/tickets/${high}/pins`, [any, plain, other]), refusalAt('[1]', '[2]'))
  t.like(await stage.send('PUT', `/tickets/${high}/pins`, { json: [plain, any] }), refusalAt('[0]'))
  t.like(await stage.patch(`/tickets/${high}`, { pins: [any, other] }), refusalAt('pins[1]'))
  const single = await stage.send('PUT', `/tickets/${high}/pins/${plain}`)
  t.like(single, { status: 403, body: { detail: 'You may not store this record.' } })
  t.false('errors' in single.body)
  t.is(pinned, 0)
  t.like(await stage.post('/tickets', { level: 9, pins: [any, plain] }), refusalAt('pins[1]'))
  const pins = [plain]
  t.like(
    await stage.post('/tickets/bulk', [
      { level: 1, pins },
      { level: 9, pins },
    ]),
    refusalAt('[1].pins[0]'),
  )
  t.is(await Pin.count(), 3)
})

test.serial('a scope that refuses new links leaves the links alone that exist', async (t) => {
  isClosed = true
  for (const [method, path, json, status] of [
    ['PATCH', `/tickets/${low}`, { pins: [any] }, 200],
    ['PATCH', `/tickets/${low}`, { pins: [any] }, 200],
    ['PUT', `/tickets/${high}/pins`, [any], 200],
    ['POST', `/tickets/${high}/pins`, [any], 200],
    ['PUT', `/tickets/${high}/pins/${any}`, undefined, 204],
    ['POST', `/tickets/${low}/pins`, [plain], 403],
    ['PATCH', `/tickets/${low}`, { pins: [any, plain] }, 403],
  ] as const) {
    const answer = await stage.send(method, path, { json })
    t.is(answer.status, status, `${method} ${path} ${answer.text}`)
  }
  isClosed = false
})
