// Runs AVA on the compiled tests, on one database, and counts the tests. AVA's summary omits the number of passed tests
// if a test fails. Therefore passed and failed tests are counted in AVA's output.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'

/** Folder of the compiled tests, relative to the root. */
export const build = process.env.BUILD ?? '.build'

export const servers = await import(new URL(`../${build}/test/support/servers.js`, import.meta.url).href)

const isNode = process.versions.bun === undefined && process.versions.deno === undefined
const cli = fileURLToPath(isNode ? new URL('cli.mjs', import.meta.resolve('ava')) : new URL('cli.mjs', import.meta.url))
/** Seconds without output after which AVA counts as hanging. AVA itself ends tests after two minutes without output. */
const SILENCE = Number(process.env.TEST_SILENCE ?? 300)

const colour = process.stdout.isTTY ? ['--color'] : []

/**
 * Runs tests. Ends the run after `seconds` without output. Resolves with the number of passed tests, the titles of
 * failed and skipped tests, and AVA's exit status. The status also reports failures without a title, such as a server
 * that was never closed. `isStopped`: a signal ended the run.
 */
export async function runTests(database, args, seconds = SILENCE) {
  const run = servers.newRun()
  // The files of a run share a compile cache, because they load equal modules.
  const cache = await mkdtemp(join(tmpdir(), 'compiled-'))
  const ava = spawn(process.execPath, [cli, ...colour, ...args], {
    stdio: ['inherit', 'pipe', 'inherit'],
    env: { ...process.env, TEST_DATABASE: database, TEST_RUN: run, NODE_COMPILE_CACHE: cache },
  })

  // This program ends after AVA, because it removes AVA's leftovers.
  let isStopped = false
  const stop = (signal) => {
    isStopped = true
    ava.kill(signal)
  }
  process.on('SIGINT', stop).on('SIGTERM', stop)

  let passed = 0
  const failures = []
  const leftOut = []
  const silence = setTimeout(() => {
    failures.push(`the run itself, which said nothing for ${seconds} seconds behind its last line above`)
    ava.kill('SIGKILL')
  }, seconds * 1000)
  createInterface({ input: ava.stdout }).on('line', (line) => {
    console.log(line)
    silence.refresh()
    const text = stripVTControlCharacters(line)
    if (/^\s*[✔√] /.test(text)) passed += 1
    const [, failure] = /^\s*[✘×] \[(?:fail|unexpected pass)\]: (.*)/.exec(text) ?? []
    if (failure !== undefined) failures.push(failure)
    const [, skipped] = /^\s*- \[skip\] (.*)/.exec(text) ?? []
    if (skipped !== undefined) leftOut.push(skipped)
  })
  const [code, signal] = await once(ava, 'close')
  clearTimeout(silence)
  process.off('SIGINT', stop).off('SIGTERM', stop)
  // A crash, a time-out or a leaked server makes the run fail, although no test fails.
  if (code !== 0 && failures.length === 0) failures.push(`the run itself, which ended with ${signal ?? code}`)
  await rm(cache, { recursive: true, force: true })
  await servers
    .sweep(database === 'node-sqlite' ? 'sqlite' : database, run)
    .catch(({ message }) => console.error(`${database} was not cleared up: ${message}`))
  return { passed, failures, leftOut, status: code ?? 1, isStopped }
}
