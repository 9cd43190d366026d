// The README and the pages in docs, held against the program: their snippets are compiled and run, their requests are
// sent, their tables are compared with the tables of the code. What drifts fails here.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { dirname, join, normalize } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import type { Request } from 'express'
import jsonwebtoken from 'jsonwebtoken'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { io as connect } from 'socket.io-client'
import { BEHAVIOURS } from '../lib/behaviours.js'
import { MESSAGES } from '../lib/common/messages.js'
import { PROBLEMS, type ProblemCode } from '../lib/common/problem.js'
import { compile } from '../lib/compile/index.js'
import { DEFAULT_LIMITS } from '../lib/compile/limits.js'
import { FIELD, optionShape } from '../lib/compile/options.js'
import { QUERY } from '../lib/compile/query.js'
import { valueTypeOf } from '../lib/compile/valueType.js'
import { FORMATS } from '../lib/http/formats.js'
import { identityFromRequest } from '../lib/identity/identity.js'
import * as policies from '../lib/identity/policies.js'
import * as exported from '../lib/index.js'
import { filter as builder } from '../lib/language/filter.js'
import { OPERATORS, type OperatorInfo } from '../lib/language/operators.js'
import { Operations } from '../lib/operations.js'
import type { OptionShape } from '../types/check.js'
import type { FieldType } from '../types/field.js'
import { ANSWERS, assertAnswer, parseStable, splitAnswer } from './support/answers.js'
import { portOf, type Reply, readCurl, sendCurl } from './support/curl.js'
import { openDatabase, type TestDatabase } from './support/database.js'
import { type Page, pageWith, readPages, TUTORIAL, tableIn } from './support/documents.js'
import { openLeague } from './support/league.js'
import { anchorsOf, type Block, codeIn, codesIn, linksOf } from './support/markdown.js'
import { type Program, root, startExample } from './support/program.js'
import { findInSources, type SnippetProject, snippetProject, startSnippets } from './support/snippets.js'

const pages = await readPages()
const blocks = pages.flatMap((page) => page.blocks)
const readme = pageWith(pages, '# sequelize-crud-router\n').text

/** A table of the documents, without its head: the text of each cell. */
function table(name: string): readonly (readonly string[])[] {
  return tableIn(pages, name)
}

/** The port that the league has on every page. */
const LEAGUE = 3000

/** What listens on a port of a page, to the port that really answers. Each page stands alone, as for its reader. */
const ports = new Map<string, number>()

function listener(path: string, port: number): string {
  return `${path}:${port}`
}

/** What the programs of the documents verify tokens with. */
const JWT_SECRET = randomBytes(32).toString('base64url')

/** What stands for a token in the documents' requests, to a token with the claims that they say. */
const tokens: ReadonlyMap<string, string> = new Map(
  table('tokens').map(([name, claims]) => [
    codeIn(name),
    jsonwebtoken.sign(JSON.parse(codeIn(claims)), JWT_SECRET, { expiresIn: '15m' }),
  ]),
)

const programs: Program[] = []
let project: SnippetProject
let outcomes: ReadonlyMap<string, string>
let fresh: number

async function startLeague(): Promise<number> {
  const program = startExample('league')
  programs.push(program)
  const [, port] = await program.waitForOutput(/localhost:(\d+)/)
  return Number(port)
}

test.before(async (t) => {
  t.timeout(300_000)
  fresh = await startLeague()
  for (const { path, blocks } of pages) {
    const asked = blocks.filter(({ language, text }) => language === 'sh' && text.includes(`localhost:${LEAGUE}/`))
    const writes = asked.some(({ text }) => readCurl(text).method !== 'GET')
    ports.set(listener(path, LEAGUE), writes ? await startLeague() : fresh)
  }
  project = await snippetProject(blocks)
  const started = await startSnippets(project, { JWT_SECRET })
  programs.push(...started.programs)
  outcomes = await started.outcomes()
  for (const { place, page, listens } of project.snippets) {
    if (listens === null) continue
    const known = listener(page, listens.documented)
    if (ports.has(known)) throw new RangeError(`another program than ${place} listens on ${listens.documented}`)
    ports.set(known, listens.on)
  }
})

