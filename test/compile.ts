// `npm run compile` does what has to be done and nothing else: seen in a small project that is compiled by the same
// programs with the same settings, where things change one after the other.

import { readFileSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test from 'ava'
import { node, type Outcome, root } from './support/consumer.js'

const SAME = ['.ci', 'LICENSE', 'grammar/peggy.json', 'package.json', 'tsconfig.json']
const SETTINGS = ['tsconfig.browser.json', 'tsconfig.test.json']

const { allowedStartRules: RULES, returnTypes }: { allowedStartRules: string[]; returnTypes: Record<string, string> } =
  JSON.parse(readFileSync(join(root, 'grammar/peggy.json'), 'utf8'))

/** A letter for each of the rules that the settings start with. */
const GRAMMAR = RULES.map((rule, at) => `${rule} = "${String.fromCharCode(97 + at)}" { return {} }\n`).join('')
const TREES = new Set(Object.values(returnTypes).flatMap((type) => /\)\.(\w+)/.exec(type)?.[1] ?? []))

const FILES: Readonly<Record<string, string>> = {
  'grammar/query.peggy': GRAMMAR,
  'types/query.ts': [...TREES].map((name) => `export type ${name} = object\n`).join(''),
  'lib/language/index.ts': `export { parse } from '../../grammar/query.js'\n`,
  'lib/client/index.ts': `export { spare as client } from './spare.js'\n`,
  'lib/mcp/index.ts': `export const mcp: string = 'mcp'\n`,
  'lib/react-admin/index.ts': `export const provider: string = 'react-admin'\n`,
  'lib/refine/index.ts': `export const provider: string = 'refine'\n`,
  'lib/client/actions.ts': `export const actions: string = 'actions'\n`,
  'lib/check/index.ts': `export const check: string = 'check'\n`,
  'lib/create/index.ts': `export const main: string = 'create'\n`,
  'lib/node-sqlite/index.ts': `export const driver: string = 'node-sqlite'\n`,
  'lib/word.ts': `export const word: string = 'one'\n`,
  'lib/client/spare.ts': `export const spare: string = 'spare'\n`,
  'lib/index.ts': `export { parse } from './language/index.js'\nexport { word } from './word.js'\n`,
  'test/first.ts': `import { parse, word } from '../lib/index.js'\nconsole.log(word, typeof parse('a'))\n`,
  'test/second.ts': `console.log('second')\n`,
}

const MODULES = ['typescript', 'peggy', 'rolldown', 'rolldown-plugin-dts', 'esbuild', '@types/node']
const INSTALLED = 'node_modules/.package-lock.json'

let folder: string

test.before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sequelize-crud-router-compile-'))
  for (const path of [...SAME, ...SETTINGS]) await cp(join(root, path), join(folder, path), { recursive: true })
  for (const [path, text] of Object.entries(FILES)) await write(path, text)
  for (const name of MODULES) {
    const link = join(folder, 'node_modules', name)
    await mkdir(dirname(link), { recursive: true })
    await symlink(join(root, 'node_modules', name), link, 'junction')
  }
  await write(INSTALLED, '{}')
  const { status, stdout, stderr } = await compile()
  if (status !== 0) throw new Error(stdout + stderr)
})

test.after.always(() => rm(folder, { recursive: true, force: true }))

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true })
  await writeFile(join(folder, path), text)
}

function read(path: string): Promise<string> {
  return readFile(join(folder, path), 'utf8')
}

function compile(...args: readonly string[]): Promise<Outcome> {
  return node(folder, '.ci/compile.mjs', ...args)
}

const FINE: Outcome = { status: 0, stdout: '', stderr: '' }

