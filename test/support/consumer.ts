import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { hasSqlite3 } from './sqlite3.js'

const run = promisify(execFile)

export const root = fileURLToPath(new URL('../../../', import.meta.url))

/** Output of a program, and its exit status. */
export interface Outcome {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

/** A packed package. */
interface Packed {
  readonly file: string
  /** Paths inside the tarball. */
  readonly paths: readonly string[]
  /** Packed size in bytes. */
  readonly bytes: number
  readonly unpacked: number
}

/** A packed package, and a folder outside the repository for projects that use it. */
export interface Tarball extends Packed {
  readonly folder: string
  readonly remove: () => Promise<void>
}

/** Packs a built package. In a run of many test files, it is packed once. */
export async function pack(from: string = root): Promise<Tarball> {
  const folder = await mkdtemp(join(tmpdir(), 'sequelize-crud-router-pack-'))
  const packed = (await packForAll(from)) ?? (await packInto(folder, from))
  return { ...packed, folder, remove: () => rm(folder, { recursive: true, force: true }) }
}

/** Seconds after which a test file packs for itself, because the one that packs for all has been ended. */
const PATIENCE = 60

/** Packs for all files of a run: the first one packs, and the others wait. Null outside of such a run. */
async function packForAll(from: string): Promise<Packed | null> {
  const shared = process.env.TEST_FOLDER
  if (shared === undefined) return null
  const folder = join(shared, basename(from))
  const about = join(folder, 'packed.json')
  if ((await mkdir(folder, { recursive: true })) !== undefined) {
    const packed = await packInto(folder, from)
    await writeFile(`${about}.part`, JSON.stringify(packed))
    await rename(`${about}.part`, about)
    return packed
  }
  for (let waited = 0; waited < PATIENCE && !existsSync(about); waited += 0.2) await sleep(200)
  return existsSync(about) ? JSON.parse(await readFile(about, 'utf8')) : null
}

/** npm scripts are not run, because other tests read their output files at the same time. */
async function packInto(folder: string, from: string): Promise<Packed> {
  const options = { cwd: from, shell: process.platform === 'win32' }
  const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder], options)
  const [packed]: { filename: string; size: number; unpackedSize: number; files: { path: string }[] }[] =
    JSON.parse(stdout)
  if (packed === undefined) throw new Error('npm packed nothing')
  return {
    file: join(folder, packed.filename),
    paths: packed.files.map(({ path }) => path),
    bytes: packed.size,
    unpacked: packed.unpackedSize,
  }
}

/**
 * Creates a project with the unpacked tarball in its node_modules. Dependencies are links to the installed packages,
 * under the names of `links`, because building the SQLite driver may take a minute.
 */
export async function consumer(
  tarball: Tarball,
  name: string,
  links: Readonly<Record<string, string>>,
  files: Readonly<Record<string, string>>,
  packed = 'sequelize-crud-router',
): Promise<string> {
  const folder = join(tarball.folder, name)
  const modules = join(folder, 'node_modules')
  const own = join(modules, packed)
  await mkdir(own, { recursive: true })
  await run('tar', ['-xzf', tarball.file, '--strip-components=1', '-C', own])
  for (const [link, installed] of Object.entries(links)) {
    await mkdir(dirname(join(modules, link)), { recursive: true })
    await symlink(join(root, 'node_modules', installed), join(modules, link), 'junction')
  }
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), withDriver(text))
  }
  return folder
}

/** Adds the package's own driver to a program if sqlite3 is not installed. sqlite3 is Sequelize's default driver. */
export function withDriver(text: string): string {
  if (hasSqlite3) return text
  const required = `process.getBuiltinModule('node:module').createRequire(process.cwd() + '/')`
  const driver = `dialectModule: ${required}('sequelize-crud-router/node-sqlite').nodeSqlite`
  return text
    .replaceAll(/dialect: 'sqlite',(?! dialectModule)/g, `dialect: 'sqlite', ${driver},`)
    .replaceAll(/new Sequelize\(('sqlite:[^']*')\)/g, `new Sequelize($1, { ${driver} })`)
}

/** Names under `dependencies` in package.json, which npm would install. */
export async function dependencies(): Promise<string[]> {
  const manifest: { dependencies: Record<string, string> } = JSON.parse(
    await readFile(join(root, 'package.json'), 'utf8'),
  )
  return Object.keys(manifest.dependencies)
}

/** Runs Node.js in a folder, without the Node.js options of this test run. */
export async function node(folder: string, ...args: readonly string[]): Promise<Outcome> {
  const { NODE_OPTIONS: _, ...env } = process.env
  try {
    const { stdout, stderr } = await run(process.execPath, args, { cwd: folder, env, timeout: 120_000 })
    return { status: 0, stdout, stderr }
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const { code, stdout, stderr } = { code: 1, stdout: '', stderr: error.message, ...error }
    return { status: Number(code), stdout, stderr }
  }
}
