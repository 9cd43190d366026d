// The AsyncAPI document of hubs: what it says is what clients hear.

import { Ajv } from 'ajv'
import formats from 'ajv-formats'
import test from 'ava'
import { DataTypes } from 'sequelize'
import {
  apiDocs,
  asyncApi,
  CrudConfigError,
  type CrudOptions,
  type CrudRouter,
  crudRouter,
  hasRole,
} from '../../../lib/index.js'
import { INFO } from '../../support/documented.js'
import { openPush } from '../../support/push.js'
import { bearer, identity } from '../../support/tokens.js'

const routers: CrudRouter[] = []

const stage = await openPush(({ sequelize }, app, io) => {
  const Team = sequelize.define(
    'Team',
    { name: { type: DataTypes.STRING(20), allowNull: false } },
    { timestamps: false },
  )
  const Player = sequelize.define(
    'Player',
    { name: { type: DataTypes.STRING(20), allowNull: false }, since: DataTypes.DATE, salary: DataTypes.INTEGER },
    { timestamps: false },
  )
  const Silent = sequelize.define('Silent', { name: DataTypes.STRING(20) }, { timestamps: false })
  routers.push(
    crudRouter(Team, { push: { io } }),
    crudRouter(Player, {
      push: { io, path: 'feed/players' },
      identity,
      getListPolicy: hasRole('coach'),
      mask: { salary: 'payroll' },
      concurrency: { inBody: true },
      computed: {
        rank: { type: 'integer', resolve: (all) => all.map((_, index) => index) },
        mine: { type: 'boolean', perCaller: true, resolve: (all) => all.map(() => true) },
      },
    }),
    crudRouter(Silent),
  )
  app.use(...routers)
  app.use(apiDocs({ resources: routers, info: INFO }))
  app.use('/quiet', apiDocs({ resources: routers.slice(2), info: INFO }))
})
test.after.always(() => stage.close())

const document = () => asyncApi({ resources: routers, info: INFO })

test('a hub is a channel at its namespace with four messages, and a resource without one is left out', (t) => {
  const { channels, operations, components } = document()
  t.deepEqual(
    Object.values(channels).map(({ address }) => address),
    ['/api/teams/hub', '/feed/players'],
  )
  const names = ['OnCreated', 'OnUpdated', 'OnDeleted', 'OnMissed']
  for (const { messages } of Object.values(channels)) t.deepEqual(Object.keys(messages), names)
  t.is(Object.keys(operations).length, 8)
  t.true(Object.values(operations).every(({ action }) => action === 'send'))
  t.deepEqual(operations.sendPlayerOnCreated?.security, [{ $ref: '#/components/securitySchemes/bearerAuth' }])
  t.is(operations.sendTeamOnCreated?.security, undefined)
  t.is(components.messages.PlayerOnMissed?.payload, undefined)
  t.is(components.messages.PlayerOnDeleted?.['x-arguments'].length, 2)
  t.is(components.messages.TeamOnDeleted?.['x-arguments'].length, 1)
})

test('the hub of a resource without reads needs the policy of lists, and its events have the fields that lists exclude', async (t) => {
  const { sequelize, app, io } = stage
  const Note = sequelize.define(
    'Note',
    { text: DataTypes.STRING(20), long: DataTypes.STRING(20) },
    { timestamps: false },
  )
  await Note.sync()
  const notes = crudRouter(Note, {
    push: { io },
    identity,
    operations: ['create'],
    getListPolicy: hasRole('coach'),
    fields: { long: { exclude: 'list' } },
  })
  app.use(notes)
  const { components, operations } = asyncApi({ resources: [notes], info: INFO })
  t.deepEqual(operations.sendNoteOnCreated?.security, [{ $ref: '#/components/securitySchemes/bearerAuth' }])
  t.truthy((await stage.subscribe(notes)).refusal)
  const subscriber = await stage.subscribe(notes, { headers: bearer({ roles: ['coach'] }) })
  const { body } = await stage.post('/api/notes', { text: 'a', long: 'b' })
  await stage.drain(notes, subscriber)
  t.deepEqual(subscriber.received[0], ['OnCreated', { id: body.id, text: 'a', long: 'b' }])
  const ajv = new Ajv({ strict: false, allErrors: true })
  formats.default(ajv)
  ajv.addSchema({ $id: 'document', components })
  t.true(ajv.validate({ $ref: 'document#/components/messages/NoteOnCreated/payload' }, body))
  t.deepEqual(Object.keys(components.schemas?.Note?.properties ?? {}), ['id', 'text', 'long'])
})

