// A program that runs one server and ends it: when its standard input ends, which it does when the process of a rig ends in
// whatever way. Then it removes the server's folder. It runs in a session of its own, so that Ctrl-C does not reach it first.
// Arguments: the folder, the signal that stops the server, its user and group (-1: its own), the program and its arguments.

import { spawn } from 'node:child_process'
import { createWriteStream, rmSync } from 'node:fs'
import { join } from 'node:path'

const [folder = '', signal = 'SIGTERM', uid = '-1', gid = '-1', program = '', ...args] = process.argv.slice(2)

/** Milliseconds after which a server that does not stop is killed. */
const PATIENCE = 5000

const user = uid === '-1' ? {} : { uid: Number(uid), gid: Number(gid) }
const server = spawn(program, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'], ...user })
const log = createWriteStream(join(folder, 'log'), { flags: 'a' })
server.stdout.pipe(log, { end: false })
server.stderr.pipe(log, { end: false })
server.on('error', ({ message }) => log.write(`${message}\n`))
process.stdout.write(`${server.pid ?? 0}\n`)

let isStopping = false
function stop(): void {
  if (isStopping) return
  isStopping = true
  server.kill('SIGCONT')
  server.kill(signal as NodeJS.Signals)
  setTimeout(() => server.kill('SIGKILL'), PATIENCE).unref()
}

server.on('close', () => {
  process.stdin.destroy()
  // A server that a rig killed keeps its folder until the rig is done with it.
  if (!isStopping) process.exit(0)
  rmSync(folder, { recursive: true, force: true })
  process.exit(0)
})
process.stdin.resume().on('close', stop).on('error', stop)
process.on('SIGTERM', stop).on('SIGINT', stop).on('SIGHUP', stop)
