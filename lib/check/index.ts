/** `npx sequelize-crud-router check app.js`: the routes of an application, which of them no policy covers, and wrong options. */

import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import type { MountMessage } from '../../types/trace.js'
import { createReport } from './report.js'

/** Output and exit status of the program. */
export interface CheckResult {
  /** 0: fine. 1: options are wrong, or routes are open that must not be. 2: there was nothing to check. */
  readonly status: 0 | 1 | 2
  readonly text: string
}

const HELP = `sequelize-crud-router check FILE [options]

  Imports a module that mounts routers, and lists their routes.

  --call NAME      calls an exported function first, such as one that creates the application
  --fail-on-open   ends with status 1 if no policy covers a route

Status 0: fine. 1: options are wrong, or routes are open with --fail-on-open. 2: nothing could be checked.`

const CHANNEL = 'sequelize-crud-router.mount'

/** Imports a module. The build keeps real imports out of CommonJS. */
type Import = (url: string) => Promise<Readonly<Record<string, unknown>>>

/** Runs the program. The module is imported into this process and may run any code. */
export async function check(args: readonly string[], load: Import): Promise<CheckResult> {
  const given = readCheckArguments(args)
  if ('status' in given) return given
  const { file, call, isStrict } = given
  const mounts: MountMessage[] = []
  const collectMount = (message: unknown): void => {
    if (isMountMessage(message)) mounts.push(message)
  }
  subscribe(CHANNEL, collectMount)
  try {
    const module = await load(pathToFileURL(file).href)
    if (call !== undefined) await callExport(module, call)
  } catch (error) {
    return describeFailure(error)
  } finally {
    unsubscribe(CHANNEL, collectMount)
  }
  if (mounts.length === 0) {
    const help = 'Name the module that creates the routers. If a function creates them: --call createApp'
    return { status: 2, text: `${file} mounts no resource. ${help}` }
  }
  const { text, openCount } = createReport(mounts)
  return { status: isStrict && openCount > 0 ? 1 : 0, text }
}

interface CheckArguments {
  readonly file: string
  readonly call: string | undefined
  readonly isStrict: boolean
}

function readCheckArguments(args: readonly string[]): CheckArguments | CheckResult {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { call: { type: 'string' }, 'fail-on-open': { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
    })
    const [command, path, ...others] = positionals
    if (values.help === true) return { status: 0, text: HELP }
    if (command !== 'check' || path === undefined || others.length > 0) return { status: 2, text: HELP }
    const file = resolve(path)
    if (!existsSync(file)) return { status: 2, text: `The file ${file} does not exist.` }
    return { file, call: values.call, isStrict: values['fail-on-open'] === true }
  } catch (error) {
    return { status: 2, text: `${error instanceof Error ? error.message : String(error)}\n\n${HELP}` }
  }
}

async function callExport(module: Readonly<Record<string, unknown>>, name: string): Promise<void> {
  // A CommonJS module is the default export of its import.
  const made = module[name] ?? Reflect.get(Object(module.default), name)
  if (typeof made !== 'function') throw new TypeError(`The module does not export a function "${name}".`)
  await made()
}

function isMountMessage(message: unknown): message is MountMessage {
  return typeof message === 'object' && message !== null && 'kind' in message && message.kind === 'mount'
}

/** Wrong options are recognized by the error's code, because the application may have another copy of the package. */
function describeFailure(error: unknown): CheckResult {
  if (error instanceof Error && error.name === 'CrudConfigError') {
    const problems: unknown = Reflect.get(error, 'problems')
    const messages = Array.isArray(problems)
      ? problems.map((problem: unknown) => describeProblem(problem))
      : [error.message]
    const count = messages.length === 1 ? 'One option is wrong' : `${messages.length} options are wrong`
    return { status: 1, text: [`${count}:`, ...messages.map((message) => `  ${message}`)].join('\n') }
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { status: 2, text: `The module cannot be imported. ${text}` }
}

function describeProblem(problem: unknown): string {
  return String(Reflect.get(Object(problem), 'message'))
}
