// A scope that is a condition is part of everything that is read. A database without the rows outside of it answers the same.

import test from 'ava'
import {
  askWorld,
  defineModels,
  fill,
  idsOf,
  mountWorld,
  NAMES,
  READS,
  SHAPES,
  scopeOfCaller,
} from '../../support/scopeConditions.js'
import type { Answer } from '../../support/server.js'
import { as, openStage } from '../../support/stage.js'

const errors: unknown[] = []
const stage = await openStage(({ sequelize }, app) => {
  mountWorld(app, defineModels(sequelize, 'whole'), 'whole', {
    scope: scopeOfCaller,
    onError: (error) => errors.push(error),
  })
  for (const name of NAMES) mountWorld(app, defineModels(sequelize, name), name, {})
})
const { sequelize } = stage
const modelsOf = (world: string) => ({
  Team: sequelize.model(`Team${world}`),
  Ticket: sequelize.model(`Ticket${world}`),
  Member: sequelize.model(`Member${world}`),
  Label: sequelize.model(`Label${world}`),
  TicketLabel: sequelize.model(`TicketLabel${world}`),
  Note: sequelize.model(`Note${world}`),
})
await fill(modelsOf('whole'))
for (const name of NAMES) await fill(modelsOf(name), SHAPES[name].has)

test.after.always(async () => {
  await stage.close()
})

for (const name of NAMES) {
  test.serial(
    `every read shows the scope of shape "${name}" as a database shows it that has nothing else`,
    async (t) => {
      const ids = (await stage.get('/whole/tickets?pageSize=100', as(name))).body.items.map(
        ({ id }: { id: number }) => id,
      )
      t.deepEqual(ids, idsOf(name))
      for (const request of READS) {
        const [whole, cut] = [
          await askWorld(stage, 'whole', name, request),
          await askWorld(stage, name, 'root', request),
        ]
        t.true([200, 404].includes((cut as Answer).status), request)
        t.deepEqual(whole, cut, request)
      }
      t.deepEqual(errors.splice(0), [])
    },
  )
}
