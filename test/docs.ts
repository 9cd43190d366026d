// The README, held against the program: its snippets are compiled and run, its requests are sent, its tables are
// compared with the tables of the code. What drifts fails here.

import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { Request } from 'express'
import jsonwebtoken from 'jsonwebtoken'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { io as connect } from 'socket.io-client'
import { compile } from '../lib/compile/index.js'
import {
  DEFAULT_LIMITS,
  FIELD,
  NAMES,
  OPTIONS,
  Operations,
  PUSH,
  QUERY,
  RULES,
  type Shape,
} from '../lib/compile/options.js'
import { valueTypeOf } from '../lib/compile/valueType.js'
import { filter as builder } from '../lib/filter.js'
import { identityFromRequest } from '../lib/identity.js'
import { OPERATORS, type OperatorInfo } from '../lib/operators.js'
import * as policies from '../lib/policies.js'
import { PROBLEMS, type ProblemCode } from '../lib/problem.js'
import type { FieldType } from '../types/field.js'
import { portOf, type Reply, readCurl, sendCurl } from './support/curl.js'
import { openDatabase, type TestDatabase } from './support/database.js'
import { openLeague } from './support/league.js'
import { type Block, blocksOf, codeIn, codesIn, tableOf } from './support/markdown.js'
import { answers, freePort, type Program, root, start, startExample } from './support/program.js'
import { foundInSources, messagesIn, runFragments, type SnippetProject, snippetProject } from './support/snippets.js'

const readme = await readFile(join(root, 'README.md'), 'utf8')
const blocks = blocksOf(readme)

/** A port of the README to the port that really answers it. */
const ports = new Map<number, number>()
const LEAGUE = 3000

/** What the programs of the README verify tokens with. */
const JWT_SECRET = randomBytes(32).toString('base64url')

/** What stands for a token in the README's requests, to a token with the claims that it says. */
const tokens: ReadonlyMap<string, string> = new Map(
  tableOf(readme, 'tokens').map(([name, claims]) => [
    codeIn(name),
    jsonwebtoken.sign(JSON.parse(codeIn(claims)), JWT_SECRET, { expiresIn: '15m' }),
  ]),
)

const programs: Program[] = []
let project: SnippetProject
let outcomes: ReadonlyMap<number, string>
let fresh: number

async function startLeague(): Promise<number> {
  const program = startExample('league')
  programs.push(program)
  const [, port] = await program.says(/localhost:(\d+)/)
  return Number(port)
}

test.before(async () => {
  ports.set(LEAGUE, await startLeague())
  fresh = await startLeague()
  project = await snippetProject(blocks)
  outcomes = await runFragments(project, { JWT_SECRET })
  for (const { file, port } of project.snippets) {
    if (port === null) continue
    const free = await freePort()
    programs.push(start([file], { cwd: project.folder, env: { PORT: String(free), JWT_SECRET } }))
    await answers(free)
    ports.set(port, free)
  }
})

test.after.always(async () => {
  await Promise.all(programs.map((program) => program.stop()))
  await project?.remove()
})

// ---------------------------------------------------------------- snippets

test('every TypeScript and JavaScript snippet of the README compiles against the built package', (t) => {
  t.is(project.diagnostics, '')
  t.true(project.snippets.length > 10, `${project.snippets.length} snippets`)
})

