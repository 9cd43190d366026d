import test from 'ava'
import fc from 'fast-check'
import { QueryLimitError, QuerySyntaxError } from '../../../lib/common/errors.js'
import { OPERATORS } from '../../../lib/language/operators.js'
import { parseFilter, parseSelect, parseSort } from '../../../lib/language/query.js'
import type { FilterNode, Operand } from '../../../types/query.js'

const UNLIMITED = Object.freeze({ nesting: Infinity, clauses: Infinity, listItems: Infinity })

const operandOf = ({ text, isNull }: Operand): string => (isNull ? 'NULL' : JSON.stringify(text))

/** A tree on one line: `Level gt "25"`, `or(a eq "1", and(...))`, `Players.any(...)`. Offsets have tests of their own. */
function shown(node: FilterNode): string {
  switch (node.kind) {
    case 'comparison': {
      const suffix = node.ignoreCase ? ' /i' : ''
      return `${node.path.segments.join('.')} ${node.operator} ${node.operands.map(operandOf).join(';')}${suffix}`
    }
    case 'quantified': {
      const count = node.count === null ? '' : ` ${node.count.operator} ${node.count.operands.map(operandOf).join(';')}`
      return `${node.path.segments.join('.')}.${node.quantifier}(${shown(node.condition)})${count}`
    }
    default:
      return `${node.kind}(${node.nodes.map(shown).join(', ')})`
  }
}