/** When each file below a folder of the project was last written. */
async function times(path: string): Promise<Readonly<Record<string, number>>> {
  const entries = await readdir(join(folder, path), { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const written = files.map(async (file): Promise<[string, number]> => [file, (await stat(file)).mtimeMs])
  return Object.fromEntries((await Promise.all(written)).toSorted())
}

/** Compiles, and tells whether that wrote the package, and whether the tests. */
async function compiled(): Promise<{ readonly outcome: Outcome; readonly package: boolean; readonly tests: boolean }> {
  const before = [await times('dist'), await times('.build')]
  const outcome = await compile()
  const after = [await times('dist'), await times('.build')]
  const [isPackage = true, isTests = true] = before.map((one, at) => JSON.stringify(one) !== JSON.stringify(after[at]))
  return { outcome, package: isPackage, tests: isTests }
}

async function said(): Promise<string> {
  return (await node(folder, '.build/test/first.js')).stdout
}

async function requiredWord(): Promise<string> {
  return (await node(folder, '--eval', `console.log(require('sequelize-crud-router').word)`)).stdout
}

test.serial('what has not changed is not compiled again', async (t) => {
  t.is(await said(), 'one object\n')
  t.deepEqual(await compiled(), { outcome: FINE, package: false, tests: false })
})

test.serial('a change of a source is in the package and in the tests, though its size and its time stay', async (t) => {
  const { atime, mtime } = await stat(join(folder, 'lib/word.ts'))
  await write('lib/word.ts', `export const word: string = 'two'\n`)
  await utimes(join(folder, 'lib/word.ts'), atime, mtime)
  t.deepEqual(await compiled(), { outcome: FINE, package: true, tests: true })
  t.is(await said(), 'two object\n')
  t.is(await requiredWord(), 'two\n')
})

test.serial('a change of a test leaves the package alone', async (t) => {
  await write('test/second.ts', `console.log('other')\n`)
  t.deepEqual(await compiled(), { outcome: FINE, package: false, tests: true })
  t.is((await node(folder, '.build/test/second.js')).stdout, 'other\n')
})

test.serial('what came of a source that is gone is gone from the package and from the tests', async (t) => {
  const outputs = ['dist/browser/lib/client/spare.js', '.build/lib/client/spare.js', '.build/test/second.js']
  for (const path of outputs) t.true((await stat(join(folder, path))).isFile())
  await write('lib/client/index.ts', `export const client: string = 'client'\n`)
  await rm(join(folder, 'lib/client/spare.ts'))
  await rm(join(folder, 'test/second.ts'))
  t.deepEqual((await compiled()).outcome, FINE)
  for (const path of outputs) await t.throwsAsync(stat(join(folder, path)), { code: 'ENOENT' }, path)
  t.is(await said(), 'two object\n')
})

test.serial('a change of the grammar is in both parsers and their types', async (t) => {
  await write('grammar/query.peggy', GRAMMAR.replace('"a"', '("a" / "changed")'))
  t.deepEqual((await compiled()).outcome, FINE)
  const copies = [
    'grammar/query.js',
    'dist/browser/grammar/query.js',
    '.build/grammar/query.js',
    'dist/lib/language.js',
  ]
  for (const path of copies) t.regex(await read(path), /"changed"/, path)
})

test.serial('a change of the compiler’s settings, or of what is installed, compiles everything again', async (t) => {
  const settings = await read('tsconfig.json')
  await write('tsconfig.json', settings.replace('"sourceMap": true', '"sourceMap": true, "newLine": "crlf"'))
  t.deepEqual(await compiled(), { outcome: FINE, package: true, tests: true })
  t.regex(await read('dist/browser/lib/client/index.js'), /\r\n/)
  t.regex(await read('.build/test/first.js'), /\r\n/)

  await write(INSTALLED, '{"packages":{}}')
  const { outcome, package: isPackage } = await compiled()
  t.deepEqual({ outcome, isPackage }, { outcome: FINE, isPackage: true })
})

test.serial('what was removed from the outputs, or changed there, is made again', async (t) => {
  await rm(join(folder, 'dist/lib/index.js'))
  await write('.build/test/first.js', 'broken')
  t.deepEqual(await compiled(), { outcome: FINE, package: true, tests: true })
  t.is(await said(), 'two object\n')
  t.is(await requiredWord(), 'two\n')
})

test.serial('a fault of types fails every time until it is mended, and then no longer', async (t) => {
  await write('test/second.ts', `const level: number = 'two'\nconsole.log(level)\n`)
  for (const _ of [1, 2]) {
    const { status, stdout } = await compile()
    t.is(status, 1)
    t.regex(stdout, /test\/second\.ts.*TS2322/)
  }
  await write('test/second.ts', `const level: number = 2\nconsole.log(level)\n`)
  t.deepEqual(await compile(), FINE)
  t.is((await node(folder, '.build/test/second.js')).stdout, '2\n')

  await write('lib/word.ts', 'export const word: string = 3\n')
  t.is((await compile('package')).status, 1)
  await write('lib/word.ts', `export const word: string = 'three'\n`)
  t.deepEqual(await compile('package'), FINE)
  t.is(await requiredWord(), 'three\n')
})

test.serial('a stage that does not exist is refused', async (t) => {
  const { status, stderr } = await compile('packages')
  t.is(status, 1)
  t.regex(stderr, /There is no stage "packages"\./)
})
