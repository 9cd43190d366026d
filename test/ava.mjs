// Runs the compiled tests on one database, and counts the tests. AVA's summary omits the number of passed tests if a test
// fails. Therefore passed and failed tests are counted in the output.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import * as nodeModule from 'node:module'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'

/** Folder of the compiled tests, relative to the root. */
export const build = process.env.BUILD ?? '.build'

export const servers = await import(new URL(`../${build}/test/support/servers.js`, import.meta.url).href)

const isNode = process.versions.bun === undefined && process.versions.deno === undefined
const cli = fileURLToPath(isNode ? new URL('cli.mjs', import.meta.resolve('ava')) : new URL('cli.mjs', import.meta.url))
const together = fileURLToPath(new URL('together/run.mjs', import.meta.url))
const hasSharedProcesses = isNode && nodeModule.registerHooks !== undefined

/** Folders of test files that can share a process. Other test files run programs and wait for them. */
const SHARED = /^test\/(?:http|unit)\/.+\.js$/
/** What test files change for their whole process: the transactions of Sequelize, and the version of Express. */
const PROCESS_WIDE = /\buseCLS\(|support\/express4\.js/

/** Test files of foreign programs that measure real time, which other tests would lengthen. Such files run alone. */
const ALONE = /^test\/conformance\.js$/

const pathOf = (file) => relative(build, file).replaceAll('\\', '/')

const runsAlone = (file) => ALONE.test(pathOf(file))

function canShareProcess(file) {
  return SHARED.test(pathOf(file)) && !PROCESS_WIDE.test(readFileSync(file, 'utf8'))
}

/** Arguments that stand for files. Other tests can run at the same time as those of `--others`. */
const GROUPS = {
  '--alone': () => allFiles().filter(runsAlone),
  '--others': () => allFiles().filter((file) => !runsAlone(file)),
}

/**
 * Divides the arguments into programs with their arguments: one that runs several files in a process, AVA, and AVA again
 * for the files that run alone. On a Node without `registerHooks`, and with arguments that are not files, AVA runs
 * everything.
 */
function programsFor(args) {
  const group = args.length === 0 ? allFiles : GROUPS[args[0]]
  const files = group?.() ?? args
  if (!hasSharedProcesses || !files.every((file) => file.endsWith('.js') && existsSync(file))) return [[cli, files]]
  const programs = [
    [together, files.filter(canShareProcess)],
    [cli, files.filter((file) => !canShareProcess(file) && !runsAlone(file))],
    [cli, files.filter(runsAlone)],
  ]
  return programs.filter(([, some]) => some.length > 0)
}

function allFiles() {
  const tests = join(build, 'test')
  return readdirSync(tests, { recursive: true })
    .filter((path) => /^(?:[^/\\]+|(?:http|unit)[/\\].+)\.js$/.test(path))
    .map((path) => join(tests, path))
    .toSorted()
}

/** Seconds without output after which AVA counts as hanging. AVA itself ends tests after two minutes without output. */
const SILENCE = Number(process.env.TEST_SILENCE ?? 300)

const colour = process.stdout.isTTY ? ['--color'] : []

/**
 * Runs tests. Ends a program after `seconds` without output. Resolves with the number of passed tests, the titles of
 * failed and skipped tests, and an exit status. The status also reports failures without a title, such as a server
 * that was never closed. `isStopped`: a signal ended the run.
 */
export async function runTests(database, args, seconds = SILENCE) {
  const run = servers.newRun()
  // The files of a run share a compile cache, because they load equal modules, and the packed packages.
  const folder = await mkdtemp(join(tmpdir(), 'tests-'))
  const shared = { TEST_FOLDER: folder, NODE_COMPILE_CACHE: join(folder, 'compiled') }
  const env = { ...process.env, TEST_DATABASE: database, TEST_RUN: run, ...shared }
  const result = { passed: 0, failures: [], leftOut: [], status: 0, isStopped: false }
  for (const [program, some] of programsFor(args)) {
    if (!result.isStopped) await runProgram([program, ...colour, ...some], env, seconds, result)
  }
  await rm(folder, { recursive: true, force: true })
  await servers
    .sweep(database === 'node-sqlite' ? 'sqlite' : database, run)
    .catch(({ message }) => console.error(`${database} was not cleared up: ${message}`))
  return result
}

/** Runs a program that prints as AVA does, and adds its tests to the result. */
async function runProgram(command, env, seconds, result) {
  const { failures, leftOut } = result
  const before = failures.length
  const child = spawn(process.execPath, command, { stdio: ['inherit', 'pipe', 'inherit'], env })

  // This program ends after its child, because it removes the child's leftovers.
  const stop = (signal) => {
    result.isStopped = true
    child.kill(signal)
  }
  process.on('SIGINT', stop).on('SIGTERM', stop)

  const silence = setTimeout(() => {
    failures.push(`the run itself, which said nothing for ${seconds} seconds behind its last line above`)
    child.kill('SIGKILL')
  }, seconds * 1000)
  createInterface({ input: child.stdout }).on('line', (line) => {
    console.log(line)
    silence.refresh()
    const text = stripVTControlCharacters(line)
    if (/^\s*[✔√] /.test(text)) result.passed += 1
    const [, failure] = /^\s*[✘×] \[(?:fail|unexpected pass)\]: (.*)/.exec(text) ?? []
    if (failure !== undefined) failures.push(failure)
    const [, skipped] = /^\s*- \[skip\] (.*)/.exec(text) ?? []
    if (skipped !== undefined) leftOut.push(skipped)
  })
  const [code, signal] = await once(child, 'close')
  clearTimeout(silence)
  process.off('SIGINT', stop).off('SIGTERM', stop)
  // A crash, a time-out or a leaked server makes the run fail, although no test fails.
  if (code !== 0 && failures.length === before) failures.push(`the run itself, which ended with ${signal ?? code}`)
  result.status ||= code ?? 1
}
