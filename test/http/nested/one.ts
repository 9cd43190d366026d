// Which record a to-one relation's own route shows: the one behind the foreign key, among those that the relation and the
// caller leave, and none where the key leads nowhere, whatever texts are keys.

import ava from 'ava'
import { DataTypes, type Model, type ModelStatic, Op } from 'sequelize'
import { crudRouter } from '../../../lib/index.js'
import { databaseName } from '../../support/database.js'
import { openStage } from '../../support/stage.js'

// What one of them asks of the database is looked at.
const test = ava.serial

const stage = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const text = { type: DataTypes.STRING(20), primaryKey: true }
  const routes = { routes: true } as const
  const Person = sequelize.define('Person', { name: DataTypes.STRING(20) }, plain)
  const Team = sequelize.define('Team', { name: DataTypes.STRING(20), kind: DataTypes.STRING(9) }, plain)
  const Word = sequelize.define('Word', { text }, plain)
  const Slot = sequelize.define(
    'Slot',
    { code: text, no: { type: DataTypes.INTEGER, primaryKey: true }, name: DataTypes.STRING(20) },
    plain,
  )
  const Profile = sequelize.define(
    'Profile',
    { personId: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: false }, kind: DataTypes.STRING(9) },
    plain,
  )
  const Nick = sequelize.define('Nick', { text }, plain)
  const Card = sequelize.define('Card', { name: DataTypes.STRING(20) }, plain)
  const apart = { constraints: false } as const
  Person.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  // Its types do not know it, but Sequelize joins no others.
  Person.belongsTo(Team, { as: 'mainTeam', foreignKey: 'teamId', scope: { kind: 'main' } } as object)
  Person.belongsTo(Word, { as: 'word', foreignKey: 'wordText' })
  Person.belongsTo(Slot, { as: 'slot', foreignKey: 'slotCode', targetKey: 'code', ...apart })
  Person.hasOne(Profile, { as: 'profile', foreignKey: 'personId', ...apart, scope: { kind: 'public' } })
  Person.hasOne(Nick, { as: 'nick', foreignKey: 'personId', ...apart })
  Person.hasOne(Card, { as: 'card', foreignKey: 'personId', ...apart })
  app.use(
    crudRouter(Person, {
      relations: {
        team: routes,
        mainTeam: routes,
        word: routes,
        slot: routes,
        profile: routes,
        nick: routes,
        card: routes,
      },
    }),
  )
  for (const each of [Team, Word, Slot, Profile, Nick]) app.use(crudRouter(each))
  app.use(crudRouter(Card, { softDelete: true }))
})
const { sequelize } = stage
const model = (name: string): ModelStatic<Model> => sequelize.model(name)
await model('Team').bulkCreate([
  { name: 'first', kind: 'main' },
  { name: 'second', kind: 'side' },
])
await model('Word').bulkCreate(['on', 'null'].map((text) => ({ text })))
await model('Slot').bulkCreate([
  { code: 'a', no: 2, name: 'a two' },
  { code: 'b', no: 1, name: 'b one' },
])
await model('Person').bulkCreate([
  { name: 'Anna', teamId: 1, wordText: 'on', slotCode: 'a' },
  { name: 'Bea', teamId: 2 },
  { name: 'Cleo' },
])
await model('Profile').bulkCreate([
  { personId: 1, kind: 'public' },
  { personId: 2, kind: 'private' },
])
await model('Nick').bulkCreate([{ text: 'undefined' }, { text: 'null' }, { text: 'Annie', personId: 1 }])
await model('Card').bulkCreate([
  { name: 'old', personId: 1, isDeleted: true },
  { name: 'new', personId: 1 },
  { name: 'newer', personId: 1 },
  { name: 'lost', personId: 2, isDeleted: true },
])
test.after.always(() => stage.close())

/** What is behind a relation of somebody: the record, or the status of the answer. */
async function behind(person: number, relation: string): Promise<unknown> {
  const { status, body } = await stage.get(`/api/people/${person}/${relation}`)
  return status === 200 ? body : status
}

