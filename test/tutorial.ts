// The application of docs/tutorial.md, built as its reader builds it: each named block writes a file, `node` runs one, and
// each request gets the answer that stands behind it.

import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { assertAnswer } from './support/answers.js'
import { readCurl, sendCurl } from './support/curl.js'
import { TUTORIAL } from './support/documents.js'
import { type Block, parseBlocks } from './support/markdown.js'
import { freePort, type Program, root, start, waitUntilListening } from './support/program.js'
import { compile, linkModules, TSCONFIG } from './support/snippets.js'

/** The port on the page. */
const PORT = 4000

/** A command of the page with the files as they are when it is reached. */
interface Step {
  readonly command: string
  readonly place: string
  readonly files: ReadonlyMap<string, string>
  readonly answer: Block | undefined
}

function stepsOf(blocks: readonly Block[]): readonly Step[] {
  const files = new Map<string, string>()
  return blocks.flatMap(({ language, text, place }, index) => {
    const [, name] = /^ts (\w+\.ts)$/.exec(language) ?? []
    if (name !== undefined) files.set(name, text)
    if (language !== 'sh' || text.startsWith('npm ')) return []
    return [{ command: text, place, files: new Map(files), answer: blocks[index + 1] }]
  })
}

/** Runs the steps in one folder, as its reader does: a server that starts takes the place of the one before. */
class Reader {
  #server: Program | null = null
  readonly #tokens = new Map<string, string>()
  readonly #env = { JWT_SECRET: randomBytes(32).toString('base64url') }
  readonly folder: string
  readonly port: number

  constructor(folder: string, port: number) {
    this.folder = folder
    this.port = port
  }

  async run(t: ExecutionContext, { command, place, files, answer }: Step): Promise<void> {
    const [, file] = /^node (\w+)\.ts$/.exec(command) ?? []
    if (file === undefined) return this.#send(t, command, answer)
    const diagnostics = await this.#write(files)
    t.is(diagnostics, '', place)
    const run = (): Program => start([join('out', `${file}.js`)], { cwd: this.folder, env: this.#env })
    if (file === 'server') {
      await this.stop()
      this.#server = run()
      await waitUntilListening(this.port)
    } else {
      const program = run()
      t.teardown(() => program.stop())
      t.is(await program.ended(), 0, program.output())
    }
  }

  async stop(): Promise<number | string | null> {
    const server = this.#server
    this.#server = null
    return server === null ? null : server.stop()
  }

  async #write(files: ReadonlyMap<string, string>): Promise<string> {
    await mkdir(join(this.folder, 'steps'), { recursive: true })
    for (const [name, text] of files) {
      const moved = text.replaceAll(`listen(${PORT})`, `listen(${this.port})`)
      await writeFile(join(this.folder, 'steps', name), moved.replaceAll(`localhost:${PORT}`, `localhost:${this.port}`))
    }
    return compile(this.folder)
  }

  async #send(t: ExecutionContext, command: string, answer: Block | undefined): Promise<void> {
    const curl = readCurl(command.replace(/\$[A-Z]+/g, (name) => this.#tokens.get(name) ?? name))
    const reply = await sendCurl(curl, this.port)
    if (answer === undefined) return t.fail(command)
    assertAnswer(t, reply, answer, command)
    if (curl.url.endsWith('/login')) this.#keepToken(JSON.parse(curl.body ?? ''), JSON.parse(reply.text))
  }

  /** The reader keeps the token of Anna as `ANNA`. */
  #keepToken({ name }: { name: string }, { token }: { token: string }): void {
    this.#tokens.set(`$${name.toUpperCase()}`, token)
  }

  /** The page asks its reader to log in as Ola in words. */
  async logInAs(name: string, password: string): Promise<void> {
    const headers = { 'Content-Type': 'application/json' }
    const body = JSON.stringify({ name, password })
    const response = await fetch(`http://localhost:${this.port}/login`, { method: 'POST', headers, body })
    this.#keepToken({ name }, (await response.json()) as { token: string })
  }
}

async function project(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tutorial-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  await linkModules(folder)
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module' }))
  const compilerOptions = {
    ...TSCONFIG.compilerOptions,
    rootDir: 'steps',
    rewriteRelativeImportExtensions: true,
    // Node runs the files by erasing their types.
    erasableSyntaxOnly: true,
    verbatimModuleSyntax: true,
    experimentalDecorators: false,
    emitDecoratorMetadata: false,
  }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['steps'] }))
  return folder
}

// The tutorial keeps its data in Node's own SQLite.
const hasSqlite = process.getBuiltinModule?.('node:sqlite') !== undefined
const testSteps = hasSqlite ? test : test.skip

testSteps(
  'every step of the tutorial compiles and runs, and every request of it gets the answer that is shown',
  async (t) => {
    t.timeout(300_000)
    const steps = stepsOf(parseBlocks(TUTORIAL, await readFile(join(root, TUTORIAL), 'utf8')))
    t.true(steps.length >= 8, `${steps.length} steps`)
    const reader = new Reader(await project(t), await freePort())
    t.teardown(() => reader.stop())
    for (const step of steps) {
      if (step.command.includes('$OLA')) await reader.logInAs('ola', 'two paper boats')
      await reader.run(t, step)
    }
    t.is(await reader.stop(), 0)
  },
)