const TREES: { readonly [about: string]: readonly (readonly [filter: string, tree: string])[] } = {
  'the operator is the longest at the first position behind the path': [
    ['Level>=42', 'Level gte "42"'],
    ['Name=*ski', 'Name contains "ski"'],
    ['Name=**', 'Name contains "*"'],
    ['Name!=*', 'Name ne "*"'],
    ['Name!^^', 'Name notStartsWith "^"'],
    ['Name=in', 'Name eq "in"'],
    ['Name=in =a', 'Name eq "in =a"'],
    ['Name=index=a', 'Name eq "index=a"'],
    ['Name=\\in=a', 'Name eq "in=a"'],
    ['Name= in=a', 'Name eq "in=a"'],
    ['Name^in=a', 'Name startsWith "in=a"'],
    ['Name=IN=a', 'Name in "a"'],
    ['Name=Out=a', 'Name notIn "a"'],
  ],
  'an operator inside a value is text': [
    ['Name=a>=b', 'Name eq "a>=b"'],
    ['Name>a=in=b', 'Name gt "a=in=b"'],
    ['Name=!x', 'Name eq "!x"'],
    ['Name=^$', 'Name eq "^$"'],
    ['Name>*x', 'Name gt "*x"'],
    ['Name="a"', 'Name eq "\\"a\\""'],
  ],
  'paths are letters, digits and underscores of any script, joined by dots': [
    ['Team.League.Name=x', 'Team.League.Name eq "x"'],
    ['_a1=x', '_a1 eq "x"'],
    ['Größe.Łódź٣=x', 'Größe.Łódź٣ eq "x"'],
    ['𝒜b=x', '𝒜b eq "x"'],
    ['a$b$c', 'a endsWith "b$c"'],
    ['__proto__.constructor=x', '__proto__.constructor eq "x"'],
  ],
  'blanks around tokens and at the edges of values are trimmed': [
    [' \t\r\nName \t= \n Jan  Kowalski \r\n', 'Name eq "Jan  Kowalski"'],
    ['( a = 1 | b = 2 ) , c = 3', 'and(or(a eq "1", b eq "2"), c eq "3")'],
    ['a =in= x y ;\tz ', 'a in "x y";"z"'],
    ['P.Any ( a = 1 ) , P.Count ( a = 1 ) > 2 ', 'and(P.any(a eq "1"), P.count(a eq "1") gt "2")'],
    ['a=\u00a0x\u00a0', 'a eq "\u00a0x\u00a0"'],
    ['a=x\ny', 'a eq "x\\ny"'],
  ],
  'a backslash makes any character text': [
    ['Name=Hello\\,World', 'Name eq "Hello,World"'],
    ['Name=\\ a\\ ', 'Name eq " a "'],
    ['Name= \\ \\  ', 'Name eq "  "'],
    ['Name=\\(\\)\\|\\;\\\\', 'Name eq "()|;\\\\"'],
    ['Name=\\==', 'Name eq "=="'],
    ['Name=\\*', 'Name eq "*"'],
    ['Name=\\a\\😀', 'Name eq "a😀"'],
    ['Name=in=a\\;b;c', 'Name in "a;b";"c"'],
    ['Name=a\\\\,b=1', 'and(Name eq "a\\\\", b eq "1")'],
  ],
  '/i counts only as the unescaped end of the clause': [
    ['Name=jan/i', 'Name eq "jan" /i'],
    ['Name=jan /i ,b=1', 'and(Name eq "jan" /i, b eq "1")'],
    ['(Name=jan/i)|b=1/i', 'or(Name eq "jan" /i, b eq "1" /i)'],
    ['Name=in=a/i;b/i', 'Name in "a/i";"b" /i'],
    ['Name=in=a;b /i', 'Name in "a";"b" /i'],
    ['Name=/i', 'Name eq "" /i'],
    ['Name=a/i/i', 'Name eq "a/i" /i'],
    ['Name=a\\/i', 'Name eq "a/i"'],
    ['Name=a/\\i', 'Name eq "a/i"'],
    ['Name=a/I', 'Name eq "a/I"'],
    ['Name=a/ i', 'Name eq "a/ i"'],
    ['Name=a/i b', 'Name eq "a/i b"'],
    ['Name=a/ib', 'Name eq "a/ib"'],
    ['Name=a/', 'Name eq "a/"'],
    ['Name=*/ix', 'Name contains "/ix"'],
  ],
  'only the bare lower-case word null means null': [
    ['Email=null', 'Email eq NULL'],
    ['Email!= null ', 'Email ne NULL'],
    ['Email=null/i', 'Email eq NULL /i'],
    ['Email=in=a;null;NULL', 'Email in "a";NULL;"NULL"'],
    ['Email=out=null', 'Email notIn NULL'],
    ['Email=*null', 'Email contains NULL'],
    ['Email=\\null', 'Email eq "null"'],
    ['Email=nul\\l', 'Email eq "null"'],
    ['Email=Null', 'Email eq "Null"'],
    ['Email=null x', 'Email eq "null x"'],
  ],
  'an empty value is text for the operators that compare whole values': [
    ['Name=', 'Name eq ""'],
    ['Name!= ,b>|(c<=)', 'or(and(Name ne "", b gt ""), c lte "")'],
  ],
  'semicolons separate in lists only': [
    ['Name=a;b', 'Name eq "a;b"'],
    ['Name^;', 'Name startsWith ";"'],
    ['Name=in=a;b;c', 'Name in "a";"b";"c"'],
  ],
  'groups bind closest, then the comma, then the bar': [
    ['a=1|b=2,c=3', 'or(a eq "1", and(b eq "2", c eq "3"))'],
    ['(a=1|b=2),c=3', 'and(or(a eq "1", b eq "2"), c eq "3")'],
    ['a=1,b=2,c=3', 'and(a eq "1", b eq "2", c eq "3")'],
    ['a=1|b=2|c=3', 'or(a eq "1", b eq "2", c eq "3")'],
    ['((a=1))', 'a eq "1"'],
    ['((a=1),b=2)', 'and(a eq "1", b eq "2")'],
  ],
  'a quantifier word behind a collection opens a group': [
    ['Players.Any(Level>50,Name^A)', 'Players.any(and(Level gt "50", Name startsWith "A"))'],
    ['Team.Players.ALL(a=1)', 'Team.Players.all(a eq "1")'],
    ['Players.none((a=1|b=1),c=1)', 'Players.none(and(or(a eq "1", b eq "1"), c eq "1"))'],
    ['P.Any(Q.Any(a=1))', 'P.any(Q.any(a eq "1"))'],
    ['P.Count(a=1)!=2', 'P.count(a eq "1") ne "2"'],
    ['P.Count(a=1)>=2/i', 'P.count(a eq "1") gte "2"'],
    ['P.Count(a=1)=in=1;2,b=1', 'and(P.count(a eq "1") in "1";"2", b eq "1")'],
    ['P.Count>2', 'P.Count gt "2"'],
    ['P.Any.Name=x', 'P.Any.Name eq "x"'],
    ['Any=x', 'Any eq "x"'],
  ],
}

for (const [about, rows] of Object.entries(TREES)) {
  test(`filter: ${about}`, (t) => {
    for (const [filter, tree] of rows) t.is(shown(parseFilter(filter)), tree, filter)
  })
}

