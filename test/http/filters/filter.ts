import test from 'ava'
import { OPERATORS } from '../../../lib/language/operators.js'
import type { Operator } from '../../../types/query.js'
import { keysOf, list } from '../../support/lists.js'
import { EQUALITY, ORDER, PARTS } from '../../support/operators.js'
import { serveSamples } from '../../support/samples.js'

const samples = await serveSamples()
test.after.always(() => samples.close())

/** The keys of the rows found, by a statement of the package's own and by `findAll`, which must agree. */
async function ids(filter: string): Promise<number[]> {
  const own = await keysOf(samples, '/api/samples', { filter })
  const found = await keysOf(samples, '/api/hooked', { filter })
  if (own.join() !== found.join()) throw new Error(`${filter}: ${own}, but ${found} by findAll`)
  return own
}

/** Every type by a field of it: the values of rows 1, 2 and 3 as a client writes them, and the operators it has. */
const TYPES: readonly (readonly [
  type: string,
  field: string,
  values: readonly [string, string, string],
  operators: readonly Operator[],
])[] = [
  ['STRING', 'Text', ['alpha', 'bravo', 'charlie'], [...EQUALITY, ...ORDER, ...PARTS]],
  ['TEXT', 'Note', ['apple', 'banana', 'cherry'], [...EQUALITY, ...ORDER, ...PARTS]],
  ['INTEGER', 'Whole', ['-5', '0', '2147483647'], [...EQUALITY, ...ORDER]],
  ['SMALLINT', 'Small', ['-32768', '0', '32767'], [...EQUALITY, ...ORDER]],
  ['BIGINT', 'Big', ['-9007199254740993', '9007199254740992', '9007199254740993'], [...EQUALITY, ...ORDER]],
  ['DECIMAL', 'Amount', ['-0.1', '0.30', '1234567890.12'], [...EQUALITY, ...ORDER]],
  ['DOUBLE', 'Double', ['-0.1', '0.3', `1${'0'.repeat(100)}`], [...EQUALITY, ...ORDER]],
  ['FLOAT', 'Single', ['0.1', '0.3', '1.5'], [...EQUALITY, ...ORDER]],
  ['REAL', 'Real', ['0.1', '0.3', '1.5'], [...EQUALITY, ...ORDER]],
  ['BOOLEAN', 'Flag', ['true', 'false', 'true'], EQUALITY],
  [
    'DATE with milliseconds',
    'At',
    ['2024-02-28T23:59:59.999Z', '2024-02-29T00:00:00Z', '2024-02-29T23:59:59.999Z'],
    [...EQUALITY, ...ORDER],
  ],
  ['DATE', 'Moment', ['2024-02-28T10:00:00Z', '2024-02-29T10:00:00Z', '2024-03-01T10:00:00Z'], [...EQUALITY, ...ORDER]],
  ['DATEONLY', 'Day', ['2024-02-28', '2024-02-29', '2024-03-01'], [...EQUALITY, ...ORDER]],
  ['TIME', 'Clock', ['00:00:00', '09:30:00', '23:59:59'], [...EQUALITY, ...ORDER]],
  [
    'UUID',
    'Code',
    [
      '0b1c2d3e-0000-4000-8000-000000000001',
      '0b1c2d3e-0000-4000-8000-00000000000a',
      'ffffffff-0000-4000-8000-000000000003',
    ],
    EQUALITY,
  ],
  ['ENUM', 'Rank', ['High', 'Low', 'mid'], EQUALITY],
]

/** What each operator finds when it is given row 2's value, or the values of rows 1 and 3. */
const FOUND: Readonly<Record<Operator, readonly number[]>> = {
  eq: [2],
  ne: [1, 3, 4],
  gt: [3],
  gte: [2, 3],
  lt: [1],
  lte: [1, 2],
  in: [1, 3],
  notIn: [2, 4],
  contains: [2],
  notContains: [1, 3, 4],
  startsWith: [2],
  notStartsWith: [1, 3, 4],
  endsWith: [2],
  notEndsWith: [1, 3, 4],
}

