import test from 'ava'
import { placeholder } from '../../../lib/perform/statement/pieces.js'
import { Statement } from '../../../lib/perform/statement/statement.js'
import { dialectNamed } from '../../../lib/sequelize/dialect/index.js'

function statementOf(name: string, slots: readonly number[]): Statement {
  const dialect = dialectNamed(name)
  if (dialect === undefined) throw new TypeError(`there is no ${name}`)
  const values = slots.map((slot) => placeholder(slot)).join(', ')
  return new Statement(dialect, `INSERT INTO t (a, b, c) VALUES (${values}) RETURNING "a" AS c0`)
}

const BEGIN = 'INSERT INTO t (a, b, c) VALUES ('
const END = ') RETURNING "a" AS c0'

test('an INSERT of several rows has places without numbers on SQLite', (t) => {
  const statement = statementOf('sqlite', [0, 1, 2])
  t.is(statement.numbered, `${BEGIN}?1, ?2, ?3${END}`)
  t.is(statement.times(1).numbered, statement.numbered)
  t.is(statement.times(3).numbered, `${BEGIN}?, ?, ?), (?, ?, ?), (?, ?, ?${END}`)
})

test('an INSERT of several rows has numbered places where values stand in another order', (t) => {
  t.is(statementOf('sqlite', [0, 2, 1]).times(2).numbered, `${BEGIN}?1, ?3, ?2), (?4, ?6, ?5${END}`)
})

test('an INSERT of several rows has numbered places on PostgreSQL', (t) => {
  t.is(statementOf('postgres', [0, 1, 2]).times(2).numbered, `${BEGIN}$1, $2, $3), ($4, $5, $6${END}`)
})

test('what a statement is counted for grows with its text', (t) => {
  const one = statementOf('sqlite', [0, 1, 2])
  t.true(one.times(10).bytes > one.bytes)
})

test('an UPDATE of several rows has once what they have in common, and the rest in a table of values', (t) => {
  const dialect = dialectNamed('sqlite')
  const items = dialect?.items
  if (dialect === undefined || items === undefined || items === null) return t.fail()
  const text = `UPDATE t SET a = ${placeholder(0)}${placeholder(2)} WHERE id = ${placeholder(1)}`
  const rows = [
    ['x', 1],
    ['x', 2],
  ]
  const { statement, values } = new Statement(dialect, text).among(rows, items)
  t.deepEqual(values, ['x', 1, 2])
  t.is(statement.numbered, 'UPDATE t SET a = ?1 FROM (VALUES (?2), (?3)) AS _items WHERE id = _items.column1')
})
