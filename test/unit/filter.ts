import test from 'ava'
import fc from 'fast-check'
import { QuerySyntaxError } from '../../lib/common/errors.js'
import { escapeFilterValue, filter } from '../../lib/language/filter.js'
import { OPERATORS, operatorInfoOf } from '../../lib/language/operators.js'
import { parseFilter } from '../../lib/language/query.js'
import type { Comparison, Operator } from '../../types/query.js'

const UNLIMITED = Object.freeze({ nesting: Infinity, clauses: Infinity, listItems: Infinity })

/** The one clause that a filter is. */
function clauseOf(text: string): Comparison {
  const node = parseFilter(text, UNLIMITED)
  if (node.kind !== 'comparison') throw new Error(`${text} is no single clause`)
  return node
}

test('each comparison writes its operator', (t) => {
  t.is(filter.eq('Name', 'Jan Kowalski'), 'Name=Jan Kowalski')
  t.is(filter.ne('Name', 'Jan'), 'Name!=Jan')
  t.is(filter.gt('Level', 25), 'Level>25')
  t.is(filter.gte('Level', 25), 'Level>=25')
  t.is(filter.lt('Level', 25), 'Level<25')
  t.is(filter.lte('Level', 25), 'Level<=25')
  t.is(filter.contains('Name', 'ski'), 'Name=*ski')
  t.is(filter.notContains('Name', 'ski'), 'Name!*ski')
  t.is(filter.startsWith('Team.Name', 'La'), 'Team.Name^La')
  t.is(filter.notStartsWith('Team.Name', 'La'), 'Team.Name!^La')
  t.is(filter.endsWith('Email', 'test.pl'), 'Email$test.pl')
  t.is(filter.notEndsWith('Email', 'test.pl'), 'Email!$test.pl')
  t.is(filter.in('Level', [1, 2]), 'Level=in=1;2')
  t.is(filter.notIn('Level', [1, 2]), 'Level=out=1;2')
  t.is(filter.isNull('Email'), 'Email=null')
  t.is(filter.notNull('Email'), 'Email!=null')
})

test('ignoreCase adds /i to the clause', (t) => {
  t.is(filter.eq('Name', 'jan', { ignoreCase: true }), 'Name=jan/i')
  t.is(filter.in('Name', ['jan', 'ola'], { ignoreCase: true }), 'Name=in=jan;ola/i')
  t.is(filter.eq('Name', 'jan', { ignoreCase: false }), 'Name=jan')
  t.is(filter.eq('Name', 'a/i', { ignoreCase: true }), 'Name=a\\/i/i')
})

test('values of every type are written as the language reads them', (t) => {
  t.is(filter.eq('a', true), 'a=true')
  t.is(filter.eq('a', false), 'a=false')
  t.is(filter.eq('a', null), 'a=null')
  t.is(filter.ne('a', null), 'a!=null')
  t.is(filter.in('a', ['x', null]), 'a=in=x;null')
  t.is(filter.eq('a', ''), 'a=')
  t.is(filter.eq('a', 9007199254740993n), 'a=9007199254740993')
  t.is(filter.gte('a', new Date('2024-02-29T12:00:00+02:00')), 'a>=2024-02-29T10:00:00.000Z')
})

test('numbers are written without an exponent', (t) => {
  const rows: readonly (readonly [number, string])[] = [
    [0, '0'],
    [-0, '0'],
    [-1.5, '-1.5'],
    [1e21, '1000000000000000000000'],
    [-1.25e22, '-12500000000000000000000'],
    [1e-7, '0.0000001'],
    [-1.25e-9, '-0.00000000125'],
    [Number.MAX_SAFE_INTEGER, '9007199254740991'],
  ]
  for (const [value, text] of rows) t.is(filter.eq('a', value), `a=${text}`)
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      const text = filter.eq('a', value).slice(2)
      return /^-?\d+(\.\d+)?$/.test(text) && Number(text) === value
    }),
  )
})

test('text is escaped where the language would read it otherwise, and only there', (t) => {
  const rows: readonly (readonly [string, string])[] = [
    ['Jan Kowalski', 'Jan Kowalski'],
    ['a>=b', 'a>=b'],
    ['2024/01/02', '2024/01/02'],
    ['in', 'in'],
    ['nullable', 'nullable'],
    ['a,b|c;d(e)\\f', 'a\\,b\\|c\\;d\\(e\\)\\\\f'],
    [' a b ', '\\ a b\\ '],
    [' ', '\\ '],
    ['\n', '\\\n'],
    ['=a', '\\=a'],
    ['<a', '\\<a'],
    ['>a', '\\>a'],
    ['*a', '\\*a'],
    ['in=a', '\\in=a'],
    ['OUT=a', '\\OUT=a'],
    ['null', '\\null'],
    ['a/i', 'a\\/i'],
    ['/i', '\\/i'],
    ['a/ib', 'a/ib'],
    ['', ''],
  ]
  for (const [value, text] of rows) t.is(escapeFilterValue(value), text)
})

