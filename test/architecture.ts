// Who may import whom. The import statements of every source file are read and held against the rules; each rule also
// has to object to one file that breaks it, so that none of them can fall asleep.

import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import { SQL_WRITERS } from '../bench/trace/report.js'
import { type Import, parseSource, readSources, type Source } from './support/imports.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const files = readSources(root, ['lib', 'types'])

/** The operations, the filter operators and the measures, whose names are types. */
const VOCABULARIES = ['lib/operations.ts', 'lib/language/operators.ts', 'lib/language/measures.ts']

/** What a rule has against one import of one file: true is an objection. */
type Objection = (file: Source, wanted: Import) => boolean

interface Rule {
  readonly title: string
  readonly objects: Objection
  /** A path and a text that break the rule. */
  readonly broken: readonly [path: string, text: string]
}

function inside(path: string, ...folders: readonly string[]): boolean {
  return folders.some((folder) => path === folder || path.startsWith(`${folder}/`))
}

/** At run time, a package in these places only. */
function only(name: string, ...places: readonly string[]): Objection {
  return (file, wanted) => !wanted.typeOnly && wanted.target === name && !inside(file.path, ...places)
}

const COMMON = ['lib/common', 'lib/config']
const LANGUAGE = ['lib/language', 'grammar']

/** What the files of each room may import at run time, beside each other. Every room of lib/ has a row. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  'lib/operations.ts': [],
  'lib/common': [],
  'lib/config': ['lib/common'],
  // Every stage publishes events through this folder; it imports no stage.
  'lib/trace': ['lib/common'],
  'lib/language': ['lib/common', 'grammar'],
  // What runs in browsers takes nothing of the server.
  'lib/client': ['lib/language/filter.ts', 'lib/language/decimalText.ts'],
  // The providers of admin frameworks are thin over the client, and share what is no framework's.
  'lib/providers': ['lib/client'],
  'lib/react-admin': ['lib/client/index.ts', 'lib/providers'],
  'lib/refine': ['lib/client/index.ts', 'lib/providers'],
  'lib/identity': ['lib/common', 'lib/config'],
  'lib/sequelize': ['lib/common', 'lib/trace'],
  // A driver for Sequelize, which knows nothing of routers.
  'lib/node-sqlite': [],
  // Programs of their own: one writes applications, the other hears of what an application mounts.
  'lib/create': ['lib/common/secretNames.ts'],
  'lib/check': [],
  // The stages never import each other.
  'lib/parse': [...COMMON, ...LANGUAGE],
  'lib/codec': ['lib/common', 'lib/sequelize/builtInValidators.ts'],
  'lib/plan': [...COMMON, ...LANGUAGE, 'lib/codec/codecs.ts'],
  'lib/perform': [...COMMON, 'lib/language/operators.ts', 'lib/sequelize', 'lib/trace'],
  'lib/shape': COMMON,
  // A scope's condition is resolved as filters are.
  'lib/behaviour': [...COMMON, 'lib/identity', 'lib/operations.ts', 'lib/plan/condition.ts'],
  'lib/behaviours.ts': ['lib/behaviour', 'lib/push/behaviour.ts'],
  // What bodies hold of other records is planned by their own resources.
  'lib/bodies': [...COMMON, 'lib/compile/joinModel.ts', 'lib/plan/index.ts', 'lib/read.ts'],
  // They meet here, and in the handler.
  'lib/read.ts': [...COMMON, 'lib/plan', 'lib/perform', 'lib/shape'],
  'lib/announce.ts': ['lib/common/commitQueue.ts', 'lib/common/getOrCreate.ts', 'lib/perform/index.ts'],
  'lib/handle.ts': [
    ...[...COMMON, 'lib/announce.ts', 'lib/bodies/index.ts', 'lib/identity', 'lib/operations.ts', 'lib/parse'],
    ...['lib/perform', 'lib/plan/index.ts', 'lib/read.ts', 'lib/shape', 'lib/trace'],
  ],
  'lib/nested': [
    ...[...COMMON, 'lib/bodies/index.ts', 'lib/handle.ts', 'lib/identity', 'lib/operations.ts', 'lib/parse'],
    ...['lib/perform', 'lib/plan/index.ts', 'lib/read.ts', 'lib/trace'],
  ],
  'lib/compile': [
    ...[...COMMON, ...LANGUAGE, 'lib/behaviours.ts', 'lib/identity', 'lib/operations.ts', 'lib/sequelize'],
    // What reads a column's values, and writes them as JSON, is chosen when its field is compiled.
    ...['lib/codec', 'lib/perform/store.ts'],
  ],
  'lib/http': [
    ...COMMON,
    'lib/compile',
    'lib/handle.ts',
    'lib/nested/handler.ts',
    'lib/operations.ts',
    'lib/ownRoutes.ts',
    'lib/parse',
    'lib/push/close.ts',
    'lib/push/notifier.ts',
    'lib/trace',
  ],
  // Agents' calls are served as those of the routes are.
  'lib/mcp': [
    ...[...COMMON, 'lib/behaviour/mask.ts', 'lib/compile/mounted.ts', 'lib/compile/relatedResource.ts'],
    ...['lib/openapi/crud.ts', 'lib/handle.ts', 'lib/http'],
    ...['lib/identity', 'lib/operations.ts', 'lib/parse/body.ts', 'lib/plan/index.ts'],
  ],
  'lib/push': [
    ...[...COMMON, 'lib/compile', 'lib/identity', 'lib/read.ts'],
    // A subscription is the view of a class of callers.
    ...[
      'lib/behaviour/mask.ts',
      'lib/behaviour/readScope.ts',
      'lib/perform/index.ts',
      'lib/plan/index.ts',
      'lib/trace',
    ],
  ],
  'lib/openapi': [
    'lib/http/formats.ts',
    ...[...COMMON, ...LANGUAGE, 'lib/codec', 'lib/compile', 'lib/identity', 'lib/operations.ts', 'lib/sequelize'],
    // What replies flatten, and what bodies may be.
    ...[
      'lib/nested/routes.ts',
      'lib/parse/body.ts',
      'lib/parse/match.ts',
      'lib/parse/queryMethod.ts',
      'lib/plan/flatten.ts',
    ],
  ],
  'lib/findOptions.ts': [...COMMON, 'lib/perform/index.ts', 'lib/sequelize'],
  'lib/queryOf.ts': [
    ...[...COMMON, 'lib/behaviours.ts', 'lib/compile', 'lib/findOptions.ts', 'lib/parse/list.ts'],
    ...['lib/perform/index.ts', 'lib/plan/index.ts', 'lib/read.ts'],
  ],
  'lib/ownRoutes.ts': [
    ...[...COMMON, 'lib/findOptions.ts', 'lib/handle.ts', 'lib/http/guard.ts', 'lib/parse/list.ts'],
    ...['lib/perform/index.ts', 'lib/plan/index.ts', 'lib/read.ts'],
  ],
  'lib/index.ts': [
    ...[
      ...COMMON,
      'lib/openapi',
      'lib/http',
      'lib/identity',
      'lib/language',
      'lib/operations.ts',
      'lib/push',
      'lib/queryOf.ts',
    ],
  ],
}

/** The room of a file: a folder of lib/, or a file beside them. */
function roomOf(path: string): string {
  return path.split('/', 2).join('/')
}

