// Deletions that agents ask for: a person confirms them by the elicitation of the protocol, and else they do not happen.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter } from '../../../lib/index.js'
import { crudMcp } from '../../../lib/mcp/index.js'
import {
  type AgentOptions,
  confirms,
  connectAgentInProcess,
  connectAgentOverHttp,
  REVISIONS,
} from '../../support/mcp.js'
import { asUser, identityFromHeader, openStage } from '../../support/stage.js'

const identity = identityFromHeader
const operator = { name: 'ann', roles: new Set<string>(), permissions: new Set<string>(), claims: {} }

const stage = await openStage(({ sequelize }, app) => {
  const Note = sequelize.define('Note', { text: DataTypes.STRING(20) }, { timestamps: false })
  const Profile = sequelize.define(
    'Profile',
    { owner: { type: DataTypes.STRING(20), primaryKey: true }, text: DataTypes.STRING },
    { timestamps: false },
  )
  const notes = crudRouter(Note, {
    identity,
    authorizePolicy: ({ identity: caller }) => caller !== null,
    deletePolicy: ({ identity: caller }) => caller?.name === 'ann',
  })
  const profile = crudRouter(Profile, {
    identity,
    route: 'api/profile',
    authorizePolicy: () => true,
    singleton: ({ identity: caller }) => caller?.name ?? null,
  })
  app.use(notes, profile)
  app.all('/mcp', crudMcp({ resources: [notes], write: true }))
  app.all('/both', crudMcp({ resources: [notes, profile], write: true }))
  app.all('/unconfirmed', crudMcp({ resources: [notes], write: true, confirm: false }))
})
test.after.always(() => stage.close())

const Note = stage.sequelize.model('Note')
const ann = asUser('ann')

async function newNote(): Promise<number> {
  const note = await Note.create({ text: 'x' })
  return Number(note.get('id'))
}

/** Deletes a new record. The result is the answer, the messages that a person has read, and whether the record is still there. */
async function deleteAt(path: string, options: AgentOptions, headers = ann) {
  const key = await newNote()
  const asked: string[] = []
  const { person } = options
  const watched = (message: string, schema: unknown) => {
    asked.push(message.replace(`"${key}"`, 'KEY'))
    return person?.(message, schema) ?? confirms()
  }
  const isMute = 'person' in options && person === undefined
  const agent = await connectAgentOverHttp(
    stage.url + path,
    headers,
    isMute ? options : { ...options, person: watched },
  )
  const { isError, body } = await agent.call('delete_record', { resource: 'notes', key })
  await agent.close()
  const isThere = (await Note.findByPk(key)) !== null
  return { isError, body, asked, isThere }
}

test.serial('a confirmed deletion is done, and the person reads what is deleted', async (t) => {
  t.deepEqual(await deleteAt('/mcp', {}), {
    isError: false,
    body: { deleted: true },
    asked: ['Delete notes KEY?'],
    isThere: false,
  })
})

test.serial('a deletion that a person does not confirm is an error, and the record stays', async (t) => {
  for (const answer of [
    { action: 'decline' },
    { action: 'cancel' },
    { action: 'accept', content: { confirm: false } },
    { action: 'accept', content: {} },
    { action: 'decline', content: { confirm: true } },
    { action: 'cancel', content: { confirm: true } },
    { action: 'accept' },
  ] as const) {
    const { isError, body, asked, isThere } = await deleteAt('/mcp', { person: () => answer })
    t.true(isError)
    t.like(body, { status: 403, code: 'not-confirmed' })
    t.is(asked.length, 1)
    t.true(isThere)
  }
})

test.serial('a client that cannot ask is refused, and is told what to do', async (t) => {
  for (const revision of REVISIONS) {
    const { isError, body, isThere } = await deleteAt('/mcp', { revision, person: undefined })
    t.true(isError)
    t.like(body, { status: 403, code: 'confirmation-required' })
    t.regex(body.detail, /2026-07-28 .*confirm: false/)
    t.true(isThere)
  }
})

test.serial('the question is a form with a box to tick', async (t) => {
  const schemas: unknown[] = []
  const agent = await connectAgentOverHttp(`${stage.url}/mcp`, ann, {
    person: (_message, schema) => {
      schemas.push(schema)
      return confirms()
    },
  })
  await agent.call('delete_record', { resource: 'notes', key: await newNote() })
  t.deepEqual(schemas, [
    {
      type: 'object',
      properties: { confirm: { type: 'boolean', title: 'Delete it', description: 'This cannot be undone.' } },
      required: ['confirm'],
    },
  ])
})

test.serial('a client asks only by the kinds of questions that it declares', async (t) => {
  for (const [elicitation, isDeleted] of [
    [{}, true],
    [{ form: {} }, true],
    [{ form: {}, url: {} }, true],
    [{ url: {} }, false],
  ] as const) {
    const { body, isThere } = await deleteAt('/mcp', { elicitation })
    t.is(isThere, !isDeleted, JSON.stringify(elicitation))
    t.deepEqual(isDeleted ? body : body.code, isDeleted ? { deleted: true } : 'confirmation-required')
  }
})

/** Calls `delete_record` with an answer, as if a person had been asked. */
async function deleteWithAnswer(key: unknown, answer: object, capabilities: object): Promise<string> {
  const { body } = await stage.post(
    '/mcp',
    {
      ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
      params: {
        name: 'delete_record',
        arguments: { resource: 'notes', key },
        inputResponses: { confirm: answer },
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientCapabilities': capabilities,
        },
      },
    },
    {
      ...ann,
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'delete_record',
    },
  )
  return JSON.parse(body.result.content[0].text).code
}

