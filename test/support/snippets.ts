import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Block } from './markdown.js'
import { root, start } from './program.js'

/** A snippet in a folder of its own, ready to be compiled and run. */
export interface Snippet {
  readonly line: number
  /** The compiled file. */
  readonly file: string
  /** The port that the program in it listens on; null for a fragment, which ends by itself. */
  readonly port: number | null
}

/** A project outside the repository that has this package, as built, among its modules. */
export interface SnippetProject {
  readonly folder: string
  readonly snippets: readonly Snippet[]
  /** What the compiler had to say; empty when it was content. */
  readonly diagnostics: string
  readonly remove: () => Promise<void>
}

/** What the fragments of the README take for granted, beside the exports of the package. */
const SETUP = `
import assert from 'node:assert/strict'
import express, { type Express } from 'express'
import { CrudConfigError } from 'sequelize-crud-router'
import { connect } from './models.js'
import { seed } from './seed.js'

export * from './models.js'
export const app: Express = express()
export const sequelize = connect(new URL('league.sqlite', import.meta.url).pathname)
await seed(sequelize)

export function __is(actual: unknown, expected: unknown): void {
  assert.deepEqual(actual, expected)
}

export function __throws(code: string, run: () => unknown): void {
  assert.throws(run, (error) => error instanceof CrudConfigError && error.code === code)
}
`

const GIVEN = ['app', 'sequelize', 'Player', 'Team', 'Order', '__is', '__throws']

const TSCONFIG = {
  compilerOptions: {
    target: 'es2023',
    module: 'nodenext',
    rootDir: '.',
    outDir: 'out',
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    allowJs: true,
    checkJs: true,
    skipLibCheck: true,
    types: ['node'],
  },
  include: ['snippets'],
}

const run = promisify(execFile)

/** Writes the TypeScript and JavaScript of a document as a project, and compiles it. */
export async function snippetProject(blocks: readonly Block[]): Promise<SnippetProject> {
  const folder = await mkdtemp(join(tmpdir(), 'sequelize-crud-router-docs-'))
  await linkModules(folder)
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG))
  const exported = await exportsOfPackage()
  const snippets: Snippet[] = []
  for (const block of blocks) {
    if (block.language !== 'ts' && block.language !== 'js') continue
    const name = String(block.line)
    const own = join(folder, 'snippets', name)
    await mkdir(own, { recursive: true })
    for (const file of ['models.ts', 'seed.ts']) await cp(join(root, 'examples/league', file), join(own, file))
    await writeFile(join(own, 'setup.ts'), SETUP)
    const extension = block.language === 'ts' ? 'ts' : /\brequire\(/.test(block.text) ? 'cjs' : 'mjs'
    const listens = /\.listen\((\d+)\)/.exec(block.text)?.[1]
    await writeFile(join(own, `snippet.${extension}`), standing(block.text, exported))
    snippets.push({
      line: block.line,
      file: join(folder, 'out/snippets', name, `snippet.${extension.replace('ts', 'js')}`),
      port: listens === undefined ? null : Number(listens),
    })
  }
  const diagnostics = await compile(folder)
  return { folder, snippets, diagnostics, remove: () => rm(folder, { recursive: true, force: true }) }
}

/** Links what is installed here, and the package itself under its name. */
async function linkModules(folder: string): Promise<void> {
  const modules = join(folder, 'node_modules')
  const installed = join(root, 'node_modules')
  const names = ['express', 'sequelize', 'joi', 'socket.io', 'socket.io-client', '@types/express', '@types/node']
  for (const name of names) {
    await mkdir(dirname(join(modules, name)), { recursive: true })
    await symlink(join(installed, name), join(modules, name), 'junction')
  }
  await symlink(root, join(modules, 'sequelize-crud-router'), 'junction')
}

/** The names that are values among what the built package exports. */
async function exportsOfPackage(): Promise<readonly string[]> {
  return Object.keys(await import('sequelize-crud-router'))
}