for (const [type, field, [first, second, third], operators] of TYPES) {
  for (const { name, token, list: takesList } of OPERATORS) {
    const filter = `${field}${token}${takesList ? `${first};${third}` : second}`
    if (operators.includes(name)) {
      test(`${type} has ${token}: ${filter} finds ${FOUND[name].join(', ')}`, async (t) => {
        t.deepEqual(await ids(filter), FOUND[name])
      })
    } else {
      test(`${type} does not have ${token}: ${filter} is 400 naming field and operator`, async (t) => {
        const { status, body } = await list(samples, '/api/samples', { filter })
        t.is(status, 400)
        t.is(body.title, 'Invalid query.')
        const [message] = body.errors.filter
        t.true(message.startsWith(`${field} at position 0: the operator "${token}" cannot be used with `), message)
      })
    }
  }
}

/** Values as a client may write them, and what they find. */
const VALUES: { readonly [about: string]: readonly (readonly [filter: string, ids: readonly number[]])[] } = {
  'an integer is digits with an optional sign': [
    ['Whole=+0', [2]],
    ['Whole=-0', [2]],
    ['Whole=00', [2]],
    ['Whole=-5', [1]],
    ['Whole=-05', [1]],
    ['Whole> -5 ', [2, 3]],
    ['Whole=in= -5 ; +0 ', [1, 2]],
    ['Whole=0/i', [2]],
  ],
  'an integer beyond the column is a comparison like any other': [
    ['Whole=2147483648', []],
    ['Whole!=2147483648', [1, 2, 3, 4]],
    ['Whole<2147483648', [1, 2, 3]],
    ['Whole<=99999999999999999999', [1, 2, 3]],
    ['Whole>2147483648', []],
    ['Whole>=2147483648', []],
    ['Whole>-2147483649', [1, 2, 3]],
    ['Whole>=-99999999999999999999', [1, 2, 3]],
    ['Whole<-2147483649', []],
    ['Whole=in=0;2147483648', [2]],
    ['Whole=in=2147483648;2147483649', []],
    ['Whole=out=0;2147483648', [1, 3, 4]],
    ['Whole=out=2147483648', [1, 2, 3, 4]],
    ['Small=32768', []],
    ['Small<32768', [1, 2, 3]],
    ['Small>-32769', [1, 2, 3]],
    ['Big=9223372036854775808', []],
    ['Big!=9223372036854775808', [1, 2, 3, 4]],
    ['Big<9223372036854775808', [1, 2, 3]],
    ['Big>=-9223372036854775809', [1, 2, 3]],
  ],
  'a BIGINT is compared by its digits, beyond 2^53 too': [
    ['Big=9007199254740993', [3]],
    ['Big=9007199254740992', [2]],
    ['Big!=9007199254740993', [1, 2, 4]],
    ['Big>9007199254740992', [3]],
    ['Big>=9007199254740993', [3]],
    ['Big<9007199254740993', [1, 2]],
    ['Big<-9007199254740992', [1]],
    ['Big=in=9007199254740993;9007199254740994', [3]],
    ['Big=out=9007199254740993', [1, 2, 4]],
  ],
  'a decimal never passes through floating point': [
    ['Amount=0.3', [2]],
    ['Amount=+00.300', [2]],
    ['Amount=-0.1', [1]],
    ['Amount=0.30000000000000001', []],
    ['Amount!=0.30000000000000001', [1, 2, 3, 4]],
    ['Amount=0.300000000000000000000000000000000000001', []],
    ['Amount>0.29999999999999999', [2, 3]],
    ['Amount>=0.30000000000000001', [3]],
    ['Amount<0.30000000000000001', [1, 2]],
    ['Amount<=0.29999999999999999', [1]],
    ['Amount>-0.10000000000000001', [1, 2, 3]],
    ['Amount>=-0.10000000000000001', [1, 2, 3]],
    ['Amount<-0.09999999999999999', [1]],
    ['Amount<=-0.10000000000000001', []],
    ['Amount>-0.001', [2, 3]],
    ['Amount=in=0.3;0.30000000000000001', [2]],
    ['Amount=in=0.30000000000000001', []],
    ['Amount=out=0.30000000000000001;-0.1', [2, 3, 4]],
    ['Amount=1234567890.12', [3]],
    [`Amount<1${'0'.repeat(60)}`, [1, 2, 3]],
    [`Amount>-1${'0'.repeat(60)}`, [1, 2, 3]],
    [`Amount=1${'0'.repeat(60)}`, []],
  ],
  'a float is a decimal number': [
    ['Double=0.3', [2]],
    ['Double=-0.10', [1]],
    ['Double<0', [1]],
    ['Double>1000000', [3]],
    ['Single<=0.3', [1, 2]],
    ['Single=1.50', [3]],
  ],
  'a boolean is true or false in any case': [
    ['Flag=TRUE', [1, 3]],
    ['Flag!=False', [1, 3, 4]],
    ['Flag=in=true;FALSE', [1, 2, 3]],
    ['Flag=out=true;false', [4]],
    ['Flag=true/i', [1, 3]],
  ],
  'an enumeration is one of its names in any case': [
    ['Rank=LOW', [2]],
    ['Rank=MID', [3]],
    ['Rank!=hIGH', [2, 3, 4]],
    ['Rank=in=low;high', [1, 2]],
    ['Rank=low/i', [2]],
  ],
  'a UUID is its digits in any case': [
    ['Code=0B1C2D3E-0000-4000-8000-00000000000A', [2]],
    ['Code!=0b1c2d3e-0000-4000-8000-00000000000A', [1, 3, 4]],
    ['Code=in=FFFFFFFF-0000-4000-8000-000000000003', [3]],
    ['Code=00000000-0000-0000-0000-000000000000', []],
  ],
  'a date-time is ISO 8601, without an offset UTC, with a blank for the T': [
    ['At=2024-02-29T00:00:00.000Z', [2]],
    ['At=2024-02-29T00:00:00', [2]],
    ['At=2024-02-29T00:00', [2]],
    ['At=2024-02-29 00:00', [2]],
    ['At=2024-02-29t00:00z', [2]],
    ['At=2024-02-29T01:30+01:30', [2]],
    ['At=2024-02-28T19:00-05:00', [2]],
    ['At=2024-02-28T23:59:59.999', [1]],
    ['At>2024-02-28T23:59:59.998', [1, 2, 3]],
    ['At>2024-02-28T23:59:59.999', [2, 3]],
    ['At>=2024-02-29T00:00:00.001Z', [3]],
    ['At=in=2024-02-29T00:00Z;2024-02-29T23:59:59.999Z', [2, 3]],
  ],
  'a date-time column that keeps no milliseconds is compared with all those of the value': [
    ['Moment=2024-02-29T10:00:00.500Z', []],
    ['Moment!=2024-02-29T10:00:00.500Z', [1, 2, 3, 4]],
    ['Moment<2024-02-29T10:00:00.500Z', [1, 2]],
    ['Moment<=2024-02-29T10:00:00.500Z', [1, 2]],
    ['Moment>2024-02-29T09:59:59.999Z', [2, 3]],
    ['Moment>=2024-02-29T10:00:00.001Z', [3]],
    ['Moment=in=2024-02-29T10:00:00.001Z', []],
  ],
  'a bare day on a date-time is that whole day': [
    ['At=2024-02-29', [2, 3]],
    ['At!=2024-02-29', [1, 4]],
    ['At>2024-02-28', [2, 3]],
    ['At>2024-02-29', []],
    ['At>=2024-02-29', [2, 3]],
    ['At<2024-02-29', [1]],
    ['At<2024-02-28', []],
    ['At<=2024-02-28', [1]],
    ['At<=2024-02-29', [1, 2, 3]],
    ['At=in=2024-02-28;2024-03-01', [1]],
    ['At=in=2024-02-28;2024-02-29T00:00Z;null', [1, 2, 4]],
    ['At=out=2024-02-28;2024-02-29T00:00Z', [3, 4]],
    ['At=out=2024-02-28;null', [2, 3]],
    ['At>=0001-01-01', [1, 2, 3]],
    ['At<=9999-12-31', [1, 2, 3]],
    ['At=9999-12-31', []],
  ],
  'a date is a calendar day': [
    ['Day=2024-02-29', [2]],
    ['Day>=2024-02-29', [2, 3]],
    ['Day<2024-02-29', [1]],
    ['Day=in=2024-02-28;2024-03-01', [1, 3]],
    ['Day>0001-01-01', [1, 2, 3]],
    ['Day<9999-12-31', [1, 2, 3]],
  ],
  'a time is hours, minutes and, if need be, seconds': [
    ['Clock=09:30', [2]],
    ['Clock=09:30:00', [2]],
    ['Clock>09:29:59', [2, 3]],
    ['Clock<=09:30', [1, 2]],
    ['Clock=00:00', [1]],
  ],
  'the bare word null tests for null with =, !=, =in= and =out=': [
    ['Text=null', [4]],
    ['Text= null ', [4]],
    ['Text!=null', [1, 2, 3]],
    ['Text=in=null', [4]],
    ['Text=in=alpha;null', [1, 4]],
    ['Text=out=null', [1, 2, 3]],
    ['Text=out=alpha;null', [2, 3]],
    ['Text=null/i', [4]],
    ['Text=in=ALPHA;null/i', [1, 4]],
    ['Whole=in=0;null', [2, 4]],
    ['Whole=out=0;null', [1, 3]],
    ['Flag=in=false;null', [2, 4]],
  ],
  'null is text where it is escaped, in another case, or behind another operator': [
    ['Text=\\null', []],
    ['Text!=\\null', [1, 2, 3, 4]],
    ['Text=NULL', []],
    ['Text=Null', []],
    ['Text=*null', []],
    ['Text!*null', [1, 2, 3, 4]],
    ['Text^null', []],
    ['Text!$null', [1, 2, 3, 4]],
    ['Text<null', [1, 2, 3]],
    ['Text>null', []],
  ],
  'null fails the orders and the positive operators, and meets the negated ones': [
    ['Whole<100|Whole>=100', [1, 2, 3]],
    ['Text^a|Text!^a', [1, 2, 3, 4]],
    ['Text!=alpha,Text!*b', [3, 4]],
    ['At<2024-01-01|At>=2024-01-01', [1, 2, 3]],
  ],
  'nothing behind = and != is the empty text': [
    ['Text=', []],
    ['Text!=', [1, 2, 3, 4]],
    ['Text= ,Whole=0', []],
    ['(Text=)|Whole=0', [2]],
    ['Text>', [1, 2, 3]],
    ['Text<', []],
  ],
  'a group binds closest, then the comma, then the bar': [
    ['Whole=-5|Whole=0,Text=charlie', [1]],
    ['(Whole=-5|Whole=0),Text=charlie', []],
    ['Text=charlie,Whole=0|Whole=-5', [1]],
    ['Text=charlie,(Whole=0|Whole=-5)', []],
    ['Whole=-5|(Whole=0|Whole=2147483647),Flag=true', [1, 3]],
    ['((Whole=0))', [2]],
    ['(Whole=0|Whole=-5),(Flag=false|Text=null)', [2]],
    ['Flag=true,Whole=0|Flag=false,Whole=0|Text=null', [2, 4]],
  ],
  'blanks around tokens and at the edges of values are no part of them': [
    [' Text = bravo ', [2]],
    ['( Text = bravo | Whole = -5 ) , Flag = true', [1]],
    ['Text\t=\nbravo\r\n', [2]],
    ['Text =in= alpha ; bravo', [1, 2]],
    ['Text = bravo /i', [2]],
  ],
  'field names are written in any case': [
    ['text=bravo', [2]],
    ['TEXT=bravo', [2]],
    ['tExT=bravo', [2]],
    ['Text=IN=bravo', [2]],
    ['Text=Out=bravo', [1, 3, 4]],
  ],
}