for (const { line, language, text } of blocks) {
  if (language !== 'ts' && language !== 'js') continue
  if (/\.listen\(/.test(text)) continue
  test(`the snippet in line ${line} of the README runs, and what it says of its values is so`, (t) => {
    t.is(outcomes.get(line), 'passed')
  })
}

// ---------------------------------------------------------------- requests

/** The blocks that show what the request before them answers. */
const ANSWERS: ReadonlySet<string> = new Set(['json', 'http'])

interface Exchange {
  readonly line: number
  readonly command: string
  readonly answer: Block | null
}

/** Every curl command of the README with the answer that stands behind it, in order. */
const exchanges: readonly Exchange[] = blocks.flatMap(({ language, text, line }, index) => {
  if (language !== 'sh' || !text.startsWith('curl ')) return []
  const next = blocks[index + 1]
  return [{ line, command: text, answer: next !== undefined && ANSWERS.has(next.language) ? next : null }]
})

async function send(command: string, port?: number): Promise<Reply> {
  const curl = readCurl(command.replace(/\$[A-Z]+/g, (name) => tokens.get(name) ?? name))
  const to = port ?? ports.get(portOf(curl))
  if (to === undefined) throw new RangeError(`nobody in the README listens on ${portOf(curl)}`)
  return sendCurl(curl, to)
}

/** A status line, some of the headers and the body; or the body alone, which is then that of any status. */
function told({ language, text }: Block): { head: readonly string[]; body: string } {
  if (language === 'json') return { head: [], body: text }
  const [head = '', body = ''] = text.split('\n\n')
  return { head: head.split('\n').filter((line) => line !== ''), body }
}

const varying = /"(createdAt|updatedAt|deletedAt)":"\d{4}-\d\d-\d\dT[\d:.]+Z"/g

function parsed(body: string): unknown {
  if (body.trim() === '') return null
  // When a record was made is another time in every run.
  return JSON.parse(JSON.stringify(JSON.parse(body)).replace(varying, '"$1":"now"'))
}

test.serial('every request of the README, sent in order, gets the answer that stands behind it', async (t) => {
  for (const { line, command, answer } of exchanges) {
    const reply = await send(command)
    t.truthy(answer, `line ${line} shows no answer`)
    if (answer === null) continue
    const { head, body } = told(answer)
    t.deepEqual(parsed(reply.text), parsed(body), `line ${answer.line}: ${command}`)
    const [status, ...headers] = head
    if (status !== undefined) t.is(`HTTP/1.1 ${reply.status} ${reply.statusText}`, status, `line ${answer.line}`)
    for (const header of headers) {
      const [name = '', value] = header.split(/: (.*)/)
      t.is(reply.headers[name.toLowerCase()], value, `line ${answer.line}: ${name}`)
    }
  }
  t.true(exchanges.length > 15, `${exchanges.length} requests`)
})

test.serial('a client of the README hears of what its request creates', async (t) => {
  const pushed = exchanges.filter(({ line }) =>
    blocks.some((block) => block.line < line && /push: \{ io/.test(block.text)),
  )
  const [exchange] = pushed
  if (exchange === undefined) throw new RangeError('the README has no request behind its push')
  const port = portOf(readCurl(exchange.command))
  const [, path] = /io\('http:\/\/localhost:\d+([^']*)'/.exec(readme) ?? []
  t.true(readme.includes(`io('http://localhost:${port}${path}'`))
  const client = connect(`http://localhost:${ports.get(port)}${path}`)
  t.teardown(() => client.close())
  await new Promise<void>((resolve, reject) => client.on('connect', resolve).on('connect_error', reject))
  const heard = new Promise((resolve) => client.on('OnCreated', resolve))
  const { text } = await send(exchange.command)
  t.deepEqual(await heard, JSON.parse(text))
})

test('every list of the README is the same on a league that nobody has written to', async (t) => {
  for (const { command, answer } of exchanges) {
    if (!command.includes(`localhost:${LEAGUE}/`)) continue
    const curl = readCurl(command)
    if (curl.method !== 'GET' || answer === null) continue
    const reply = await send(command, fresh)
    t.deepEqual(parsed(reply.text), parsed(told(answer).body), `line ${answer.line}: ${command}`)
  }
})

test('every other command of the README is one that the package has', async (t) => {
  const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  const lines = blocks.filter(({ language }) => language === 'sh').flatMap(({ text }) => text.split('\n'))
  const commands = lines.flatMap((line) => line.split(' && ')).filter((command) => !command.startsWith('curl '))
  t.true(commands.length >= 3)
  for (const command of commands) {
    const [npm, verb = '', ...names] = command.split(' ')
    t.is(npm, 'npm', command)
    if (verb === 'install') {
      const known = [manifest.name, ...Object.keys(manifest.peerDependencies)]
      const needed = known.filter((name) => manifest.peerDependenciesMeta[name]?.optional !== true)
      for (const peer of needed) t.true(names.includes(peer), `${peer} is missing in ${command}`)
      for (const name of names) t.true(known.includes(name), command)
    } else if (verb === 'run') {
      t.truthy(manifest.scripts[names[0] ?? ''], command)
      const indexes = ['index.ts', 'index.cjs'].map((file) => join(root, 'examples', names[1] ?? '', file))
      if (names[0] === 'example') t.true(indexes.some(existsSync), command)
    } else t.true(verb === 'ci' || manifest.scripts[verb] !== undefined, command)
  }
  for (const [, script = ''] of readme.matchAll(/`(?:\w+=\w+ )*npm run ([\w-]+)/g)) {
    t.truthy(manifest.scripts[script], script)
  }
})

test('the README links to headings that it has', (t) => {
  const headings = [...readme.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  )
  for (const [, anchor = ''] of readme.matchAll(/\]\(#([^)]*)\)/g)) t.true(headings.includes(anchor), anchor)
})

// ---------------------------------------------------------------- tables

/** The first column, which names the rows. */
function names(table: string): string[] {
  return tableOf(readme, table).map(([name]) => codeIn(name))
}

for (const [table, shape, plural] of [
  ['options', OPTIONS, 'options'],
  ['field options', FIELD, 'field options'],
  ['rules', RULES, 'rules'],
  ['query', QUERY, 'list settings'],
  ['push options', PUSH, 'push options'],
] as const satisfies readonly (readonly [string, Shape, string])[]) {
  test(`the README has all ${plural} and no others, in the words of the code`, (t) => {
    t.deepEqual(
      tableOf(readme, table).map(([name, what]) => [codeIn(name), what]),
      Object.entries(shape).map(([name, [, what]]) => [name, what]),
    )
  })
}

test('the README has every shape that a field can be excluded from', (t) => {
  for (const name of Object.keys(NAMES)) t.regex(readme, new RegExp(`five shapes:[^.]*\`${name}\``))
})

test('the defaults that the README gives are those of a resource without options', async (t) => {
  const league = await openLeague()
  t.teardown(league.close)
  const { key, query, operations, route } = compile(league.Player)
  const defaults = new Map(tableOf(readme, 'options').map(([name, , value]) => [codeIn(name), codesIn(value)[0]]))
  t.is(defaults.get('keyProperty'), key.name)
  t.deepEqual(
    [...operations],
    [...compile(league.Player, { operations: Number(defaults.get('operations')) }).operations],
  )
  t.is(route, '/api/players')
  const settings = tableOf(readme, 'query').map(([name, , value = '']) => [codeIn(name), codesIn(value)[0] ?? ''])
  t.deepEqual(
    settings,
    Object.keys(QUERY).map((name) => [name, String(query[name as keyof typeof query])]),
  )
})

test('the README has all limits and their defaults', (t) => {
  t.deepEqual(
    tableOf(readme, 'limits').map(([name, value]) => [codeIn(name), Number(value)]),
    Object.entries(DEFAULT_LIMITS),
  )
})

test('the README has the numbers of all operations', (t) => {
  const rows = tableOf(readme, 'operations').flatMap(([name, number, , other, another]) => [
    [name, number],
    [other, another],
  ])
  const named = rows.filter(([name]) => name !== '').map(([name, number]) => [codeIn(name), Number(number)])
  t.deepEqual(Object.fromEntries(named), { ...Operations })
})

function fieldsOf({ types }: OperatorInfo): string {
  const has = (type: FieldType): boolean => types.includes(type)
  if (has('uuid') && has('enum') && has('boolean') && has('datetime')) return 'all'
  return has('datetime') && !has('boolean') ? 'ordered' : types.join() === 'string' ? 'text' : '?'
}

test('the README has all operators, and says which fields have them', (t) => {
  const rows = tableOf(readme, 'operators')
  t.deepEqual(
    rows.map(([token, , , fields]) => [codeIn(token), fields]),
    OPERATORS.map((info) => [info.token, fieldsOf(info)]),
  )
  for (const [token, example, meaning] of rows) {
    t.true(codeIn(example).includes(codeIn(token)), codeIn(example))
    const isComplement = OPERATORS.find((info) => info.token === codeIn(token))?.complementOf !== null
    t.is(meaning?.endsWith(', null included'), isComplement, codeIn(token))
  }
})

test('every filter in the tables of the README is one that the league answers', async (t) => {
  const filters = tableOf(readme, 'operators').map(([, example]) => ['players', codeIn(example)])
  const [, collections = ''] = readme.split('| Filter on teams |')
  for (const line of collections.split('\n').slice(2)) {
    if (!line.startsWith('|')) break
    filters.push(...codesIn(line).map((code) => ['teams', code]))
  }
  t.true(filters.length > 20)
  for (const [route, filter = ''] of filters) {
    const reply = await send(
      `curl -g 'localhost:3000/api/${route}?count=true&filter=${encodeURIComponent(filter)}'`,
      fresh,
    )
    t.is(reply.status, 200, `${filter}: ${reply.text}`)
  }
})

test('the README has all functions of the filter builder, with the operators that they write', (t) => {
  const rows = tableOf(readme, 'builder')
  t.deepEqual(rows.flatMap(([name]) => codesIn(name)).sort(), Object.keys(builder).sort())
  for (const [functions, written] of rows) {
    const tokens = codesIn(written)
    for (const [index, name] of codesIn(functions).entries()) {
      const operator = OPERATORS.find((info) => info.name === name)
      if (operator !== undefined) t.is(tokens[index], operator.token, name)
    }
  }
})

test('the README has all problems with their status and title', (t) => {
  t.deepEqual(
    tableOf(readme, 'problems').map(([code, status, title]) => [codeIn(code), Number(status), title]),
    (Object.keys(PROBLEMS) as ProblemCode[]).map((code) => [code, PROBLEMS[code].status, PROBLEMS[code].title]),
  )
})

test('the README has all codes of configuration errors', async (t) => {
  const codes = await foundInSources(/(?:new CrudConfigError|unknownName)\(\s*'([A-Z_0-9]+)'/g)
  t.deepEqual(names('config codes').sort(), [...codes].sort())
})

test('the README has all validation messages', async (t) => {
  const files = ['compile/rules.ts', 'compile/readers.ts', 'compile/bounds.ts', 'plan/index.ts', 'perform/failure.ts']
  const messages = await messagesIn(files.map((file) => `lib/${file}`))
  t.deepEqual(
    names('messages')
      .map((message) => message.replace(/\b[ABN]\b/g, '…'))
      .sort(),
    [...messages].map((message) => message.replace('place….', 'places.')).sort(),
  )
})

test('the README names the Sequelize types of every type of field', (t) => {
  const types = DataTypes as unknown as Readonly<Record<string, typeof DataTypes.STRING>>
  for (const [sequelize, type] of tableOf(readme, 'types')) {
    for (const name of codesIn(sequelize))
      t.is(String(valueTypeOf({ type: types[name] ?? name }).type), codeIn(type), name)
  }
  const named = new Set<string>(tableOf(readme, 'types').map(([, type]) => codeIn(type)))
  const known = new Set<string>(['json', 'blob', ...OPERATORS.flatMap((info) => info.types)])
  t.deepEqual([...named].sort(), [...known].sort())
})

test('the README names every runtime dependency and every peer', async (t) => {
  const { dependencies, peerDependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  const [section = ''] = (readme.split('## What it stands on')[1] ?? '').split('\n## ')
  const rows = [...section.matchAll(/^\| `([\w-]+)` \|/gm)].map(([, name = '']) => name)
  t.deepEqual(rows.sort(), Object.keys(dependencies).sort())
  for (const peer of Object.keys(peerDependencies)) t.true(section.includes(`\`${peer}\``), peer)
})

// ---------------------------------------------------------------- behaviours

test('the README has the claims of an identity, each with what it is', (t) => {
  for (const [claims, meaning = ''] of tableOf(readme, 'claims')) {
    for (const claim of codesIn(claims)) {
      const request = { user: { [claim]: 'x y' } } as unknown as Request
      const { name, roles, permissions } = identityFromRequest(request) ?? {}
      const told = { name: name !== null, roles: roles?.size ?? 0, permissions: permissions?.size ?? 0 }
      t.deepEqual(
        told,
        {
          name: meaning.startsWith('the name'),
          roles: meaning.startsWith('roles') ? 1 : 0,
          permissions: meaning.startsWith('permissions') ? (meaning.endsWith('words of a text') ? 2 : 1) : 0,
        },
        claim,
      )
    }
  }
})

test('the README has all ready-made policies', (t) => {
  t.deepEqual(names('policies').sort(), Object.keys(policies).sort())
})

/** A model that lacks every attribute that behaviours want. */
function bare({ sequelize }: TestDatabase): ModelStatic<Model> {
  return sequelize.define('Player', { name: DataTypes.STRING }, { timestamps: false })
}

async function empty(t: ExecutionContext): Promise<TestDatabase> {
  const database = await openDatabase()
  t.teardown(database.close)
  return database
}

test('the README has all hooks', async (t) => {
  const Player = bare(await empty(t))
  const hooks = tableOf(readme, 'hooks').flatMap(([cell]) => codesIn(cell))
  t.notThrows(() => compile(Player, { hooks: Object.fromEntries(hooks.map((name) => [name, () => {}])) }))
  const known = ['Create', 'Update', 'Delete', 'Restore'].flatMap((name) => [`before${name}`, `after${name}`])
  t.deepEqual([...hooks].sort(), known.sort())
})

test('the README has the attributes that behaviours add, with their types and defaults', async (t) => {
  const Player = bare(await empty(t))
  const own = Object.keys(Player.getAttributes())
  const rows = tableOf(readme, 'added')
  for (const [option] of rows) compile(Player, { [codeIn(option)]: true })
  const attributes = Player.getAttributes()
  const added = Object.keys(attributes).filter((name) => !own.includes(name))
  t.deepEqual(rows.map(([, name]) => codeIn(name)).sort(), [...added].sort())
  for (const [option, name, type, rest = ''] of rows) {
    const { key, _length } = (attributes[codeIn(name)]?.type ?? {}) as { key?: string; _length?: number }
    t.is(_length === undefined || key === 'STRING' ? key : `${key}(${_length})`, codeIn(type), codeIn(name))
    const { allowNull = true, defaultValue } = attributes[codeIn(name)] ?? {}
    t.is(allowNull ? '' : `not null, ${defaultValue}`, rest, codeIn(name))
    const renamed = bare(await empty(t))
    compile(renamed, { [codeIn(option)]: { [codeIn(name)]: 'other' } })
    t.true(Object.hasOwn(renamed.getAttributes(), 'other'), `${option}.${name}`)
  }
})