test('filter: every token of the operator table parses as its operator', (t) => {
  for (const { name, token } of OPERATORS) {
    t.is(shown(parseFilter(`Name${token}x`)), `Name ${name} "x"`)
    t.is(shown(parseFilter(`Name ${token} x`)), `Name ${name} "x"`)
  }
})

test('filter: nodes say where they stand in the text', (t) => {
  t.deepEqual(parseFilter(' (a=1, Team.b=in= x ; null/i)|P.Count(c= )>2'), {
    kind: 'or',
    offset: 1,
    nodes: [
      {
        kind: 'and',
        offset: 2,
        nodes: [
          {
            kind: 'comparison',
            path: { segments: ['a'], offset: 2 },
            operator: 'eq',
            operands: [{ text: '1', isNull: false, offset: 4 }],
            ignoreCase: false,
            offset: 2,
          },
          {
            kind: 'comparison',
            path: { segments: ['Team', 'b'], offset: 7 },
            operator: 'in',
            operands: [
              { text: 'x', isNull: false, offset: 18 },
              { text: 'null', isNull: true, offset: 22 },
            ],
            ignoreCase: true,
            offset: 7,
          },
        ],
      },
      {
        kind: 'quantified',
        path: { segments: ['P'], offset: 30 },
        quantifier: 'count',
        condition: {
          kind: 'comparison',
          path: { segments: ['c'], offset: 38 },
          operator: 'eq',
          operands: [{ text: '', isNull: false, offset: 41 }],
          ignoreCase: false,
          offset: 38,
        },
        count: { operator: 'gt', operands: [{ text: '2', isNull: false, offset: 43 }] },
        offset: 30,
      },
    ],
  })
})

test('sort: fields in either direction, in any case, with blanks', (t) => {
  const keysOf = (sort: string) => parseSort(sort).map(({ path, direction }) => [path.segments.join('.'), direction])
  t.deepEqual(keysOf('Name'), [['Name', 'asc']])
  t.deepEqual(keysOf(' - Level , Name  DESC,Team.Name Asc '), [
    ['Level', 'desc'],
    ['Name', 'desc'],
    ['Team.Name', 'asc'],
  ])
  t.deepEqual(keysOf('asc desc,descAsc'), [
    ['asc', 'desc'],
    ['descAsc', 'asc'],
  ])
  t.deepEqual(parseSort('a, -b.c'), [
    { path: { segments: ['a'], offset: 0 }, direction: 'asc', offset: 0 },
    { path: { segments: ['b', 'c'], offset: 4 }, direction: 'desc', offset: 3 },
  ])
})

test('select: paths, separated by commas', (t) => {
  t.deepEqual(parseSelect(' Name ,Team.Name'), [
    { segments: ['Name'], offset: 1 },
    { segments: ['Team', 'Name'], offset: 7 },
  ])
})

test('select: groups are their members by whole paths, and a star stands for every field', (t) => {
  t.deepEqual(parseSelect('*, Players ( Name ,Orders(*)),Team.*'), [
    { segments: ['*'], offset: 0 },
    { segments: ['Players', 'Name'], offset: 13 },
    { segments: ['Players', 'Orders', '*'], offset: 26 },
    { segments: ['Team', '*'], offset: 30 },
  ])
})

test('select: members of groups count, and groups nest no deeper than other parentheses', (t) => {
  const told = (text: string): unknown => {
    try {
      return parseSelect(text, { selectFields: 3, nesting: 2 }).length
    } catch (error) {
      return error instanceof Error && error.message
    }
  }
  t.is(told('a(b,c),*'), 3)
  t.is(told('a(b,c),d,*'), 'has more fields than the limit of 3 (selectFields).')
  t.is(told('a(b(c))'), 1)
  t.is(told('a(b(c(d)))'), 'is nested deeper than the limit of 2 (nesting).')
  // A group repeats the path to it, and stops where its members are too many.
  const start = performance.now()
  t.is(
    told(`${'a.'.repeat(100_000)}a(${'b,'.repeat(100_000)}b)`),
    'has more fields than the limit of 3 (selectFields).',
  )
  t.true(performance.now() - start < 5000)
})

type Malformed = readonly [text: string, offset: number, expected: string, found: string | null]

function checkMalformed(
  t: { is(actual: unknown, expected: unknown, message?: string): boolean },
  rows: readonly Malformed[],
  parse: (text: string) => unknown,
): void {
  for (const [text, offset, expected, found] of rows) {
    const error = syntaxErrorOf(() => parse(text))
    t.is(error?.offset, offset, text)
    t.is(error?.expected.join(' '), expected, text)
    t.is(error?.found, found, text)
    t.is(error?.picture, `${text.replace(/\p{Cc}/gu, ' ')}\n${' '.repeat(offset)}^`, text)
  }
}

