// Requests below a parent, with an `Idempotency-Key` and without one, when the parent is missing or the caller may not see it.

import ava from 'ava'
import express from 'express'
import { DataTypes } from 'sequelize'
import { crudRouter, Operations, Problem } from '../../../../lib/index.js'
import { openStage } from '../../../support/stage.js'

const test = ava.serial

/** The error of the scope of teams, and the operations for which it is thrown; empty for all. */
let failure: unknown = null
let refused: readonly string[] = []
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
      scope: ({ operation }) => {
        if (failure !== null && (refused.length === 0 || refused.includes(operation))) throw failure
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
  refused = []
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
  const denied = await create()
  t.deepEqual([denied.status, denied.body.detail], [403, 'Teams are closed.'])
  refused = ['getById']
  t.is((await create()).status, 403)
  refused = []
  // An error of the host is no problem of the package, whatever its status.
  failure = Object.assign(new Error('no such tenant'), { status: 404 })
  t.is((await create()).status, 500)
  t.deepEqual(reported, [failure])
})

test('operations without a body ignore texts of any media type, which the host may have parsed', async (t) => {
  const own = await openStage(({ sequelize }, app) => {
    const plain = { timestamps: false }
    const Post = sequelize.define('Post', { name: DataTypes.STRING(9) }, plain)
    const Tag = sequelize.define('Tag', { name: DataTypes.STRING(9) }, plain)
    Post.belongsToMany(Tag, { as: 'tags', through: sequelize.define('PostTag', {}, plain) })
    const operations = Operations.All | Operations.Restore
    app.use(express.text({ type: '*/*' }))
    app.use(
      crudRouter(Post, { idempotency: true, softDelete: true, operations, relations: { tags: { routes: true } } }),
    )
    app.use(crudRouter(Tag))
    return { Post, Tag }
  })
  t.teardown(() => own.close())
  await own.Post.create({ name: 'a' })
  await own.Tag.create({ name: 't' })
  for (const type of ['text/plain', 'application/jsonl', 'application/json']) {
    const send = async (method: string, path: string) => {
      const headers = { 'Content-Type': type, 'Idempotency-Key': `${method} ${path} ${type}` }
      return (await own.send(method, path, { body: 'not {JSON', headers })).status
    }
    t.is(await send('PUT', '/api/posts/1/tags/1'), 204, type)
    t.is(await send('DELETE', '/api/posts/1'), 204, type)
    t.is(await send('POST', '/api/posts/1/restore'), 200, type)
    t.is(await send('POST', '/api/posts/1/restore'), 200, type)
  }
})