const roomRules = Object.entries(ROOMS).map(([room, open]): Rule => {
  const file = room.endsWith('.ts') ? room : `${room}/broken.ts`
  const up = room.endsWith('.ts') ? './' : '../'
  // Nothing of the program may import its entrance.
  const closed = room === 'lib/index.ts' ? 'plan/broken.js' : 'index.js'
  return {
    title: `${room} imports at run time ${open.length === 0 ? 'nothing of the package' : `only ${open.join(', ')}`}`,
    objects: (source, wanted) =>
      roomOf(source.path) === room && wanted.relative && !wanted.typeOnly && !inside(wanted.target, room, ...open),
    broken: [file, `import { x } from '${up}${closed}'`],
  }
})

const RULES: readonly Rule[] = [
  {
    title:
      'types/ imports types only, and nothing of its own package but types/ and the names in the three tables that clients speak in',
    objects: (file, wanted) =>
      inside(file.path, 'types') &&
      (!wanted.typeOnly || (wanted.relative && !inside(wanted.target, 'types', ...VOCABULARIES))),
    broken: ['types/broken.ts', `import type { Problem } from '../lib/common/problem.js'`],
  },
  {
    title: 'types/ leaves nothing behind at run time, packages included',
    objects: (file, wanted) => inside(file.path, 'types') && !wanted.typeOnly,
    broken: ['types/broken.ts', `import { type Model } from 'sequelize'`],
  },
  ...roomRules,
  {
    title: 'Sequelize is imported at run time by lib/sequelize only, and by what reads the tables of a database',
    objects: only('sequelize', 'lib/sequelize', 'lib/create/read'),
    broken: ['lib/perform/broken.ts', `import { Op } from 'sequelize'`],
  },
  {
    title: 'Express is imported by lib/http only, and its declarations by types/express.ts as well',
    objects: (file, wanted) =>
      wanted.target === 'express' &&
      !inside(file.path, 'lib/http') &&
      !(wanted.typeOnly && file.path === 'types/express.ts'),
    broken: ['lib/handle.ts', `import type { Request } from 'express'`],
  },
  {
    title: 'http-problem-details is imported by lib/common/problem.ts only',
    objects: only('http-problem-details', 'lib/common/problem.ts'),
    broken: ['lib/shape/broken.ts', `export { ProblemDocument } from 'http-problem-details'`],
  },
  {
    title:
      'the library of the Model Context Protocol is imported by lib/mcp only, which nothing else of the package imports',
    objects: (file, wanted) =>
      (wanted.target.startsWith('@modelcontextprotocol/') || inside(wanted.target, 'lib/mcp')) &&
      !inside(file.path, 'lib/mcp'),
    broken: ['lib/http/broken.ts', `import type { Server } from '@modelcontextprotocol/server'`],
  },
  {
    title: 'Socket.IO is a type in types/socket.ts, and nothing at run time: the host brings the server',
    objects: (file, wanted) =>
      wanted.target === 'socket.io' && !(wanted.typeOnly && inside(file.path, 'types/socket.ts')),
    broken: ['lib/push/hub.ts', `import type { Server } from 'socket.io'`],
  },
  {
    title: 'the admin frameworks are types alone: nothing of them is imported at run time',
    objects: (_file, wanted) => !wanted.typeOnly && /^(ra-core|react-admin|react|@refinedev\/.*)$/.test(wanted.target),
    broken: ['lib/react-admin/broken.ts', `import { HttpError } from 'ra-core'`],
  },
  {
    title: 'no file of the package imports from tests, examples or the benchmark',
    objects: (_file, wanted) => wanted.relative && inside(wanted.target, 'test', 'examples', 'bench'),
    broken: ['lib/compile/broken.ts', `const x = await import('../../test/support/imports.js')`],
  },
]

