// What is told at mount of computed fields, and what documents, types, agents and headers say of them.

import test from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import {
  CrudConfigError,
  type CrudOptions,
  clientTypes,
  createCrud,
  crudRouter,
  type Identity,
  type OpenApiDocument,
  openApi,
  queryOf,
} from '../../../lib/index.js'
import { crudMcp, type McpHandler } from '../../../lib/mcp/index.js'
import { openDatabase } from '../../support/database.js'
import { connectAgentInProcess } from '../../support/mcp.js'
import { openStage } from '../../support/stage.js'
import { identity, withPermission } from '../../support/tokens.js'

const plain = { timestamps: false }
const { sequelize, close } = await openDatabase()
const Team = sequelize.define('Team', { name: DataTypes.STRING }, plain)
const Player = sequelize.define('Player', { first_name: DataTypes.STRING, level: DataTypes.INTEGER }, plain)
Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })

const one = { type: 'integer', resolve: (records: readonly object[]) => records.map(() => 1) } as const

function refusal(options: object, model: ModelStatic<Model> = Player): CrudConfigError {
  try {
    crudRouter(model, options as CrudOptions)
  } catch (error) {
    if (error instanceof CrudConfigError) return error
    throw error
  }
  throw new Error('it was mounted')
}

const WRONG: readonly (readonly [options: object, code: CrudConfigError['code'], message: RegExp])[] = [
  [{ computed: [] }, 'INVALID_OPTION', /"computed" must be an object with fields as keys/],
  [{ compute: {} }, 'UNKNOWN_OPTION', /"compute" does not exist\. Did you mean "computed"\?/],
  [{ computed: { luck: 7 } }, 'INVALID_OPTION', /Player: computed\.luck must be an object/],
  [{ computed: { luck: { resolve: () => [] } } }, 'INVALID_OPTION', /computed\.luck: the option "type" is missing/],
  [{ computed: { luck: { type: 'integer' } } }, 'INVALID_OPTION', /computed\.luck: the option "resolve" is missing/],
  [
    { computed: { luck: { ...one, type: 'nubmer' } } },
    'INVALID_OPTION',
    /computed\.luck: the type "nubmer" does not exist\. Did you mean "number"\?/,
  ],
  [
    { computed: { luck: { ...one, need: ['level'] } } },
    'UNKNOWN_OPTION',
    /computed\.luck: the option "need" does not exist\. Did you mean "needs"\?/,
  ],
  [
    { computed: { luck: { ...one, needs: ['levle'] } } },
    'UNKNOWN_ATTRIBUTE',
    /computed\.luck: needs: the attribute "levle" does not exist\. Did you mean "level"\?/,
  ],
  [{ computed: { luck: { ...one, needs: 'level' } } }, 'INVALID_OPTION', /"needs" must be an array/],
  [{ computed: { luck: { ...one, resolve: 'x' } } }, 'INVALID_OPTION', /"resolve" must be a function/],
  [{ computed: { luck: { ...one, perCaller: 1 } } }, 'INVALID_OPTION', /"perCaller" must be a boolean/],
  [{ computed: { luck: { ...one, nullable: 1 } } }, 'INVALID_OPTION', /"nullable" must be a boolean/],
  [{ computed: { 'a b': one }, naming: 'attribute' }, 'INVALID_OPTION', /a name of letters, digits/],
  [{ computed: { level: one } }, 'AMBIGUOUS_NAME', /has an attribute of this name/],
  [
    { computed: { firstName: one } },
    'AMBIGUOUS_NAME',
    /"firstName" and the attribute "first_name" are both "firstName" in responses/,
  ],
  [{ computed: { FIRST_name: one } }, 'AMBIGUOUS_NAME', /the attribute "first_name"/],
  [{ computed: { team: one } }, 'AMBIGUOUS_NAME', /the association "team"/],
  [{ computed: { teamName: one }, flatten: ['team'] }, 'AMBIGUOUS_NAME', /"name" of the association "team"/],
  [{ computed: { luck: one, LUCK: one } }, 'AMBIGUOUS_NAME', /the computed field "luck"/],
  [
    { computed: { luck: one }, fields: { luk: {} } },
    'UNKNOWN_ATTRIBUTE',
    /"luk" does not exist\. Did you mean "luck"\?/,
  ],
  [
    { computed: { luck: one }, mask: { luk: 'x' } },
    'UNKNOWN_ATTRIBUTE',
    /"luk" does not exist\. Did you mean "luck"\?/,
  ],
  [
    { computed: { luck: one }, mask: { luck: { write: 'x' } } },
    'INVALID_OPTION',
    /mask\.luck\.write does not apply to computed/,
  ],
  [
    { computed: { luck: one }, fields: { luck: { filterable: true } } },
    'INVALID_OPTION',
    /fields\.luck\.filterable is not possible for a computed field\. Its options are exclude, only, name and deprecated/,
  ],
  [{ computed: { luck: one }, query: { defaultSort: 'luck' } }, 'UNKNOWN_ATTRIBUTE', /defaultSort/],
  [{ computed: { luck: one }, query: { search: ['luck'] } }, 'UNKNOWN_ATTRIBUTE', /search/],
]

