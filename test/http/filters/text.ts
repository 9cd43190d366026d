import test from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { crudRouter, escapeFilterValue } from '../../../lib/index.js'
import { OPERATORS, type OperatorInfo, type PositiveOperator } from '../../../lib/language/operators.js'
import { databaseName } from '../../support/database.js'
import { keysOf, list } from '../../support/lists.js'
import { openStage } from '../../support/stage.js'

/** What a database, a pattern language or a template might take for more than text; null is row 1. */
const STORED: readonly (string | null)[] = [
  null,
  ...['', ' ', 'a', 'A', 'b', 'ab', 'AB', 'aB', 'abc', 'ABC', 'aabb', 'null', 'NULL', 'undefined', '0', 'false'],
  ...['%', '_', '%%', '100%', '100x', '1000', '50% off', 'a%b', 'a_b', 'axb', 'a__b', '%a', 'a%', '_a', 'a_'],
  ...['*', '**', 'a*b', '*a', 'a*', '?', 'a?b', '?a', '[', ']', '[a]', 'a[b', 'a]b', '[^a]', '[a-z]', '^', '^a', '-'],
  ...['\\', '\\\\', 'a\\b', '\\a', 'a\\', '\\%', '\\_', '\\n', '|', '||', 'a|b', '|%', '|_', '%|', '|a', 'a|'],
  ...[
    "'",
    "''",
    "a'b",
    "' OR 1=1 --",
    "'; DROP TABLE x; --",
    '"',
    'a"b',
    '`',
    'a`b',
    '--',
    '/*',
    '*/',
    '#',
    ';',
    'a;b',
  ],
  ...[
    '$',
    '$$',
    '$1',
    '$2 and $1',
    'a$b',
    '$$body$$',
    ':name',
    ':a',
    '::text',
    '?',
    '??',
    '@x',
    '{{x}}',
    `\${x}`,
    '%s',
  ],
  ...[
    '(',
    ')',
    '()',
    '(a)',
    ',',
    'a,b',
    '/',
    '/i',
    'a/i',
    'a/I',
    '=',
    '=in=',
    'a=b',
    '!',
    '!a',
    '<',
    '>',
    '&',
    '&amp;',
  ],
  ...[
    'trail',
    'trail ',
    'trail  ',
    ' trail',
    'Trail',
    'TRAIL ',
    'trail\t',
    'trail\n',
    'tr\nail',
    'tr\r\nail',
    '\t',
    '\n',
  ],
  ...[
    '😀',
    'a😀b',
    '😀😀',
    '😁',
    '👩‍👩‍👧',
    '\u{1F1F5}\u{1F1F1}',
    'e\u0301',
    'e',
    '\u00e9',
    'caf\u00e9',
    'cafe\u0301',
    '\u0301',
  ],
  ...[
    'ß',
    'ss',
    'SS',
    'Łódź',
    'Lodz',
    '漢字',
    '漢',
    'あ',
    'عربي',
    '\u200b',
    'a\u200bb',
    '\u00a0',
    '\ufeff',
    '\u2028',
    'a\u0001b',
  ],
  ...['\ue0000\ue001', '\ue000', '\ue0001\ue001', '\uffff', '\u{10ffff}', '__proto__', 'constructor', 'x'.repeat(255)],
]

interface Models {
  readonly Word: ModelStatic<Model>
  readonly Hooked: ModelStatic<Model>
}

const words = await openStage<Models>(({ sequelize }, app) => {
  const attributes = { text: DataTypes.STRING, long: DataTypes.TEXT, binary: DataTypes.STRING(255, true) }
  const options = { tableName: 'words', timestamps: false }
  const Word = sequelize.define('Word', { ...attributes }, options)
  const Hooked = sequelize.define('Hooked', { ...attributes }, { ...options, hooks: { beforeFind: () => {} } })
  app.use(crudRouter(Word))
  app.use(crudRouter(Hooked, { route: 'api/hooked' }))
  return { Word, Hooked }
})
const { Word } = words
await Word.bulkCreate(STORED.map((text) => ({ text, long: text })))
test.after.always(() => words.close())