function objections(objects: Objection, to: readonly Source[]): string[] {
  return to.flatMap((file) =>
    file.imports.filter((wanted) => objects(file, wanted)).map((wanted) => `${file.path} imports ${wanted.target}`),
  )
}

for (const { title, objects, broken } of RULES) {
  test(title, (t) => {
    t.deepEqual(objections(objects, files), [])
    t.is(objections(objects, [parseSource(...broken)]).length, 1, 'the rule no longer sees a file that breaks it')
  })
}

/** The files that import each other in a circle, by each file from which one can be walked; `follows` says which imports count. */
function circles(of: readonly Source[], follows: (wanted: Import) => boolean): string[] {
  const imports = new Map(of.map((file) => [file.path, file.imports.filter(follows).map(({ target }) => target)]))
  const leadsTo = (from: string, to: string, seen: Set<string>): boolean =>
    (imports.get(from) ?? []).some((next) => {
      if (next === to) return true
      if (seen.has(next)) return false
      return leadsTo(next, to, seen.add(next))
    })
  return [...imports.keys()].filter((path) => leadsTo(path, path, new Set()))
}

const CIRCLE = [
  parseSource('types/a.ts', `import type { B } from './b.js'`),
  parseSource('types/b.ts', `import type { C } from './c.js'`),
  parseSource('types/c.ts', `import type { A } from './a.js'`),
  parseSource('types/d.ts', `import type { A } from './a.js'`),
]

test('no file of types/ needs itself, whatever it imports', (t) => {
  const types = files.filter(({ path }) => inside(path, 'types'))
  t.deepEqual(
    circles(types, () => true),
    [],
  )
  t.deepEqual(
    circles(CIRCLE, () => true),
    ['types/a.ts', 'types/b.ts', 'types/c.ts'],
  )
})

test('no file of lib/ needs itself at run time', (t) => {
  const runs = (wanted: Import): boolean => !wanted.typeOnly
  t.deepEqual(circles(files, runs), [])
  t.deepEqual(circles(CIRCLE, runs), [])
  const [a, b] = [`import { b } from './b.js'`, `export * from './a.js'`]
  t.deepEqual(circles([parseSource('lib/a.ts', a), parseSource('lib/b.ts', b)], runs), ['lib/a.ts', 'lib/b.ts'])
})

test('every room of lib/ has its rule, and every rule its room', (t) => {
  const rooms = files.filter(({ path }) => inside(path, 'lib')).map(({ path }) => roomOf(path))
  t.deepEqual([...new Set(rooms)].sort(), Object.keys(ROOMS).sort())
})