for (const [about, rows] of Object.entries(VALUES)) {
  test(about, async (t) => {
    for (const [filter, found] of rows) t.deepEqual(await ids(filter), found, filter)
  })
}

for (const [type, field] of TYPES) {
  test(`${type}: ${field}=null finds the row without a value, ${field}!=null the others`, async (t) => {
    t.deepEqual(await ids(`${field}=null`), [4])
    t.deepEqual(await ids(`${field}!=null`), [1, 2, 3])
  })
}

/** Clauses whose negation must find exactly the other rows: each has its operator in braces. */
const COMPLEMENTS: readonly string[] = [
  ...TYPES.flatMap(([, field, [first, second]]) => [
    `${field}{=}${first}`,
    `${field}{=}null`,
    `${field}{=in=}${first};${second}`,
    `${field}{=in=}${first};null`,
  ]),
  ...['Text', 'Note'].flatMap((field) =>
    ['a', 'A', 'ra', 'le', 'zzz', '%', '_'].flatMap((value) =>
      ['=*', '^', '$', '=', '=in='].flatMap((token) => [`${field}{${token}}${value}`, `${field}{${token}}${value}/i`]),
    ),
  ),
  ...['Required{=}one', 'Required{=*}o', 'Required{^}t', 'Required{$}e', 'Required{=in=}one;two'],
  ...['Whole{=}2147483648', 'Whole{=in=}0;2147483648', 'Big{=}9007199254740993', 'Amount{=}0.301', 'Text{=}'],
  ...['At{=}2024-02-29', 'At{=in=}2024-02-29;2024-02-28T23:59:59.999Z', 'At{=in=}2024-02-29;null'],
]

