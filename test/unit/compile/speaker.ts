import test, { type ExecutionContext } from 'ava'
import { DataTypes, Sequelize } from 'sequelize'
import { Server } from 'socket.io'
import { CrudConfigError, type CrudOptions, crudHub, crudRouter } from '../../../lib/index.js'
import type { Relation, Resource } from '../../../types/resource.js'
import { sqliteOptions } from '../../support/database.js'

// Which resource speaks for the records behind a relation. Nothing here reaches a database.

function models() {
  const sequelize = new Sequelize({ ...sqliteOptions, storage: ':memory:', logging: false })
  const Team = sequelize.define('Team', { name: DataTypes.STRING })
  const Player = sequelize.define('Player', { name: DataTypes.STRING })
  const Tag = sequelize.define('Tag', { name: DataTypes.STRING })
  const Tagging = sequelize.define('Tagging', {
    id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true },
  })
  Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
  Team.belongsToMany(Tag, { as: 'tags', through: Tagging, foreignKey: 'teamId', otherKey: 'tagId' })
  return { Team, Player, Tag, Tagging }
}

function relationOf({ resource }: { readonly resource: object }, name: string): Relation {
  const relation = (resource as Resource).relations().get(name)
  if (relation === undefined) throw new TypeError(`there is no relation ${name}`)
  return relation
}

function refused(t: ExecutionContext, find: () => unknown, message: RegExp): void {
  t.throws(find, { instanceOf: CrudConfigError, code: 'INVALID_OPTION', message })
}

test('the only resource over the target speaks for it, whenever it mounts', async (t) => {
  const { Team, Player } = models()
  const players = relationOf(crudRouter(Team, { relations: { players: { routes: true } } }), 'players')
  t.true(players.routes)
  t.false(players.write)
  refused(t, players.relatedResource, /^Team: relations\.players: no router is mounted for the model Player/)
  const router = crudRouter(Player)
  t.is(players.relatedResource(), router.resource as Resource)
  await router.close()
  refused(t, players.relatedResource, /^Team: relations\.players: no router is mounted for the model Player/)
})

test('a relation without options has neither routes nor nested writing', (t) => {
  const { Team } = models()
  const all: readonly CrudOptions[] = [
    {},
    { relations: { players: true } },
    { relations: { players: { routes: false } } },
  ]
  for (const options of all) {
    const { routes, write } = relationOf(crudRouter(Team, options), 'players')
    t.deepEqual({ routes, write }, { routes: false, write: false })
  }
})

test('of several resources over the target none speaks for it, unless it is named', (t) => {
  const { Team, Player } = models()
  const mounted = (resource?: NonNullable<CrudOptions['relations']>): Relation =>
    relationOf(crudRouter(Team, resource === undefined ? {} : { relations: resource }), 'players')
  const open = crudRouter(Player)
  const narrow = crudRouter(Player, { route: 'narrow' })
  refused(
    t,
    mounted({ players: { write: true } }).relatedResource,
    /^Team: relations\.players: 2 routers are mounted for the model Player\. Choose one of them by "resource"\./,
  )
  t.is(mounted({ players: { write: true, resource: narrow } }).relatedResource(), narrow.resource as Resource)
  t.is(mounted({ players: { write: true, resource: () => open } }).relatedResource(), open.resource as Resource)
})

test('what is named must be a router that is mounted over the target', async (t) => {
  const { Team, Player, Tag } = models()
  const players = crudRouter(Player)
  const tags = crudRouter(Tag)
  const hub = crudHub(Player, { io: new Server() })
  const named = (resource: unknown): Relation['relatedResource'] =>
    relationOf(
      crudRouter(Team, { relations: { players: { write: true, resource: () => resource } } } as never),
      'players',
    ).relatedResource
  const message = /^Team: relations\.players\.resource must be a mounted router of the model Player\./
  for (const wrong of [tags, hub, null, undefined, {}, Player, 'players']) refused(t, named(wrong), message)
  const find = named(players)
  t.is(find(), players.resource as Resource)
  await players.close()
  refused(t, find, message)
})

test('what links a many-to-many is spoken for by the only resource over it, by none, or refused where there are several', async (t) => {
  const { Team, Tagging } = models()
  const { joinModel } = relationOf(crudRouter(Team), 'tags')
  if (joinModel === null) throw new TypeError('there is no link')
  t.is(joinModel.joinModelResource(), null)
  const one = crudRouter(Tagging)
  t.is(joinModel.joinModelResource(), one.resource as Resource)
  const other = crudRouter(Tagging, { route: 'other' })
  refused(
    t,
    joinModel.joinModelResource,
    /^Team: relations\.tags: 2 routers are mounted for the join model Tagging\. Call close\(\) on all but one of them\./,
  )
  await other.close()
  t.is(joinModel.joinModelResource(), one.resource as Resource)
})
