// Filters that are broken at random, by a seeded generator: the same ones in every run.

import test from 'ava'
import { parseFilter, QueryLimitError, QuerySyntaxError } from '../../../lib/index.js'
import { OPERATORS } from '../../../lib/language/operators.js'
import { serveRelations } from '../../support/relations.js'
import type { Answer } from '../../support/server.js'

const served = await serveRelations()
test.after.always(() => served.close())

const EVERYBODY = [1, 2, 3, 4, 5]

/** A small generator of pseudo-random numbers (mulberry32), from 0 up to 1. */
function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

interface Random {
  readonly below: (limit: number) => number
  readonly pick: <T>(of: readonly [T, ...T[]]) => T
}

function randomOf(seed: number): Random {
  const next = generator(seed)
  const below = (limit: number): number => Math.floor(next() * limit)
  return { below, pick: (of) => of[below(of.length)] ?? of[0] }
}

/** Valid filters, none of which finds everybody: a clause less would show. */
const VALID: readonly [string, ...string[]] = [
  'Name=Ada',
  'Level>50',
  'Level>=60,Level<80',
  'Level=in=10;60',
  'Level=out=10;60;80;null,Level!=null',
  'Name=ada/i',
  'Name^A|Name^B',
  'Name!*a,Name!^B,Name!$e',
  '(Level>50|Name=*d),Club.Name=Real',
  'Club.Name=Lech,Level>20',
  'Club.Country.Name!=Poland',
  'Mentor.Mentor.Name=Ada',
  'Club=null',
  'Level=null',
  'Skills.Name=Run',
  'Skills.All.Name=Run',
  'Skills.None.Name=Run',
  'Skills.Count>1',
  'Skills.Any(Name=Run|Name=Swim),Level<20',
  'Skills.Count(Name=Run|Name=Jump)=2',
  'Pupils.All(Club.Name=Real,Level>70)',
  'Pupils.Any(Skills.Count>0),Level<50',
  'Joined=2024-01-01',
  'Name=a\\,b|Name=\\(x\\)|Name=Ben',
  '((Level<20|Level>70),(Name=Ada|Name=Cid)),Level>20',
]

const TOKENS: readonly [string, ...string[]] = [
  ...([
    '(',
    ')',
    ',',
    '|',
    ';',
    '\\',
    '/',
    '/i',
    '.',
    ' ',
    '!',
    '=',
    '==',
    '=>',
    '*',
    '-',
    "'",
    '"',
    '%',
    'null',
  ] as const),
  ...OPERATORS.map(({ token }) => token),
  ...['Name', 'Level', 'Club', 'Skills', 'Any', 'All', 'Count', 'Nobody', '__proto__', 'Club.Name', 'Skills.Any('],
  ...[
    '10',
    '-1',
    '9'.repeat(30),
    '2024-01-01',
    'é',
    '😀',
    '\u0301',
    '\0',
    '\ud800',
    '\n',
    '\ue0000\ue001',
    'x'.repeat(50),
  ],
]

/** A valid filter with one to four things wrong, or at least different. */
function mutated({ below, pick }: Random): string {
  let text = pick(VALID)
  for (let rest = 1 + below(4); rest > 0; rest -= 1) {
    const at = below(text.length + 1)
    const length = 1 + below(4)
    switch (below(6)) {
      case 0:
        text = text.slice(0, at) + text.slice(at + length)
        break
      case 1:
        text = text.slice(0, at) + pick(TOKENS) + text.slice(at)
        break
      case 2:
        text = text.slice(0, at) + pick(TOKENS) + text.slice(at + length)
        break
      case 3:
        text = text.slice(0, at) + text.slice(at, at + length).repeat(2) + text.slice(at + length)
        break
      case 4:
        text = `${text}${pick([',', '|', '', '('])}${pick(VALID)}`
        break
      default:
        text = text.slice(0, at)
    }
  }
  return text
}

/** Any characters at all: from ASCII, mostly, and from everywhere else. */
function noise({ below }: Random): string {
  const character = (): string =>
    below(4) === 0 ? String.fromCodePoint(below(0xd800)) : String.fromCharCode(below(128))
  return Array.from({ length: 1 + below(60) }, character).join('')
}

/** Tokens of the language in any order. */
function jumble({ below, pick }: Random): string {
  return Array.from({ length: 1 + below(12) }, () => pick(TOKENS)).join('')
}

const FAMILIES: readonly (readonly [about: string, make: (random: Random) => string])[] = [
  ['valid filters, mutated', mutated],
  ['random characters', noise],
  ['random tokens', jumble],
]

/** What the parser makes of a filter: null where it does not parse. */
function parses(filter: string): boolean {
  try {
    parseFilter(filter)
    return true
  } catch (error) {
    if (error instanceof QuerySyntaxError || error instanceof QueryLimitError) return false
    throw error
  }
}

/** As percent-encoded UTF-8; what is no Unicode text goes out as bytes that are no UTF-8. */
function encoded(filter: string): string {
  return [...filter]
    .map((character) => (/\p{Surrogate}/u.test(character) ? '%ED%A0%80' : encodeURIComponent(character)))
    .join('')
}

