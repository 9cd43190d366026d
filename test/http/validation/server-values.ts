// What Sequelize's validators say of values that the server sets: defaults, stamps, values of associations, and what
// setters make of other attributes.

import ava from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { crudRouter, type Hook, Operations } from '../../../lib/index.js'
import { asUser, identityFromHeader, openStage } from '../../support/stage.js'

const test = ava.serial

interface Models {
  readonly Note: ModelStatic<Model>
  readonly Memo: ModelStatic<Model>
}

const served = await openStage<Models>(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const operations = Operations.AllWithBulk | Operations.Replace | Operations.BulkUpdate
  const code = { type: DataTypes.STRING(20), validate: { is: /^[a-z]+$/ } }
  const text = DataTypes.STRING(20)

  const Note = sequelize.define('Note', { text, code: { ...code, defaultValue: 'BAD' } }, plain)
  app.use(crudRouter(Note, { operations }))

  const Memo = sequelize.define('Memo', { text, updatedBy: code })
  app.use(crudRouter(Memo, { operations, identity: identityFromHeader, audit: true }))

  const points = { type: DataTypes.INTEGER, validate: { min: 1, max: 100 } }
  const Score = sequelize.define('Score', { text, points }, plain)
  const Quiz = sequelize.define('Quiz', { text, points }, { ...plain, name: { singular: 'quiz', plural: 'quizzes' } })
  Quiz.hasMany(Score, { as: 'scores', foreignKey: 'quizId' })
  const setPoints: Hook = ({ instance }) => {
    instance.set('points', Number(instance.get('text')))
  }
  const hooks = { beforeCreate: setPoints, beforeUpdate: setPoints }
  app.use(crudRouter(Score, { operations, hooks }))
  app.use(crudRouter(Quiz, { operations, relations: { scores: { write: true } } }))

  const Label = sequelize.define('Label', { text, code, alias: aliasOfCode('alias', text) }, plain)
  app.use(crudRouter(Label, { operations }))
  const setterMethods = { alias: aliasOfCode('alias', text).set }
  const Tag = sequelize.define('Tag', { text, code, alias: text }, { ...plain, setterMethods })
  app.use(crudRouter(Tag, { operations }))

  const [Team, Player] = [sequelize.define('Team', { text }, plain), sequelize.define('Player', { text, code }, plain)]
  Team.hasMany(Player, { as: 'guests', foreignKey: 'teamId', scope: { code: 'BAD' } })
  const [Skill, Level] = [sequelize.define('Skill', { text }, plain), sequelize.define('Level', { code }, plain)]
  const through = { model: Level, scope: { code: 'BAD' } }
  Team.belongsToMany(Skill, { as: 'skills', through, foreignKey: 'teamId', otherKey: 'skillId' })
  for (const model of [Player, Skill, Level]) app.use(crudRouter(model, { operations }))
  const open = { routes: true, write: true }
  app.use(crudRouter(Team, { operations, relations: { guests: open, skills: open } }))
  return { Note, Memo }
})
test.after.always(() => served.close())

/** An attribute whose setter also sets the code. */
function aliasOfCode(name: string, type: ReturnType<typeof DataTypes.STRING>) {
  return {
    type,
    set(this: Model, value: unknown) {
      this.setDataValue(name as never, value as never)
      if (typeof value === 'string') this.setDataValue('code' as never, value as never)
    },
  }
}

test('a PUT whose body lacks a member does not store a default that a validator refuses', async (t) => {
  const { id } = (await served.Note.create({ text: 'a', code: 'fine' })).get()
  const path = `/api/notes/${id}`
  const { status, body } = await served.send('PUT', path, { json: { text: 'b' } })
  t.is(status, 400)
  t.deepEqual(Object.keys(body.errors), ['code'])
  t.is((await served.get(path)).body.code, 'fine')
  t.is((await served.send('PUT', path, { json: { text: 'b', code: 'good' } })).status, 200)
})

