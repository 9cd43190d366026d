import test from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter } from '../../../lib/index.js'
import type { JsonName } from '../../../types/names.js'
import { openStage } from '../../support/stage.js'

const ATTRIBUTES = [
  ...(['SKU', 'URLPath', 'created_by', 'FirstName', 'LAST_NAME', 'zip-code', 'home page', 'aB', 'isURL'] as const),
  ...(['HTMLBody2', 'x', '_hidden', 'Größe'] as const),
] as const

/** What the types say of each: a name that is another one here does not compile. */
const NAMES: { readonly [Name in (typeof ATTRIBUTES)[number]]: JsonName<Name> } = {
  SKU: 'sku',
  URLPath: 'urlPath',
  created_by: 'createdBy',
  FirstName: 'firstName',
  LAST_NAME: 'lastName',
  'zip-code': 'zipCode',
  'home page': 'homePage',
  aB: 'aB',
  isURL: 'isURL',
  HTMLBody2: 'htmlBody2',
  x: 'x',
  _hidden: '_hidden',
  Größe: 'größe',
}

const server = await openStage(({ sequelize }, app) => {
  const Thing = sequelize.define(
    'thing',
    Object.fromEntries(
      ATTRIBUTES.map((name, index) => [name, { type: DataTypes.STRING(20), field: `c${index}` }] as const),
    ),
    { timestamps: false },
  )
  app.use(crudRouter(Thing))
  return { Thing }
})
test.after.always(() => server.close())

test('the JSON names of attributes are those that the types say: SKU is sku, URLPath is urlPath, created_by is createdBy', async (t) => {
  const body = Object.fromEntries(Object.values(NAMES).map((name) => [name, `in ${name}`]))
  const created = await server.post('/api/things', body)
  t.is(created.status, 201, created.text)
  t.deepEqual(created.body, { id: 1, ...body })
  t.deepEqual((await server.get('/api/things/1')).body, { id: 1, ...body })
  for (const name of Object.values(NAMES)) {
    const { body } = await server.get(
      `/api/things?${new URLSearchParams({ filter: `${name}=in ${name}`, select: name })}`,
    )
    t.deepEqual(body.items, [{ [name]: `in ${name}` }], name)
  }
})