const NEGATED: ReadonlyMap<string, string> = new Map(
  OPERATORS.flatMap(({ token, complementOf }) => {
    const positive = OPERATORS.find(({ name }) => name === complementOf)
    return positive === undefined ? [] : [[positive.token, token]]
  }),
)

test('a negated operator finds exactly the rows that its positive one does not, null ones included', async (t) => {
  t.is(NEGATED.size, OPERATORS.filter(({ name }) => name === 'ne' || name.startsWith('not')).length)
  for (const clause of COMPLEMENTS) {
    const positive = await ids(clause.replace(/[{}]/g, ''))
    const negated = await ids(clause.replace(/\{(.+)\}/, (_, token: string) => NEGATED.get(token) ?? 'none'))
    t.deepEqual([...positive, ...negated].sort(), [1, 2, 3, 4], clause)
  }
})

/** What is no value of its field's type. */
const WRONG: { readonly [type: string]: readonly (readonly [field: string, values: readonly string[]])[] } = {
  'a whole number': [
    ['Whole', ['abc', '', '1.5', '1e3', '0x10', '1_000', '--1', '+', '१', 'NaN', 'Infinity', '1 2']],
    ['Big', ['9007199254740993n', '1.0']],
    ['Small', ['true']],
  ],
  'a decimal number': [['Amount', ['abc', '', '1e3', '.5', '5.', '1\\,5', '0x1', '- 1', '1.2.3', 'NaN']]],
  'a number': [['Double', ['abc', '', '1e3', 'Infinity']]],
  'true or false': [['Flag', ['1', '0', 'yes', '', 't', 'on']]],
  'one of Low, mid, High': [['Rank', ['Lo', 'Lowest', '', '0', 'constructor']]],
  'a UUID': [
    [
      'Code',
      [
        '0b1c2d3e',
        '',
        '0b1c2d3e000040008000000000000001',
        '{0b1c2d3e-0000-4000-8000-000000000001}',
        '0b1c2d3e-0000-4000-8000-00000000000g',
      ],
    ],
  ],
  'a date-time (ISO 8601)': [
    [
      'At',
      [
        ...['', 'yesterday', '2024', '2024-02', '20240229', '2024-02-30', '2023-02-29', '2024-13-01', '2024-00-10'],
        ...['2024-2-9', '2024-02-29T', '2024-02-29T24:00', '2024-02-29T10', '2024-02-29T10:60', '20240229T1000Z'],
        ...['2024-02-29T10:00:60Z', '2024-W09-4', '2024-060', '1709200000', '2024-02-29T10:00+25:00', '0000-01-01'],
      ],
    ],
  ],
  'a date (YYYY-MM-DD)': [
    ['Day', ['', '2024-02-30', '2024-02-29T00:00', '29.02.2024', '20240229', '2024-W09-4', '02024-01-01']],
  ],
  'a time (HH:MM:SS)': [['Clock', ['', '9:30', '08:60', '09:60', '09:30:60', '0930', '09', '09:30Z']]],
}

