// Programs of database servers that are installed here.

import { accessSync, constants, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Debian keeps PostgreSQL's programs out of the path, by version. */
const POSTGRES = '/usr/lib/postgresql'

function postgresFolders(): readonly string[] {
  try {
    const versions = readdirSync(POSTGRES).toSorted((one, other) => Number(other) - Number(one))
    return versions.map((version) => join(POSTGRES, version, 'bin'))
  } catch {
    return []
  }
}

const FOLDERS = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin', ...postgresFolders()]

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function findProgram(name: string): string | undefined {
  return FOLDERS.map((folder) => join(folder, name)).find(isProgram)
}

/** The path of a program. Throws where it is not installed. */
export function programOf(name: string): string {
  const path = findProgram(name)
  if (path === undefined) throw new Error(`The program ${name} is not installed.`)
  return path
}

/** The programs among these that are not installed. */
export function missingPrograms(names: readonly string[]): readonly string[] {
  return names.filter((name) => findProgram(name) === undefined)
}
