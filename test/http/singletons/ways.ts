// The other ways to the record of a caller: links, routes of the host, handlers without Express, and a router of all models.

import ava from 'ava'
import Joi from 'joi'
import { DataTypes } from 'sequelize'
import {
  type ActionContext,
  authenticated,
  createCrud,
  createHandler,
  crudRouter,
  Operations,
  problemHandler,
} from '../../../lib/index.js'
import { serve } from '../../support/server.js'
import { asUser, identityFromHeader, openStage } from '../../support/stage.js'

const test = ava.serial

const stage = await openStage(({ sequelize }, app) => {
  const options = { timestamps: false }
  const Profile = sequelize.define(
    'Profile',
    { id: { type: DataTypes.INTEGER, primaryKey: true }, name: { type: DataTypes.STRING(20), allowNull: false } },
    options,
  )
  const Club = sequelize.define('Club', { title: DataTypes.STRING(20) }, options)
  const through = { through: 'ClubProfiles', timestamps: false }
  Club.belongsToMany(Profile, { as: 'profiles', foreignKey: 'clubId', otherKey: 'profileId', ...through })
  Profile.belongsToMany(Club, { as: 'clubs', foreignKey: 'profileId', otherKey: 'clubId', ...through })
  const crud = createCrud({ identity: identityFromHeader, authorizePolicy: authenticated })
  const routers = crud.routers([Profile, Club], {
    Profile: {
      route: 'api/me',
      singleton: ({ identity }) => Number(identity?.name),
      relations: { clubs: { routes: true } },
      actions: {
        rename: {
          on: 'record',
          method: 'post',
          input: Joi.object({ to: Joi.string().required() }),
          handler: ({ record, input }: ActionContext<typeof Profile.prototype, { to: string }>) => {
            record.set('name', input.to)
          },
        },
      },
    },
    Club: { relations: { profiles: { routes: true, write: true } } },
  })
  app.use(routers)
  const [me] = routers.resources
  if (me === undefined) throw new Error('no router')
  app.get('/badge', me.guard('getById'), async (req, res) => {
    const found = await Profile.findAll(await me.findOptions(req, { select: 'name' }))
    res.json(found.map((each) => each.get('name')))
  })
  app.use(problemHandler())
})
test.after.always(() => stage.close())

test.before(async () => {
  await stage.sequelize.model('Profile').bulkCreate(['Ann', 'Bob'].map((name, index) => ({ id: index + 1, name })))
  await stage.sequelize.model('Club').create({ title: 'Chess' })
})

const ann = asUser('1')
const bob = asUser('2')

test('a caller links himself, and the record of nobody else', async (t) => {
  t.is((await stage.send('PUT', '/api/clubs/1/profiles/1', { headers: ann })).status, 204)
  t.is((await stage.send('PUT', '/api/clubs/1/profiles/2', { headers: ann })).status, 404)
  t.is((await stage.send('PUT', '/api/me/clubs/1', { headers: bob })).status, 204)
  t.deepEqual((await stage.get('/api/clubs/1?select=profiles.name', ann)).body, { profiles: [{ name: 'Ann' }] })
  const nested = await stage.post('/api/clubs', { title: 'Go', profiles: [1, 2] }, ann)
  t.is(nested.status, 400)
  t.deepEqual(nested.body.errors, { 'profiles[1]': ['does not exist.'] })
  t.is((await stage.delete('/api/clubs/1/profiles/2', ann)).status, 404)
  t.is((await stage.delete('/api/me/clubs/1', bob)).status, 204)
})

test('an action of the record is below its route, also where a router has all models', async (t) => {
  const renamed = await stage.post('/api/me/rename', { to: 'Bo' }, bob)
  t.is(renamed.status, 200, renamed.text)
  t.deepEqual(renamed.body, { id: 2, name: 'Bo' })
  t.is((await stage.post('/api/me/rename', { to: 'Bob' }, bob)).body.name, 'Bob')
  t.is((await stage.post('/api/me/rename', { to: 'x' })).status, 401)
})

test('routes of the host find the record of the caller', async (t) => {
  t.deepEqual((await stage.get('/badge', ann)).body, ['Ann'])
  t.deepEqual((await stage.get('/badge', bob)).body, ['Bob'])
  t.is((await stage.get('/badge')).status, 401)
  t.is((await stage.get('/badge', asUser('7'))).status, 200)
})

test('a handler without Express has the record and its actions', async (t) => {
  const handler = createHandler(stage.sequelize.model('Profile'), {
    route: 'api/own',
    identity: identityFromHeader,
    singleton: ({ identity }) => Number(identity?.name),
    actions: { shout: { on: 'record', method: 'post', handler: ({ record }) => record.set('name', 'BOB') } },
  })
  const plain = await serve(async (request, response) => {
    const reply = await handler.handle(request)
    if (reply === null) return response.writeHead(404).end()
    response.writeHead(reply.status, reply.headers)
    return reply.body.pipe(response)
  })
  t.teardown(plain.close)
  t.is((await plain.get('/api/own', bob)).body.name, 'Bob')
  const shouted = await plain.send('POST', '/api/own/shout', { headers: bob })
  t.is(shouted.status, 200, shouted.text)
  t.deepEqual(shouted.body, { id: 2, name: 'BOB' })
  t.is((await plain.get('/api/own/shout', bob)).status, 405)
})

test('a route that a host gives under configure has the actions as well', async (t) => {
  const Profile = stage.sequelize.model('Profile')
  const router = crudRouter(Profile, {
    route: 'api/self',
    identity: identityFromHeader,
    singleton: ({ identity }) => Number(identity?.name),
    configure: (own) => {
      own.get('/hello', (_req, res) => {
        res.json('hello')
      })
    },
    actions: { shout: { on: 'record', method: 'post', handler: ({ record }) => record.set('name', 'ANN') } },
  })
  stage.app.use(router)
  t.is((await stage.get('/api/self/hello')).body, 'hello')
  t.is((await stage.send('POST', '/api/self/shout', { headers: ann })).body.name, 'ANN')
  t.is((await stage.get('/api/self', ann)).body.name, 'ANN')
})

test('a body that nests the record of a caller without one is 404, as the document says', async (t) => {
  const other = await openStage(({ sequelize }, app) => {
    const Owner = sequelize.define('Owner', { name: DataTypes.STRING(20) }, { timestamps: false })
    const Card = sequelize.define('Card', { text: DataTypes.STRING(20) }, { timestamps: false })
    const Label = sequelize.define('Label', { word: DataTypes.STRING(20) }, { timestamps: false })
    Owner.hasMany(Card, { as: 'cards', foreignKey: 'ownerId' })
    Owner.belongsToMany(Label, { as: 'labels', foreignKey: 'ownerId', otherKey: 'labelId', through: 'OwnerLabels' })
    const common = { identity: identityFromHeader }
    const singleton = () => null
    app.use(crudRouter(Card, { ...common, route: 'api/card', singleton }))
    app.use(crudRouter(Label, { ...common, route: 'api/label', singleton }))
    const relations = { cards: { write: true }, labels: { write: true } }
    app.use(crudRouter(Owner, { ...common, operations: Operations.AllWithBulk, relations }))
  })
  // The stage refuses responses that the document lacks.
  for (const nested of [{ cards: [{ text: 'x' }] }, { labels: [1] }]) {
    t.is((await other.post('/api/owners', nested)).status, 404)
    t.is((await other.post('/api/owners/bulk', [nested])).status, 404)
  }
  await other.close()
})