const special = ['\\', ',', '|', '(', ')', ';', '/', '/i', '=', '<', '>', '*', '!', '^', '$', 'in=', 'out=', 'null']
const blank = [' ', '\t', '\r', '\n', '\u00a0', '\u2028']
const other = ['a', 'i', 'É', '😀', '\ud83d', '\0', '%', '_', '"', "'"]
const nasty = fc.array(fc.constantFrom(...special, ...blank, ...other), { maxLength: 8 }).map((parts) => parts.join(''))
const anyString = fc.oneof(nasty, fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }))

const SINGLE = [
  'eq',
  'ne',
  'gt',
  'gte',
  'lt',
  'lte',
  'contains',
  'notContains',
  'startsWith',
  'notStartsWith',
  'endsWith',
  'notEndsWith',
] as const satisfies readonly Operator[]

const LISTS = ['in', 'notIn'] as const satisfies readonly Operator[]

test('the builder has a comparison for every operator', (t) => {
  t.deepEqual([...SINGLE, ...LISTS].toSorted(), OPERATORS.map(({ name }) => name).toSorted())
  t.true(Object.isFrozen(filter))
})

for (const operator of SINGLE) {
  test(`any string survives being written and parsed: ${operator}`, (t) => {
    const isText = operatorInfoOf(operator).text
    fc.assert(
      fc.property(anyString, fc.boolean(), (value, ignoreCase) => {
        fc.pre(value !== '' || !isText)
        const clause = clauseOf(filter[operator]('Team.Name', value, { ignoreCase }))
        t.deepEqual(clause.path.segments, ['Team', 'Name'])
        t.is(clause.operator, operator)
        t.is(clause.ignoreCase, ignoreCase)
        t.deepEqual(
          clause.operands.map(({ text, isNull }) => ({ text, isNull })),
          [{ text: value, isNull: false }],
        )
      }),
      { numRuns: 500 },
    )
  })
}

for (const operator of LISTS) {
  test(`any list of strings survives being written and parsed: ${operator}`, (t) => {
    const item = fc.option(anyString.filter((value) => value !== ''))
    fc.assert(
      fc.property(fc.array(item, { minLength: 1, maxLength: 5 }), fc.boolean(), (values, ignoreCase) => {
        const clause = clauseOf(filter[operator]('Name', values, { ignoreCase }))
        t.is(clause.operator, operator)
        t.is(clause.ignoreCase, ignoreCase)
        t.deepEqual(
          clause.operands.map(({ text, isNull }) => (isNull ? null : text)),
          values,
        )
      }),
      { numRuns: 500 },
    )
  })
}

test('an escaped value stays in its clause, among others and in groups', (t) => {
  fc.assert(
    fc.property(anyString, anyString, (first, second) => {
      const text = `(a=${escapeFilterValue(first)},b=${escapeFilterValue(second)})|c=1`
      const tree = parseFilter(text)
      t.is(tree.kind, 'or')
      const [group] = tree.kind === 'or' ? tree.nodes : []
      const values = group?.kind === 'and' ? group.nodes : []
      t.deepEqual(
        values.map((node) => (node.kind === 'comparison' ? node.operands[0]?.text : null)),
        [first, second],
      )
    }),
    { numRuns: 500 },
  )
})

test('and and or keep the precedence of what they join', (t) => {
  const { and, or, eq } = filter
  const [a, b, c] = [eq('a', 1), eq('b', 2), eq('c', 3)]
  t.is(and(a, b, c), 'a=1,b=2,c=3')
  t.is(or(a, b, c), 'a=1|b=2|c=3')
  t.is(and(or(a, b), c), '(a=1|b=2),c=3')
  t.is(or(and(a, b), c), 'a=1,b=2|c=3')
  t.is(and(and(a, b), c), 'a=1,b=2,c=3')
  t.is(and(or(a, b), or(b, c)), '(a=1|b=2),(b=2|c=3)')
  t.is(and(a), 'a=1')
  t.is(and(or(a, b)), 'a=1|b=2')
  t.is(and('(a=1|b=2)', 'c=x\\|y'), '(a=1|b=2),c=x\\|y')
})