test('a stamp meets the validators of the model in every change', async (t) => {
  const { id } = (await served.post('/api/memos', { text: 'a' }, asUser('ann'))).body
  const path = `/api/memos/${id}`
  const bad = asUser('BAD')
  const answers = [
    await served.patch(path, { text: 'b' }, bad),
    await served.send('PUT', path, { json: { text: 'b' }, headers: bad }),
    await served.patch('/api/memos/bulk', [{ id, text: 'b' }], bad),
  ]
  t.deepEqual(
    answers.map(({ status, body }) => [status, Object.keys(body.errors)]),
    [
      [400, ['updatedBy']],
      [400, ['updatedBy']],
      [400, ['[0].updatedBy']],
    ],
  )
  t.is((await served.get(path)).body.updatedBy, 'ann')
  t.is((await served.patch(path, { text: 'b' }, asUser('bob'))).body.updatedBy, 'bob')
})

for (const route of ['labels', 'tags']) {
  test(`what a setter makes of another attribute meets its validators, whatever the body says of it (${route})`, async (t) => {
    const [fine, bad] = [
      { code: 'fine', alias: 'good' },
      { code: 'fine', alias: 'BAD' },
    ]
    const created = await served.post(`/api/${route}`, fine)
    t.is(created.status, 201)
    t.is(created.body.code, 'good')
    const path = `/api/${route}/${created.body.id}`
    const answers = [
      await served.post(`/api/${route}`, bad),
      await served.post(`/api/${route}/bulk`, [fine, bad]),
      await served.patch(path, bad),
      await served.patch(`/api/${route}/bulk`, [{ ...bad, id: created.body.id }]),
    ]
    t.deepEqual(
      answers.map(({ status, body }) => [status, Object.keys(body.errors)]),
      [
        [400, ['code']],
        [400, ['[1].code']],
        [400, ['code']],
        [400, ['[0].code']],
      ],
    )
    t.is((await served.patch(path, { alias: 'better' })).body.code, 'better')
  })
}

test('a number that a hook writes outside two bounds has the message of a number in the body', async (t) => {
  const errors = { points: ['must be between 1 and 100.'] }
  const inBody = await served.post('/api/scores', { text: '5', points: 101 })
  t.is(inBody.status, 400)
  t.deepEqual(inBody.body.errors, errors)
  for (const text of ['0', '101']) {
    const { status, body } = await served.post('/api/scores', { text })
    t.is(status, 400)
    t.deepEqual(body.errors, errors)
  }
  t.is((await served.post('/api/scores', { text: '5' })).status, 201)
})

test('an invalid value that a hook writes is reported with the place of its record', async (t) => {
  const messages = ['must be between 1 and 100.']
  const scores = [{ text: '5' }, { text: '0' }]
  const quiz = await served.post('/api/quizzes', { text: 'a', scores: [] })
  const { id } = quiz.body
  const requests = [
    ['POST', '/api/scores/bulk', scores, '[1].points'],
    ['POST', '/api/quizzes', { scores }, 'scores[1].points'],
    ['POST', '/api/quizzes/bulk', [{}, { scores }], '[1].scores[1].points'],
    ['PATCH', `/api/quizzes/${id}`, { scores }, 'scores[1].points'],
    ['PATCH', '/api/quizzes/bulk', [{ id, scores }], '[0].scores[1].points'],
  ] as const
  for (const [method, path, json, place] of requests) {
    const { status, body } = await served.send(method, path, { json })
    t.is(status, 400, `${method} ${path}`)
    t.deepEqual(body.errors, { [place]: messages }, `${method} ${path}`)
  }
})

test('what an association sets in a new record meets the validators, in a body and below the parent', async (t) => {
  const guests = [{ text: 'a' }]
  t.deepEqual(Object.keys((await served.post('/api/teams', { guests })).body.errors), ['guests[0].code'])
  const { id } = (await served.post('/api/teams', { text: 'a' })).body
  t.is((await served.patch(`/api/teams/${id}`, { guests })).status, 400)
  t.is((await served.post(`/api/teams/${id}/guests`, { text: 'a' })).status, 400)
  t.is((await served.get('/api/players')).body.totalCount, 0)
})

test('what a many-to-many relation sets in a new link meets the validators', async (t) => {
  const team = (await served.post('/api/teams', { text: 'a' })).body
  const skill = (await served.post('/api/skills', { text: 'a' })).body
  const path = `/api/teams/${team.id}/skills`
  t.is((await served.send('PUT', path, { json: [skill.id] })).status, 400)
  t.is((await served.send('PUT', `${path}/${skill.id}`)).status, 400)
  t.is((await served.patch(`/api/teams/${team.id}`, { skills: [skill.id] })).status, 400)
  t.is((await served.get('/api/levels')).body.totalCount, 0)
})
