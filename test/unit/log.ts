// What goes to the console by default: no text of an error looks like an entry of the log, or commands a terminal.

import { inspect } from 'node:util'
import test from 'ava'
import fc from 'fast-check'
import { errorText } from '../../lib/common/log.js'

/** Whatever a program may take for the end of a line, and what begins commands. */
const BREAKS = [
  '\n',
  '\r',
  '\r\n',
  '\v',
  '\f',
  '\u0085',
  '\u2028',
  '\u2029',
  '\x1b[2K',
  '\x9b2K',
  '\b',
  '\0',
  '\u202e',
  '\x7f',
]
const FORGED = '2026-01-01 INFO somebody logged in'

const codes = (text: string): string => [...text].map((each) => each.codePointAt(0)?.toString(16)).join(' ')

/** The lines as any reader might see them. */
function linesIn(text: string): readonly string[] {
  return text.split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/)
}

function assertHarmless(t: { true: (value: boolean, message?: string) => void }, error: unknown): void {
  const text = errorText(error)
  const [first = '', ...others] = linesIn(text)
  t.true(!first.startsWith(FORGED), text)
  t.true(
    others.every((line) => /^ +\S/.test(line) && !line.trimStart().startsWith(FORGED)),
    text,
  )
  t.true(!/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u.test(text.replaceAll('\n', '')), JSON.stringify(text))
}

class Wrapped extends Error {
  override name = 'Wrapped'
  constructor(message: string, members: Readonly<Record<string, unknown>>) {
    super(message)
    Object.assign(this, members)
  }
}

for (const end of BREAKS) {
  const evil = `x${end}${FORGED}`
  const PLACES: readonly (readonly [where: string, error: () => unknown])[] = [
    ['message', () => new Error(evil)],
    ['name', () => Object.assign(new Error('x'), { name: evil })],
    ['message, changed later', () => Object.assign(new Error('x'), { message: evil })],
    ['stack', () => Object.assign(new Error('x'), { stack: `Error: x\n    at f${end}${FORGED}\n${FORGED}` })],
    ['cause', () => new Error('x', { cause: new Error('y', { cause: new TypeError(evil) }) })],
    ['cause that is text', () => new Error('x', { cause: evil })],
    ['errors', () => new AggregateError([new Error('a'), new AggregateError([new Error(evil), evil], evil)], 'x')],
    ['property', () => new Wrapped('x', { sql: evil, parameters: [evil, { [evil]: evil }] })],
    ['name of a property', () => new Wrapped('x', { [evil]: 1, deep: { [evil]: new Error(evil) } })],
    ['symbol', () => Object.assign(new Error('x'), { [Symbol(evil)]: 1 })],
    [
      'error in a property',
      () => new Wrapped('x', { original: new Wrapped(evil, { sql: evil }), list: [[new Error(evil)]] }),
    ],
    ['text', () => evil],
    ['object', () => ({ [evil]: evil, [inspect.custom]: () => evil })],
    ['function', () => Object.defineProperty(() => 1, 'name', { value: evil })],
  ]
  for (const [where, error] of PLACES) {
    test(`what ends a line or commands a terminal is escaped: ${codes(end)} in the ${where}`, (t) => {
      assertHarmless(t, error())
    })
  }
}

test('an error of any text whatsoever is lines of which each but the first is indented', (t) => {
  const text = fc.string({ unit: 'binary' })
  fc.assert(
    fc.property(text, text, text, fc.anything(), (message, name, key, value) => {
      const error = new Wrapped(message, { [`x${key}`]: value, list: [new Error(key), value] })
      assertHarmless(t, Object.assign(error, { name: `E${name}`, cause: new Error(name) }))
    }),
  )
})

test('what is worth knowing is there: message, stack, properties, causes and the errors of several', (t) => {
  const original = Object.assign(new RangeError('too\nfar'), { code: 'SQLITE_FAR', errno: 7 })
  const error = new Wrapped('could not write', { sql: 'INSERT INTO `t` VALUES (1)', original, parent: original })
  const lines = errorText(error).split('\n')
  t.is(lines[0], 'Wrapped: could not write')
  t.regex(lines[1] ?? '', /^ {4}at .*log\.[jt]s:\d+:\d+\)?$/)
  t.true(lines.includes('  sql: INSERT INTO `t` VALUES (?)'))
  t.true(lines.includes('  original: RangeError: too\\nfar'))
  t.true(lines.includes('    code: SQLITE_FAR'))
  t.true(lines.includes('  parent: RangeError (as above)'))
  const several = errorText(new AggregateError([new Error('one'), 'two'], 'all', { cause: original }))
  t.regex(several, /^AggregateError: all\n {4}at /)
  t.regex(several, /\n {2}errors\[0\]: Error: one\n {6}at .*\n/)
  t.regex(several, /\n {2}errors\[1\]: string; not an error(?:\n|$)/)
  t.regex(several, /\n {2}cause: RangeError: too\\nfar\n/)
})