async function ask(filter: string): Promise<Answer> {
  return served.get(`/api/people?filter=${encoded(filter)}`)
}

const CONCURRENT = 8

/** Generates filters until there are enough that `isWanted`, and asks for all of them, a few at a time. */
async function forEach(
  seed: number,
  make: (random: Random) => string,
  { count, isWanted }: { count: number; isWanted: (filter: string) => boolean },
  check: (filter: string, answer: Answer) => void,
): Promise<number> {
  const random = randomOf(seed)
  let asked = 0
  const worker = async (): Promise<void> => {
    while (asked < count) {
      const filter = make(random)
      if (filter.trim() === '' || !isWanted(filter)) continue
      asked += 1
      check(filter, await ask(filter))
    }
  }
  await Promise.all(Array.from({ length: CONCURRENT }, worker))
  return asked
}

const isMalformed = (filter: string): boolean => !parses(filter)

for (const [index, [about, make]] of FAMILIES.entries()) {
  test(`what does not parse is 400 with a problem and nothing else: ${about}`, async (t) => {
    const bad: unknown[] = []
    const asked = await forEach(index + 1, make, { count: 400, isWanted: isMalformed }, (filter, answer) => {
      const { status, headers, body } = answer
      const isProblem = headers.get('content-type') === 'application/problem+json' && body.status === 400
      const isNamed = Object.keys(body.errors ?? {}).join() === 'filter' && body.errors.filter.length === 1
      const title = body.title === 'Malformed filter.' || body.title === 'Invalid query.'
      if (status !== 400 || !isProblem || !isNamed || !title || 'items' in body) bad.push({ filter, status, body })
    })
    t.true(asked >= 400)
    t.deepEqual(bad, [])
  })
}

async function found(filter: string): Promise<readonly number[]> {
  const { status, body } = await ask(filter)
  if (status !== 200) throw new Error(`${filter}: ${status}`)
  return body.items.map(({ id }: { id: number }) => id)
}

/** What a filter must find: what its clauses find one by one, put together as its tree says. */
async function composed(filter: string): Promise<readonly number[]> {
  const { kind } = parseFilter(filter)
  if (kind !== 'and' && kind !== 'or') return found(filter)
  const parts = split(filter, kind === 'and' ? ',' : '|')
  // A group around the whole is the only thing that leaves it in one piece.
  if (parts.length === 1) return composed(filter.trim().slice(1, -1))
  const each = await Promise.all(parts.map(composed))
  return EVERYBODY.filter((id) => (kind === 'and' ? each.every((ids) => ids.includes(id)) : each.flat().includes(id)))
}

test('a filter that is answered was parsed whole, and no clause of it was dropped', async (t) => {
  const answered = new Set<string>()
  const unexpected: unknown[] = []
  await forEach(11, mutated, { count: 800, isWanted: () => true }, (filter, { status, body }) => {
    if (status === 200) answered.add(filter)
    if (status === 200 ? !parses(filter) : status !== 400) unexpected.push({ filter, status, body })
  })
  t.deepEqual(unexpected, [])
  t.true(answered.size > 50, `only ${answered.size} mutations were filters`)
  for (const filter of [...answered].slice(0, 160)) t.deepEqual(await found(filter), await composed(filter), filter)
})

/** The parts of a filter between the separators outside its groups; escapes are passed over. */
function split(filter: string, separator: string): string[] {
  const parts = ['']
  let depth = 0
  for (let at = 0; at < filter.length; at += 1) {
    const character = filter[at] ?? ''
    const last = parts.length - 1
    if (character === '\\') {
      parts[last] += character + (filter[at + 1] ?? '')
      at += 1
      continue
    }
    if (character === '(') depth += 1
    if (character === ')') depth -= 1
    if (character === separator && depth === 0) parts.push('')
    else parts[last] += character
  }
  return parts
}

test('the filters that the mutations start from find some people each, and never all of them', async (t) => {
  for (const filter of VALID) {
    const people = await found(filter)
    t.true(people.length < EVERYBODY.length, filter)
  }
})

test('sort and select at random are answered or refused, and never fail', async (t) => {
  const random = randomOf(21)
  const words: readonly [string, ...string[]] = [
    ...(['Name', 'Level', 'Club.Name', 'Club', 'Nobody', 'Skills.Name', '__proto__'] as const),
    ...[',', ' ', '-', 'desc', 'asc', '.', '*', '(', '\\', '\0', '😀'],
  ]
  const statuses = new Set<number>()
  for (let count = 0; count < 300; count += 1) {
    const text = Array.from({ length: 1 + random.below(6) }, () => random.pick(words)).join('')
    for (const parameter of ['sort', 'select', 'sortBy']) {
      const { status, headers, body } = await served.get(`/api/people?${parameter}=${encoded(text)}`)
      statuses.add(status)
      t.true(status === 200 || status === 400, `${parameter}=${text}: ${status}`)
      if (status === 400) t.deepEqual(Object.keys(body.errors), [parameter], text)
      else t.is(headers.get('content-type'), 'application/json; charset=utf-8')
    }
  }
  t.deepEqual([...statuses].sort(), [200, 400])
})
