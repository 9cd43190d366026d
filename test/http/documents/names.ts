import test from 'ava'
import { DataTypes, type Model, type ModelStatic, Sequelize } from 'sequelize'
import { apiDocs, type CrudRouter, clientTypes, crudRouter, openApi } from '../../../lib/index.js'
import { sqliteOptions } from '../../support/database.js'
import { openStage, type Stage } from '../../support/stage.js'

const INFO = { title: 'Names', version: '1' }

function define(sequelize: Sequelize, name: string): ModelStatic<Model> {
  return sequelize.define(name, { label: DataTypes.STRING }, { timestamps: false, tableName: `table_${name}` })
}

function models(): { readonly Player: ModelStatic<Model>; readonly Team: ModelStatic<Model> } {
  const sequelize = new Sequelize({ ...sqliteOptions, storage: ':memory:', logging: false })
  return { Player: define(sequelize, 'Player'), Team: define(sequelize, 'Team') }
}

function open(names: readonly string[]): Promise<Stage> {
  return openStage(({ sequelize }, app) => {
    const resources = names.map((name, index) => crudRouter(define(sequelize, name), { route: `api/${name}-${index}` }))
    app.use(resources, apiDocs({ resources, info: INFO }))
  })
}

interface Documented {
  readonly schemas: readonly string[]
  readonly ids: readonly string[]
  readonly tags: readonly string[]
  readonly types: string
}

/** The documents of models, which must be the same in either order. */
async function documentsOf(names: readonly string[]): Promise<Documented> {
  const stage = await open(names)
  try {
    const [document, types, page] = [
      await stage.get('/openapi.json'),
      await stage.get('/client.d.ts'),
      await stage.get('/docs'),
    ]
    if (document.status !== 200 || types.status !== 200 || page.status !== 200) throw new Error(names.join())
    const { components, paths, tags } = document.body
    return {
      schemas: Object.keys(components.schemas),
      ids: Object.values(Object(paths)).flatMap((item) =>
        Object.values(Object(item)).map((operation) => String(Object(operation).operationId)),
      ),
      tags: tags.map(({ name }: { name: string }) => name),
      types: String(types.text),
    }
  } finally {
    await stage.close()
  }
}

const COLLISIONS: readonly (readonly [
  names: readonly string[],
  schemas: readonly string[],
  tags: readonly string[],
])[] = [
  [
    ['Device', 'Devices'],
    ['Device', 'Devices'],
    ['Device_Records', 'Devices_Records'],
  ],
  [
    ['DeviceFeature', 'device_feature'],
    ['DeviceFeature', 'Device_Feature'],
    ['DeviceFeatures', 'Device_Features'],
  ],
  [
    ['OrderLine', 'orderLine'],
    ['OrderLine', 'OrderLine_'],
    ['OrderLines', 'OrderLine_s'],
  ],
  [
    ['Player', 'PlayerCreate'],
    ['Player', 'PlayerCreate', 'PlayerCreate_'],
    ['Players', 'PlayerCreates'],
  ],
  [
    ['Player', 'PlayerPage', 'PlayerReplace'],
    ['PlayerPage', 'PlayerPage_'],
    ['Players', 'PlayerPages', 'PlayerReplaces'],
  ],
  [
    ['Person', 'People'],
    ['People', 'Person'],
    ['Person_Records', 'People_Records'],
  ],
]

for (const [names, schemas, tags] of COLLISIONS) {
  test(`the models ${names.join(' and ')} have names of their own in documents, in whatever order they are mounted`, async (t) => {
    const one = await documentsOf(names)
    const other = await documentsOf(names.toReversed())
    t.is(new Set(one.ids).size, one.ids.length)
    t.deepEqual(one.ids.toSorted(), other.ids.toSorted())
    t.deepEqual(one.schemas, other.schemas)
    for (const schema of schemas) t.true(one.schemas.includes(schema), schema)
    t.deepEqual(one.tags, tags)
    const interfaces = [...one.types.matchAll(/^export (?:interface|type) (\w+)/gm)].map(([, name]) => name)
    t.is(new Set(interfaces).size, interfaces.length)
    // Types have no pages.
    for (const schema of schemas.filter((each) => !each.endsWith('Page_'))) t.true(interfaces.includes(schema), schema)
  })
}

test('resources that cannot be named apart, and those at one path, are refused when documents are asked for', (t) => {
  const { Player, Team } = models()
  const players = crudRouter(Player)
  const again = crudRouter(Player, { route: 'api/others' })
  const refused = (resources: readonly CrudRouter[], message: RegExp): void => {
    for (const make of [openApi, apiDocs])
      t.throws(() => make({ resources, info: INFO }), { code: 'INVALID_OPTION', message })
  }
  refused([players, again], /would have the name "Player"\. Set other names for Player at \/api\/others/)
  t.throws(() => clientTypes({ resources: [players, again] }), { code: 'INVALID_OPTION', message: /"Player"/ })
  refused(
    [players, crudRouter(Team, { route: 'api/players' })],
    /Two resources have the route "GET \/api\/players\S*": Player and Team\. Set "at"/,
  )
  const deleting = crudRouter(Player, { route: 'api/old', operations: ['delete'] })
  const reading = crudRouter(Player, { route: 'api/read', operations: ['getById', 'getList'] })
  t.notThrows(() => apiDocs({ resources: [reading, deleting], info: INFO }))
  t.notThrows(() => openApi({ resources: [reading, deleting], info: INFO }))
})

test('names of the host that are one in client types are refused when apiDocs is called', (t) => {
  const { Player, Team } = models()
  const players = crudRouter(Player, { names: { response: 'AB' } })
  const teams = crudRouter(Team, { names: { response: 'A-b' } })
  t.throws(() => apiDocs({ resources: [players, teams], info: INFO }), {
    code: 'INVALID_OPTION',
    message: /"AB"\. Set other names/,
  })
  t.notThrows(() => openApi({ resources: [players, teams], info: INFO }))
})