/** A fragment with what it takes for granted, its claims turned into checks, and its port left to the environment. */
function standing(text: string, exported: readonly string[]): string {
  const claims = text
    .split('\n')
    .map(claim)
    .join('\n')
    .replace(/\.listen\(\d+\)/, '.listen(Number(process.env.PORT))')
  const isUsed = (name: string): boolean => new RegExp(`(?<![\\w.'])${name}\\b`).test(claims)
  const isOwn = (name: string): boolean =>
    new RegExp(`(?:const|let|class|function)\\s+${name}\\b|(?:import|const)\\s*\\{[^}]*\\b${name}\\b[^}]*\\}`).test(
      claims,
    )
  const taken = (names: readonly string[]): string => names.filter((name) => isUsed(name) && !isOwn(name)).join(', ')
  const lines = [
    [taken(GIVEN), './setup.js'],
    [taken(exported), 'sequelize-crud-router'],
  ].filter(([names]) => names !== '')
  const imports = lines.map(([names, from]) => `import { ${names} } from '${from}'\n`).join('')
  return imports + claims + (/\b(?:import|require)\b/.test(imports + claims) ? '' : '\nexport {}\n')
}

/** `x // => y` claims that x is y, and `x // throws CODE` that it throws. */
function claim(line: string): string {
  const [, indent = '', expression, expected] = /^(\s*)(\S.*?) \/\/ => (.*)$/.exec(line) ?? []
  if (expression !== undefined) return `${indent}__is(${expression}, ${expected})`
  const [, throwing, code] = /^(\S.*?) \/\/ throws (\w+)$/.exec(line) ?? []
  return throwing === undefined ? line : `__throws('${code}', () => ${throwing})`
}

async function compile(folder: string): Promise<string> {
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  try {
    await run(process.execPath, [tsc, '-p', folder], { cwd: folder })
    return ''
  } catch (error) {
    const { stdout, stderr } = { stdout: '', stderr: String(error), ...(error as object) }
    return stdout + stderr
  }
}

/** Runs one fragment after the other, each with models of its own. */
const RUNNER = `
import { pathToFileURL } from 'node:url'
for (const [line, file] of JSON.parse(process.argv[2])) {
  const outcome = await import(pathToFileURL(file)).then(() => 'passed', (error) => String(error?.stack ?? error))
  console.log('outcome ' + JSON.stringify([line, outcome]))
}
process.exit()
`

/** Runs what ends by itself, and gives each snippet's outcome by its line: `passed`, or what it failed with. */
export async function runFragments(
  { folder, snippets }: SnippetProject,
  env: Readonly<Record<string, string>>,
): Promise<ReadonlyMap<number, string>> {
  const fragments = snippets.filter(({ port }) => port === null).map(({ line, file }) => [line, file])
  await writeFile(join(folder, 'run.mjs'), RUNNER)
  const program = start(['run.mjs', JSON.stringify(fragments)], { cwd: folder, env })
  await program.ended()
  const lines = [...program.output().matchAll(/^outcome (.*)$/gm)]
  return new Map(lines.map(([, line = '']): [number, string] => JSON.parse(line)))
}

/** The string and template literals of source files that are messages; what a template fills in is `…`. */
export async function messagesIn(files: readonly string[]): Promise<ReadonlySet<string>> {
  const texts = await Promise.all(files.map((file) => readFile(join(root, file), 'utf8')))
  const text = texts.join('\n')
  const literals = [
    ...text.matchAll(/'((?:is|must|cannot|does|has) [^'\n]*\.)'/g),
    ...text.matchAll(/`((?:is|must|cannot|does|has) [^`\n]*\.)`/g),
  ]
  return new Set(literals.map(([, message = '']) => message.replace(/(?:\$\{[^}]*\})+/g, '…')))
}

/** Every match of a pattern's first group in the sources of the package. */
export async function foundInSources(pattern: RegExp): Promise<ReadonlySet<string>> {
  const paths = await readdir(join(root, 'lib'), { recursive: true })
  const texts = await Promise.all(
    paths.filter((path) => path.endsWith('.ts')).map((path) => readFile(join(root, 'lib', path), 'utf8')),
  )
  return new Set(texts.flatMap((text) => [...text.matchAll(pattern)].map(([, found = '']) => found)))
}