let types = ''
let documented: OpenApiDocument
let agents: McpHandler
const somebody: Identity = { name: 'agent', roles: new Set(), permissions: new Set(), claims: {} }
const stage = await openStage((database, app) => {
  const Shop = database.sequelize.define('Shop', { name: DataTypes.STRING }, plain)
  const Till = database.sequelize.define('Till', { name: DataTypes.STRING }, plain)
  Till.belongsTo(Shop, { as: 'shop', foreignKey: 'shopId' })
  const shops = crudRouter(Shop, {
    identity,
    naming: (name) => (name === 'open_now' ? 'isOpen' : name),
    fields: { mood: { name: 'feeling' }, inList: { only: 'list' }, unseen: { exclude: true } },
    mask: { secret: 'boss' },
    computed: {
      open_now: { type: 'boolean', perCaller: true, resolve: (records) => records.map(() => true) },
      mood: { type: 'string', nullable: true, resolve: (records) => records.map(() => null) },
      inList: one,
      unseen: { ...one, resolve: () => [] },
      secret: one,
      words: { type: 'array', resolve: (records) => records.map(() => ['a', 'b']) },
      day: { type: 'date', resolve: (records) => records.map(() => '2026-11-20') },
      at: { type: 'datetime', resolve: (records) => records.map(() => new Date('2026-11-20T10:00:00Z')) },
      since: { type: 'datetime', resolve: (records) => records.map(() => '2026-11-20T10:00:00.000Z') },
    },
  })
  const tills = crudRouter(Till, {
    unknownProperties: 'reject',
    computed: { luck: { ...one, perCaller: false } },
  })
  app.use(shops)
  app.use(tills)
  documented = openApi({ resources: [shops, tills], info: { title: 'Shops', version: '1' } })
  agents = crudMcp({ resources: [shops, tills], identity: somebody })
  types = clientTypes({ resources: [shops, tills] })
})

test.after.always(async () => {
  await stage.close()
  await close()
})

for (const [options, code, message] of WRONG) {
  test(`a mount refuses ${JSON.stringify(options)}`, (t) => {
    const error = refusal(options)
    t.is(error.code, code, error.message)
    t.regex(error.message, message)
  })
}

test('the number of the records of a relation has its name, and the refusal says how to select it', (t) => {
  const error = refusal({ computed: { playersCount: one } }, Team)
  t.is(error.code, 'AMBIGUOUS_NAME')
  t.is(
    error.message,
    'Team: the computed field "playersCount" and the number of the association "players", which select=players.Count adds, are both "playersCount" in responses. Give the computed field another name. (AMBIGUOUS_NAME)',
  )
})

test('it is no default, since it is about one model', (t) => {
  t.throws(() => createCrud({ computed: { luck: one } } as object), {
    message: /"computed" applies to a single model and cannot be a default/,
  })
})

test('queries without routes take the option, and select nothing of it', (t) => {
  const { attributes } = queryOf(Team, { computed: { luck: one } }).toFindOptions({ select: 'name,luck' })
  t.deepEqual(attributes, ['name'])
})