/** The error of a call, if it is a syntax error; whatever else it throws goes on. */
function syntaxErrorOf(call: () => unknown): QuerySyntaxError | undefined {
  try {
    call()
    return undefined
  } catch (error) {
    if (error instanceof QuerySyntaxError) return error
    throw error
  }
}

test('a malformed filter is told by the first character that cannot be', (t) => {
  const term = 'a field name "("'
  const end = '"," "|" the end'
  const rows: readonly Malformed[] = [
    ['', 0, term, null],
    ['  ', 2, term, null],
    ['()', 1, term, ')'],
    ['( )', 2, term, ')'],
    ['Level>5,,Name=x', 8, term, ','],
    ['Level>5,', 8, term, null],
    ['Level>5|', 8, term, null],
    ['|Level>5', 0, term, '|'],
    ['=5', 0, term, '='],
    ['5=5', 0, term, '5'],
    ['$a=5', 0, term, '$'],
    ['😀=5', 0, term, '😀'],
    ['\\a=5', 0, term, '\\'],
    ['!(a=1)', 0, term, '!'],
    ['(Level>5', 8, '"," "|" ")"', null],
    ['Level>5)', 7, end, ')'],
    ['(a=1)b=2', 5, end, 'b'],
    ['(a=1)(b=2)', 5, end, '('],
    ['a=x(b)', 3, end, '('],
    ['a=x (b)', 4, end, '('],
    ['a=x/i(b)', 5, end, '('],
    ['Name', 4, 'an operator', null],
    ['Name ', 5, 'an operator', null],
    ['Name x', 5, 'an operator', 'x'],
    ['Team .Name=x', 5, 'an operator', '.'],
    ['Na-me=x', 2, 'an operator', '-'],
    ['Team.', 5, 'a field name', null],
    ['Team..Name=x', 5, 'a field name', '.'],
    ['Team.1=x', 5, 'a field name', '1'],
    ['Name!', 5, '"=" "*" "^" "$"', null],
    ['Name!>5', 5, '"=" "*" "^" "$"', '>'],
    ['Name! =5', 5, '"=" "*" "^" "$"', ' '],
    ['Name=a\\', 7, 'a character after "\\"', null],
    ['Name=\\', 6, 'a character after "\\"', null],
    ['Name=in=a\\', 10, 'a character after "\\"', null],
    ['Name==x', 5, 'a value', '='],
    ['Name= =x', 6, 'a value', '='],
    ['Name=>5', 5, 'a value', '>'],
    ['Name!==x', 6, 'a value', '='],
    ['Name<>5', 5, 'a value', '>'],
    ['Name>>5', 5, 'a value', '>'],
    ['Name>==5', 6, 'a value', '='],
    ['Name=*<b', 6, 'a value', '<'],
    ['Name$=b', 5, 'a value', '='],
    ['Name=in==b', 8, 'a value', '='],
    ['Name=in=a;>b', 10, 'a value', '>'],
    ['Name=*', 6, 'a value', null],
    ['Name!* ,b=1', 7, 'a value', ','],
    ['Name^|b=1', 5, 'a value', '|'],
    ['(Name!^)', 7, 'a value', ')'],
    ['Name$', 5, 'a value', null],
    ['Name!$/i', 8, 'a value', null],
    ['Name=*/i ,b=1', 9, 'a value', ','],
    ['Name=in=', 8, 'a value', null],
    ['Name=in=,b=1', 8, 'a value', ','],
    ['Name=in=a;;b', 10, 'a value', ';'],
    ['Name=in=;a', 8, 'a value', ';'],
    ['Name=in=a; ;b', 11, 'a value', ';'],
    ['Name=out=a;', 11, 'a value', null],
    ['Name=out=a;/i', 13, 'a value', null],
    ['Name=in=(a;b)', 8, 'a value', '('],
    ['Name=(a)', 5, 'a value', '('],
    ['Name=in=a(b', 9, '";" "," "|" the end', '('],
    ['Name(a=1)', 4, 'an operator', '('],
    ['Any(a=1)', 3, 'an operator', '('],
    ['P.Some(a=1)', 6, 'an operator', '('],
    ['P.Any', 5, '"(" an operator', null],
    ['P.Any()', 6, term, ')'],
    ['P.Any(a=1', 9, '"," "|" ")"', null],
    ['P.Any(a=1)>2', 10, end, '>'],
    ['P.Any(a=1)/i', 10, end, '/'],
    ['P.Count(a=1)', 12, 'an operator', null],
    ['P.Count(a=1),b=1', 12, 'an operator', ','],
    ['P.Count(a=1)^2', 12, 'an operator', '^'],
    ['P.Count(a=1)=*2', 13, 'a value', '*'],
    ['P.Count(a=1)!*2', 13, '"="', '*'],
    ['P.Count(a=1)=', 13, 'a value', null],
    ['P.Count(a=1)=in=', 16, 'a value', null],
    ['P.Count(a=1)==2', 13, 'a value', '='],
  ]
  checkMalformed(t, rows, (text) => parseFilter(text))
})

