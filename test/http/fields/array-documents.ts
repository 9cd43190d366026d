// Arrays of scalars in documents, in client types and for agents.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { clientTypes, crudRouter, openApi } from '../../../lib/index.js'
import { databaseName } from '../../support/database.js'
import { INFO } from '../../support/documented.js'
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
      meta: { members: { days: ['date'] } },
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
    t.like(properties.ranks, ranks, name)
  }
  t.regex(types, /tags: readonly string\[\]/)
  t.regex(types, isPostgres ? /ranks: readonly \(number \| null\)\[\] \| null/ : /ranks: readonly number\[\] \| null/)
})

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