const find = (filter: string, path = '/api/words'): Promise<number[]> =>
  keysOf(words, path, { filter, select: 'id', pageSize: 1000 })

/** What the operators mean, on one text that is not null. null: the collation decides. */
const MEANING: Readonly<Record<PositiveOperator, ((text: string, value: string) => boolean) | null>> = {
  eq: (text, value) => text === value,
  contains: (text, value) => text.includes(value),
  startsWith: (text, value) => text.startsWith(value),
  endsWith: (text, value) => text.endsWith(value),
  in: (text, value) => text === value,
  gt: null,
  gte: null,
  lt: null,
  lte: null,
}

/** ASCII only, which is what every database folds. */
const folded = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

function expected({ positive, negated }: OperatorInfo, value: string, ignoreCase: boolean): number[] {
  const meaning = MEANING[positive]
  const fold = ignoreCase ? folded : (text: string): string => text
  return STORED.flatMap((text, index) => {
    const isMet = text !== null && meaning?.(fold(text), fold(value)) === true
    return isMet === negated ? [] : [index + 1]
  })
}

/** Everything stored, and pieces of it that a pattern language reads otherwise. */
const SOUGHT: readonly string[] = [
  ...new Set([
    ...STORED.filter((text) => text !== null),
    ...[
      'B',
      'aBc',
      '0%',
      '%b',
      'x_',
      '[a',
      'a-',
      '\\b',
      "'b",
      '$b',
      '😀b',
      '\u0301b',
      'l ',
      ' \\',
      'i',
      'I',
      '/',
      'il\n',
    ],
    ...['é'.normalize('NFD'), '字', '\u200bb', '\ue001', 'PROTO', 'X'.repeat(255), 'a%b%', '%a%', '_%', '**a', 'DROP'],
  ]),
]

for (const operator of OPERATORS) {
  const { token, list: takesList, positive, negated } = operator
  if (MEANING[positive] === null) continue
  for (const ignoreCase of [false, true]) {
    const clause = `Text${token}…${ignoreCase ? '/i' : ''}`
    test(`${clause} takes every character for itself`, async (t) => {
      for (const [index, value] of SOUGHT.entries()) {
        // Only = and != take the empty text; a list cannot hold it.
        if (value === '' && (takesList || positive !== 'eq')) continue
        // A sample is enough of the complements, and of the second column.
        if (negated && index % 4 !== 0) continue
        for (const field of index % 8 === 0 ? ['Text', 'Long'] : ['Text']) {
          const filter = `${field}${token}${escapeFilterValue(value)}${ignoreCase ? '/i' : ''}`
          t.deepEqual(await find(filter), expected(operator, value, ignoreCase), JSON.stringify(filter))
        }
      }
    })
  }
}

test('every character stands for itself where reads go through findAll, too', async (t) => {
  const tokens = ['=', '=*', '^', '$', '!*', '=out=']
  for (const [index, value] of SOUGHT.filter((text) => text !== '').entries()) {
    // Two tokens for each value, in turn: Sequelize gets the same conditions as the statements above.
    for (const token of [tokens[index % 6], tokens[(index + 2) % 6]]) {
      const operator = OPERATORS.find((info) => info.token === token)
      if (operator === undefined) throw new TypeError(`there is no ${token}`)
      const filter = `Text${token}${escapeFilterValue(value)}`
      t.deepEqual(await find(filter, '/api/hooked'), expected(operator, value, false), JSON.stringify(filter))
    }
  }
})

