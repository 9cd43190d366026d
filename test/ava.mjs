// Runs AVA on the compiled tests, on one database, and counts. AVA's own summary leaves the passed tests out as soon as
// one fails, so both are counted from its report.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'

/** The folder with the compiled tests, from the root. */
export const build = process.env.BUILD ?? '.build'

export const servers = await import(new URL(`../${build}/test/support/servers.js`, import.meta.url).href)

const isNode = process.versions.bun === undefined && process.versions.deno === undefined
const cli = fileURLToPath(isNode ? new URL('cli.mjs', import.meta.resolve('ava')) : new URL('cli.mjs', import.meta.url))
/** Seconds after which AVA, which ends tests that are silent for two minutes, is taken to hang itself. */
const SILENCE = Number(process.env.TEST_SILENCE ?? 300)

const colour = process.stdout.isTTY ? ['--color'] : []

/**
 * Ends a run that says nothing for so many seconds. Resolves with what passed, the titles of what failed and of what was left out, and AVA's exit status: it also tells of what no title shows,
 * such as a server that was never closed. `isStopped` when a signal ended it early.
 */
export async function runTests(database, args, seconds = SILENCE) {
  const run = servers.newRun()
  // All files of the run load the same modules.
  const cache = await mkdtemp(join(tmpdir(), 'compiled-'))
  const ava = spawn(process.execPath, [cli, ...colour, ...args], {
    stdio: ['inherit', 'pipe', 'inherit'],
    env: { ...process.env, TEST_DATABASE: database, TEST_RUN: run, NODE_COMPILE_CACHE: cache },
  })

  // This program outlives AVA, to clear up behind it.
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
  // A crash, a time-out or a leaked server fails the run without failing any one test.
  if (code !== 0 && failures.length === 0) failures.push(`the run itself, which ended with ${signal ?? code}`)
  await rm(cache, { recursive: true, force: true })
  await servers
    .sweep(database === 'node-sqlite' ? 'sqlite' : database, run)
    .catch(({ message }) => console.error(`${database} was not cleared up: ${message}`))
  return { passed, failures, leftOut, status: code ?? 1, isStopped }
}
