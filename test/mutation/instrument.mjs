// Creates a build that contains all mutants of some TypeScript files. Each mutant is a branch that runs while the
// mutant is active. No code is compiled or loaded again between two mutants.

import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { Instrumenter } from '@stryker-mutator/instrumenter'
import { transformSync } from 'esbuild'

export const digestOf = (text) => createHash('sha256').update(text).digest('hex').slice(0, 16)

const silent = () => {}
const logger = { isTraceEnabled: () => false, isDebugEnabled: () => false, isInfoEnabled: () => false }
for (const level of ['trace', 'debug', 'info', 'warn']) logger[level] = silent
for (const level of ['error', 'fatal']) logger[level] = console.error

/**
 * Mutants of texts are excluded, because most texts are messages, which tests need not repeat. Comparisons with texts
 * are mutated.
 */
const OPTIONS = { plugins: null, excludedMutations: ['StringLiteral'], ignorers: [] }

const COMPILER = {
  loader: 'ts',
  format: 'esm',
  target: 'es2023',
  tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true, useDefineForClassFields: true } },
}

/** Module that replaces AVA. A process runs many test files, so tests are declared to the current runner. */
const AVA = `const chain = () => globalThis.__avaChain
export default new Proxy(() => {}, {
  apply: (_, __, given) => chain()(...given),
  get: (_, name) => chain()[name],
})
`

/** Source text of a mutant's location. */
function textAt(source, { start, end }) {
  const lines = source.split('\n').slice(start.line, end.line + 1)
  lines[lines.length - 1] = lines.at(-1).slice(0, end.column)
  lines[0] = lines[0].slice(start.column)
  return lines.join('\n')
}

const short = (text) => text.replaceAll(/\s+/g, ' ').trim()

/**
 * Instruments a file. Returns its mutants, and JavaScript that contains all of them. Ids of mutants are the file's path
 * with a number.
 */
async function mutated(root, file) {
  const source = readFileSync(join(root, file), 'utf8')
  const lines = source.split('\n')
  const named = { name: file, content: source, mutate: true }
  const { files, mutants } = await new Instrumenter(logger).instrument([named], OPTIONS)
  const ids = (text) => text.replaceAll(/"(\d+)"/g, `"${file}#$1"`)
  const content = files[0].content.replaceAll(/stry(?:MutAct|Cov)_\w+\((?:"\d+",?\s*)+\)/g, ids)
  return {
    content,
    digest: digestOf(source),
    mutants: mutants
      .filter(({ status }) => status !== 'Ignored')
      .map(({ id, mutatorName, replacement, location }) => ({
        id: `${file}#${id}`,
        file,
        line: location.start.line + 1,
        mutator: mutatorName,
        /** Line of the mutant. The line identifies the mutant even if lines are added above it. */
        in: lines[location.start.line].trim(),
        original: short(textAt(source, location)),
        replacement: short(replacement),
      })),
  }
}

/** Writes a copy of the compiled build with the mutants of some files. Returns the mutants by file. */
export async function instrument(root, files, build) {
  const folder = join(root, build)
  rmSync(folder, { recursive: true, force: true })
  cpSync(join(root, '.build'), folder, { recursive: true, preserveTimestamps: true })
  const tests = join(folder, 'test')
  const ava = join(tests, 'ava.js')
  writeFileSync(ava, AVA)
  for (const path of readdirSync(tests, { recursive: true }).filter((each) => each.endsWith('.js'))) {
    const file = join(tests, path)
    const content = readFileSync(file, 'utf8')
    const own = relative(dirname(file), ava).replaceAll('\\', '/')
    writeFileSync(
      file,
      content.replace(/^(import .*) from 'ava';$/m, `$1 from '${own.startsWith('.') ? own : `./${own}`}';`),
    )
  }
  const subjects = new Map()
  for (const file of files) {
    const { content, digest, mutants } = await mutated(root, file)
    const target = join(folder, file.replace(/\.ts$/, '.js'))
    const { code } = transformSync(content, { ...COMPILER, sourcefile: file })
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, code)
    subjects.set(file, { digest, mutants })
  }
  return subjects
}