for (const [what, rows] of Object.entries(WRONG)) {
  test(`what is not ${what} is 400 naming the field, the value and the type`, async (t) => {
    for (const [field, values] of rows) {
      for (const value of values) {
        const { status, body } = await list(samples, '/api/samples', { filter: `${field}=${value}` })
        t.is(status, 400, `${field}=${value}`)
        t.is(body.title, 'Invalid query.')
        const text = value.replace('\\', '')
        t.deepEqual(body.errors, { filter: [`${field} at position 0: "${text}" is not ${what}.`] })
      }
    }
  })
}

test('null on what is never null is 400 naming the field, in lists too', async (t) => {
  for (const filter of [
    'Required=null',
    'Required!=null',
    'Required=in=a;null',
    'Required=out=null',
    'Required=null/i',
  ]) {
    const { status, body } = await list(samples, '/api/samples', { filter })
    t.is(status, 400, filter)
    t.is(body.title, 'Invalid query.')
    t.deepEqual(body.errors, { filter: ['Required at position 0: it is never null.'] })
  }
})

test('null behind an operator that does not test for it is a value, and wrong for what is not text', async (t) => {
  for (const filter of ['Whole>null', 'At<=null', 'Amount<null']) {
    const { status, body } = await list(samples, '/api/samples', { filter })
    t.is(status, 400, filter)
    t.regex(body.errors.filter[0], /"null" is not /)
  }
})

