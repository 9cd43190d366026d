// Push chooses no clients by conditions: who has one is not let in, and who has none hears of everything.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { type CrudRouter, crudRouter, filter, type Scope } from '../../../lib/index.js'
import { openPush } from '../../support/push.js'
import { as, identityFromHeader } from '../../support/stage.js'

const SCOPES: Readonly<Record<string, Scope | null>> = {
  root: null,
  array: { ownerId: [1, 2] },
  condition: filter.eq('ownerId', 1),
  both: { fixed: { ownerId: 1 }, where: filter.gt('id', 0) },
}

const errors: unknown[] = []
let tickets: CrudRouter | undefined
const stage = await openPush(({ sequelize }, app, io) => {
  const Ticket = sequelize.define('Ticket', { ownerId: DataTypes.INTEGER }, { timestamps: false })
  tickets = crudRouter(Ticket, {
    identity: identityFromHeader,
    push: { io },
    onError: (error) => errors.push(error),
    scope: ({ identity }) => SCOPES[identity?.name ?? ''] ?? null,
  })
  app.use(tickets)
})

test.after.always(async () => {
  await stage.close()
})

test.serial('a client whose scope is a condition is refused, and the reason reaches onError', async (t) => {
  if (tickets === undefined) throw new TypeError('no router')
  for (const name of ['array', 'condition', 'both']) {
    const { refusal, heard } = await stage.subscribe(tickets, { headers: as(name) })
    t.like(refusal?.data, { status: 500 }, name)
    t.regex(String(errors.splice(0)[0]), /push cannot choose subscribers by the condition of a scope/)
    t.deepEqual(heard, [])
  }
  const root = await stage.subscribe(tickets, { headers: as('root') })
  t.is(root.refusal, null)
  const { body } = await stage.post('/api/tickets', { ownerId: 1 }, as('condition'))
  await stage.delete(`/api/tickets/${body.id}`, as('condition'))
  await stage.drain(tickets, root, (id) => ({ id }))
  t.deepEqual(root.heard.slice(0, 2), [
    ['OnCreated', { id: body.id, ownerId: 1 }],
    ['OnDeleted', body.id],
  ])
})
