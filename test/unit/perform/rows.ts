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

const once = (sql: string): string => sql

test('an INSERT for several rows that is to run again is made once, and has a place for each value', (t) => {
  const statement = statementOf('sqlite', [0, 1, 2])
  const kept = statement.timesKept(2, (sql) => `${sql}, ${placeholder(6)}`)
  t.is(kept, statement.timesKept(2, once))
  t.not(kept, statement.timesKept(3, once))
  t.true(kept.isKept)
  t.false(statement.times(2).isKept)
  t.is(kept.numbered, `${BEGIN}?1, ?2, ?3), (?4, ?5, ?6${END}, ?7`)
})

test('an UPDATE for several rows that is to run again has all of their values one row after another', (t) => {
  const dialect = dialectNamed('sqlite')
  const items = dialect?.items
  if (dialect === undefined || items === undefined || items === null) return t.fail()
  const text = `UPDATE t SET a = ${placeholder(0)}${placeholder(2)} WHERE id = ${placeholder(1)}`
  const statement = new Statement(dialect, text)
  const rows = [
    ['x', 1],
    ['x', 2],
  ]
  const guarded = { ...items, ...items.joint.items(`1 = ${placeholder(4)}`) }
  const kept = statement.amongKept(rows, () => guarded, items.joint.update)
  const others = [
    ['y', 3],
    ['z', 4],
  ]
  t.is(
    kept,
    statement.amongKept(others, () => items, once),
  )
  t.true(kept.isKept)
  const own = 'UPDATE OR ABORT t SET a = _items.column1 FROM (SELECT * FROM (VALUES ('
  t.is(kept.numbered, `${own}?1, ?2), (?3, ?4)) WHERE 1 = ?5) AS _items WHERE id = _items.column2`)
  // What they have in common is bound once where the text is for this once.
  t.deepEqual(statement.among(rows, items).values, ['x', 1, 2])
})
