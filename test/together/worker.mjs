// Runs test files one after the other in one process, each with a runner of AVA. Most of the time that a test file takes
// in a process of its own is needed to load modules and to compile code.

import { registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'
import { current } from './chain.mjs'

const ava = new URL('../lib/', import.meta.resolve('ava'))
const { default: Runner } = await import(new URL('runner.js', ava).href)
const { default: serializeError } = await import(new URL('serialize-error.js', ava).href)
const { set: setColours } = await import(new URL('chalk.js', ava).href)
setColours({ level: 0 })

const chain = new URL('chain.mjs', import.meta.url).href
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'ava' ? { url: chain, shortCircuit: true } : next(specifier, context),
})

/** The file that runs. Errors outside of its tests count as its errors. */
let file = null
const send = (event) => process.send({ ...event, testFile: file })

/** Rejections that nobody handles. AVA permits rejections that are handled before the file ends. */
const rejected = new Map()
process.on('unhandledRejection', (reason, promise) => rejected.set(promise, reason))
process.on('rejectionHandled', (promise) => rejected.delete(promise))
process.on('uncaughtException', (error) => {
  send({ type: 'uncaught-exception', err: serializeError(error, { testFile: file }) })
  process.disconnect()
  process.exit(1)
})

async function run(path) {
  file = path
  const runner = new Runner({ file, projectDir: process.cwd() })
  current.runner = runner
  const ended = new Promise((resolve, reject) => {
    runner.on('stateChange', send)
    runner.on('error', reject)
    runner.on('finish', resolve)
  })
  // AVA fails a test that waits for nothing. It notices when the process has nothing else to do.
  process.channel.unref()
  await import(pathToFileURL(path).href)
  if (runner.nextTaskIndex === 0) throw new Error('The file has no tests.')
  await ended
  process.channel.ref()
  // A rejection counts as unhandled only after all jobs that are due.
  await new Promise((resolve) => setImmediate(resolve))
  for (const reason of rejected.values())
    send({ type: 'unhandled-rejection', err: serializeError(reason, { testFile: file }) })
  rejected.clear()
  send({ type: 'file-ended' })
}

process.on('message', (path) => {
  // Without further files the process ends by itself, unless a test file left something open.
  if (path === null) process.disconnect()
  else run(path).catch((error) => process.emit('uncaughtException', error))
})
send({ type: 'ready' })
