// The query language by itself, as npm would publish it: in a project that has no other package, for browsers.

import { join } from 'node:path'
import { createContext, runInContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import test from 'ava'
import { build, type Metafile } from 'esbuild'
import * as language from '../lib/language/index.js'
import { consumer, node, pack, root, type Tarball } from './support/consumer.js'
import { readPages, tableIn } from './support/documents.js'
import { codesIn } from './support/markdown.js'

const TYPED = `
import { escapeFilterValue, filter, type FilterNode, parseFilter, parseSelect, parseSort, QueryLimitError, QuerySyntaxError, type SortNode } from 'sequelize-crud-router/language'

export const tree: FilterNode = parseFilter(filter.eq('Name', escapeFilterValue('Jan')), { clauses: 5 })
export const keys: readonly SortNode[] = parseSort('-Level')
export const fields: readonly string[] = parseSelect('Name').flatMap(({ segments }) => segments)
export const told = (error: unknown) =>
  error instanceof QuerySyntaxError ? error.picture : error instanceof QueryLimitError ? error.limit : null
// @ts-expect-error: there is no such operator
filter.equals('Name', 'Jan')
`

const RESOLUTIONS = [
  ['node10', 'commonjs', 'typescript5'],
  ['node16', 'node16', 'typescript'],
  ['nodenext', 'nodenext', 'typescript'],
  ['bundler', 'esnext', 'typescript'],
] as const

function compilerOptions(moduleResolution: string, module: string): string {
  const shared = { target: 'es2022', lib: ['es2022'], strict: true, noEmit: true, skipLibCheck: false, types: [] }
  return JSON.stringify({ compilerOptions: { ...shared, module, moduleResolution }, files: ['typed.mts', 'typed.cts'] })
}

let tarball: Tarball
let folder: string

test.before(async () => {
  tarball = await pack()
  const configurations = RESOLUTIONS.map(([resolution, module]) => [
    `${resolution}.json`,
    compilerOptions(resolution, module),
  ])
  folder = await consumer(
    tarball,
    'browser',
    {},
    {
      'package.json': JSON.stringify({ private: true }),
      'typed.mts': TYPED,
      'typed.cts': TYPED,
      'required.cjs': `console.log(require('sequelize-crud-router/language').filter.eq('Name', 'Jan'))`,
      ...Object.fromEntries(configurations),
    },
  )
})

test.after.always(() => tarball?.remove())

/** What a program of that text becomes for a browser, and what went into it. */
async function bundle(text: string): Promise<{ readonly text: string; readonly from: Metafile }> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: text, resolveDir: folder },
    bundle: true,
    minify: true,
    platform: 'browser',
    format: 'iife',
    globalName: 'bundled',
    write: false,
    metafile: true,
  })
  return { text: outputFiles[0]?.text ?? '', from: metafile }
}

test('a bundle for browsers holds files of the package alone, and nothing of Node', async (t) => {
  const { text, from } = await bundle(`export * from 'sequelize-crud-router/language'`)
  const inputs = Object.keys(from.inputs).filter((path) => path !== '<stdin>')
  t.true(inputs.length > 5)
  for (const path of inputs) t.regex(path, /node_modules\/sequelize-crud-router\/dist\/browser\//)
  t.deepEqual(
    Object.values(from.outputs).flatMap(({ imports }) => imports),
    [],
  )
  t.notRegex(text, /node:|\brequire\(/)
})

test('a bundle for browsers writes and reads filters where there is nothing but the language itself', async (t) => {
  const { text } = await bundle(`export * from 'sequelize-crud-router/language'`)
  const context = createContext({})
  t.is(runInContext(`typeof process + typeof require + typeof Buffer + typeof URL`, context), 'undefined'.repeat(4))
  runInContext(text, context)
  const evaluate = (expression: string): unknown => JSON.parse(runInContext(`JSON.stringify(${expression})`, context))
  const written = evaluate(
    `bundled.filter.and(bundled.filter.in('Name', ['a;b', 'c']), bundled.filter.any('Players', 'Level>5'))`,
  )
  t.is(written, 'Name=in=a\\;b;c,Players.Any(Level>5)')
  t.deepEqual(
    evaluate(`bundled.parseFilter(${JSON.stringify(written)})`),
    JSON.parse(JSON.stringify(language.parseFilter(String(written)))),
  )
  t.deepEqual(evaluate(`bundled.parseSort('-Level').map(({ direction }) => direction)`), ['desc'])
  t.deepEqual(evaluate(`bundled.parseSelect('Name,Team.Name').length`), 2)
  runInContext(`let told; try { bundled.parseFilter('Level>5,(Name^A') } catch (error) { told = error }`, context)
  t.deepEqual(evaluate(`[told instanceof bundled.QuerySyntaxError, told.name, told.offset]`), [
    true,
    'QuerySyntaxError',
    15,
  ])
})

test('what requires gets CommonJS from the query language under the conditions of browsers as well', async (t) => {
  t.deepEqual(await node(folder, '--conditions=browser', 'required.cjs'), {
    status: 0,
    stdout: 'Name=Jan\n',
    stderr: '',
  })
})

for (const [resolution, , compiler] of RESOLUTIONS) {
  test(`TypeScript with moduleResolution ${resolution} knows the query language without the types of Node or of any package`, async (t) => {
    const tsc = join(root, 'node_modules', compiler, 'bin/tsc')
    t.deepEqual(await node(folder, tsc, '-p', `${resolution}.json`), { status: 0, stdout: '', stderr: '' })
  })
}

test('a bundle has the size that the documents tell, for what it imports', async (t) => {
  const rows = tableIn(await readPages(), 'bundles')
  t.is(rows.length, 3)
  for (const [what = '', ...sizes] of rows) {
    const names = codesIn(what)
    const imported = names.length === 0 ? '*' : `{ ${names.join(', ')} }`
    const { text } = await bundle(`export ${imported} from 'sequelize-crud-router/language'`)
    for (const [index, size] of [text.length, gzipSync(text).length].entries()) {
      const told = Number(sizes[index]?.replaceAll(',', ''))
      t.true(size <= told && size > told * 0.9, `${what}: ${size}, not ${told}`)
    }
  }
})
