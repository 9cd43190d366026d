import test from 'ava'
import { placeholder, Statement } from '../../../lib/perform/statement/statement.js'
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