test('a malformed sort or select is told by the first character that cannot be', (t) => {
  const key = 'a field name "-"'
  const sorts: readonly Malformed[] = [
    ['', 0, key, null],
    [',a', 0, key, ','],
    ['a,,b', 2, key, ','],
    ['a,', 2, key, null],
    ['+a', 0, key, '+'],
    ['--a', 1, 'a field name', '-'],
    ['-', 1, 'a field name', null],
    ['a.', 2, 'a field name', null],
    ['-a desc', 3, '"," the end', 'd'],
    ['-a asc', 3, '"," the end', 'a'],
    ['a desc asc', 7, '"," the end', 'a'],
    ['a descending', 6, '"," the end', 'e'],
    ['a up', 2, '"asc" "desc" "," the end', 'u'],
    ['a-b', 1, '"," the end', '-'],
    ['a;b', 1, '"," the end', ';'],
    ['(a)', 0, key, '('],
  ]
  checkMalformed(t, sorts, (text) => parseSort(text))
  const selects: readonly Malformed[] = [
    ['', 0, 'a field name', null],
    ['a,', 2, 'a field name', null],
    ['a,,b', 2, 'a field name', ','],
    ['a b', 2, '"," the end', 'b'],
    ['a*', 1, '"," the end', '*'],
    ['*.a', 1, '"," the end', '.'],
    ['a.*.b', 3, '"," the end', '.'],
    ['a.*(b)', 3, '"," the end', '('],
    ['a()', 2, 'a field name', ')'],
    ['a(b', 3, '"," ")"', null],
    ['a(b)c', 4, '"," the end', 'c'],
    ['(a)', 0, 'a field name', '('],
    ['a.', 2, 'a field name', null],
    ['-a', 0, 'a field name', '-'],
  ]
  checkMalformed(t, selects, (text) => parseSelect(text))
})