test('every event that a client gets is what its message says', async (t) => {
  const { components } = document()
  const ajv = new Ajv({ strict: false, allErrors: true })
  formats.default(ajv)
  ajv.addSchema({ $id: 'document', components })
  const isValid = (name: string, payload: unknown): boolean => {
    const schema = { $ref: `document#/components/messages/${name}/payload` }
    return ajv.validate(schema, payload) || t.log(ajv.errorsText()) === null
  }
  const [teams, players] = routers
  if (teams === undefined || players === undefined) throw new Error('nothing is mounted')
  const headers = bearer({ sub: 'anna', roles: ['coach'] })
  const onTeams = await stage.subscribe(teams)
  const onPlayers = await stage.subscribe(players, { headers })
  t.is(onPlayers.refusal, null)
  const { body: team } = await stage.post('/api/teams', { name: 'Reds' })
  await stage.patch(`/api/teams/${team.id}`, { name: 'Blues' })
  await stage.delete(`/api/teams/${team.id}`)
  const { body: player } = await stage.post(
    '/api/players',
    { name: 'Jan', since: '2026-01-01T00:00:00Z', salary: 5 },
    headers,
  )
  await stage.drain(teams, onTeams)
  await stage.drain(players, onPlayers, (key) => ({ id: key, rowVersion: 1 }))
  const heard = [
    ...onTeams.received.slice(0, 3).map(([event, argument]) => [`Team${event}`, argument] as const),
    ...onPlayers.received.slice(0, 1).map(([event, argument]) => [`Player${event}`, argument] as const),
  ]
  t.deepEqual(
    heard.map(([name]) => name),
    ['TeamOnCreated', 'TeamOnUpdated', 'TeamOnDeleted', 'PlayerOnCreated'],
  )
  for (const [name, argument] of heard) t.true(isValid(name, argument), name)
  t.false(isValid('PlayerOnCreated', { ...player, name: 5 }))
  const told: unknown = heard[3]?.[1]
  t.false(Object.hasOwn(Object(told), 'mine'))
  t.true(Object.hasOwn(Object(told), 'rank'))
})

test('OnDeleted has the version if no mask hides it and lists have it, as its message says', async (t) => {
  const { sequelize, app, io } = stage
  const variants: Readonly<Record<string, CrudOptions>> = {
    shown: {},
    masked: { mask: { version: 'versions' } },
    unlisted: { fields: { version: { exclude: 'list' } } },
  }
  for (const [name, options] of Object.entries(variants)) {
    const attributes = { text: DataTypes.STRING(20), version: DataTypes.INTEGER }
    const Sheet = sequelize.define(name, attributes, { timestamps: false })
    await Sheet.sync()
    const sheets = crudRouter(Sheet, { push: { io }, concurrency: { rowVersion: 'version' }, ...options })
    app.use(sheets)
    const subscriber = await stage.subscribe(sheets)
    const { body } = await stage.post(sheets.resource.route, { text: 'a' })
    const deleted = new Promise<unknown[]>((resolve) => {
      subscriber.socket.on('OnDeleted', (...values: unknown[]) => resolve(values))
    })
    await stage.delete(`${sheets.resource.route}/${body.id}`)
    t.deepEqual(await deleted, name === 'shown' ? [body.id, 0] : [body.id], name)
    const { messages } = asyncApi({ resources: [sheets], info: INFO }).components
    const message = Object.values(messages).find((each) => each.name === 'OnDeleted')
    t.is(message?.['x-arguments'].length, (await deleted).length, name)
  }
})

test('apiDocs serves it at /asyncapi.json where a resource has a hub', async (t) => {
  const { status, body } = await stage.get('/asyncapi.json')
  t.is(status, 200)
  t.deepEqual(body, JSON.parse(JSON.stringify(document())))
  t.is((await stage.get('/quiet/asyncapi.json')).status, 404)
})

test('options that do not exist, and what is no resource, are refused', (t) => {
  const wrong = { resources: routers, info: INFO, server: {} }
  t.throws(() => asyncApi(wrong), {
    instanceOf: CrudConfigError,
    message: /the option "server" does not exist.*"servers"/,
  })
  t.throws(() => asyncApi({ resources: [], info: INFO }), { instanceOf: CrudConfigError })
})
