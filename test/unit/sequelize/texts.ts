// Whether a driver's SQLite writes texts that say the rows, asked of real ones, of which some are made to lack a part.

import ava, { type ExecutionContext } from 'ava'
import sqlite3 from 'sqlite3'
import type { SqliteConnection } from '../../../lib/sequelize/sqlite.js'
import { rowsIn, writesTexts } from '../../../lib/sequelize/texts.js'

/** A handle whose statements are changed before SQLite sees them, of a driver of its own. */
function opened(t: ExecutionContext, change: (sql: string) => string): SqliteConnection {
  class Changed extends sqlite3.Database {
    override all(sql: string, ...given: never[]): this {
      return super.all(change(sql), ...given)
    }
  }
  const handle = new Changed(':memory:')
  t.teardown(() => handle.close())
  return handle as never
}

ava('the SQLite of the driver writes them', async (t) => {
  const handle = opened(t, (sql) => sql)
  t.true(await writesTexts(handle))
  t.true(writesTexts(handle), 'once it is known nobody waits')
})

for (const [what, change] of [
  ['lacks a function', (sql: string) => sql.replace('json_group_array', 'json_grouped')],
  [
    'takes what a function of JSON made for more than its text',
    (sql: string) => sql.replace('json_array(c0, c1', 'json_array(c0, json(c1)'),
  ],
  ['has another order', (sql: string) => sql.replace('ORDER BY c0', 'ORDER BY -c0')],
  ['says numbers with less digits', (sql: string) => sql.replace('999999999999999]', '1e15]')],
  ['makes rows of texts', (sql: string) => sql.replace('json_array(c0, c1, c2)', "json_array(c0, c1, c2) || ''")],
] as const) {
  ava(`a SQLite that ${what} is asked for none`, async (t) => {
    const handle = opened(t, change)
    t.false(await writesTexts(handle))
    t.false(writesTexts(handle))
  })
}

ava('one that could not answer is asked again', async (t) => {
  let isClosed = true
  const handle = opened(t, (sql) => sql)
  const { all } = handle
  const closed = new sqlite3.Database(':memory:')
  await new Promise((resolve) => closed.close(resolve))
  handle.all = (...given) => (isClosed ? all.apply(closed as never, given) : all.apply(handle, given))
  t.false(await writesTexts(handle))
  isClosed = false
  t.true(await writesTexts(handle))
})

ava('a text that holds something else than texts and numbers with all of their digits says no rows', (t) => {
  t.deepEqual(rowsIn([{ _rows: '[[1,"a",null],[-999999999999999,"",null]]' }]), [
    [1, 'a', null],
    [-999_999_999_999_999, '', null],
  ])
  t.deepEqual(rowsIn([{ _rows: '[]' }]), [])
  t.deepEqual(rowsIn([{ _rows: '[[]]' }]), [[]])
  const others = ['0.5', '1.0e+15', '-1000000000000000', '9.0e+999', 'true', '[1]', '{}']
  for (const value of others) t.is(rowsIn([{ _rows: `[["a",1],["b",${value}]]` }]), null, value)
  for (const _rows of ['[[1],null]', '[[1],{"c0":1}]', '{"c0":1}', '[[1]', null, 5]) t.is(rowsIn([{ _rows }]), null)
  t.is(rowsIn([]), null)
})
