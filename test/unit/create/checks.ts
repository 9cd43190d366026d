// What is read in CHECK constraints, in the words of each database. What is not understood is no rule: the database checks it anyway.

import test from 'ava'
import { parseRules } from '../../../lib/create/checks.js'
import { parseChecks } from '../../../lib/create/read/sqlite.js'

const CHECKS: readonly (readonly [check: string, rules: readonly string[]])[] = [
  // PostgreSQL
  ['((level >= 1) AND (level <= 100))', ['level min 1', 'level max 100']],
  ['(char_length((name)::text) >= 2)', ['name minLength 2']],
  ['((length((name)::text) > 2) AND (length((name)::text) < 10))', ['name minLength 3', 'name maxLength 9']],
  [
    `((status)::text = ANY ((ARRAY['a'::character varying, 'b''c'::character varying(20)])::text[]))`,
    [`status values a,b'c`],
  ],
  [`("Odd ""name""" >= '-5'::integer)`, ['Odd "name" min -5']],
  // MySQL and MariaDB
  ['`level` between 1 and 100', ['level min 1', 'level max 100']],
  ["`status` in (_utf8mb4'a',_utf8mb4'b')", ['status values a,b']],
  ['char_length(`a``b`) <= 20', ['a`b maxLength 20']],
  // SQLite
  ['( "Level" BETWEEN -1.5 AND 100 )', ['Level min -1.5', 'Level max 100']],
  ["length(name) <= 20 AND status IN ('x')", ['name maxLength 20', 'status values x']],
  // Bytes are no fewer than characters.
  ['octet_length(name) <= 20', ['name maxLength 20']],
  ['octet_length(name) >= 2', []],
  // More than a list of conditions.
  ['level >= 1 OR name IS NULL', []],
  ['NOT (level >= 1)', []],
  ['level <> 5', []],
  ['level > 1', []],
  ['level >= other', []],
  ['lower(name) = name', []],
  ['status IN (1, 2)', []],
  ['level >= 1 + 1', []],
  ['CASE WHEN level >= 1 THEN 1 END', []],
  ['', []],
  [')(', []],
]

test('lengths, bounds and lists are read, and nothing else', (t) => {
  for (const [check, expected] of CHECKS) {
    const rules = parseRules(check, check.includes('`'))
    const told = rules.map(
      ({ column, kind, bound, values }) => `${column} ${kind} ${kind === 'values' ? values : bound}`,
    )
    t.deepEqual(told, expected, check)
  }
})

test('a backslash escapes where the database has it so', (t) => {
  t.deepEqual(parseRules("a in ('\\\\', '\\'', 'x')", true)[0]?.values, ['\\', "'", 'x'])
  t.deepEqual(parseRules("a in ('\\', 'x')", false)[0]?.values, ['\\', 'x'])
})

test('constraints are found in the text of a table of SQLite, behind comments and in quotes', (t) => {
  const sql = `CREATE TABLE "check (1)" (a INT CHECK (a > 0), -- CHECK (no)
    b TEXT DEFAULT 'CHECK (no)' CHECK(b IN ('(', 'it''s')), /* CHECK (no) */ CONSTRAINT "check" CHECK ((a) < 5 AND length("b") > 1))`
  t.deepEqual(parseChecks(sql), ['( a > 0 )', `( b IN ( '(' , 'it''s' ) )`, '( ( a ) < 5 AND length ( "b" ) > 1 )'])
})
