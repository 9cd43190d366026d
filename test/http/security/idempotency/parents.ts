// Requests below a parent, with an `Idempotency-Key` and without one, when the parent is missing or the caller may not see it.

import ava from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter, Problem } from '../../../../lib/index.js'
import { openStage } from '../../../support/stage.js'

const test = ava.serial

/** The error of the next evaluation of the scope of teams. */
let failure: unknown = null
const reported: unknown[] = []

const stage = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const Team = sequelize.define('Team', { name: DataTypes.STRING(9), tenant: DataTypes.INTEGER }, plain)
  const Player = sequelize.define('Player', { name: DataTypes.STRING(9), tenant: DataTypes.INTEGER }, plain)
  Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
  app.use(
    crudRouter(Team, {
      relations: { players: { routes: true } },
      onError: (error) => void reported.push(error),
      scope: () => {
        if (failure !== null) throw failure
        return null
      },
    }),
    crudRouter(Player, {
      idempotency: true,
      onError: (error) => void reported.push(error),
      scope: () => ({ tenant: 1 }),
    }),
  )
})
test.after.always(() => stage.close())
test.afterEach.always(() => {
  failure = null
  reported.length = 0
})

test('a POST below a missing parent is 404, although its body contradicts the scope of the new record', async (t) => {
  const { id } = (await stage.post('/api/teams', { name: 'Lakers' })).body
  const body = { name: 'Ann', tenant: 2 }
  t.is((await stage.post(`/api/teams/${id}/players`, body)).status, 403)
  const { status, body: problem } = await stage.post('/api/teams/999/players', body)
  t.deepEqual([status, problem.title], [404, 'Not Found'])
})

test('a stored reply is not replayed if the scope of the parent refuses or fails', async (t) => {
  const { id } = (await stage.post('/api/teams', { name: 'Celtics' })).body
  const create = () => stage.post(`/api/teams/${id}/players`, { name: 'Bob' }, { 'Idempotency-Key': 'refused' })
  t.is((await create()).status, 201)
  t.is((await create()).headers.get('idempotency-replayed'), 'true')
  failure = new Problem({ status: 403, detail: 'Teams are closed.' })
  const refused = await create()
  t.deepEqual([refused.status, refused.body.detail], [403, 'Teams are closed.'])
  // An error of the host is no problem of the package, whatever its status.
  failure = Object.assign(new Error('no such tenant'), { status: 404 })
  t.is((await create()).status, 500)
  t.deepEqual(reported, [failure])
})