for (const field of ['Data', 'Bytes']) {
  test(`${field} has no operators: each is 400 naming field and operator`, async (t) => {
    for (const { token } of OPERATORS) {
      for (const value of ['x', 'null']) {
        const { status, body } = await list(samples, '/api/samples', { filter: `${field}${token}${value}` })
        t.is(status, 400, token)
        t.is(body.title, 'Invalid query.')
        t.true(body.errors.filter[0].startsWith(`${field} at position 0: the operator "${token}" cannot be used`))
      }
    }
  })
}

test('text that no database stores alike is 400: NUL characters', async (t) => {
  const { status, body } = await list(samples, '/api/samples', { filter: 'Text=a\0b' })
  t.is(status, 400)
  t.regex(body.errors.filter[0], /^Text at position 0: .* is not text without NUL characters\.$/)
})

test('the same rows are counted, paged by cursor and selected as are listed', async (t) => {
  for (const filter of ['Text!=bravo', 'Whole<100', 'At=2024-02-29', 'Amount=0.301', 'Big=in=9007199254740993;null']) {
    const found = await ids(filter)
    const counted = await list(samples, '/api/samples', { filter, count: true })
    t.deepEqual(counted.body, { count: found.length }, filter)
    t.deepEqual(await keysOf(samples, '/api/samples', { filter, cursor: '' }), found, filter)
    t.deepEqual(await keysOf(samples, '/api/samples', { filter, select: 'id' }), found, filter)
  }
})