test('names follow naming and fields, and shapes the options of fields', async (t) => {
  const { body } = await stage.post('/api/shops', { name: 'Corner' })
  t.deepEqual(Object.keys(body), ['id', 'name', 'isOpen', 'feeling', 'secret', 'words', 'day', 'at', 'since'])
  t.is(body.isOpen, true)
  t.is(body.feeling, null)
  t.deepEqual(body.words, ['a', 'b'])
  t.is(body.day, '2026-11-20')
  t.is(body.at, '2026-11-20T10:00:00.000Z')
  t.is(body.since, body.at)
  t.is(body.secret, 0)
  const list = await stage.get('/api/shops', withPermission('boss'))
  t.is(list.body.items[0].inList, 1)
  t.is(list.body.items[0].secret, 1)
  t.false('unseen' in list.body.items[0])
})

test('documents have them in replies alone', (t) => {
  const { schemas = {} } = documented.components ?? {}
  const propertiesOf = (name: string): Readonly<Record<string, object>> => Object(schemas[name]?.properties)
  const shop = propertiesOf('Shop')
  t.deepEqual(shop.isOpen, { type: 'boolean', readOnly: true })
  t.deepEqual(shop.feeling, { type: ['string', 'null'], readOnly: true })
  t.deepEqual(shop.words, { type: 'array', items: { type: 'string' }, readOnly: true })
  t.like(shop.secret, { type: ['integer', 'null'], 'x-permission': 'boss' })
  t.false('inList' in shop)
  t.true('inList' in propertiesOf('ShopListItem'))
  t.true('isOpen' in propertiesOf('ShopProjection'))
  for (const body of ['ShopCreate', 'ShopUpdate']) t.deepEqual(Object.keys(propertiesOf(body)), ['name'])
  t.deepEqual(propertiesOf('TillCreate').luck, { readOnly: true, description: 'Ignored.' })
  t.false(JSON.stringify(documented).includes('unseen'))
  const crud = documented.tags?.find(({ name }) => name === 'Shops')?.['x-crud']
  const field = crud?.fields.find(({ name }) => name === 'isOpen')
  t.deepEqual(field, {
    name: 'isOpen',
    type: 'boolean',
    nullable: false,
    operators: [],
    sortable: false,
    selectable: true,
    computed: true,
  })
  t.is(crud?.fields.find(({ name }) => name === 'words')?.type, 'array')
})

test('types of clients have them, and those of events lack what is for one caller', (t) => {
  t.regex(types, /isOpen: boolean\n/)
  t.regex(types, /feeling: string \| null\n/)
  t.regex(types, /words: readonly string\[\]\n/)
  t.regex(types, /readonly OnCreated: \(record: Omit<Shop, "isOpen">\) => void/)
  t.regex(types, /readonly OnCreated: \(record: Till\) => void/)
})

test('agents are told of those that they may read', async (t) => {
  const agent = await connectAgentInProcess(agents)
  const { body } = await agent.call('describe_resource', { resource: 'shops' })
  const found = await agent.call('query_records', { resource: 'shops' })
  t.false(found.isError)
  const names = body.fields
    .filter(({ computed }: { computed?: true }) => computed)
    .map(({ name }: { name: string }) => name)
  t.deepEqual(names, ['isOpen', 'feeling', 'inList', 'words', 'day', 'at', 'since'])
  await agent.close()
})

test('a field for each caller makes replies private', async (t) => {
  const own = await stage.get('/api/shops')
  t.is(own.headers.get('cache-control'), 'private')
  t.regex(own.headers.get('vary') ?? '', /Authorization/)
  const behind = await stage.get('/api/tills?select=luck,shop.isOpen')
  t.is(behind.headers.get('cache-control'), 'private')
  t.is((await stage.get('/api/tills')).headers.get('cache-control'), null)
})

test('bodies may send them back, and nothing of them is written', async (t) => {
  const made = await stage.post('/api/tills', { name: 'left', luck: 9 })
  t.is(made.status, 201)
  t.is(made.body.luck, 1)
  const near = await stage.post('/api/tills', { name: 'left', LUCK: 9 })
  t.is(near.status, 201)
  const wrong = await stage.post('/api/tills', { name: 'left', fortune: 9 })
  t.deepEqual(wrong.body.errors, { fortune: ['is not a known property.'] })
})