test.serial('answers of other kinds confirm nothing', async (t) => {
  const key = await newNote()
  for (const answer of [{ roots: [] }, { role: 'user', content: { type: 'text', text: 'yes' }, model: 'x' }]) {
    t.is(await deleteWithAnswer(key, answer, { elicitation: {} }), 'not-confirmed')
  }
  t.not(await Note.findByPk(key), null)
})

test.serial('the answer of a client that cannot ask confirms nothing', async (t) => {
  const key = await newNote()
  for (const capabilities of [{}, { elicitation: { url: {} } }]) {
    t.is(await deleteWithAnswer(key, confirms(), capabilities), 'confirmation-required')
  }
  const earlier = { jsonrpc: '2.0', id: 1, method: 'tools/call' }
  const params = {
    name: 'delete_record',
    arguments: { resource: 'notes', key },
    inputResponses: { confirm: confirms() },
  }
  const headers = { ...ann, accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' }
  const { body } = await stage.post('/mcp', { ...earlier, params }, headers)
  t.is(JSON.parse(body.result.content[0].text).code, 'confirmation-required')
  t.not(await Note.findByPk(key), null)
})

test.serial('the question shows invisible characters of a key, and at most 200 characters', async (t) => {
  const asked: string[] = []
  const person = (message: string) => {
    asked.push(message)
    return { action: 'decline' } as const
  }
  const agent = await connectAgentOverHttp(`${stage.url}/mcp`, ann, { person })
  for (const key of ['1\u202e2\u2028"', '\u{e0031}', 'x'.repeat(100_000)]) {
    await agent.call('delete_record', { resource: 'notes', key })
  }
  await agent.close()
  t.deepEqual(asked, [
    'Delete notes "1\\u{202e}2\\u{2028}\\""?',
    'Delete notes "\\u{e0031}"?',
    `Delete notes "${'x'.repeat(199)}…"?`,
  ])
})

test.serial('over HTTP the earlier revision has no way to ask, since no connection is kept', async (t) => {
  const { isError, body, asked, isThere } = await deleteAt('/mcp', { revision: '2025-11-25' })
  t.true(isError)
  t.is(body.code, 'confirmation-required')
  t.deepEqual(asked, [])
  t.true(isThere)
})

test.serial('within a program both revisions ask', async (t) => {
  for (const revision of REVISIONS) {
    for (const [person, isDeleted] of [
      [confirms, true],
      [() => ({ action: 'decline' }) as const, false],
    ] as const) {
      const notes = crudRouter(Note, { route: `within/${revision}/${isDeleted}/notes` })
      const mcp = crudMcp({ resources: [notes], identity: operator, write: true })
      const agent = await connectAgentInProcess(mcp, { revision, person })
      const key = await newNote()
      const { isError } = await agent.call('delete_record', { resource: 'notes', key })
      t.is(isError, !isDeleted, revision)
      t.is((await Note.findByPk(key)) === null, isDeleted, revision)
      await agent.close()
      await notes.close()
    }
  }
})

test.serial('confirm: false deletes without asking', async (t) => {
  for (const revision of REVISIONS) {
    const { body, asked, isThere } = await deleteAt('/unconfirmed', { revision })
    t.deepEqual(body, { deleted: true })
    t.deepEqual(asked, [])
    t.false(isThere)
  }
})

test.serial('nobody is asked about a call that would be refused', async (t) => {
  const asked: string[] = []
  const person = (message: string) => {
    asked.push(message)
    return confirms()
  }
  const bob = await deleteAt('/mcp', { person }, asUser('bob'))
  t.is(bob.body.status, 403)
  t.is(bob.body.code, 'forbidden')
  t.true(bob.isThere)
  const agent = await connectAgentOverHttp(`${stage.url}/mcp`, ann, { person })
  for (const given of [
    { resource: 'nothing', key: 1 },
    { resource: 'notes' },
    { resource: 'notes', key: 1, version: 1 },
    { resource: 'notes', key: 1, confirm: true },
  ]) {
    t.is((await agent.call('delete_record', given)).body.status, 400, JSON.stringify(given))
  }
  t.deepEqual(asked, [])
})

test.serial('tools that delete nothing ask nobody', async (t) => {
  const agent = await connectAgentOverHttp(`${stage.url}/mcp`, ann, { person: undefined })
  const { body } = await agent.call('create_record', { resource: 'notes', values: { text: 'a' } })
  const changed = await agent.call('update_record', { resource: 'notes', key: body.record.id, values: { text: 'b' } })
  t.is(changed.body.record.text, 'b')
})

test.serial('the one record of a caller is deleted without a key', async (t) => {
  await stage.sequelize.model('Profile').create({ owner: 'ann', text: 'x' })
  const asked: string[] = []
  const person = (message: string) => {
    asked.push(message)
    return confirms()
  }
  const agent = await connectAgentOverHttp(`${stage.url}/both`, ann, { person })
  t.deepEqual((await agent.call('delete_record', { resource: 'profile' })).body, { deleted: true })
  t.deepEqual(asked, ['Delete profile?'])
})

test.serial('a confirmation for one call does not confirm another', async (t) => {
  const [one, other] = [await newNote(), await newNote()]
  const agent = await connectAgentOverHttp(`${stage.url}/mcp`, ann, {
    person: () => ({ action: 'accept', content: { confirm: true } }),
  })
  await agent.call('delete_record', { resource: 'notes', key: one })
  const mute = await connectAgentOverHttp(`${stage.url}/mcp`, ann, { person: undefined })
  t.true((await mute.call('delete_record', { resource: 'notes', key: other })).isError)
  t.not(await Note.findByPk(other), null)
})
