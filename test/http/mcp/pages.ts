// Pages of records for agents: cursors in any order, and answers of a bounded size.

import test from 'ava'
import Joi from 'joi'
import { DataTypes } from 'sequelize'
import { crudRouter } from '../../../lib/index.js'
import { crudMcp } from '../../../lib/mcp/index.js'
import { connectAgentOverHttp } from '../../support/mcp.js'
import { identityFromHeader, openStage } from '../../support/stage.js'

const LIMIT = 10_000

const stage = await openStage(({ sequelize }, app) => {
  const Player = sequelize.define(
    'Player',
    { name: DataTypes.STRING(20), level: DataTypes.INTEGER, rank: DataTypes.INTEGER, story: DataTypes.TEXT },
    { timestamps: false },
  )
  const identity = identityFromHeader
  const authorizePolicy = (): boolean => true
  const players = crudRouter(Player, {
    identity,
    authorizePolicy,
    fields: { rank: { exclude: true } },
    actions: {
      some: { on: 'collection', method: 'get', handler: () => Player.findAll({ order: ['id'] }) },
      mark: { on: 'collection', method: 'post', output: 'list', handler: () => Player.findAll({ order: ['id'] }) },
      text: { on: 'collection', method: 'get', output: Joi.string(), handler: () => 'x'.repeat(LIMIT) },
      tell: { on: 'collection', method: 'post', output: Joi.string(), handler: () => 'x'.repeat(LIMIT) },
      grow: {
        on: 'record',
        method: 'post',
        handler: ({ record }) => void record.set('story', 'y'.repeat(LIMIT)),
      },
    },
  })
  const ranked = crudRouter(Player, {
    ...{ identity, authorizePolicy, route: 'api/ranked' },
    fields: { rank: { exclude: ['list'] } },
    query: { defaultSort: '-rank' },
  })
  const uncounted = crudRouter(Player, {
    ...{ identity, authorizePolicy, route: 'api/uncounted' },
    query: { total: 'none' },
  })
  const neither = crudRouter(Player, {
    ...{ identity, authorizePolicy, route: 'api/neither' },
    fields: { rank: { exclude: ['list'] } },
    query: { defaultSort: '-rank', total: 'none' },
  })
  app.use(players, ranked, uncounted, neither)
  app.all('/mcp', crudMcp({ resources: [players, ranked, uncounted, neither], write: true, maxBytes: LIMIT }))
})
const Player = stage.sequelize.model('Player')
await Player.bulkCreate(
  Array.from({ length: 10 }, (_, at) => ({ name: `p${at}`, level: at % 3 === 0 ? null : at % 3, rank: at, story: '' })),
)
const agent = await connectAgentOverHttp(`${stage.url}/mcp`, { 'x-user': 'ann' })
// The client compares answers with the schemas that it has listed.
await agent.tools()

test.after.always(() => stage.close())

const query = async (given: object) => agent.call('query_records', { resource: 'players', ...given })

/** The names on each page of a query. */
async function pagesOf(given: object): Promise<string[][]> {
  const pages: string[][] = []
  for (let cursor = {}; ; ) {
    const { body } = await query({ ...given, ...cursor })
    pages.push(body.items.map(({ name }: { name: string }) => name))
    if (body.nextCursor === null) return pages
    cursor = { cursor: body.nextCursor }
  }
}

test.serial('cursors lead through all records, in the order of the query', async (t) => {
  t.deepEqual(await pagesOf({ limit: 4 }), [
    ['p0', 'p1', 'p2', 'p3'],
    ['p4', 'p5', 'p6', 'p7'],
    ['p8', 'p9'],
  ])
  t.deepEqual(await pagesOf({ limit: 2, filter: 'Level=1', sort: '-name', select: 'name' }), [['p7', 'p4'], ['p1']])
  const all = (await pagesOf({ limit: 3, sort: 'level,-name' })).flat()
  t.deepEqual(all, (await pagesOf({ limit: 50, sort: 'level,-name' })).flat())
  t.is(new Set(all).size, 10)
})

test.serial('the first page has the number of all records that match', async (t) => {
  const first = (await query({ limit: 3, filter: 'Level>=1' })).body
  t.is(first.totalCount, 6)
  const next = (await query({ limit: 3, filter: 'Level>=1', cursor: first.nextCursor })).body
  t.false('totalCount' in next)
  t.is(next.nextCursor, null)
  t.is((await query({ filter: 'Level=99' })).body.totalCount, 0)
  const { body } = await agent.call('query_records', { resource: 'uncounted', limit: 3 })
  t.false('totalCount' in body)
  t.is(typeof body.nextCursor, 'string')
})

