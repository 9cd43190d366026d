import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { withDriver } from './consumer.js'
import type { Block } from './markdown.js'
import { freePort, type Program, root, start, waitUntilListening } from './program.js'

/** A code snippet of a document in its own folder, ready to be compiled and run. */
export interface Snippet {
  /** Path and line in the document. */
  readonly place: string
  /** Path of the document. */
  readonly page: string
  /** Compiled file. */
  readonly file: string
  /** Port in the document and actual port of the program. Null for a program that ends by itself. */
  readonly listens: { readonly documented: number; readonly on: number } | null
  /** Whether the snippet is complete, so that readers can copy it. */
  readonly isWhole: boolean
}

/** A project outside the repository with the built package in its modules. */
export interface SnippetProject {
  readonly folder: string
  readonly snippets: readonly Snippet[]
  /** Output of the compiler. Empty if there are no errors. */
  readonly diagnostics: string
  readonly remove: () => Promise<void>
}

/** Declarations that fragments in the documents assume. The exports of the package are added to them. */
const SETUP = `
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import express, { type Express } from 'express'
import { CrudConfigError } from 'sequelize-crud-router'
import { nodeSqlite } from 'sequelize-crud-router/node-sqlite'
import { connect } from './models.js'
import { seed } from './seed.js'

export * from './models.js'
export const app: Express = express()
const driver = process.getBuiltinModule?.('node:sqlite') === undefined ? undefined : nodeSqlite

// Seeded once: the others start from a copy.
const seeded = new URL('../league.sqlite', import.meta.url).pathname
if (!existsSync(seeded)) {
  const first = connect(seeded, driver)
  await seed(first)
  await first.close()
}
const storage = new URL('league.sqlite', import.meta.url).pathname
await copyFile(seeded, storage)
export const sequelize = connect(storage, driver)

export function __is(actual: unknown, expected: unknown): void {
  assert.deepEqual(actual, expected)
}

export function __throws(code: string, run: () => unknown): void {
  assert.throws(run, (error) => error instanceof CrudConfigError && error.code === code)
}
`

const GIVEN = ['app', 'sequelize', 'Player', 'Team', 'Order', '__is', '__throws']

/** Compiler options for snippets. */
export const TSCONFIG = {
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
    experimentalDecorators: true,
    emitDecoratorMetadata: true,
    types: ['node'],
  },
  include: ['snippets'],
}

const run = promisify(execFile)

/** Writes the TypeScript and JavaScript snippets of documents into a project, and compiles them. */
export async function snippetProject(blocks: readonly Block[]): Promise<SnippetProject> {
  const folder = await mkdtemp(join(tmpdir(), 'sequelize-crud-router-docs-'))
  await linkModules(folder)
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG))
  const exported = await exportsOfPackage()
  const snippets: Snippet[] = []
  for (const block of blocks) {
    if (block.language !== 'ts' && block.language !== 'js') continue
    const name = block.place.replace(/\W/g, '-')
    const own = join(folder, 'snippets', name)
    await mkdir(own, { recursive: true })
    for (const file of ['models.ts', 'seed.ts']) await cp(join(root, 'examples/league', file), join(own, file))
    await writeFile(join(own, 'setup.ts'), SETUP)
    const extension = block.language === 'ts' ? 'ts' : /\brequire\(/.test(block.text) ? 'cjs' : 'mjs'
    const documented = /\.listen\((\d+)[,)]/.exec(block.text)?.[1]
    const listens = documented === undefined ? null : { documented: Number(documented), on: await freePort() }
    const { imports, body } = toStandalone(block.text, exported)
    const moved =
      listens === null
        ? body
        : body
            .replace(`.listen(${documented}`, `.listen(${listens.on}`)
            .replaceAll(`localhost:${documented}`, `localhost:${listens.on}`)
    await writeFile(join(own, `snippet.${extension}`), withDriver(imports + moved))
    snippets.push({
      place: block.place,
      page: block.page,
      file: join(folder, 'out/snippets', name, `snippet.${extension.replace('ts', 'js')}`),
      listens,
      isWhole: imports === '',
    })
  }
  const diagnostics = await compile(folder)
  return { folder, snippets, diagnostics, remove: () => rm(folder, { recursive: true, force: true }) }
}