test.after.always(async () => {
  await Promise.all(programs.map((program) => program.stop()))
  await project?.remove()
})

// ---------------------------------------------------------------- snippets

test('every TypeScript and JavaScript snippet of the documents compiles against the built package', (t) => {
  t.is(project.diagnostics, '')
  t.true(project.snippets.length > 10, `${project.snippets.length} snippets`)
})

for (const { place, language } of blocks) {
  if (language !== 'ts' && language !== 'js') continue
  test(`the snippet at ${place} runs, and what it says of its values is so`, (t) => {
    t.is(outcomes.get(place), 'passed')
  })
}

test('the example of the page on tests is a test file', async (t) => {
  const { blocks } = pageWith(pages, '# Tests of this package\n')
  const [example] = blocks.filter(({ language }) => language === 'typescript')
  const source = await readFile(join(root, 'test/http/applications/library.ts'), 'utf8')
  t.is(source.slice(source.indexOf('import ')), `${example?.text}\n`)
})

// ---------------------------------------------------------------- requests

interface Exchange {
  readonly page: Page
  readonly place: string
  readonly command: string
  readonly answer: Block | null
}

/** Every curl command of the documents with the answer that stands behind it, in order. test/tutorial.ts has those of the tutorial. */
const exchanges: readonly Exchange[] = pages.flatMap((page) =>
  (page.path === TUTORIAL ? [] : page.blocks).flatMap(({ language, text, place }, index) => {
    if (language !== 'sh' || !text.startsWith('curl ')) return []
    const next = page.blocks[index + 1]
    return [{ page, place, command: text, answer: next !== undefined && ANSWERS.has(next.language) ? next : null }]
  }),
)

/** Sends a request as a reader of that page would, or to a port of one's own. */
async function send(command: string, to: Page | number): Promise<Reply> {
  const curl = readCurl(command.replace(/\$[A-Z]+/g, (name) => tokens.get(name) ?? name))
  const port = typeof to === 'number' ? to : ports.get(listener(to.path, portOf(curl)))
  if (port === undefined) throw new RangeError(`nobody on that page answers ${command}`)
  return sendCurl(curl, port)
}

test.serial('every request of a page, sent in order, gets the answer that stands behind it', async (t) => {
  for (const { page, place, command, answer } of exchanges) {
    const reply = await send(command, page)
    t.truthy(answer, `${place} shows no answer`)
    if (answer === null) continue
    assertAnswer(t, reply, answer, command)
  }
  t.true(exchanges.length > 15, `${exchanges.length} requests`)
})

test.serial('the client of the page on push hears of what its request creates', async (t) => {
  const { text: page, path } = pageWith(pages, '{ push: { io: new Server(server) } }')
  const [, url = ''] = /\bio\('([^']*)'/.exec(page) ?? []
  const port = Number(new URL(url).port)
  const exchange = exchanges.find(
    ({ page, command }) => page.path === path && command.includes('-X POST') && portOf(readCurl(command)) === port,
  )
  if (exchange === undefined) throw new RangeError(`${path} has no request behind its push`)
  const client = connect(`http://localhost:${ports.get(listener(path, port))}${new URL(url).pathname}`)
  t.teardown(() => client.close())
  await new Promise<void>((resolve, reject) => client.on('connect', resolve).on('connect_error', reject))
  const heard = new Promise((resolve) => client.on('OnCreated', resolve))
  const { text } = await send(exchange.command, exchange.page)
  t.deepEqual(await heard, JSON.parse(text))
})

