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
  ['has another order', (sql: string) => sql.replace('ORDER BY value', 'ORDER BY -value')],
  ['leaves nothing out', (sql: string) => sql.replace(/CASE WHEN .*? THEN NULL ELSE (json_array\(.*?\)) END/, '$1')],
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

ava('a text that leaves a row out, or holds what its columns are not there for, says no rows', (t) => {
  const columns = [
    { name: 'c0', isNumber: true },
    { name: 'c1', isNumber: false },
  ]
  const said = (_rows: unknown): unknown => rowsIn([{ _rows }], columns)
  t.deepEqual(said('[[1,"a"],[-9007199254740991,null],["b",""]]'), [
    [1, 'a'],
    [-9_007_199_254_740_991, null],
    ['b', ''],
  ])
  t.deepEqual(said('[]'), [])
  for (const row of [
    '[1,2]',
    '["a",0.5]',
    '[true,"a"]',
    '[1,false]',
    '[[1],"a"]',
    '[1,{}]',
    '[1]',
    '[1,"a",2]',
    'null',
    '{"c0":1}',
  ])
    t.is(said(`[[1,"a"],${row}]`), null, row)
  for (const text of ['{"c0":1}', '[[1,"a"]', null, 5]) t.is(said(text), null)
  t.is(rowsIn([], columns), null)
})
