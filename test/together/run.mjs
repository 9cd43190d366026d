// `node test/together/run.mjs [--color] FILE...` runs compiled test files, several in one process, and prints what AVA
// prints. AVA's own program needs more processor time, because each file gets a process of its own.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { dirname, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import config from '../../ava.config.js'

const ava = new URL('../lib/', import.meta.resolve('ava'))
const { default: RunStatus } = await import(new URL('run-status.js', ava).href)
const { set: setColours } = await import(new URL('chalk.js', ava).href)
const { default: Reporter } = await import(new URL('reporters/default.js', ava).href)

/** Number of files after which a process is replaced, because files leave things behind. */
const FILES_PER_PROCESS = 40
/** Milliseconds without a result after which a process hangs, as in AVA's configuration. */
const SILENCE = 120_000
/** Milliseconds that a process may take to end after its last file. */
const ENDING = 10_000

const given = process.argv.slice(2)
setColours({ level: given.includes('--color') ? 1 : 0 })
const files = given.filter((text) => text !== '--color').map((path) => resolve(path))
const status = new RunStatus(files.length, null, {
  filter: [],
  ignoredFilterPatternFiles: [],
  testFileCount: files.length,
  selectionCount: files.length,
})
const reporter = new Reporter({
  extensions: ['js'],
  projectDir: process.cwd(),
  reportStream: process.stdout,
  stdStream: process.stderr,
})
const folder = files.length > 1 ? commonFolder(files) : ''
reporter.startRun({ files, filePathPrefix: folder, status })

function commonFolder(paths) {
  let common = dirname(paths[0] ?? '') + sep
  while (!paths.every((path) => path.startsWith(common))) common = dirname(common) + sep
  return common
}

/** A process that runs test files one after the other. */
class Lane {
  #child = null
  #ran = []

  async run(file) {
    status.observeWorker({ onStateChange: () => undefined }, file)
    this.#child ??= await this.#start()
    const child = this.#child
    this.#ran.push(file)
    const ended = new Promise((done) => {
      let timer
      const finish = (event) => {
        clearTimeout(timer)
        child.off('message', take)
        child.off('exit', end)
        status.emitStateChange({ ...event, testFile: file })
        done(event.type === 'worker-finished')
      }
      const wait = () => {
        clearTimeout(timer)
        timer = setTimeout(() => {
          status.emitStateChange({ type: 'timeout', period: SILENCE })
          child.kill('SIGKILL')
        }, SILENCE)
      }
      const take = (event) => {
        wait()
        if (event.type === 'file-ended') finish({ type: 'worker-finished' })
        else status.emitStateChange(event)
      }
      const end = (code, signal) =>
        finish({ type: 'worker-failed', ...(signal === null ? { nonZeroExitCode: code } : { signal }) })
      child.on('message', take).once('exit', end)
      wait()
    })
    child.send(file)
    if (!(await ended)) this.#forget()
    else if (this.#ran.length >= FILES_PER_PROCESS) await this.end()
  }

  async #start() {
    const child = fork(fileURLToPath(new URL('worker.mjs', import.meta.url)), {
      execArgv: config.nodeArguments,
      env: { NODE_ENV: 'test', ...process.env },
      // The standard output has the results, and nothing else.
      stdio: ['ignore', 2, 2, 'ipc'],
      serialization: 'advanced',
    })
    await once(child, 'message')
    return child
  }

  #forget() {
    this.#child = null
    this.#ran = []
  }

  /** Waits until the process ends. A process that does not end has a file that left something open. */
  async end() {
    const child = this.#child
    if (child === null) return
    const ran = this.#ran
    this.#forget()
    const timer = setTimeout(() => {
      console.error(`A process does not end. One of its files left something open:\n${ran.join('\n')}`)
      child.kill('SIGKILL')
    }, ENDING)
    const ended = once(child, 'exit')
    child.send(null)
    const [code, signal] = await ended
    clearTimeout(timer)
    if (code !== 0)
      status.emitStateChange({
        type: 'worker-failed',
        testFile: ran.at(-1),
        ...(signal === null ? { nonZeroExitCode: code } : { signal }),
      })
  }
}

const waiting = [...files]
await Promise.all(
  Array.from({ length: Math.min(files.length, config.concurrency) }, async () => {
    const lane = new Lane()
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) await lane.run(file)
    await lane.end()
  }),
)
status.end()
reporter.endRun()
process.exitCode = status.suggestExitCode({ matching: false })