test.serial('the server of the page on other frameworks outlives clients that leave during a request', async (t) => {
  const { path } = pageWith(pages, '# Other frameworks\n')
  const port = ports.get(listener(path, 4010)) ?? 0
  const head = 'POST /api/players HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n'
  for (let client = 0; client < 3; client += 1) {
    const socket = createConnection(port, 'localhost')
    await once(socket, 'connect')
    socket.write(`${head}{`)
    await wait(50)
    socket.destroy()
  }
  await wait(200)
  t.is((await fetch(`http://localhost:${port}/api/players/1`)).status, 200)
})

test('every list of the documents is the same on a league that nobody has written to', async (t) => {
  for (const { command, answer } of exchanges) {
    if (!command.includes(`localhost:${LEAGUE}/`)) continue
    const curl = readCurl(command)
    if (curl.method !== 'GET' || answer === null) continue
    const reply = await send(command, fresh)
    t.deepEqual(parseStable(reply.text), parseStable(splitAnswer(answer).body), `${answer.place}: ${command}`)
  }
})

test('every other command of the documents is one that the package has', async (t) => {
  const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  const peers = Object.keys(manifest.peerDependencies)
  const needed = peers.filter((name) => manifest.peerDependenciesMeta[name]?.optional !== true)
  const known = [manifest.name, ...peers, ...Object.keys({ ...manifest.dependencies, ...manifest.devDependencies })]
  const lines = blocks.filter(({ language }) => language === 'sh').flatMap(({ text }) => text.split('\n'))
  const commands = lines.flatMap((line) => line.split(' && ')).filter((command) => !/^(?:curl|node) /.test(command))
  t.true(commands.length >= 3)
  for (const command of commands) {
    const [npm, verb = '', ...names] = command.split(' ')
    if (npm === 'npx') {
      t.is(verb, Object.keys(manifest.bin).join(), command)
      continue
    }
    t.is(npm, 'npm', command)
    if (verb === 'create') {
      const { name } = JSON.parse(await readFile(join(root, '.packages/create/package.json'), 'utf8'))
      t.is(`create-${names[0]?.replace('@latest', '')}`, name, command)
    } else if (verb === 'install') {
      const packages = names.filter((name) => !name.startsWith('--'))
      for (const name of packages) t.true(known.includes(name), command)
      if (!packages.includes(manifest.name)) continue
      for (const peer of needed) t.true(packages.includes(peer), `${peer} is missing in ${command}`)
    } else if (verb === 'run') {
      t.truthy(manifest.scripts[names[0] ?? ''], command)
      const indexes = ['index.ts', 'index.cjs'].map((file) => join(root, 'examples', names[1] ?? '', file))
      if (names[0] === 'example') t.true(indexes.some(existsSync), command)
    } else t.true(verb === 'ci' || manifest.scripts[verb] !== undefined, command)
  }
  for (const { text } of pages) {
    for (const [, script = ''] of text.matchAll(/`(?:\w+=\w+ )*npm run ([\w-]+)/g)) {
      t.truthy(manifest.scripts[script], script)
    }
  }
})

// ---------------------------------------------------------------- pages

test('the changelog has no entry twice, as a merge may leave it', async (t) => {
  const text = await readFile(join(root, 'CHANGELOG.md'), 'utf8')
  const starts = text.split('\n').flatMap((line) => (line.startsWith('- ') ? [line.slice(0, 60)] : []))
  t.true(starts.length > 50)
  t.deepEqual(
    starts.filter((start, at) => starts.indexOf(start) !== at),
    [],
  )
})

test('every link of the documents leads to a page and a heading that are there', (t) => {
  const anchors = new Map(pages.map(({ path, text }) => [path, anchorsOf(text)]))
  for (const { path, text } of pages) {
    for (const address of linksOf(text)) {
      if (/^https?:/.test(address)) continue
      const [file = '', anchor] = address.split('#')
      const to = file === '' ? path : normalize(join(dirname(path), file))
      t.true(anchors.has(to) || (/\.(?:svg|webp)$/.test(to) && existsSync(join(root, to))), `${path}: ${address}`)
      if (anchor !== undefined) t.true(anchors.get(to)?.includes(anchor), `${path}: ${address}`)
    }
  }
})

test('the front page and the index of docs link to every page', (t) => {
  const known = pages.map(({ path }) => path).filter((path) => path.startsWith('docs/') && path !== 'docs/README.md')
  t.true(known.length > 10, `${known.length} pages`)
  for (const from of ['README.md', 'docs/README.md']) {
    const page = pages.find(({ path }) => path === from)
    const linked = linksOf(page?.text ?? '').map((address) => normalize(join(dirname(from), address)))
    for (const path of known) t.true(linked.includes(path), `${from} does not link to ${path}`)
  }
})

test('every claim of the page on deployment names a rig or a test that is there', (t) => {
  const { text } = pageWith(pages, '# Deployment\n')
  const rows = [...text.matchAll(/^\|.*\| Held by \|\n\|[-|]+\n((?:\|.*\n)+)/gm)].flatMap(([, rows = '']) =>
    rows.trim().split('\n'),
  )
  t.true(rows.length > 20, `${rows.length} rows`)
  for (const row of rows) {
    const held = codesIn(row.split(' | ').at(-1) ?? '')
    t.true(held.length > 0, row)
    for (const name of held) {
      if (name.startsWith('npm ')) continue
      const paths = [join('test', 'operations', `${name}.ts`), join('test', 'http', name), name]
      t.true(
        paths.some((path) => existsSync(join(root, path))),
        name,
      )
    }
  }
})

test('CONTRIBUTING is one page, whose floor plan has every folder of lib and whose links lead to sections', async (t) => {
  const text = await readFile(join(root, 'CONTRIBUTING.md'), 'utf8')
  t.true(text.split('\n').length <= 100)
  const planned = text.slice(text.indexOf('## Floor plan'), text.indexOf('## Recipes'))
  const entries = await readdir(join(root, 'lib'), { withFileTypes: true })
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  for (const folder of folders) t.true(planned.includes(`\`${folder}/\``), `the floor plan lacks ${folder}/`)
  for (const address of linksOf(text)) {
    const [path = '', anchor] = address.split('#')
    const page = pages.find((each) => each.path === path)
    if (page === undefined) t.fail(address)
    else if (anchor !== undefined) t.true(anchorsOf(page.text).includes(anchor), address)
  }
  for (const [path = ''] of text.matchAll(/(?<![\w./])(?:lib|types|test|docs)\/[\w./-]+\.(?:ts|md|js)/g)) {
    t.true(existsSync(join(root, path)), path)
  }
})

test('every function in the steps of a request is in the file beside it', async (t) => {
  for (const [step = '', functions = '', places = ''] of table('steps')) {
    const paths = codesIn(places).map((path) => join(root, 'lib', path))
    const files = await Promise.all(
      paths.map(async (path) =>
        path.endsWith('.ts') ? [path] : (await readdir(path)).map((file) => join(path, file)),
      ),
    )
    const texts = await Promise.all(files.flat().map((file) => readFile(file, 'utf8')))
    for (const name of codesIn(functions).flatMap((code) => code.split('.'))) {
      t.true(
        texts.some((text) => new RegExp(`\\b${name}\\b`).test(text)),
        `${step}: ${name}`,
      )
    }
  }
})

test('no page of docs has more than 250 lines', (t) => {
  for (const { path, text } of pages) t.true(text.split('\n').length <= 251, path)
})

test('the front page is read in five minutes', (t) => {
  t.true(readme.split('\n').length <= 251)
})

test('the page for coding agents has at most 80 lines', (t) => {
  t.true(pageWith(pages, '# For coding agents\n').text.split('\n').length <= 81)
})

// ---------------------------------------------------------------- tables

/** The first column, which names the rows. */
function names(name: string): string[] {
  return table(name).map(([name]) => codeIn(name))
}

const OPTIONS = optionShape(BEHAVIOURS)

function membersOf(shape: OptionShape, name: string): OptionShape {
  return shape[name]?.members ?? {}
}

for (const [name, shape, plural] of [
  ['options', OPTIONS, 'options'],
  ['field options', FIELD, 'field options'],
  ['rules', membersOf(FIELD, 'rules'), 'rules'],
  ['query', QUERY, 'list settings'],
  ['push options', membersOf(OPTIONS, 'push'), 'push options'],
] as const satisfies readonly (readonly [string, OptionShape, string])[]) {
  test(`the documents have all ${plural} and no others, in the words of the code`, (t) => {
    // In an order of its own: the code keeps options with what they are for.
    t.deepEqual(
      table(name)
        .map(([option, what]) => [codeIn(option), what])
        .sort(),
      Object.entries(shape)
        .map(([option, { expected }]) => [option, expected])
        .sort(),
    )
  })
}

test('the documents have every shape that a field can be excluded from', (t) => {
  const shapes = Object.keys(membersOf(OPTIONS, 'names'))
  t.is(shapes.length, 5)
  t.deepEqual(
    table('shapes')
      .map(([shape]) => codeIn(shape))
      .sort(),
    shapes.sort(),
  )
})

test('the defaults that the documents give are those of a resource without options', async (t) => {
  const league = await openLeague()
  t.teardown(league.close)
  const { key, query, operations, route } = compile(league.Player)
  const defaults = new Map(table('options').map(([name, , value]) => [codeIn(name), codesIn(value)[0]]))
  t.is(defaults.get('keyProperty'), key.name)
  t.deepEqual(
    [...operations],
    [...compile(league.Player, { operations: Number(defaults.get('operations')) }).operations],
  )
  t.is(route, '/api/players')
  const settings = table('query').map(([name, , value = '']) => [codeIn(name), codesIn(value)[0] ?? ''])
  t.deepEqual(
    settings,
    Object.keys(QUERY).map((name) => [name, String(query[name as keyof typeof query] ?? '')]),
  )
})

test('the documents have all limits and their defaults', (t) => {
  t.deepEqual(
    table('limits').map(([name, value]) => [codeIn(name), value === '`false`' ? false : Number(value)]),
    Object.entries(DEFAULT_LIMITS),
  )
})

test('the documents have the numbers of all operations', (t) => {
  const rows = table('operations').flatMap(([name, number, , other, another]) => [
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

test('the documents have all operators, and say which fields have them', (t) => {
  const rows = table('operators')
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

test('the documents have all formats of exports', (t) => {
  // The last row is about all other media types.
  t.deepEqual(
    table('formats')
      .slice(0, -1)
      .map(([mediaType, name]) => [codeIn(mediaType), codesIn(name)]),
    FORMATS.filter(({ kinds }) => kinds.has('export')).map(({ mediaType, name }) => [
      mediaType,
      name === undefined ? [] : [name],
    ]),
  )
})

/** Tables whose first cells are filters, by their heads, with what these filter. */
const FILTERS = [
  ['| Filter on teams |', 'teams'],
  ['| Filter on players |', 'players'],
] as const

test('every filter in the tables of the documents is one that the league answers', async (t) => {
  const filters = table('operators').map(([, example]): [string, string] => ['players', codeIn(example)])
  for (const [head, route] of FILTERS) {
    const [, rows = ''] = pageWith(pages, head).text.split(head)
    for (const row of rows.split('\n').slice(2)) {
      if (!row.startsWith('|')) break
      // A filter may stand beside another one that says the same.
      filters.push(...codesIn(row).map((code): [string, string] => [route, code]))
    }
  }
  t.true(filters.length > 20)
  for (const [route, filter] of filters) {
    const reply = await send(
      `curl -g 'localhost:3000/api/${route}?count=true&filter=${encodeURIComponent(filter)}'`,
      fresh,
    )
    t.is(reply.status, 200, `${filter}: ${reply.text}`)
  }
})

test('the documents have all functions of the filter builder, with the operators that they write', (t) => {
  const rows = table('builder')
  t.deepEqual(rows.flatMap(([name]) => codesIn(name)).sort(), Object.keys(builder).sort())
  for (const [functions, written] of rows) {
    const tokens = codesIn(written)
    for (const [index, name] of codesIn(functions).entries()) {
      const operator = OPERATORS.find((info) => info.name === name)
      if (operator !== undefined) t.is(tokens[index], operator.token, name)
    }
  }
})

test('the documents have all problems with their status and title', (t) => {
  t.deepEqual(
    table('problems').map(([code, status, title]) => [codeIn(code), Number(status), title]),
    (Object.keys(PROBLEMS) as ProblemCode[]).map((code) => [code, PROBLEMS[code].status, PROBLEMS[code].title]),
  )
})

test('the documents have all codes of configuration errors', async (t) => {
  const codes = await findInSources(/(?:new CrudConfigError|createUnknownNameError)\(\s*'([A-Z_0-9]+)'/g)
  t.deepEqual(names('config codes').sort(), [...codes].sort())
})

test('the documents have all validation messages with their codes and parameters', (t) => {
  t.deepEqual(
    table('messages').map(([code, message]) => [codeIn(code), codeIn(message)]),
    Object.entries(MESSAGES),
  )
})

test('the documents name the Sequelize types of every type of field', (t) => {
  const types = DataTypes as unknown as Readonly<Record<string, typeof DataTypes.STRING>>
  for (const [sequelize, type] of table('types')) {
    for (const name of codesIn(sequelize))
      t.is(String(valueTypeOf({ type: types[name] ?? name }).type), codeIn(type), name)
  }
  const named = new Set<string>(table('types').map(([, type]) => codeIn(type)))
  const known = new Set<string>(['json', 'blob', ...OPERATORS.flatMap((info) => info.types)])
  t.deepEqual([...named].sort(), [...known].sort())
})

test('the documents name everything that the package exports', (t) => {
  const text = pages.map((page) => page.text).join('\n')
  for (const name of Object.keys(exported)) t.regex(text, new RegExp(`\\b${name}\\b`), name)
})

test('the README names every runtime dependency and every peer', async (t) => {
  const { dependencies, peerDependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  const [section = ''] = (readme.split('## Dependencies')[1] ?? '').split('\n## ')
  const rows = [...section.matchAll(/^\| `([\w-]+)` \|/gm)].map(([, name = '']) => name)
  t.deepEqual(rows.sort(), Object.keys(dependencies).sort())
  for (const peer of Object.keys(peerDependencies)) t.true(section.includes(`\`${peer}\``), peer)
})

// ---------------------------------------------------------------- behaviours

test('the documents have the claims of an identity, each with what it is', (t) => {
  for (const [claims, meaning = ''] of table('claims')) {
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

test('the documents have all ready-made policies', (t) => {
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

test('the documents have all hooks', async (t) => {
  const Player = bare(await empty(t))
  const hooks = table('hooks').flatMap(([cell]) => codesIn(cell))
  t.notThrows(() => compile(Player, { hooks: Object.fromEntries(hooks.map((name) => [name, () => {}])) }))
  const known = ['Create', 'Update', 'Delete', 'Restore', 'Action'].flatMap((name) => [`before${name}`, `after${name}`])
  t.deepEqual([...hooks].sort(), known.sort())
})

test('the documents have the attributes that behaviours add, with their types and defaults', async (t) => {
  const Player = bare(await empty(t))
  const own = Object.keys(Player.getAttributes())
  const rows = table('added')
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