test('common mistakes are told with what to write instead', (t) => {
  const rows: readonly (readonly [filter: string, hint: string])[] = [
    ['Name==x', '`==` is not an operator: write `=`, or `\\=` where a value begins with "=".'],
    ['Name!==x', '`!==` is not an operator: write `!=`, or `\\=` where a value begins with "=".'],
    ['Level=>5', '`=>` is not an operator: write `>=`, or `\\>` where a value begins with ">".'],
    ['Level=<5', '`=<` is not an operator: write `<=`, or `\\<` where a value begins with "<".'],
    ['Level<>5', '`<>` is not an operator: write `!=`, or `\\>` where a value begins with ">".'],
    ['Name= =x', 'Write `\\=` where a value begins with "=".'],
    ['Level>>5', 'Write `\\>` where a value begins with ">".'],
    ['Name=in==x', 'Write `\\=` where a value begins with "=".'],
    ['Name=in=(a;b)', 'A list has no parentheses: `=in=1;2`. Write `\\(` for a parenthesis in a value.'],
    ['Name=(a)', 'Write `\\(` for a parenthesis in a value.'],
    ['Name=a)', 'No group is open: write `\\)` for a parenthesis in a value.'],
    ['Name(a=1)', 'A group after a name needs Any, All, None or Count of a collection.'],
    ['! (a=1)', 'A group cannot be negated: negate its operators.'],
    ['Name like x', 'Operators are signs: write `=*` for `like`.'],
    ['Level in (1,2)', 'Operators are signs: write `=in=` for `in`.'],
    ['Level eq 3', 'Operators are signs: write `=` for `eq`.'],
    ['Name IS null', 'Operators are signs: write `=null` or `!=null` for `IS`.'],
    ...['Level=in=1,2', 'Name=in=A,B', 'Name=out=A, B,C', 'Name=in=A,B;C', '(Name=in=A,B)', 'Name=in=A,B C'].map(
      (filter) => [filter, 'Separate the values of a list by `;`: `=in=1;2`.'] as const,
    ),
    ['Name=in=A,Level eq 3', 'Operators are signs: write `=` for `eq`.'],
    ...['not(Name=x)', 'NOT (Name=x)', 'Level>1,not Name=x', '(!Name=x)', '! Name=x', 'Name not in x'].map(
      (filter) =>
        [
          filter,
          'There is no `not`: negate the operator (`!=`, `!*`, `!^`, `!$`, `=out=`), or use `None(...)` of a collection.',
        ] as const,
    ),
    ['Name=x || Name=y', '`||` is not an operator: write `|`.'],
    ['(Name=x) && (Name=y)', '`&&` is not an operator: write `,`.'],
    ['(Name=x) AND (Name=y)', '`AND` is not an operator: write `,`.'],
    ['(Name=x) or (Name=y)', '`or` is not an operator: write `|`.'],
    ['Name:x', '`:` is not an operator: write `=`.'],
    ['Name ~ x', '`~` is not an operator: write `=*`.'],
    ['Name=*/i', 'At the end of a clause `/i` ignores case: write `\\/i` for the text.'],
  ]
  for (const [filter, hint] of rows) {
    const message = syntaxErrorOf(() => parseFilter(filter))?.message ?? ''
    t.true(message.endsWith(`. ${hint}`), `${filter}: ${message}`)
  }
  for (const filter of [
    'Name=in=A,Na-me=x',
    'Name=in=A,Knot(x=1)',
    '(Name=x) Level=1',
    'Name=x,|Name=y',
    'Name=x,',
    '!',
  ]) {
    const message = syntaxErrorOf(() => parseFilter(filter))?.message ?? ''
    t.notRegex(message, /`/, `${filter} has no hint`)
  }
  t.is(
    syntaxErrorOf(() => parseSort('-Name desc'))?.message,
    'Expected "," or the end at position 6, but found "d". Write the direction once: `-Field` or `Field desc`.',
  )
  t.is(
    syntaxErrorOf(() => parseSort('Name:desc'))?.message,
    'Expected "," or the end at position 4, but found ":". A direction is `-Field` or `Field desc`.',
  )
  t.is(
    syntaxErrorOf(() => parseFilter('Level>5,,Name=x'))?.message,
    'Expected a field name or "(" at position 8, but found ",".',
  )
})

test('a syntax error carries nothing of the generated parser', (t) => {
  const error = syntaxErrorOf(() => parseFilter('Name'))
  t.is(error?.name, 'QuerySyntaxError')
  t.is(error?.code, 'QUERY_SYNTAX')
  t.is(error?.parameter, 'filter')
  t.is(syntaxErrorOf(() => parseSort('-'))?.parameter, 'sort')
  t.is(syntaxErrorOf(() => parseSelect(','))?.parameter, 'select')
  t.is(error?.cause, undefined)
  t.true(Object.isFrozen(error?.expected))
  t.deepEqual(Object.keys(error ?? {}).sort(), ['code', 'expected', 'found', 'name', 'offset', 'parameter', 'picture'])
})

const nested = (depth: number, open = '('): string => `${open.repeat(depth)}a=1${')'.repeat(depth)}`
const listed = (count: number, separator: string, item = 'a'): string => Array(count).fill(item).join(separator)

test('every limit is inclusive, named in its error, and can be raised', (t) => {
  const rows: readonly (readonly [
    fits: () => unknown,
    exceeds: () => unknown,
    raised: () => unknown,
    message: string,
  ])[] = [
    [
      () => parseFilter(nested(10)),
      () => parseFilter(nested(11)),
      () => parseFilter(nested(400), UNLIMITED),
      'is nested deeper than the limit of 10 (nesting).',
    ],
    [
      () => parseFilter(nested(10, 'P.Any(')),
      () => parseFilter(nested(11, 'P.Any(')),
      () => parseFilter(nested(400, 'P.Any('), UNLIMITED),
      'is nested deeper than the limit of 10 (nesting).',
    ],
    [
      () => parseFilter(listed(100, ',', 'a=1')),
      () => parseFilter(listed(101, '|', 'a=1')),
      () => parseFilter(listed(5000, '|', 'a=1'), UNLIMITED),
      'has more clauses than the limit of 100 (clauses).',
    ],
    [
      () => parseFilter(listed(50, ',', 'P.Count(a=1)>1')),
      () => parseFilter(`${listed(50, ',', 'P.Count(a=1)>1')},b=1`),
      () => parseFilter(listed(51, ',', 'P.Count(a=1)>1'), { clauses: 102 }),
      'has more clauses than the limit of 100 (clauses).',
    ],
    [
      () => parseFilter(`a=in=${listed(200, ';')},a=in=${listed(200, ';')}`),
      () => parseFilter(`a=in=${listed(201, ';')}`),
      () => parseFilter(`a=in=${listed(5000, ';')}`, UNLIMITED),
      'has a list with more values than the limit of 200 (listItems).',
    ],
    [
      () => parseSort(listed(10, ',')),
      () => parseSort(listed(11, ',')),
      () => parseSort(listed(500, ','), { sortKeys: Infinity }),
      'has more sort keys than the limit of 10 (sortKeys).',
    ],
    [
      () => parseSelect(listed(50, ',')),
      () => parseSelect(listed(51, ',')),
      () => parseSelect(listed(500, ','), { selectFields: Infinity }),
      'has more fields than the limit of 50 (selectFields).',
    ],
  ]
  for (const [fits, exceeds, raised, message] of rows) {
    t.notThrows(fits)
    t.throws(exceeds, { instanceOf: QueryLimitError, code: 'QUERY_LIMIT', message })
    t.notThrows(raised)
  }
})

test('a limit error names its parameter, limit and maximum', (t) => {
  const error = t.throws(() => parseFilter('((a=1))', { nesting: 1 }), { instanceOf: QueryLimitError })
  t.is(error?.name, 'QueryLimitError')
  t.is(error?.parameter, 'filter')
  t.is(error?.limit, 'nesting')
  t.is(error?.maximum, 1)
})

test('escaped parentheses nest nothing', (t) => {
  t.notThrows(() => parseFilter(`a=${'\\('.repeat(50)}`))
  t.throws(() => parseFilter('a=\\\\((', { nesting: 1 }), { instanceOf: QueryLimitError })
})

test('a hundred thousand parentheses are refused by the limit, even by an infinite one', (t) => {
  const deep = 100_000
  for (const text of ['('.repeat(deep), nested(deep), nested(deep, 'P.Any('), ')'.repeat(deep) + '('.repeat(deep)]) {
    t.throws(() => parseFilter(text), { instanceOf: QueryLimitError, message: /\b10 \(nesting\)/ })
    t.throws(() => parseFilter(text, UNLIMITED), { instanceOf: QueryLimitError, message: /\b500 \(nesting\)/ })
  }
  t.throws(() => parseFilter(')'.repeat(deep)), { instanceOf: QuerySyntaxError })
  t.throws(() => parseFilter('()'.repeat(deep)), { instanceOf: QuerySyntaxError })
})

test('what is not a string is a TypeError', (t) => {
  for (const nothing of [undefined, null, 5, {}, ['a=1']]) {
    // @ts-expect-error Callers without types may pass anything.
    t.throws(() => parseFilter(nothing), { instanceOf: TypeError, message: 'the filter to parse must be a string' })
    // @ts-expect-error Callers without types may pass anything.
    t.throws(() => parseSort(nothing), { instanceOf: TypeError, message: 'the sort to parse must be a string' })
  }
})

// Anything worse than linear takes minutes at this length and runs into AVA's time limit.
const LENGTHS = [4_000, 200_000]

const FAMILIES: { readonly [family: string]: (length: number) => string } = {
  'deep groups': () => nested(10),
  'the deepest groups': () => nested(500),
  'deep quantifiers': () => nested(500, 'P.Any('),
  'unfinished counts in each other': () => nested(500, 'P.Count('),
  'unclosed groups': (length) => `${'('.repeat(10)}${'a=1,'.repeat(length / 4)}`,
  'groups side by side': (length) => `${'(a=1),'.repeat(length / 6)}a=1`,
  'a chain of and': (length) => `${'a=1,'.repeat(length / 4)}a=1`,
  'a chain of or': (length) => `${'a=1|'.repeat(length / 4)}a=1`,
  'a chain that ends badly': (length) => `${'a=1,b=2|'.repeat(length / 8)}!`,
  escapes: (length) => `a=${'\\a'.repeat(length / 2)}`,
  'escapes with a lone end': (length) => `a=${'\\\\'.repeat(length / 2)}\\`,
  'near misses of operators': (length) => `a=${'!>=<=in='.repeat(length / 8)}`,
  'near misses of operators behind a path': (length) => `a${'!'.repeat(length)}`,
  'equals signs': (length) => `a${'='.repeat(length)}`,
  'near misses of /i': (length) => `a=${'/i'.repeat(length / 2)}x`,
  'near misses of /i between blanks': (length) => `a=${'/i   '.repeat(length / 5)}x`,
  blanks: (length) => `a=${' '.repeat(length)}`,
  'blanks before a fault': (length) => `((a=1${' '.repeat(length)})`,
  'blanks between words': (length) => `a=${'b   '.repeat(length / 4)}`,
  'blanks in lists': (length) => `a=in=${'b   ;   '.repeat(length / 8)}c`,
  'list items': (length) => `a=in=${'b;'.repeat(length / 2)}c/i`,
  'a list with an empty end': (length) => `a=in=${'b;'.repeat(length / 2)}`,
  'a long path': (length) => `${'a.'.repeat(length / 2)}b=1`,
  'a long word': (length) => 'a'.repeat(length),
  'nothing but commas': (length) => ','.repeat(length),
  parentheses: (length) => '()'.repeat(length / 2),
  'closing parentheses': (length) => `a=1${')'.repeat(length)}`,
}

for (const [family, make] of Object.entries(FAMILIES)) {
  test(`parsing takes linear time: ${family}`, (t) => {
    for (const length of LENGTHS) t.notThrows(() => syntaxErrorOf(() => parseFilter(make(length), UNLIMITED)))
  })
}

const TOKENS = ['a', 'Team.', 'P.Any(', 'P.Count(', 'null', 'in', '=', '!', '>', '<', '*', '^', '$', '=in=', '=out=']
const SEPARATORS = [',', '|', '(', ')', ';', '/', '/i', '\\', ' ', '\n', '-', ' desc', '1', 'é', '😀', '\ud800']
const words = fc.array(fc.constantFrom(...TOKENS, ...SEPARATORS), { maxLength: 30 }).map((parts) => parts.join(''))
const anyText = fc.oneof(words, fc.string({ unit: 'binary', maxLength: 40 }))

test('any text either parses or throws a syntax or limit error', (t) => {
  for (const parse of [parseFilter, parseSort, parseSelect]) {
    fc.assert(
      fc.property(anyText, (text) => {
        try {
          parse(text)
        } catch (error) {
          if (error instanceof QueryLimitError) return
          if (!(error instanceof QuerySyntaxError)) throw error
          const code = text.codePointAt(error.offset)
          if (error.expected.length === 0) throw new Error('nothing is expected')
          if (error.found !== (code === undefined ? null : String.fromCodePoint(code)))
            throw new Error('found is wrong')
        }
      }),
      { numRuns: 3000 },
    )
  }
  t.pass()
})

/** Goes on writing where a filter stops, as its error suggests, until it parses. Null if the fault is elsewhere. */
function completed(beginning: string): string | null {
  const suggestions = new Map([
    ['a field name', 'a'],
    ['an operator', '='],
    ['"="', '='],
    ['a value', 'x'],
    ['a character after "\\"', 'x'],
    ['")"', ')'],
  ])
  let text = beginning
  for (let attempts = 0; attempts < 100; attempts += 1) {
    const error = syntaxErrorOf(() => parseFilter(text, UNLIMITED))
    if (error === undefined) return text
    if (error.found !== null) return null
    // The last suggestion closes groups rather than go on in them.
    const words = error.expected.filter((word) => suggestions.has(word))
    text += suggestions.get(words.at(-1) ?? '') ?? ''
  }
  return null
}

test('a fault is the first character that cannot be: what is before it can be completed, with it it cannot', (t) => {
  fc.assert(
    fc.property(words, (text) => {
      const error = syntaxErrorOf(() => parseFilter(text, UNLIMITED))
      if (error === undefined) return
      if (completed(text.slice(0, error.offset)) === null) throw new Error('the fault is earlier')
      if (error.found === null) return
      const fault = text.slice(0, error.offset + error.found.length)
      const possible = ['', ...TOKENS, ...SEPARATORS]
        .map((next) => completed(fault + next))
        .find((filter) => filter !== null)
      if (possible !== undefined) throw new Error(`the fault is later, as in ${possible}`)
    }),
    { numRuns: 1000 },
  )
  t.pass()
})
