// A link may take the linked record out of the caller's scope. The refusal names its place in the body.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter, filter, Operations } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

const stage = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const Ticket = sequelize.define('Ticket', { level: DataTypes.INTEGER }, plain)
  const Label = sequelize.define('Label', { name: DataTypes.STRING(20) }, plain)
  const Link = sequelize.define('TicketLabel', {}, plain)
  Ticket.belongsToMany(Label, { through: Link, as: 'labels', foreignKey: 'ticketId', otherKey: 'labelId' })
  Label.belongsToMany(Ticket, { through: Link, as: 'tickets', foreignKey: 'labelId', otherKey: 'ticketId' })
  const operations = Operations.AllWithBulk | Operations.BulkUpdate | Operations.Replace
  app.use(crudRouter(Link, { route: 'links' }))
  app.use(
    crudRouter(Ticket, { route: 'tickets', operations, relations: { labels: { write: true, routes: true } } }),
    crudRouter(Label, {
      route: 'labels',
      scope: () => filter.or(filter.eq('name', 'any'), filter.none('tickets', filter.gte('level', 9))),
    }),
  )
})
const { sequelize } = stage
const [Ticket, Label, Link] = [sequelize.model('Ticket'), sequelize.model('Label'), sequelize.model('TicketLabel')]
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
