// `flatten` of a JSON attribute: the members of its documents become members of the record, under joined names.

import ava from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { readCsv } from '../../support/csv.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

const server = await openStage(({ sequelize }, app) => {
  // Names that joined ones meet stand on either side of the document.
  const Item = sequelize.define(
    'Item',
    { metaName: DataTypes.STRING, meta: DataTypes.JSON, metaKind: DataTypes.STRING },
    { timestamps: false },
  )
  app.use(crudRouter(Item, { operations: Operations.All | Operations.Export, flatten: ['meta'] }))
})
test.after.always(() => server.close())

const OWN = { metaName: 'own', metaKind: null }

/** Documents, with what a record shows of each beside its own members. */
const DOCUMENTS: readonly (readonly [title: string, meta: unknown, shown: object])[] = [
  ['an object', { color: 'red', sizeInCm: 2, isOld: false }, { metaColor: 'red', metaSizeInCm: 2, metaIsOld: false }],
  ['objects within', { size: { width: 1, box: { unit: 'cm' } } }, { metaSizeWidth: 1, metaSizeBoxUnit: 'cm' }],
  ['nulls within', { color: null, size: { width: null } }, { metaColor: null, metaSizeWidth: null }],
  ['arrays within', { tags: ['a', { b: 1 }], none: [] }, { metaTags: ['a', { b: 1 }], metaNone: [] }],
  ['nothing', {}, {}],
  [
    'more levels than five',
    { a: { b: { c: { d: { e: { f: { g: 1 } }, h: 2 } } } } },
    { metaABCDE: { f: { g: 1 } }, metaABCDH: 2 },
  ],
  ['the names of attributes', { name: 'other', kind: 'other', id: 'other' }, { metaId: 'other' }],
  ['null instead of a document', null, {}],
  ['a number instead of a document', 5, { meta: 5 }],
  ['false instead of a document', false, { meta: false }],
  ['a text instead of a document', 'text', { meta: 'text' }],
  ['an array instead of a document', [{ a: 1 }], { meta: [{ a: 1 }] }],
]

for (const [title, meta, shown] of DOCUMENTS) {
  test(`a flattened document is its members under joined names: ${title}`, async (t) => {
    const created = await server.post('/api/items', { meta, metaName: 'own' })
    t.is(created.status, 201)
    const { id } = created.body
    t.deepEqual(created.body, { id, ...OWN, ...shown })
    t.deepEqual((await server.get(`/api/items/${id}`)).body, { id, ...OWN, ...shown })
    t.deepEqual((await server.get(`/api/items/${id}?select=Meta`)).body, { meta })
  })
}

test('lists and lines show flattened documents as single records do, and a table has a document in one column', async (t) => {
  const { body } = await server.get('/api/items?sort=id')
  t.deepEqual(
    body.items,
    DOCUMENTS.map(([, , shown], index) => ({ id: index + 1, ...OWN, ...shown })),
  )
  const lines = (await server.get('/api/items?sort=id', { accept: 'application/jsonl' })).text.trim().split('\n')
  t.deepEqual(
    lines.map((line) => JSON.parse(line)),
    body.items,
  )
  const [head, ...rows] = readCsv((await server.get('/api/items?sort=id', { accept: 'text/csv' })).text)
  t.deepEqual(head, ['id', 'metaName', 'meta', 'metaKind'])
  for (const [index, [, meta]] of DOCUMENTS.entries()) {
    const [id, name, document, kind] = rows[index] ?? []
    t.deepEqual([id, name, kind], [String(index + 1), 'own', null])
    t.deepEqual(meta === null ? document : typeof meta === 'string' ? document : JSON.parse(document ?? ''), meta)
  }
})