/** Filters as written, without help: what is escaped and what is not. */
const WRITTEN: readonly (readonly [filter: string, texts: readonly (string | null)[]])[] = [
  ['Text=a%b', ['a%b']],
  ['Text=*a_b', ['a_b']],
  ['Text=a\\,b', ['a,b']],
  ['Text=\\(a\\)', ['(a)']],
  ['Text=a\\|b', ['a|b']],
  ['Text=a;b', ['a;b']],
  ['Text=in=a\\;b;ab', ['ab', 'a;b']],
  ['Text=a\\\\b', ['a\\b']],
  ['Text=\\\\', ['\\']],
  ['Text=\\a', ['a']],
  ['Text=a\\/i', ['a/i']],
  ['Text=a/\\i', ['a/i']],
  ['Text=a/I', ['a/I']],
  ['Text=a/i', ['a', 'A']],
  ['Text=a/i/i', ['a/i', 'a/I']],
  ['Text=\\/i', ['/i']],
  ['Text=/i', ['']],
  ['Text=', ['']],
  ['Text=\\ ', [' ']],
  ['Text=trail\\ ', ['trail ']],
  ['Text= trail\\  ', ['trail ']],
  ['Text=\\ trail', [' trail']],
  ['Text=trail', ['trail']],
  ['Text=trail/i', ['trail', 'Trail']],
  ['Text=trail\\ /i', ['trail ', 'TRAIL ']],
  ['Text=in=trail\\ ;Trail', ['trail ', 'Trail']],
  ['Text=tr\nail', ['tr\nail']],
  ['Text=a\\=b', ['a=b']],
  ['Text=a=b', ['a=b']],
  ['Text=\\=in=', ['=in=']],
  ['Text=\\<', ['<']],
  ['Text=!a', ['!a']],
  ['Text=^a', ['^a']],
  ['Text=*\\*', ['*', '**', 'a*b', '*a', 'a*', '*/', '/*']],
  ['Text=\\**', ['**']],
  ['Text^**', ['**']],
  ['Text$\\$', ['$', '$$', '$$body$$']],
  ["Text=' OR 1=1 --", ["' OR 1=1 --"]],
  ['Text="', ['"']],
  ['Text=\\null', ['null']],
  ['Text=null', [null]],
  ['Text=nul\\l', ['null']],
  ['Text=null/i', [null]],
  ['Text=\\null/i', ['null', 'NULL']],
  ['Text=in=null;NULL', [null, 'NULL']],
  ['Text=in=%;_;*;?', ['%', '_', '*', '?', '?']],
  ['Text=😀', ['😀']],
  ['Text=*😀', ['😀', 'a😀b', '😀😀']],
  ['Text=caf\u00e9', ['caf\u00e9']],
  ['Text=cafe\u0301', ['cafe\u0301']],
]

for (const [filter, texts] of WRITTEN) {
  test(`${JSON.stringify(filter)} finds ${JSON.stringify(texts)}`, async (t) => {
    const found = await find(filter)
    t.deepEqual([...found.map((id) => STORED[id - 1])].sort(), [...texts].sort())
  })
}

test('/i folds letters beyond ASCII where the database can: not on SQLite', async (t) => {
  const found = (await find('Text=łÓDŹ/i')).map((id) => STORED[id - 1])
  t.deepEqual(found, databaseName === 'sqlite' ? [] : ['Łódź'])
  t.deepEqual(
    (await find('Text=*ŁÓDź/i')).map((id) => STORED[id - 1]),
    databaseName === 'sqlite' ? [] : ['Łódź'],
  )
})

test('the orders of text are the database’s own, and never find null', async (t) => {
  const below = await find('Text<m')
  const above = await find('Text>=m')
  t.deepEqual(
    [...below, ...above].sort((a, b) => a - b),
    STORED.flatMap((text, index) => (text === null ? [] : [index + 1])),
  )
  const sorted = await keysOf(words, '/api/words', { sort: 'Text', filter: 'Text!=null', pageSize: 1000 })
  const at = sorted.findIndex((id) => above.includes(id))
  t.deepEqual(sorted.slice(0, at).sort(), [...below].sort())
})

test('every text comes back as it was stored', async (t) => {
  const { body } = await list(words, '/api/words', { pageSize: 1000 })
  t.deepEqual(
    body.items.map(({ text, long }: { text: string; long: string }) => [text, long]),
    STORED.map((text) => [text, text]),
  )
})

