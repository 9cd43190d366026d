// Documents of many resources: what repeats is written once, requests run while they are written, and they are sent compressed.

import test, { type ExecutionContext } from 'ava'
import { DataTypes, type Model, type ModelStatic, type Sequelize } from 'sequelize'
import { runAtOnce } from '../../../lib/common/eventLoop.js'
import { apiDocs, crudRouter, type DocumentOptions, Operations, openApi } from '../../../lib/index.js'
import { Components } from '../../../lib/openapi/components.js'
import { writeDocument } from '../../../lib/openapi/openApi.js'
import { INFO, resolveReferences } from '../../support/documented.js'
import { findErrors } from '../../support/linter.js'
import { openStage, type Stage } from '../../support/stage.js'

const COUNT = 30

const TYPES = [
  ...[DataTypes.STRING(50), DataTypes.INTEGER, DataTypes.DATE, DataTypes.BOOLEAN, DataTypes.DECIMAL(10, 2)],
  ...[DataTypes.TEXT, DataTypes.ENUM('new', 'open', 'done'), DataTypes.UUID, DataTypes.DATEONLY, DataTypes.JSON],
  ...[DataTypes.BIGINT, DataTypes.DOUBLE],
]

/** Models of eight to twelve attributes of all types, each related to others. */
function define(sequelize: Sequelize): readonly ModelStatic<Model>[] {
  const models = Array.from({ length: COUNT }, (_, index) => {
    const fields = Array.from({ length: 7 + (index % 5) }, (_, at) => {
      return [`field${index % 40}x${at}`, { type: TYPES[(index + at) % TYPES.length] ?? DataTypes.TEXT }] as const
    })
    const name = { type: DataTypes.STRING(100), allowNull: false }
    // Components have names of ASCII letters.
    const others = { 名前: DataTypes.STRING, öde: DataTypes.INTEGER }
    return sequelize.define(`Model${index}`, { name, ...others, ...Object.fromEntries(fields) })
  })
  const at = (index: number): ModelStatic<Model> => models[index % COUNT] as ModelStatic<Model>
  for (const [index, model] of models.entries()) {
    model.belongsTo(at(index + 1), { as: 'next', foreignKey: 'nextId', constraints: false })
    at(index + 1).hasMany(model, { as: 'previous', foreignKey: 'nextId', constraints: false })
    model.belongsTo(at(index + 7), { as: 'owner', foreignKey: 'ownerId', constraints: false })
  }
  return models
}

async function open(t: ExecutionContext, info = INFO): Promise<Stage & { readonly options: DocumentOptions }> {
  let options: DocumentOptions = { resources: [], info }
  const stage = await openStage(({ sequelize }, app) => {
    const operations = Operations.AllWithBulk
    const relations = { previous: { routes: true, write: true } }
    options = { resources: define(sequelize).map((model) => crudRouter(model, { operations, relations })), info }
    app.use(apiDocs(options))
  })
  t.teardown(() => stage.close())
  return { ...stage, options }
}

test('a document with references has all that one without has, is valid, and shorter by a third', async (t) => {
  const { options } = await open(t)
  const whole = runAtOnce(writeDocument(options, new Components()))
  const document = openApi(options)
  const names = new Set(
    Object.entries(whole.components).flatMap(([kind, all]) =>
      Object.keys(all).map((name) => `#/components/${kind}/${name}`),
    ),
  )
  const isNamed = (place: string): boolean => names.has(place)
  t.deepEqual(resolveReferences(document, isNamed), resolveReferences(whole, isNamed))
  t.true(3 * JSON.stringify(document).length < 2 * JSON.stringify(resolveReferences(whole, isNamed)).length)
  t.is(await findErrors(document), null)
})

test('requests are answered while the document is written, and all that wait get the same one', async (t) => {
  let written = 0
  const info = {
    ...INFO,
    get description(): string {
      written += 1
      return 'Many resources.'
    },
  }
  const { get, options } = await open(t, info)
  for (const path of ['/openapi.json', '/client.d.ts']) {
    let turns = 0
    const count = (): void => {
      turns += 1
      counting = setImmediate(count)
    }
    let counting = setImmediate(count)
    const [one, other] = await Promise.all([get(path), get(path)])
    clearImmediate(counting)
    t.true(turns > COUNT, `${path}: ${turns}`)
    t.deepEqual([one.status, one.text], [200, other.text], path)
  }
  const before = written
  t.deepEqual((await get('/openapi.json')).body, JSON.parse(JSON.stringify(openApi(options))))
  // By the comparison alone.
  t.is(written - before, 1)
})

test('documents are sent compressed to whom accepts gzip, and plain to others', async (t) => {
  const { url } = await open(t)
  const tags = new Set<string>()
  const place = `${url}/openapi.json`
  for (const [accepted, encoding] of [
    ['gzip', 'gzip'],
    ['br, gzip;q=0.5', 'gzip'],
    ['identity', null],
    ['gzip;q=0', null],
    ['br', null],
  ] as const) {
    const headers = { 'accept-encoding': accepted }
    const answer = await fetch(place, { headers })
    const text = await answer.text()
    t.deepEqual([answer.headers.get('content-encoding'), answer.headers.get('vary')], [encoding, 'Accept-Encoding'])
    t.is(JSON.parse(text).openapi, '3.1.0', accepted)
    const tag = answer.headers.get('etag') ?? ''
    tags.add(tag)
    const again = await fetch(place, { headers: { ...headers, 'if-none-match': tag } })
    t.deepEqual([again.status, again.headers.get('vary')], [304, 'Accept-Encoding'], accepted)
    const head = await fetch(place, { method: 'HEAD', headers })
    const length = Number(head.headers.get('content-length'))
    t.is(length, Number(answer.headers.get('content-length')), accepted)
    if (encoding === null) t.is(length, Buffer.byteLength(text), accepted)
    else t.true(10 * length < Buffer.byteLength(text), accepted)
  }
  t.is(tags.size, 2)
})
