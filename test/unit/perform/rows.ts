import test from 'ava'
import type { StatementRequestOf } from '../../../lib/perform/sql/request.js'
import { createStatement, Statement } from '../../../lib/perform/sql/statement.js'
import { writeValuesTableUpdate } from '../../../lib/perform/sql/valuesTableUpdate.js'
import { type StatementContext, storeOf } from '../../../lib/perform/store.js'
import type { Field } from '../../../types/field.js'
import { ALL_RESOURCES } from '../../support/statementRequests.js'

function storeFor(name: string): StatementContext {
  const store = ALL_RESOURCES.map(storeOf).find(({ dialect }) => dialect.name === name)
  if (store === undefined) throw new TypeError(`there is no ${name}`)
  return store
}

function fieldOf({ resource }: StatementContext, name: string): Field {
  const field = resource.fields.find((each) => each.name === name)
  if (field === undefined) throw new TypeError(`there is no ${name}`)
  return field
}

function inserted(name: string, rows: readonly (readonly unknown[])[]): string {
  const store = storeFor(name)
  const fields = [fieldOf(store, 'a'), fieldOf(store, 'b')]
  const statement = createStatement(store, { kind: 'insert', fields, rows, returning: [] })
  return statement
    .toNumbered()
    .sql.replace(/^.* VALUES /, '')
    .replace(/ RETURNING.*$/, '')
}

test('an INSERT of several rows has a place for each of their values', (t) => {
  const rows = [
    ['x', 1],
    ['y', 2],
  ]
  t.is(inserted('sqlite', rows), '(?1,?2),(?3,?4)')
  t.is(inserted('postgres', rows), '($1,$2),($3,$4)')
  t.is(inserted('postgres', rows.slice(1)), '($1,$2)')
})

test('an UPDATE of several rows has once what they have in common, and the rest in a table of values', (t) => {
  const store = storeFor('sqlite')
  const { valuesTable } = store.dialect
  if (valuesTable === null) return t.fail()
  const key = fieldOf(store, 'id')
  const update: StatementRequestOf<'update'> = {
    kind: 'update',
    fields: [fieldOf(store, 'a')],
    values: ['x'],
    increments: [],
    where: {
      kind: 'compare',
      column: { joins: [], field: key, nullable: false },
      operator: 'eq',
      values: [1],
      ignoreCase: false,
      negated: false,
    },
    includeDeleted: false,
    returning: [],
  }
  const rows = [
    ['x', 1],
    ['x', 2],
  ]
  const statement = new Statement(store, (operands) =>
    writeValuesTableUpdate(store, update, { table: valuesTable, casts: ['', ''], rows }, operands),
  )
  t.deepEqual(statement.toNumbered(), {
    sql: 'UPDATE `Players` SET `a`=?1 FROM (VALUES (?2), (?3)) AS _items WHERE ((`id` = _items.column1))',
    values: ['x', 1, 2],
  })
  const wrong = [['x', 1, 2]]
  const more = new Statement(store, (operands) =>
    writeValuesTableUpdate(store, update, { table: valuesTable, casts: ['', '', ''], rows: wrong }, operands),
  )
  t.throws(() => more.toNumbered(), { message: /an UPDATE contains 2 values, but each of its rows has 3\./ })
})
