// Requests whose target is in absolute form, as proxies are sent it: the host in it is of the client's choice.

import { once } from 'node:events'
import { connect } from 'node:net'
import test from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter, Operations } from '../../../../lib/index.js'
import { openStage } from '../../../support/stage.js'

async function asked(url: string, lines: readonly string[], body = ''): Promise<string> {
  const { port } = new URL(url)
  const socket = connect(Number(port), '127.0.0.1')
  socket.write(`${[...lines, 'Host: good.example', 'Connection: close'].join('\r\n')}\r\n\r\n${body}`)
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  await once(socket, 'close')
  return text
}

test('links name no host that stands in the target of a request, and one key is one write in both forms', async (t) => {
  const server = await openStage()
  const { app, sequelize } = server
  const Team = sequelize.define('Team', { name: DataTypes.STRING(20) }, { timestamps: false })
  const Player = sequelize.define('Player', { name: DataTypes.STRING(20) }, { timestamps: false })
  const Coach = sequelize.define('Coach', { name: DataTypes.STRING(20) }, { timestamps: false })
  Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
  Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  app.use(
    crudRouter(Team, {
      query: { unknownParameters: ['see'] },
      relations: { players: { routes: true } },
      idempotency: true,
      operations: Operations.All | Operations.Export,
    }),
    crudRouter(Player),
    crudRouter(Coach, { route: '/' }),
  )
  await sequelize.sync()
  t.teardown(server.close)
  await Team.bulkCreate([{ name: 'a' }, { name: 'b' }] as never)
  await Coach.bulkCreate([{ name: 'e' }, { name: 'f' }] as never)
  await Player.bulkCreate([
    { name: 'c', teamId: 1 },
    { name: 'd', teamId: 1 },
  ] as never)
  for (const path of ['/api/teams?pageSize=1', '/api/teams/1/players?pageSize=1', '/api/teams?after=&pageSize=1']) {
    const text = await asked(server.url, [`GET http://evil.example${path} HTTP/1.1`])
    t.regex(text, /^HTTP\/1\.1 200 /, path)
    t.regex(text, /\r\nLink: <\/api\/teams/, path)
    t.notRegex(text, /evil/, path)
  }
  // A host without a path is asked for its root.
  const rooted = await asked(server.url, ['GET http://evil.example?pageSize=1 HTTP/1.1'])
  t.regex(rooted, /\r\nLink: <\/\?/)
  t.notRegex(rooted, /evil/)
  // One that stands further behind is what the client asks for.
  for (const host of ['', 'http://evil.example']) {
    const text = await asked(server.url, [`GET ${host}/api/teams?see=http://other.example/x&pageSize=1 HTTP/1.1`])
    t.regex(text, /\r\nLink: <\/api\/teams\?[^>]*see=http[^>]*other\.example/, host)
    t.notRegex(text, /evil/)
  }
  // What no target may have is no part of it.
  for (const path of ['/api/teams#/3?pageSize=1', '/api/teams?#&pageSize=1', '/api/teams#?format=csv']) {
    const text = await asked(server.url, [`GET ${path} HTTP/1.1`])
    t.regex(text, /"totalCount":2,"page":1,"pageSize":20/, path)
    t.notRegex(text, /Link: [^\r]*#/, path)
  }
  const body = '{"name":"once"}'
  const headers = ['Content-Type: application/json', `Content-Length: ${body.length}`, 'Idempotency-Key: "k1"']
  const first = await asked(server.url, ['POST /api/teams HTTP/1.1', ...headers], body)
  const again = await asked(server.url, ['POST http://evil.example/api/teams HTTP/1.1', ...headers], body)
  t.regex(first, /^HTTP\/1\.1 201 /)
  t.regex(again, /^HTTP\/1\.1 201 /)
  t.regex(again, /\r\nIdempotency-Replayed: true/i)
  t.is(await Team.count(), 3)
})
