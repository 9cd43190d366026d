// The objects of a host before and after requests of every kind: what is replaced on them is named here.

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'ava'
import express, { Router } from 'express'
import { DataTypes } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { openDatabase } from '../../support/database.js'
import { clientOf } from '../../support/server.js'
import { isFast } from '../../support/speed.js'

/** The methods that are replaced on the host's own objects, by database. */
const REPLACED: Readonly<Record<string, readonly string[]>> = {
  sqlite: [
    // A failed COMMIT of the host's own frees the file.
    'manager: destroyConnection',
    'manager: getConnection',
    // Prepared statements are ended first.
    ...(isFast ? ['connection: close'] : []),
  ],
}

type Snapshot = ReadonlyMap<string, unknown>

/** Functions and accessors of an object's own properties. Its data may change: that is what it is for. */
function methodsOf(object: object): Snapshot {
  const descriptors = Object.entries(Object.getOwnPropertyDescriptors(object))
  return new Map(
    descriptors.flatMap(([name, { value, get, set }]): [string, unknown][] =>
      typeof value === 'function' || get !== undefined || set !== undefined ? [[name, get ?? set ?? value]] : [],
    ),
  )
}

function changedIn(before: Snapshot, after: Snapshot): readonly string[] {
  const names = new Set([...before.keys(), ...after.keys()])
  return [...names].filter((name) => before.get(name) !== after.get(name)).sort()
}

test('requests of every kind replace no method of the host but those that are named', async (t) => {
  const database = await openDatabase()
  const { sequelize } = database
  const attributes = { name: DataTypes.STRING(50), level: DataTypes.INTEGER, teamId: DataTypes.INTEGER }
  const Team = sequelize.define('Team', { name: DataTypes.STRING(50) })
  const Player = sequelize.define('Player', attributes, { paranoid: true })
  Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
  Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  await sequelize.sync()
  const manager: object = Reflect.get(sequelize, 'connectionManager')
  const connection: object = await Reflect.apply(Reflect.get(manager, 'getConnection'), manager, [{ type: 'SELECT' }])
  Reflect.apply(Reflect.get(manager, 'releaseConnection'), manager, [connection])
  const app = express()
  const own = Router()
  own.get('/own', (_req, res) => {
    res.json({})
  })
  app.use(own)
  const objects: Readonly<Record<string, object>> = {
    sequelize,
    manager,
    connection,
    Team,
    Player,
    'prototype of connections': Object.getPrototypeOf(connection),
    'prototype of Sequelize': Object.getPrototypeOf(sequelize),
    'prototype of the manager': Object.getPrototypeOf(manager),
    app,
    router: own,
    'prototype of requests': app.request,
    'prototype of responses': app.response,
  }
  const before = new Map(Object.entries(objects).map(([name, object]) => [name, methodsOf(object)]))
  const some = Operations.AllWithBulk | Operations.Aggregate | Operations.Export
  const operations = some | Operations.BulkUpdate | Operations.Replace
  for (const model of [Player, Team]) app.use(crudRouter(model, { operations }))
  const server = createServer(app)
  const plain = methodsOf(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(async () => {
    server.closeAllConnections()
    server.close()
    await database.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { get, post, patch, delete: remove, send } = clientOf(url)
  await post('/api/teams', { name: 'a', players: [{ name: 'x' }, { name: 'y' }] })
  for (let times = 0; times < 6; times += 1) {
    await post('/api/players', { name: 'b', level: times })
    await post('/api/players/bulk', [{ name: 'c' }, { name: 'd' }])
    for (const path of [
      '/own',
      '/api/players/1',
      '/api/players?filter=level>=1,team.name=a&sort=-level',
      '/api/players?cursor=',
      '/api/players?after=&sort=level',
      '/api/players?count=true',
      '/api/players?aggregate=count&group=level',
      '/api/players?format=jsonl',
      '/api/players?format=csv',
      '/api/teams?select=name,players(name)',
      '/api/teams/1/players',
      '/api/players/1/team',
      '/api/players/404',
      '/api/players?filter=((',
    ])
      await get(path)
    await patch('/api/players/1', { level: times })
    await patch('/api/players/bulk', [
      { id: 1, level: times },
      { id: 2, level: times },
    ])
    await send('PUT', '/api/players/2', { json: { name: 'z' } })
    await send('HEAD', '/api/players')
    await send('OPTIONS', '/api/players')
    await remove(`/api/players/${3 + times}`)
    await post('/api/players/bulk-delete', [20 + times])
  }
  const replaced = [...before].flatMap(([name, methods]) =>
    changedIn(methods, methodsOf(objects[name] ?? {})).map((method) => `${name}: ${method}`),
  )
  t.deepEqual(replaced, REPLACED[database.name] ?? [])
  t.deepEqual(changedIn(plain, methodsOf(server)), [])
})