test('quantifiers wrap their condition', (t) => {
  const condition = filter.or(filter.gt('Level', 50), filter.startsWith('Name', 'A'))
  t.is(filter.any('Players', condition), 'Players.Any(Level>50|Name^A)')
  t.is(filter.all('Team.Players', condition), 'Team.Players.All(Level>50|Name^A)')
  t.is(filter.none('Players', condition), 'Players.None(Level>50|Name^A)')
  t.is(filter.and(filter.any('Players', condition), 'a=1'), 'Players.Any(Level>50|Name^A),a=1')
  t.is(filter.count('Players', 'gt', 2), 'Players.Count>2')
  t.is(filter.count('Players', 'lte', 2n, condition), 'Players.Count(Level>50|Name^A)<=2')
  t.is(filter.count('Players', 'notIn', [1, 2], condition), 'Players.Count(Level>50|Name^A)=out=1;2')
  t.is(parseFilter(filter.count('Players', 'ne', 2, condition)).kind, 'quantified')
})

test('a field that is no path is a TypeError', (t) => {
  for (const field of ['', ' a', 'a ', 'a b', 'a=1,b', 'a|b', '1a', 'a.', '.a', 'a..b', 'a$b', 'a(b)', 'a\n', '😀']) {
    for (const write of [
      () => filter.eq(field, 1),
      () => filter.in(field, [1]),
      () => filter.isNull(field),
      () => filter.any(field, 'a=1'),
      () => filter.count(field, 'gt', 1),
    ]) {
      t.throws(write, { instanceOf: TypeError }, field)
    }
  }
  t.notThrows(() => parseFilter(filter.eq('Größe.Łódź_1', 1)))
})

test('a condition that would reach beyond its place is a TypeError', (t) => {
  for (const condition of ['', ' ', 'a=1)', '(a=1', 'a=1),(b=2', 'a=1)|(b=2', 'a=1\\', 'a=1\\)(']) {
    t.throws(() => filter.and(condition, 'b=2'), { instanceOf: TypeError }, condition)
    t.throws(() => filter.or('b=2', condition), { instanceOf: TypeError }, condition)
    t.throws(() => filter.and(condition), { instanceOf: TypeError }, condition)
    t.throws(() => filter.any('Players', condition), { instanceOf: TypeError }, condition)
    t.throws(() => filter.count('Players', 'gt', 1, condition), { instanceOf: TypeError }, condition)
  }
  t.notThrows(() => filter.and('a=1\\)', 'b=\\(2'))
})

test('an empty list is written as one, which filters of clients cannot have', (t) => {
  t.is(filter.in('a', []), 'a=in=')
  t.is(filter.and(filter.notIn('a', []), filter.eq('b', 1)), 'a=out=,b=1')
  t.throws(() => parseFilter(filter.in('a', [])), { instanceOf: QuerySyntaxError })
  t.throws(() => parseFilter('a=out=,b=1'), { instanceOf: QuerySyntaxError })
})

test('what cannot be compared with is a TypeError', (t) => {
  const rows: readonly (() => unknown)[] = [
    () => filter.and(),
    () => filter.or(),
    () => filter.count('a', 'in', []),
    () => filter.in('a', ['x', '']),
    () => filter.contains('a', ''),
    () => filter.notEndsWith('a', ''),
    () => filter.eq('a', Number.NaN),
    () => filter.in('a', [1, Infinity]),
    () => filter.gt('a', new Date(Number.NaN)),
    () => filter.count('a', 'gt', 1.5),
    // @ts-expect-error Only equality tests for null.
    () => filter.gt('a', null),
    // @ts-expect-error Only equality tests for null.
    () => filter.contains('a', null),
    // @ts-expect-error Undefined is no value.
    () => filter.eq('a', undefined),
    // @ts-expect-error Objects are no values.
    () => filter.eq('a', { b: 1 }),
    // @ts-expect-error A list is an array.
    () => filter.in('a', 'xyz'),
    // @ts-expect-error A count is compared by number.
    () => filter.count('a', 'contains', 1),
    // @ts-expect-error One number is no list.
    () => filter.count('a', 'in', 1),
    // @ts-expect-error A list is no number.
    () => filter.count('a', 'gt', [1]),
    // @ts-expect-error A path is a string.
    () => filter.eq(5, 1),
    // @ts-expect-error A condition is a string.
    () => filter.and({}),
    // @ts-expect-error Only strings are escaped.
    () => escapeFilterValue(5),
  ]
  for (const row of rows) t.throws(row, { instanceOf: TypeError }, String(row))
})

test('the message of a wrong argument names the field and what was given', (t) => {
  const text = (write: () => unknown): string | undefined => t.throws(write, { instanceOf: TypeError })?.message
  const nothing: never = undefined as never
  t.is(
    text(() => filter.eq('teamId', nothing)),
    'a filter cannot compare teamId with undefined',
  )
  t.is(
    text(() => filter.in('teamId', [1, Number.NaN])),
    'a filter cannot compare teamId with NaN',
  )
  t.is(
    text(() => filter.in('teamId', nothing)),
    'filter.in needs an array for teamId',
  )
  t.is(
    text(() => filter.any('members', nothing)),
    'a condition must be the text of a filter',
  )
})
