import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Choices, parseSource, WrongArgument } from './choices.js'
import { type GeneratedFile, writeAllFiles } from './files/index.js'
import type { Plan, Versions } from './files/plan.js'
import { writePackageJson } from './files/project.js'
import { writeModels } from './models.js'
import { loadGrammar, readSchema } from './read/index.js'
import { SAMPLE, SAMPLE_GRAMMAR } from './sample.js'

/** Files that an empty folder may contain. */
const IGNORED_FILES: ReadonlySet<string> = new Set(['.git', '.DS_Store'])

/** Writes an application into a new or empty folder. If the database cannot be read, the folder is restored. */
export async function writeApplication(
  choices: Choices,
  versions: Versions,
  install: boolean,
): Promise<Plan['written']> {
  const { folder, from } = choices
  assertSource(from)
  const isNew = !existsSync(folder)
  if (!isNew && (await readdir(folder)).some((name) => !IGNORED_FILES.has(name))) {
    throw new WrongArgument(`${folder} is not empty.`)
  }
  await writeFiles(folder, [{ path: 'package.json', content: writePackageJson({ ...choices, versions }) }])
  try {
    if (install) await installPackages(folder)
    const written = await readModels(choices)
    await writeFiles(folder, writeAllFiles({ ...choices, versions, written }))
    return written
  } catch (error) {
    await removeFolder(folder, isNew)
    throw from === null || !(error instanceof Error) ? error : new WrongArgument(errorReason(error))
  }
}

async function removeFolder(folder: string, isNew: boolean): Promise<void> {
  if (isNew) return rm(folder, { recursive: true, force: true })
  const written = (await readdir(folder)).filter((name) => !IGNORED_FILES.has(name))
  for (const name of written) await rm(join(folder, name), { recursive: true })
}

/** Rejects a missing SQLite file, because SQLite would create the file. */
function assertSource(from: string | null): void {
  const source = from === null ? null : parseSource(from)
  if (source?.database === 'sqlite' && !existsSync(source.address)) {
    throw new WrongArgument(`The file ${source.address} does not exist.`)
  }
}

async function readModels(choices: Choices): Promise<Plan['written']> {
  const { folder, from } = choices
  if (from === null) return writeModels(SAMPLE, choices, SAMPLE_GRAMMAR)
  const schema = await readSchema(folder, from)
  const written = writeModels(schema, choices, loadGrammar(folder))
  if (written.models.length === 0)
    throw new WrongArgument(['The database has no table with a key.', ...written.notes].join('\n'))
  return written
}

function errorReason(error: Error): string {
  if (error instanceof WrongArgument) return error.message
  if ('code' in error && error.code === 'MODULE_NOT_FOUND') {
    return '--from needs the packages of the application. Leave out --no-install, or install them in a parent folder.'
  }
  return `The database cannot be read. ${error.message}`
}

async function writeFiles(folder: string, files: readonly GeneratedFile[]): Promise<void> {
  for (const { path, content, isSecret } of files) {
    const place = join(folder, path)
    await mkdir(dirname(place), { recursive: true })
    await writeFile(place, content, isSecret === true ? { mode: 0o600 } : {})
  }
}

const MANAGERS: ReadonlySet<string> = new Set(['npm', 'pnpm', 'yarn', 'bun'])

/** The package manager that runs this program. */
export function packageManagerOf(agent: string = process.env.npm_config_user_agent ?? ''): string {
  const [name = ''] = agent.split('/')
  return MANAGERS.has(name) ? name : 'npm'
}

async function installPackages(folder: string): Promise<void> {
  const manager = packageManagerOf()
  const quiet = manager === 'npm' ? ['--no-audit', '--no-fund', '--loglevel=error'] : []
  const child = spawn(manager, ['install', ...quiet], {
    cwd: folder,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new WrongArgument(`${manager} install failed.`)
}
