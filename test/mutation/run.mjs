// `npm run mutate -- lib/behaviour/scope.ts lib/plan/authorize.ts:20-60` changes these files in every small way
// (mutants), one at a time. The program prints the mutants that no test detects. Without arguments, the program uses
// the files of `subjects.mjs`, which takes an hour or more.
// A mutant that no test can detect has its reason in `equivalent.json`. A reason that is no longer valid is an error.

import { existsSync, readFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { SUBJECTS } from './subjects.mjs'

const root = fileURLToPath(new URL('../../', import.meta.url))
const BUILD = '.build-mutants'
const USAGE = `Usage: npm run mutate -- [--budget seconds] [--lanes n] [--all] [--tests text ...] [file.ts[:from-to] ...]
  --budget  seconds of tests that a mutant has to survive beyond those that know its file best [30]
  --lanes   mutants at a time [2]
  --all     also those that have a reason in equivalent.json
  --tests   only files of tests with this in their path; may be repeated: a look, since the others may kill what these do not
  --only    only the mutant of this name (lib/plan/path.ts#12, as the output has it); may be repeated
  --database  database of the tests [sqlite]: locks and races show on servers alone`

function readArguments() {
  try {
    const options = {
      budget: { type: 'string' },
      lanes: { type: 'string' },
      all: { type: 'boolean' },
      tests: { type: 'string', multiple: true },
      only: { type: 'string', multiple: true },
      database: { type: 'string' },
    }
    const { values, positionals } = parseArgs({ allowPositionals: true, options })
    const { budget = 30, lanes = 2, all: isAll = false, tests: chosen = [''], only = [], database = 'sqlite' } = values
    const named = [...new Set(only.map((name) => name.split('#')[0]))]
    const texts = positionals.length > 0 ? positionals : named.length > 0 ? named : SUBJECTS
    const asked = texts.map((text) => {
      const [, file, from, to] = /^(.+?\.ts)(?::(\d+)(?:-(\d+))?)?$/.exec(text) ?? []
      if (file === undefined || !existsSync(join(root, file))) throw new RangeError(`There is no file '${text}'.`)
      return { file, from: Number(from ?? 1), to: Number(to ?? from ?? Number.POSITIVE_INFINITY) }
    })
    return { asked, budget: Number(budget), lanes: Number(lanes), isAll, chosen, only: new Set(only), database }
  } catch ({ message }) {
    console.error(`${message}\n${USAGE}`)
    return process.exit(2)
  }
}

const { asked, budget, lanes, isAll, chosen, only, database } = readArguments()
if (!existsSync(join(root, 'test/mutation/node_modules'))) {
  console.error('npm ci --ignore-scripts --prefix test/mutation installs what this needs')
  process.exit(2)
}
const { instrument } = await import('./instrument.mjs')
const { Tests } = await import('./tests.mjs')
setPriority(10)

// ---------------------------------------------------------------- mutants

const files = new Set(asked.map(({ file }) => file))
const subjects = await instrument(root, files, BUILD)
const servers = await import(new URL(`../../${BUILD}/test/support/servers.js`, import.meta.url).href)
const tests = new Tests(root, BUILD, servers, { chosen, database })
await tests.meet(subjects, lanes)

const reasons = JSON.parse(readFileSync(join(root, 'test/mutation/equivalent.json'), 'utf8'))
const isOf = (reason, mutant) =>
  ['file', 'in', 'original', 'replacement'].every((name) => reason[name] === mutant[name])
const mutants = asked.flatMap(({ file, from, to }) =>
  subjects.get(file).mutants.filter(({ id, line }) => line >= from && line <= to && (only.size === 0 || only.has(id))),
)

// ---------------------------------------------------------------- results

function difference({ id, file, line, mutator, original, replacement }) {
  return `${file}:${line} ${mutator} ${id}\n    - ${original}\n    + ${replacement}`
}

const results = new Map()
const isExcused = (mutant) => !isAll && reasons.some((reason) => isOf(reason, mutant))
for (const { id } of mutants.filter(isExcused)) results.set(id, 'excused')
await tests.kill(
  mutants.filter((mutant) => !isExcused(mutant)),
  lanes,
  budget,
  (mutant, { state, by, ran, of }) => {
    results.set(mutant.id, state)
    if (process.env.VERBOSE && by) console.log(`${state} ${mutant.file}:${mutant.line} ${mutant.mutator} by ${by}`)
    if (state === 'survived') console.log(`SURVIVED ${ran} of ${of} files of tests: ${difference(mutant)}`)
    if (state === 'never met') console.log(`NEVER MET: ${difference(mutant)}`)
  },
)

let failed = 0
const isOpen = (state) => state === 'survived' || state === 'never met'
console.log(`\n${'file'.padEnd(32)}  score  mutants  killed  timed out  survived  never met  excused`)
for (const file of new Set(asked.map((one) => one.file))) {
  const states = mutants.filter((mutant) => mutant.file === file).map(({ id }) => results.get(id))
  const count = (name) => states.filter((state) => state === name).length
  const excused = count('excused')
  const held = count('killed') + count('timed out')
  const score = states.length === excused ? 100 : (100 * held) / (states.length - excused)
  const cells = [states.length, count('killed'), count('timed out'), count('survived'), count('never met'), excused]
  const widths = [7, 6, 9, 8, 9, 7]
  console.log(
    `${file.padEnd(32)} ${score.toFixed(1).padStart(6)}  ${cells.map((cell, at) => String(cell).padStart(widths[at])).join('  ')}`,
  )
  failed += states.filter(isOpen).length
}
// A reason may be that SQLite has no such locks, so only runs on SQLite judge reasons.
for (const reason of only.size === 0 && database === 'sqlite' ? reasons : []) {
  const range = asked.find(({ file, from, to }) => file === reason.file && from === 1 && !Number.isFinite(to))
  if (range === undefined) continue
  const mutant = mutants.find((candidate) => isOf(reason, candidate))
  if (mutant !== undefined && results.get(mutant.id) !== 'killed' && results.get(mutant.id) !== 'timed out') continue
  console.log(`STALE REASON (${mutant === undefined ? 'no such mutant' : 'it is killed'}): ${JSON.stringify(reason)}`)
  failed += 1
}
process.exitCode = failed === 0 ? 0 : 1
