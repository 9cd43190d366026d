/**
 * `npm create sequelize-crud-router` writes an application with an API. The models come from an example, or from the
 * tables of a database.
 */

import { readFile } from 'node:fs/promises'
import { isAbsolute, relative, resolve } from 'node:path'
import { type CreateArguments, HELP, readArguments } from './arguments.js'
import { answerDefaults, choose, openTerminal } from './ask.js'
import { type Choices, WrongArgument } from './choices.js'
import type { Plan, Versions } from './files/plan.js'
import { toOneLine } from './text.js'
import { packageManagerOf, writeApplication } from './write.js'

/** Runs the program. Returns the exit status: 0 for success, 1 for an unexpected error, 2 for a wrong argument. */
export async function main(args: readonly string[] = process.argv.slice(2)): Promise<number> {
  try {
    const given = readArguments(args)
    if (given.help) console.log(HELP)
    else await create(given)
    return 0
  } catch (error) {
    if (!(error instanceof WrongArgument)) throw error
    console.error(error.message)
    return 2
  }
}

async function create(given: CreateArguments): Promise<void> {
  const choices = await chooseAll(given)
  const versions = await readVersions(given)
  const written = await writeApplication(choices, versions, given.install)
  printNextSteps(choices, given, written)
}

/** Makes all choices. Without a terminal, each question gets its default. */
async function chooseAll(given: CreateArguments): Promise<Choices> {
  if (given.yes || !process.stdin.isTTY) return choose(given, answerDefaults)
  const terminal = openTerminal()
  try {
    return await choose(given, terminal.ask)
  } finally {
    terminal.close()
  }
}

/** Reads the versions of dependencies. The build writes `versions.json` next to the program. */
async function readVersions({ package: spec }: CreateArguments): Promise<Versions> {
  const versions: Versions = JSON.parse(await readFile(new URL('./versions.json', import.meta.url), 'utf8'))
  if (spec === undefined) return versions
  const isFile = spec.endsWith('.tgz') || isAbsolute(spec)
  return { ...versions, 'sequelize-crud-router': isFile ? `file:${resolve(spec)}` : spec }
}

function printNextSteps(choices: Choices, { install }: CreateArguments, { models, notes }: Plan['written']): void {
  const manager = packageManagerOf()
  const folder = relative(process.cwd(), choices.folder) || '.'
  const path = models[0]?.path ?? ''
  for (const note of notes) console.log(toOneLine(note))
  console.log(`\n${choices.name} has ${models.length} ${models.length === 1 ? 'table' : 'tables'}.\n`)
  if (folder !== '.') console.log(`  cd ${folder}`)
  if (!install) console.log(`  ${manager} install`)
  if (choices.from === null && choices.database !== 'sqlite') console.log('  docker compose up -d')
  const request = `curl 'localhost:3000${path}'`
  const then = choices.login
    ? `Then get a token, as README.md describes, and send it: ${request} -H "Authorization: Bearer $TOKEN"`
    : `Then: ${request}`
  console.log(`  ${manager} start\n\n${then}`)
}