test('a column whose collation folds case and pads blanks is compared exactly all the same', async (t) => {
  const types = {
    sqlite: 'VARCHAR(255) COLLATE NOCASE',
    mysql: 'VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci',
    mariadb: 'VARCHAR(255) CHARACTER SET utf8mb3 COLLATE utf8mb3_general_ci',
    postgres: 'VARCHAR(255) COLLATE "C"',
  }
  const values = ['abc', 'ABC', 'abc ', 'Abc', 'äbc', 'xabc', 'abcx']
  const folding = await openStage(({ sequelize }, app) => {
    const Fold = sequelize.define('Fold', { text: DataTypes.STRING }, { tableName: 'folds', timestamps: false })
    app.use(crudRouter(Fold))
    return { Fold }
  })
  const { Fold } = folding
  const { sequelize } = Fold
  if (sequelize === undefined) throw new Error('the model is not initialised')
  const quote = databaseName === 'mysql' || databaseName === 'mariadb' ? '`' : '"'
  await Fold.drop()
  const key = {
    sqlite: 'INTEGER PRIMARY KEY',
    mysql: 'INT PRIMARY KEY AUTO_INCREMENT',
    postgres: 'SERIAL PRIMARY KEY',
  }
  const id = key[databaseName === 'mariadb' ? 'mysql' : databaseName]
  await sequelize.query(`CREATE TABLE ${quote}folds${quote} (id ${id}, text ${types[databaseName]})`)
  await Fold.bulkCreate(values.map((text) => ({ text })))
  t.teardown(() => folding.close())
  const rows: readonly (readonly [filter: string, texts: readonly string[]])[] = [
    ['Text=abc', ['abc']],
    ['Text!=abc', ['ABC', 'abc ', 'Abc', 'äbc', 'xabc', 'abcx']],
    ['Text=in=abc;ABC', ['abc', 'ABC']],
    ['Text=out=abc;ABC', ['abc ', 'Abc', 'äbc', 'xabc', 'abcx']],
    ['Text^abc', ['abc', 'abc ', 'abcx']],
    ['Text$abc', ['abc', 'xabc']],
    ['Text=*BC', ['ABC']],
    ['Text!*BC', ['abc', 'abc ', 'Abc', 'äbc', 'xabc', 'abcx']],
    ['Text=abc/i', ['abc', 'ABC', 'Abc']],
    ['Text^ABC/i', ['abc', 'ABC', 'abc ', 'Abc', 'abcx']],
    ['Text=😀', []],
    ['Text=in=😀;abc', ['abc']],
    ['Text!=😀', values],
    ['Text^😀', []],
    ['Text!^😀', values],
    ['Text=*漢/i', []],
    ['Text!=漢', values],
  ]
  for (const [filter, texts] of rows) {
    const found = await keysOf(folding, '/api/folds', { filter })
    t.deepEqual(
      found.map((id) => values[id - 1]),
      texts,
      filter,
    )
  }
})

if (databaseName === 'mysql' || databaseName === 'mariadb') {
  test('text beyond the character set of its column is 400, and no error of the database', async (t) => {
    const narrow = await openStage(({ sequelize }, app) => {
      const Latin = sequelize.define('Latin', { text: DataTypes.STRING }, { timestamps: false, charset: 'latin1' })
      app.use(crudRouter(Latin, { route: 'api/latin' }))
      return { Latin }
    })
    const { Latin } = narrow
    await Latin.bulkCreate([{ text: 'abc' }, { text: 'äbc' }])
    t.teardown(() => narrow.close())
    t.deepEqual(await keysOf(narrow, '/api/latin', { filter: 'Text=äbc' }), [2])
    t.deepEqual(await keysOf(narrow, '/api/latin', { filter: 'Text=*ł' }), [])
    t.deepEqual(await keysOf(narrow, '/api/latin', { filter: 'Text=😀' }), [])
    for (const filter of ['Text=łbc', 'Text=in=abc;ł;ń', 'Text^ł', 'Text!=ł']) {
      const { status, body } = await list(narrow, '/api/latin', { filter })
      t.is(status, 400, filter)
      t.is(body.title, 'Invalid query.')
    }
  })
}