test.serial('a cursor of another order, and text that is no cursor, are errors about the cursor', async (t) => {
  const { nextCursor } = (await query({ limit: 3, sort: 'name' })).body
  for (const given of [{ sort: 'level', cursor: nextCursor }, { cursor: 'nonsense' }]) {
    const { isError, body } = await query(given)
    t.true(isError)
    t.deepEqual(body.errors, { cursor: ['is not a cursor of this resource and order.'] })
    t.is(body.detail, 'cursor: is not a cursor of this resource and order.')
  }
  t.deepEqual((await query({ cursor: 5 })).body.errors, { cursor: ['must be text.'] })
})

test.serial(
  'an order that the caller is not shown has no cursor, and its first page says that there are more',
  async (t) => {
    const first = await agent.call('query_records', { resource: 'ranked', limit: 2, select: 'name' })
    t.deepEqual(first.body, { items: [{ name: 'p9' }, { name: 'p8' }], totalCount: 10, nextCursor: null, more: true })
    const neither = await agent.call('query_records', { resource: 'neither', limit: 1, select: 'name' })
    t.deepEqual(neither.body, { items: [{ name: 'p9' }], nextCursor: null, more: true })
    const all = await agent.call('query_records', { resource: 'ranked', limit: 50, select: 'name' })
    t.false('more' in all.body)
    const other = await agent.call('query_records', { resource: 'ranked', limit: 2, sort: 'name' })
    t.is(typeof other.body.nextCursor, 'string')
  },
)

test.serial('pages end before they are too large, and the cursor goes on there', async (t) => {
  await Player.update({ story: 'x'.repeat(3000) }, { where: {} })
  const first = (await query({})).body
  t.is(first.items.length, 3)
  t.is(first.totalCount, 10)
  t.true(JSON.stringify(first).length <= LIMIT)
  t.deepEqual(
    (await pagesOf({})).map(({ length }) => length),
    [3, 3, 3, 1],
  )
  t.is((await query({ select: 'name' })).body.items.length, 10)
})

test.serial('one record that is too large is an error that says what to do', async (t) => {
  await Player.update({ story: 'x'.repeat(LIMIT) }, { where: { name: 'p0' } })
  const remedy = /The limit is 10000: select fewer fields\.$/
  const listed = await query({})
  t.true(listed.isError)
  t.regex(listed.body.detail, remedy)
  const id = (await query({ filter: 'Name=p0', select: 'id' })).body.items[0].id
  const got = await agent.call('get_record', { resource: 'players', key: id })
  t.true(got.isError)
  t.regex(got.body.detail, remedy)
  t.deepEqual((await agent.call('get_record', { resource: 'players', key: id, select: 'name' })).body, {
    record: { name: 'p0' },
  })
})

test.serial('a write whose answer is too large is done, and answers with the key', async (t) => {
  const values = { name: 'large', story: 'x'.repeat(LIMIT) }
  const created = await agent.call('create_record', { resource: 'players', values })
  t.false(created.isError)
  const { id } = created.body.record
  t.deepEqual(created.body, { record: { id }, tooLarge: true })
  t.is((await Player.findByPk(id))?.get('name'), 'large')
  const changed = await agent.call('update_record', { resource: 'players', key: id, values: { name: 'larger' } })
  t.deepEqual(changed.body, { record: { id }, tooLarge: true })
  const grown = await agent.call('run_action', { resource: 'players', action: 'grow', key: id })
  t.deepEqual(grown.body, { record: { id }, tooLarge: true })
  await Player.destroy({ where: { id } })
})

test.serial('answers of actions are cut, refused or left out', async (t) => {
  await Player.update({ story: 'x'.repeat(3000) }, { where: {} })
  const run = (action: string) => agent.call('run_action', { resource: 'players', action })
  for (const action of ['some', 'mark']) {
    const { body } = await run(action)
    t.is(body.items.length, 3, action)
    t.true(body.more)
  }
  const read = await run('text')
  t.true(read.isError)
  t.regex(read.body.detail, /The limit is 10000/)
  t.deepEqual((await run('tell')).body, { tooLarge: true })
})

test.serial('a wrong size is an error when the handler is made', async (t) => {
  const router = crudRouter(Player, { route: 'api/others' })
  for (const maxBytes of [9_999, 1.5, '20000', null]) {
    t.throws(() => crudMcp({ resources: [router], maxBytes: maxBytes as never }), {
      message: /maxBytes must be a whole number from 10000/,
    })
  }
  await router.close()
})
