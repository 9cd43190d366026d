// Runs AVA on the compiled tests and closes with the line `N passed, N failed`. AVA's own summary leaves the passed
// tests out as soon as one fails, so both are counted from its report. The exit status is AVA's: it also tells of
// what no count shows, such as a server that was never closed.

import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'

const cli = fileURLToPath(new URL('cli.mjs', import.meta.resolve('ava')))
const colour = process.stdout.isTTY ? ['--color'] : []
const ava = spawn(process.execPath, [cli, ...colour, ...process.argv.slice(2)], {
  stdio: ['inherit', 'pipe', 'inherit'],
})

let passed = 0
let failed = 0
createInterface({ input: ava.stdout }).on('line', (line) => {
  console.log(line)
  const text = stripVTControlCharacters(line)
  if (/^\s*[✔√] /.test(text)) passed += 1
  if (/^\s*[✘×] \[(fail|unexpected pass)\]/.test(text)) failed += 1
})

ava.on('close', (status) => {
  const exit = status ?? 1
  // A crash, a time-out or a leaked server fails the run without failing any one test.
  if (exit !== 0 && failed === 0) failed = 1
  console.log(`${passed} passed, ${failed} failed`)
  process.exitCode = exit
})