/** Links the installed modules, and the package itself, into a folder. */
export async function linkModules(folder: string): Promise<void> {
  const modules = join(folder, 'node_modules')
  const installed = join(root, 'node_modules')
  const packages =
    'express sequelize joi jsonwebtoken @types/jsonwebtoken socket.io socket.io-client @modelcontextprotocol/server @modelcontextprotocol/client ra-core @refinedev/core @types/express @types/node'
  const others =
    'cors @types/cors fastify redis @socket.io/redis-streams-adapter sequelize-typescript reflect-metadata @nestjs/common @nestjs/core @nestjs/platform-express'
  const names = `${packages} ${others}`.split(' ')
  for (const name of names) {
    await mkdir(dirname(join(modules, name)), { recursive: true })
    await symlink(join(installed, name), join(modules, name), 'junction')
  }
  await symlink(root, join(modules, 'sequelize-crud-router'), 'junction')
}

/** Names of values that the built package exports. */
async function exportsOfPackage(): Promise<readonly string[]> {
  return Object.keys(await import('sequelize-crud-router'))
}

/** Converts a fragment to a program: its claims become checks, and the imports that it assumes are added. */
function toStandalone(text: string, exported: readonly string[]): { readonly imports: string; readonly body: string } {
  const claims = text.split('\n').map(toCheck).join('\n')
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
  return { imports, body: claims + (/\b(?:import|require)\b/.test(imports + claims) ? '' : '\nexport {}\n') }
}

/** Converts a comment with a claim to a check. `x // => y` checks equality, and `x // throws CODE` checks an error. */
function toCheck(line: string): string {
  const [, indent = '', expression, expected] = /^(\s*)(\S.*?) \/\/ => (.*)$/.exec(line) ?? []
  if (expression !== undefined) return `${indent}__is(${expression}, ${expected})`
  const [, throwing, code] = /^(\S.*?) \/\/ throws (\w+)$/.exec(line) ?? []
  return throwing === undefined ? line : `__throws('${code}', () => ${throwing})`
}

/** Compiles the project in a folder. Returns the compiler's messages. */
export async function compile(folder: string): Promise<string> {
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  try {
    await run(process.execPath, [tsc, '-p', folder], { cwd: folder })
    return ''
  } catch (error) {
    const { stdout, stderr } = { stdout: '', stderr: String(error), ...(error as object) }
    return stdout + stderr
  }
}

/**
 * Program that runs snippets one after the other, each with its own models. The program does not wait for snippets that
 * listen.
 */
const RUNNER = `
import { pathToFileURL } from 'node:url'
for (const [place, file] of JSON.parse(process.argv[2])) {
  const outcome = await import(pathToFileURL(file)).then(() => 'passed', (error) => String(error?.stack ?? error))
  console.log('outcome ' + place + ' ' + JSON.stringify(outcome))
}
`

/** Snippets of a project that were started. */
export interface Started {
  readonly programs: readonly Program[]
  /** Resolves to results by place: `passed`, or the error. */
  readonly outcomes: () => Promise<ReadonlyMap<string, string>>
}

/**
 * Starts each complete program in its own process, as a reader would. Fragments run in one process, which is faster.
 */
export async function startSnippets(
  { folder, snippets }: SnippetProject,
  env: Readonly<Record<string, string>>,
): Promise<Started> {
  const whole = snippets.filter(({ isWhole, listens }) => isWhole && listens !== null)
  const others = snippets.filter((snippet) => !whole.includes(snippet)).map(({ place, file }) => [place, file])
  await writeFile(join(folder, 'run.mjs'), RUNNER)
  const together = start(['run.mjs', JSON.stringify(others)], { cwd: folder, env })
  const outcomes = async (): Promise<ReadonlyMap<string, string>> => {
    const byPlace = new Map<string, string>()
    for (const [place = ''] of others) {
      const [, outcome = ''] = await together.waitForOutput(new RegExp(`^outcome ${place} (.*)$`, 'm'))
      byPlace.set(place, JSON.parse(outcome))
    }
    for (const { place, listens } of snippets) {
      if (listens === null || (byPlace.get(place) ?? 'passed') !== 'passed') continue
      byPlace.set(place, await waitUntilListening(listens.on).then(() => 'passed', String))
    }
    return byPlace
  }
  return { programs: [together, ...whole.map(({ file }) => start([file], { cwd: folder, env }))], outcomes }
}

/** Finds all matches of a pattern in the sources of the package. Returns the texts of its first group. */
export async function findInSources(pattern: RegExp): Promise<ReadonlySet<string>> {
  const paths = await readdir(join(root, 'lib'), { recursive: true })
  const texts = await Promise.all(
    paths.filter((path) => path.endsWith('.ts')).map((path) => readFile(join(root, 'lib', path), 'utf8')),
  )
  return new Set(texts.flatMap((text) => [...text.matchAll(pattern)].map(([, found = '']) => found)))
}