test('an error is printed in bounds, however large, deep or hostile it is', (t) => {
  const circular: { cause?: unknown } & Error = new Error('round')
  circular.cause = circular
  t.regex(errorText(circular), /cause: Error \(as above\)/)
  let deep = new Error('innermost')
  for (let at = 0; at < 1000; at += 1) deep = new Error(`level ${at}`, { cause: deep })
  t.true(errorText(deep).length < 100_000)
  t.true(
    errorText(new AggregateError(Array.from({ length: 10_000 }, (_, at) => new Error(`no ${at}`)))).length < 500_000,
  )
  t.true(errorText(new Error('x'.repeat(10_000_000))).length < 20_000)
  const hostile = Object.defineProperty(new Error('x'), 'code', {
    get() {
      throw new Error('no')
    },
  })
  t.is(errorText(hostile), 'An error that cannot be printed.')
  for (const value of [undefined, null, 5, Symbol('x'), {}, [], () => 1]) t.is(typeof errorText(value), 'string')
})

const CANARY = 'canary'

/** Errors as drivers and Sequelize make them, with what they say of a value that was sent or stored. */
const SAID: readonly (readonly [
  what: string,
  members: Readonly<Record<string, unknown>>,
  message: string,
  told: string,
])[] = [
  [
    'mysql2, a duplicate',
    { sqlState: '23000', errno: 1062 },
    `Duplicate entry '${CANARY}' for key 'a.b'`,
    "Duplicate entry '...",
  ],
  [
    'mysql2, quotes',
    { sqlState: '23000', errno: 1062 },
    `Duplicate entry 'it's ${CANARY}' for key 'a'`,
    "Duplicate entry '...",
  ],
  [
    'mariadb, the statement',
    { sqlState: '22007', sqlMessage: CANARY, errno: 1292 },
    `(conn:1, no: 1292, SQLState: 22007) Incorrect value: '${CANARY}'\nsql: INSERT '${CANARY}' - parameters:['${CANARY}']`,
    "(conn:1, no: 1292, SQLState: 22007) Incorrect value: '...",
  ],
  [
    'mariadb, the statement without a quote before it',
    { sqlState: '70100', sqlMessage: 'x' },
    `(conn:1) interrupted\nsql: SELECT /* ${CANARY} */ 1 - parameters:[]`,
    '(conn:1) interrupted',
  ],
  [
    'mysql2, a column',
    { sqlState: '42S22', sql: `SELECT \`a\`.\`b\` FROM a WHERE c = '${CANARY}'` },
    "Unknown column 'a.b' in 'field list'",
    "Unknown column 'a.b' in 'field list'",
  ],
  ['mysql2, a signal', { sqlState: '45000', errno: 1644 }, `no ${CANARY}`, '...'],
  ['mysql2, a signal with a number of its own', { sqlState: '45000', errno: 5001 }, `no ${CANARY}`, '...'],
  [
    'pg, a value',
    { severity: 'ERROR', routine: 'x', code: '22P02', detail: CANARY, where: CANARY },
    `invalid input: "${CANARY}"`,
    'invalid input: "...',
  ],
  ['pg, raised', { severity: 'ERROR', routine: 'exec_stmt_raise', code: 'P0001', hint: CANARY }, `no ${CANARY}`, '...'],
  [
    'sqlite, a token',
    { code: 'SQLITE_ERROR' },
    `SQLITE_ERROR: near "${CANARY}": syntax error`,
    'SQLITE_ERROR: near "...',
  ],
  [
    'sqlite, a column',
    { code: 'SQLITE_ERROR' },
    `SQLITE_ERROR: no such column: ${CANARY}`,
    'SQLITE_ERROR: no such column: ...',
  ],
  [
    'sqlite, a unique column',
    { code: 'SQLITE_CONSTRAINT' },
    'SQLITE_CONSTRAINT: UNIQUE constraint failed: a.b',
    'SQLITE_CONSTRAINT: UNIQUE constraint failed: a.b',
  ],
  ['sqlite, raised', { code: 'SQLITE_CONSTRAINT' }, `SQLITE_CONSTRAINT: no ${CANARY}`, '...'],
  [
    'Node, an argument',
    { code: 'ERR_INVALID_ARG_TYPE', input: CANARY },
    `The "x" must be a number. Received '${CANARY}'`,
    'The "x" must be a number. ...',
  ],
]

for (const [what, members, message, told] of SAID) {
  test(`an error as a driver makes it is told without the value in it: ${what}`, (t) => {
    const driver = new Wrapped(message, { ...members, parameters: [CANARY], fields: { [CANARY]: CANARY } })
    const sql = `INSERT INTO t VALUES ('${CANARY}')`
    const outer = new Wrapped(message, {
      name: 'SequelizeDatabaseError',
      sql,
      original: driver,
      parent: driver,
      value: CANARY,
    })
    const text = errorText(Object.assign(new Error('x', { cause: outer }), { driver }))
    t.notRegex(text, /canary/)
    t.true(text.includes(`Wrapped: ${told}\n`), text)
  })
}

test('what is no error, and what a parser could not read, is not told', (t) => {
  for (const thrown of [CANARY, { canary: CANARY }, [CANARY], Symbol(CANARY), { toString: () => CANARY }]) {
    t.notRegex(errorText(thrown), /canary/)
    t.notRegex(errorText(new Error('x', { cause: thrown })), /canary/)
  }
  for (const read of [() => JSON.parse(CANARY), () => JSON.parse(`{"a":"${CANARY}"`), () => BigInt(CANARY)]) {
    const error = t.throws(read) ?? new Error()
    t.notRegex(errorText(error), /canary/)
    t.regex(errorText(error), /^SyntaxError\n {4}at /)
  }
})
