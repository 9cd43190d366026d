// Arrays of scalars in documents, in client types and for agents.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { clientTypes, crudRouter, type OpenApiDocument, openApi } from '../../../lib/index.js'
import { databaseName } from '../../support/database.js'
import { INFO } from '../../support/documented.js'
import { validatorFor } from '../../support/replies.js'
import { openStage } from '../../support/stage.js'

const isPostgres = databaseName === 'postgres'
const column = isPostgres ? DataTypes.ARRAY(DataTypes.INTEGER) : DataTypes.JSON
let document: Record<string, never> = {}
let types = ''

const server = await openStage(({ sequelize }, app) => {
  const Post = sequelize.define(
    'Post',
    { tags: { type: DataTypes.JSON, allowNull: false }, ranks: column, meta: DataTypes.JSON },
    { timestamps: false },
  )
  const posts = crudRouter(Post, {
    fields: {
      tags: { members: { '': ['string'] } },
      ...(isPostgres ? {} : { ranks: { members: { '': ['integer'] } } }),
      meta: { members: { days: ['date'], 'more.flags': ['boolean'], 'more.at': ['datetime'], color: 'string' } },
    },
  })
  app.use(posts)
  document = JSON.parse(JSON.stringify(openApi({ resources: [posts], info: INFO })))
  types = clientTypes({ resources: [posts] })
})
test.after.always(() => server.close())

interface Told {
  readonly name: string
}

test('documents say arrays in replies and bodies, with the type of the items', (t) => {
  const { schemas } = document.components as unknown as { readonly schemas: Record<string, { properties: object }> }
  const item = { type: 'integer' }
  const ranks = { type: ['array', 'null'], items: isPostgres ? { type: ['integer', 'null'] } : item }
  for (const name of ['Post', 'PostCreate', 'PostUpdate']) {
    const properties = schemas[name]?.properties as Record<string, object>
    t.like(properties.tags, { type: 'array', items: { type: 'string' } }, name)
    // Schemas with bounds are components.
    const component = Object(properties.ranks).$ref?.split('/').at(-1)
    t.like(component === undefined ? properties.ranks : schemas[component], ranks, name)
  }
  t.regex(types, /tags: readonly string\[\]/)
  t.regex(types, isPostgres ? /ranks: readonly \(number \| null\)\[\] \| null/ : /ranks: readonly number\[\] \| null/)
})

test('documents describe arrays within JSON bodies as the server reads them', async (t) => {
  const written: OpenApiDocument = JSON.parse(JSON.stringify(document))
  const accepts = validatorFor(written).validatorAt(['components', 'schemas', 'PostCreate'])
  const cases: readonly (readonly [meta: unknown, isValid: boolean])[] = [
    [null, true],
    ['text', true],
    [[1], true],
    [{ days: ['2026-02-28'], color: 5, other: [null] }, true],
    [{ days: null, more: null }, true],
    [{ days: [null] }, false],
    [{ days: [5] }, false],
    [{ days: '2026-02-28' }, false],
    [{ days: {} }, false],
    [{ more: { flags: [true, false], at: ['2026-02-28T10:00:00Z'] } }, true],
    [{ more: { flags: ['true'] } }, false],
    [{ more: { at: [1] } }, false],
    [{ more: [{ flags: 5 }] }, true],
    [{ more: 'text' }, true],
  ]
  for (const [meta, isValid] of cases) {
    const body = { tags: [], meta }
    const { status, text } = await server.post('/api/posts', body)
    t.deepEqual([accepts(body), status], [isValid, isValid ? 201 : 400], `${JSON.stringify(body)} ${text}`)
  }
  t.regex(types, /meta\?: unknown/)
})

if (isPostgres) {
  test('documents describe arrays of arrays, of ranges and of long integers as bodies and responses have them', async (t) => {
    let wide: OpenApiDocument | null = null
    let client = ''
    const own = await openStage(({ sequelize }, app) => {
      const Wide = sequelize.define(
        'Wide',
        {
          longs: DataTypes.ARRAY(DataTypes.BIGINT),
          grid: { type: DataTypes.ARRAY(DataTypes.ARRAY(DataTypes.BIGINT)), allowNull: false },
          documents: DataTypes.ARRAY(DataTypes.ARRAY(DataTypes.JSONB)),
          span: DataTypes.RANGE(DataTypes.INTEGER),
          spans: DataTypes.ARRAY(DataTypes.RANGE(DataTypes.INTEGER)),
        },
        { timestamps: false },
      )
      const wides = crudRouter(Wide)
      app.use(wides)
      wide = openApi({ resources: [wides], info: INFO })
      client = clientTypes({ resources: [wides] })
    })
    t.teardown(() => own.close())
    if (wide === null) throw new TypeError('there is no document')
    const { validatorAt } = validatorFor(wide)
    const accepts = validatorAt(['components', 'schemas', 'WideCreate'])
    const cases: readonly (readonly [field: string, value: unknown, isValid: boolean])[] = [
      ['longs', [1, null, '9007199254740993'], true],
      ['longs', ['1'], false],
      ['longs', null, true],
      [
        'grid',
        [
          [1, null],
          ['9007199254740993', 2],
        ],
        true,
      ],
      ['grid', [1], false],
      ['grid', [null], false],
      ['documents', [[{ a: 1 }, 'x']], true],
      ['documents', [{ a: 1 }], false],
      ['documents', [null], false],
      ['span', null, true],
      ['span', [1, 2], true],
      ['span', [1], false],
      ['spans', [null, [1, 2], []], true],
      ['spans', [[1]], false],
      ['spans', [5], false],
    ]
    for (const [field, value, isValid] of cases) {
      const body = { grid: [], [field]: value }
      const { status, text } = await own.post('/api/wides', body)
      const label = `${JSON.stringify(body)} ${text}`
      t.deepEqual([accepts(body), status], [isValid, isValid ? 201 : 400], label)
    }
    t.regex(client, /longs: readonly \(number \| string \| null\)\[\] \| null/)
    t.regex(client, /grid: readonly \(readonly \(number \| string \| null\)\[\]\)\[\]/)
    t.regex(client, /documents\?: readonly \(readonly unknown\[\]\)\[\] \| null/)
  })
}

test('x-crud has the items of an array with their operators, and the filter parameter tells of them', (t) => {
  const [{ 'x-crud': crud }] = document.tags as unknown as readonly [{ readonly 'x-crud': { readonly fields: Told[] } }]
  const told = (name: string): Told | undefined => crud.fields.find((field) => field.name === name)
  const equatable = ['=', '!=', '>', '>=', '<', '<=', '=in=', '=out=']
  t.deepEqual(told('tags'), {
    name: 'tags',
    type: 'array',
    nullable: false,
    operators: [],
    sortable: false,
    selectable: true,
    items: {
      type: 'string',
      operators: ['=', '!=', '>', '>=', '<', '<=', '=*', '!*', '^', '!^', '$', '!$', '=in=', '=out='],
    },
  } as never)
  t.like(told('ranks'), { type: 'array', items: { type: 'integer', operators: equatable } } as never)
  t.like(told('meta.days'), { type: 'array', nullable: true, items: { type: 'date', operators: equatable } } as never)
  const text = JSON.stringify(document)
  t.true(text.includes('- `ranks` (array of integer): items `=` `!=`'))
  t.true(text.includes('Arrays: `Any`, `All` and `None` of the items, as in `name.Any=a`, and `name.Count>2`.'))
})
