// A scope that is a condition is part of everything that is read. A database without the rows outside of it answers the same.

import test from 'ava'
import {
  defineModels,
  fill,
  idsOf,
  modelsOf,
  mountWorld,
  NAMES,
  READS,
  requestWorld,
  SHAPES,
  scopeOfCaller,
  TICKETS,
} from '../../support/scopeConditions.js'
import type { Answer } from '../../support/server.js'
import { asUser, openStage } from '../../support/stage.js'

const errors: unknown[] = []
const stage = await openStage(({ sequelize }, app) => {
  const whole = defineModels(sequelize, 'whole')
  const { tickets } = mountWorld(app, whole, 'whole', {
    scope: scopeOfCaller,
    onError: (error) => errors.push(error),
  })
  app.get('/found', async (request, response) => {
    const options = await tickets.findOptions(request, { filter: 'Level<4,Notes.Count=2' })
    response.json(await whole.Ticket.findAll({ ...options, order: ['id'] }))
  })
  app.get('/updated', async (request, response) => {
    const { where } = await tickets.findOptions(request)
    const [updated] = await whole.Ticket.update({ level: 77 }, { where: where ?? {} })
    response.json({ updated })
  })
  app.get('/destroyed', async (request, response) => {
    const { where } = await tickets.findOptions(request)
    response.json({ destroyed: await whole.Ticket.destroy({ where: where ?? {} }) })
  })
  for (const name of NAMES) mountWorld(app, defineModels(sequelize, name), name, {})
})
const { sequelize } = stage
await fill(modelsOf(sequelize, 'whole'))
for (const name of NAMES) await fill(modelsOf(sequelize, name), SHAPES[name].has)

test.after.always(async () => {
  await stage.close()
})

for (const name of NAMES) {
  test.serial(
    `every read shows the scope of shape "${name}" as a database shows it that has nothing else`,
    async (t) => {
      const ids = (await stage.get('/whole/tickets?pageSize=100', asUser(name))).body.items.map(
        ({ id }: { id: number }) => id,
      )
      t.deepEqual(ids, idsOf(name))
      for (const request of READS) {
        const [whole, cut] = [
          await requestWorld(stage, 'whole', name, request),
          await requestWorld(stage, name, 'root', request),
        ]
        t.true([200, 404].includes((cut as Answer).status), request)
        t.deepEqual(whole, cut, request)
      }
      t.deepEqual(errors.splice(0), [])
    },
  )
}

test.serial('update and destroy take the where of findOptions', async (t) => {
  const { Ticket } = modelsOf(sequelize, 'whole')
  for (const name of NAMES) {
    const ids = idsOf(name)
    t.deepEqual((await stage.get('/updated', asUser(name))).body, { updated: ids.length }, name)
    const levels = await Ticket.findAll({ where: { level: 77 }, order: ['id'] })
    t.deepEqual(
      levels.map((ticket) => ticket.get('id')),
      ids,
      name,
    )
    await fill(modelsOf(sequelize, 'whole'))
    t.deepEqual((await stage.get('/destroyed', asUser(name))).body, { destroyed: ids.length }, name)
    await fill(modelsOf(sequelize, 'whole'))
  }
  t.deepEqual(errors.splice(0), [])
})

test.serial('findOptions has the condition in its where, and includes nothing for it', async (t) => {
  for (const name of NAMES) {
    const { body } = await stage.get('/found', asUser(name))
    const wanted = TICKETS.filter(({ id, level }) => level < 4 && idsOf(name).includes(id)).map(({ id }) => id)
    t.deepEqual(
      body.map(({ id }: { id: number }) => id),
      wanted,
      name,
    )
  }
})