test('every file of lib/ and types/ can be read at a sitting: it has at most 500 lines', (t) => {
  const lengths = files.map(
    ({ path }) => [path, readFileSync(join(root, path), 'utf8').split('\n').length - 1] as const,
  )
  t.deepEqual(
    lengths.filter(([, length]) => length > 500),
    [],
  )
})

/**
 * Functions that are written where they are assigned to a member. V8 takes those for methods, which stay: it makes them among what
 * is old already, and whatever such a function refers to, a request and all that belongs to it, is kept until old memory is searched.
 */
const KEPT =
  /(?<!: [\w$.]*)(?<=[\w$\])])\.#?[\w$]+ (?:\?\?|\|\||&&)?= (?:async )?(?:function\b|\((?:[^()]|\([^()]*\))*\)(?:: [^=\n]+)? =>|[\w$]+ =>)/g

/** What makes them while it mounts, connects or closes. */
const SELDOM = [
  ...['lib/common/shutdown.ts', 'lib/push/adapter.ts', 'lib/push/sessionRecovery.ts'],
  ...['lib/sequelize/sqliteConnections.ts', 'lib/sequelize/preparedStatements.ts'],
  'lib/sequelize/timedConnections.ts',
]

test('no function that a request makes is taken for one that stays', (t) => {
  const kept = (text: string): number => [...text.matchAll(KEPT)].length
  const found = files.filter(({ path }) => kept(readFileSync(join(root, path), 'utf8')) > 0).map(({ path }) => path)
  t.deepEqual(found.sort(), SELDOM.sort())
  for (const [text, count] of [
    ['this.#expire = () => reject()', 1],
    ['this.done = async (error: Error) => 1', 1],
    ['query.callback = function (error) {', 1],
    ['this.#told ??= (one: (a: string) => void): void => one()', 1],
    ['this.#expire = reject', 0],
    ['this.done = made(() => 1)', 0],
    ['const done: jwt.Done = () => 1', 0],
    ['a.b === (c) => 1', 0],
  ] as const) {
    t.is(kept(text), count, text)
  }
})

/** Files that import joi at run time. */
function joiFiles(of: readonly Source[]): string[] {
  return of
    .filter((file) => file.imports.some((wanted) => wanted.target === 'joi' && !wanted.typeOnly))
    .map((file) => file.path)
}

test('every file and folder that the trace counts as writing SQL is there', (t) => {
  const paths = files.map(({ path }) => path)
  for (const writer of SQL_WRITERS)
    t.true(
      paths.some((path) => path.startsWith(`lib/${writer}`)),
      writer,
    )
})

test('joi is imported at run time by exactly one file', (t) => {
  t.is(joiFiles(files).length, 1, joiFiles(files).join(', '))
  t.deepEqual(
    joiFiles([parseSource('lib/a.ts', `import joi from 'joi'`), parseSource('lib/b.ts', `import type joi from 'joi'`)]),
    ['lib/a.ts'],
  )
})

test('the sources were found and their imports read, so that the rules have something to hold', (t) => {
  t.true(files.length > 20, `${files.length} files`)
  t.deepEqual(
    parseSource('lib/plan/sort.ts', EVERY_KIND).imports.map(
      (wanted) => `${wanted.typeOnly ? 'type ' : ''}${wanted.target}`,
    ),
    [
      'type types/query.ts',
      'lib/problem.ts',
      'sequelize',
      'node:fs',
      '@scope/name',
      'type lib/x.ts',
      'lib/plan/y.ts',
      'joi',
    ],
  )
})

const EVERY_KIND = `
/**
 * import { no } from 'comment'
 */
import type { A } from '../../types/query.js'
import { type B, problem } from '../problem.js'
import * as s from 'sequelize/lib/utils.js'
import fs, { type Stats } from 'node:fs'
import '@scope/name/deep'
export type { C } from '../x.js'
export * from './y.js'
const text = "import { no } from 'text'"
const joi = await import('joi')
`

test('each folder of test/http has at most 20 files, and a row in docs/tests.md', (t) => {
  const top = join(root, 'test/http')
  const counts = new Map<string, number>()
  for (const entry of readdirSync(top, { recursive: true, withFileTypes: true })) {
    const folder = relative(top, entry.parentPath).replaceAll('\\', '/')
    if (entry.isFile()) counts.set(folder, (counts.get(folder) ?? 0) + 1)
  }
  t.deepEqual(
    [...counts].filter(([, count]) => count > 20),
    [],
  )
  const page = readFileSync(join(root, 'docs/tests.md'), 'utf8')
  const rows = [...page.matchAll(/^\| `([\w/-]+)\/` \|/gm)].map(([, folder]) => folder)
  t.deepEqual(rows.toSorted(), [...counts.keys()].toSorted())
})
