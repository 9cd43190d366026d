/**
 * `npx sequelize-crud-router check app.js` lists the routes of an application. The program reports routes without a
 * policy, and wrong options.
 */

import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import type { MountMessage } from '../../types/trace.js'
import { createReport } from './report.js'

/** Output and exit status of the program. */
export interface CheckResult {
  /**
   * 0: nothing to report. 1: options are wrong, or `--fail-on-open` found a route or hub without a policy. 2: nothing
   * could be checked.
   */
  readonly status: 0 | 1 | 2
  readonly text: string
}

const HELP = `sequelize-crud-router check FILE [options]

  Imports a module that mounts routers, and lists their routes and hubs.

  --call NAME      calls an exported function first, such as one that creates the application
  --fail-on-open   ends with status 1 if no policy covers a route or hub

Status 0: fine. 1: options are wrong, or routes or hubs are open with --fail-on-open. 2: nothing could be checked.`

const CHANNEL = 'sequelize-crud-router.mount'

/** A function that imports a module. In CommonJS, the build would replace a real `import()`. */
type Import = (url: string) => Promise<Readonly<Record<string, unknown>>>

/** Runs the program. The checked module is imported into this process, so its code runs. */
export async function check(args: readonly string[], load: Import): Promise<CheckResult> {
  const given = readCheckArguments(args)
  if ('status' in given) return given
  const { file, call, isStrict } = given
  const mounts: MountMessage[] = []
  const collectMount = (message: unknown): void => {
    if (isMountMessage(message)) mounts.push(message)
  }
  let failed = 'The module cannot be imported.'
  subscribe(CHANNEL, collectMount)
  try {
    const module = await load(pathToFileURL(file).href)
    if (call !== undefined) {
      const create = functionOf(module, call)
      if (create === null) return { status: 2, text: `The module does not export a function "${call}".` }
      failed = `The function "${call}" failed.`
      await create()
    }
  } catch (error) {
    return describeFailure(failed, error)
  } finally {
    unsubscribe(CHANNEL, collectMount)
  }
  if (mounts.length === 0) {
    const help =
      'Give the path of the module that creates the routers. If a function of the module creates them, add its name: --call createApp'
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

function functionOf(module: Readonly<Record<string, unknown>>, name: string): (() => unknown) | null {
  // `import()` of a CommonJS module returns its exports as the default export.
  const exported = module[name] ?? Reflect.get(Object(module.default), name)
  return typeof exported === 'function' ? () => exported() : null
}

function isMountMessage(message: unknown): message is MountMessage {
  return typeof message === 'object' && message !== null && 'kind' in message && message.kind === 'mount'
}

/**
 * Reports why the module could not be imported, or why its function failed. `instanceof` cannot recognize wrong
 * options, because the application may have another copy of the package.
 */
function describeFailure(failed: string, error: unknown): CheckResult {
  if (error instanceof Error && error.name === 'CrudConfigError') {
    const problems: unknown = Reflect.get(error, 'problems')
    const messages = Array.isArray(problems)
      ? problems.map((problem: unknown) => describeProblem(problem))
      : [error.message]
    const count = messages.length === 1 ? 'One option is wrong' : `${messages.length} options are wrong`
    return { status: 1, text: [`${count}:`, ...messages.map((message) => `  ${message}`)].join('\n') }
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { status: 2, text: `${failed} ${text}` }
}

function describeProblem(problem: unknown): string {
  return String(Reflect.get(Object(problem), 'message'))
}