test('a bad query is a 400 whether or not there is a record behind the relation', async (t) => {
  for (const relation of ['team', 'mainTeam', 'word', 'slot', 'profile', 'nick', 'card']) {
    for (const query of ['select=Nope', 'select=(', 'select=name&select=name', 'name.limit=1']) {
      for (const method of ['GET', 'HEAD']) {
        const { status } = await stage.send(method, `/api/people/3/${relation}?${query}`, {})
        t.is(status, 400, `${method} ${relation} ${query}`)
      }
    }
    t.is((await stage.get(`/api/people/3/${relation}`)).status, 404, relation)
  }
  const { body } = await stage.get('/api/people/3/team?select=Nope')
  t.deepEqual(body, (await stage.get('/api/people/1/team?select=Nope')).body)
})

test('the record behind a foreign key is read by that key, without a statement that looks for it', async (t) => {
  const read = async (path: string): Promise<number> => {
    const before = stage.statements.length
    t.is((await stage.get(path)).status, 200)
    return stage.statements.length - before
  }
  await read('/api/people/1/team')
  t.is(await read('/api/people/1/team'), (await read('/api/people/1')) + (await read('/api/teams/1')))
})

test('a relation of some records only leads to no other, by its own route as by a path', async (t) => {
  t.deepEqual(await behind(1, 'mainTeam'), { id: 1, name: 'first', kind: 'main' })
  t.is(await behind(2, 'mainTeam'), 404)
  t.deepEqual(await behind(2, 'team'), { id: 2, name: 'second', kind: 'side' })
  const { body } = await stage.get('/api/people?select=mainTeam.name')
  t.deepEqual(
    body.items.map(({ mainTeam }: { mainTeam: unknown }) => mainTeam),
    [{ name: 'first' }, null, null],
  )
  // Here the foreign key is the key of the record behind as well.
  t.deepEqual(await behind(1, 'profile'), { personId: 1, kind: 'public' })
  t.is(await behind(2, 'profile'), 404)
})

test('a foreign key that is a part of a key of several leads to the record', async (t) => {
  t.deepEqual(await behind(1, 'slot'), { code: 'a', no: 2, name: 'a two' })
  t.is(await behind(2, 'slot'), 404)
})

test('nothing is behind a key that is not there, also where a record has the key of that text', async (t) => {
  t.deepEqual(await behind(1, 'word'), { text: 'on' })
  t.is(await behind(3, 'word'), 404)
  t.like(await behind(1, 'nick'), { text: 'Annie' })
  t.is(await behind(3, 'nick'), 404)
})

test('of several records behind a to-one relation the first is shown that is not deleted', async (t) => {
  t.like(await behind(1, 'card'), { name: 'new' })
  t.is(await behind(2, 'card'), 404)
})

if (databaseName === 'sqlite') {
  test('what a model makes of every statement is the host’s fault alone, behind a to-one relation as well', async (t) => {
    const errors: unknown[] = []
    const own = await openStage((database, app) => {
      const Person = database.sequelize.define('Person', { name: DataTypes.STRING(20) }, { timestamps: false })
      const where = { [Op.or]: Array.from({ length: 1100 }, (_, number) => ({ number })) }
      const Card = database.sequelize.define(
        'Card',
        { number: DataTypes.INTEGER },
        { timestamps: false, defaultScope: { where } },
      )
      Person.hasOne(Card, { as: 'card', foreignKey: 'personId' })
      const onError = (error: unknown): void => {
        errors.push(error)
      }
      app.use(crudRouter(Person, { relations: { card: { routes: true } }, onError }))
      app.use(crudRouter(Card, { onError }))
    })
    t.teardown(() => own.close())
    await own.sequelize.model('Person').create({ name: 'Anna' })
    t.is((await own.get('/api/cards/1')).status, 500)
    t.is((await own.get('/api/people/1/card')).status, 500)
    t.is(errors.length, 2)
  })
}
