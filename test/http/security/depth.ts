// What is nested deeper than anything can walk is refused, and no RangeError reaches a client (GHSA-82x6-q7mm-w9cf).

import test from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { crudMcp } from '../../../lib/mcp/index.js'
import { asUser, identityFromHeader, openStage } from '../../support/stage.js'

const heard: unknown[] = []
const server = await openStage(({ sequelize }, app) => {
  const code = { type: DataTypes.STRING, unique: true }
  const attributes = { text: DataTypes.STRING, extra: DataTypes.JSON, code }
  const Note = sequelize.define('Note', attributes, { timestamps: false })
  const Tag = sequelize.define('Tag', { name: DataTypes.STRING }, { timestamps: false })
  Note.belongsToMany(Tag, { as: 'tags', through: 'NoteTag', foreignKey: 'noteId', otherKey: 'tagId' })
  const common = {
    identity: identityFromHeader,
    operations: Operations.AllWithBulk | Operations.BulkUpdate | Operations.Replace,
    idempotency: true,
    onError: (error: unknown) => heard.push(error),
  }
  const notes = crudRouter(Note, { ...common, relations: { tags: { routes: true, write: true } } })
  app.use(notes, crudRouter(Tag, common))
  app.all('/mcp', crudMcp({ resources: [notes], write: true }))
})
test.after.always(() => server.close())

const LEVELS = 100_000
const DEEP = {
  arrays: '['.repeat(LEVELS) + ']'.repeat(LEVELS),
  objects: `${'{"a":'.repeat(LEVELS)}1${'}'.repeat(LEVELS)}`,
}

for (const [what, deep] of Object.entries(DEEP)) {
  for (const [title, method, path, body] of [
    ['a field', 'POST', '/api/notes', `{"text":${deep}}`],
    ['JSON', 'POST', '/api/notes', `{"text":"x","extra":${deep}}`],
    ['an unknown property', 'POST', '/api/notes', `{"text":"x","other":${deep}}`],
    ['an item', 'POST', '/api/notes/bulk', `[${deep}]`],
    ['an item of an upsert', 'PUT', '/api/notes/bulk?by=id', `[{"id":${deep}}]`],
    ['keys of links', 'POST', '/api/notes', `{"text":"x","tags":[${deep}]}`],
    ['keys of a link route', 'PUT', '/api/notes/1/tags', `[${deep}]`],
  ] as const) {
    for (const [how, headers] of [
      ['plainly', {}],
      ['with an Idempotency-Key', { 'Idempotency-Key': `${title} ${what}` }],
    ] as const) {
      test(`${title} of ${LEVELS} ${what} within each other is no failure, sent ${how}`, async (t) => {
        const { status, body: answer } = await server.send(method, path, {
          body,
          headers: { 'content-type': 'application/json', ...asUser('Ewa'), ...headers },
        })
        t.true(status < 500, JSON.stringify(answer))
        if (how !== 'plainly') t.is(status, title === 'keys of a link route' ? status : 400)
        t.deepEqual(heard, [])
      })
    }
  }

  test(`values of ${LEVELS} ${what} within each other are refused to agents`, async (t) => {
    const call = `{"name":"create_record","arguments":{"resource":"notes","values":{"text":${deep}}}}`
    const { status, body } = await server.send('POST', '/mcp', {
      body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${call}}`,
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...asUser('Ewa') },
    })
    t.is(status, 200)
    t.true(body.result.isError)
    t.like(JSON.parse(body.result.content[0].text), { status: 400, code: 'malformed-body' })
  })
}
