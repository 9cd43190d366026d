// The first read of a process, which does not know the version of the database's server yet.

import test from 'ava'
import { DataTypes, type Sequelize } from 'sequelize'
import { crudRouter } from '../../../lib/index.js'
import { openAgain } from '../../support/database.js'
import { openStage } from '../../support/stage.js'

function defineModels(sequelize: Sequelize) {
  const code = { type: DataTypes.DECIMAL(30, 10), primaryKey: true }
  const Team = sequelize.define('Team', { code, name: DataTypes.STRING }, { timestamps: false })
  const Player = sequelize.define('Player', { code, name: DataTypes.STRING }, { timestamps: false })
  Player.belongsTo(Team, { as: 'team', foreignKey: 'teamCode' })
  for (const model of [Team, Player]) model.addHook('afterFind', () => undefined)
  return { Team, Player }
}

const READS = {
  '/api/players?select=code,name,team.code': { items: [{ name: 'Ann' }], totalCount: 1 },
  '/api/players/2.5?select=name,team.code': { name: 'Ann' },
  '/api/players?filter=team.code=1.5': { items: [{ name: 'Ann' }], totalCount: 1 },
}

for (const [path, expected] of Object.entries(READS)) {
  for (const statementTime of [30_000, false] as const) {
    test(`${path} with the statement timeout ${statementTime} can be the first read of a process`, async (t) => {
      const stage = await openStage(({ sequelize }) => defineModels(sequelize))
      await stage.Team.create({ code: '1.5', name: 'Lakers' })
      await stage.Player.create({ code: '2.5', name: 'Ann', teamCode: '1.5' })
      const again = openAgain(stage.sequelize)
      t.teardown(async () => {
        await again.close()
        await stage.close()
      })
      const { Team, Player } = defineModels(again)
      const errors: unknown[] = []
      const options = { limits: { statementTime }, onError: (error: unknown) => void errors.push(error) }
      stage.app.use(crudRouter(Team, options), crudRouter(Player, options))
      const { status, body } = await stage.get(path)
      t.deepEqual(errors, [])
      t.is(status, 200)
      t.like(body, expected)
    })
  }
}
