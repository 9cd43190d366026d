// The text of statements without their values: whatever a driver or Sequelize has written into them.

import test from 'ava'
import fc from 'fast-check'
import { Sequelize } from 'sequelize'
import { commandOf, redactSql } from '../../lib/common/sqlText.js'
import { dialectOptions } from '../support/database.js'

const CASES: readonly (readonly [dialect: string, sql: string, text: string])[] = [
  ['sqlite', 'SELECT `a`, `b` FROM `t` WHERE `a` = ?1 LIMIT ?2', 'SELECT `a`, `b` FROM `t` WHERE `a` = ?1 LIMIT ?2'],
  ['sqlite', "UPDATE `t1` SET `a`='it''s', `b2`=-1.5e3, c=NULL", 'UPDATE `t1` SET `a`=?, `b2`=-?, c=?'],
  ['sqlite', 'SELECT "anna" FROM t', 'SELECT ? FROM t'],
  ['sqlite', "SELECT x'00ff', .5, 0xff, a1, 7 FROM t", 'SELECT x?, ?, ?, a1, ? FROM t'],
  ['postgres', `SELECT "a""b"::text FROM "t" WHERE x = $1`, `SELECT "a""b"::text FROM "t" WHERE x = $1`],
  ['postgres', `SELECT E'a\\'b', 'c\\', $$d'$$, $x$ $$ $x$ FROM t`, 'SELECT ?, ?, ?, ? FROM t'],
  [
    'postgres',
    'SELECT a FROM t WHERE b IS NOT NULL AND c = NULL AND d',
    'SELECT a FROM t WHERE b IS NOT NULL AND c = ? AND d',
  ],
  ['postgres', 'SELECT a FROM t WHERE b = $name AND c = true', 'SELECT a FROM t WHERE b = $name AND c = ?'],
  [
    'mysql',
    `SELECT \`a\` FROM t WHERE b = 'it\\'s' AND c = "x" # anna\n`,
    'SELECT `a` FROM t WHERE b = ? AND c = ?  \n',
  ],
  ['mariadb', 'SELECT 1 -- anna\n, /* anna */ 2', 'SELECT ?  \n,   ?'],
  ['mysql', "SELECT 'anna", 'SELECT ...'],
  ['postgres', 'SELECT $a$ anna', 'SELECT ...'],
  ['postgres', "SELECT E'anna\\'", 'SELECT ...'],
  ['sqlite', 'SELECT /* anna', 'SELECT ...'],
  ['sqlite', `SELECT '${'x'.repeat(20_000)}'`, 'SELECT ...'],
  ['sqlite', `SELECT ${'1, '.repeat(8000)}2`, `SELECT ${'?, '.repeat(3331)}...`],
  ['mssql', "SELECT 'anna'", 'SELECT'],
]

for (const [dialect, sql, text] of CASES) {
  test(`a statement for ${dialect} is told without values: ${sql.slice(0, 60)}`, (t) => {
    t.is(redactSql(sql, dialect), text)
  })
}

test('the command of a statement is its first word, behind whatever comes before', (t) => {
  t.is(commandOf(' /* x */ (select 1)'), 'SELECT')
  t.is(commandOf('-- x\nwith a as (b) select'), 'WITH')
  t.is(commandOf('BEGIN DEFERRED TRANSACTION;'), 'BEGIN')
  t.is(commandOf(''), '')
})

for (const dialect of ['sqlite', 'postgres', 'mysql', 'mariadb'] as const) {
  test(`nothing that Sequelize writes as a value for ${dialect} is left, whatever stands in it`, (t) => {
    const sequelize = new Sequelize({
      ...dialectOptions(dialect),
      ...(dialect === 'sqlite' ? { storage: ':memory:' } : {}),
      logging: false,
    })
    const pieces = fc.constantFrom(
      "'",
      "''",
      '\\',
      '"',
      '`',
      '$$',
      '$a$',
      '--',
      '/*',
      '*/',
      '#',
      '\n',
      '\0',
      '?',
      'é',
      '😀',
      ' ',
    )
    const value = fc.array(pieces, { maxLength: 8 }).map((parts) => parts.join('canary'))
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 4 }), (values) => {
        const written = values.map((each) => sequelize.escape(each)).join(', ')
        const text = redactSql(`SELECT a FROM t WHERE b IN (${written}) AND c = 1`, dialect)
        t.is(text, `SELECT a FROM t WHERE b IN (${values.map(() => '?').join(', ')}) AND c = ?`)
      }),
      { numRuns: 2000 },
    )
  })
}
