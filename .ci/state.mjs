// Records the inputs and outputs of a compiler, so that it runs only if necessary. Inputs are compared by content,
// because git and copying change times, and tools may change a file within a second. Outputs are compared by size and
// time.

import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Paths of all files below some paths. A path may be a file. Paths that do not exist are skipped. */
export function filesOf(root, paths) {
  return paths.flatMap((path) => {
    const stats = statSync(join(root, path), { throwIfNoEntry: false })
    if (stats === undefined) return []
    return stats.isDirectory() ? filesIn(root, path) : [path]
  })
}

/** Folders with installed packages and outputs of examples. Such folders contain no sources. */
const FOREIGN = new Set(['node_modules', 'dist'])

function filesIn(root, folder) {
  const entries = readdirSync(join(root, folder), { withFileTypes: true })
  return entries.flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (!entry.isDirectory()) return [path]
    return FOREIGN.has(entry.name) ? [] : filesIn(root, path)
  })
}

/** Hashes of files by path. Each file is read once, because stages share most inputs and no stage writes an input. */
const contents = new Map()

function contentOf(root, path) {
  const known = contents.get(path)
  if (known !== undefined) return known
  const content = createHash('sha256')
    .update(readFileSync(join(root, path)))
    .digest('hex')
  contents.set(path, content)
  return content
}

/** Computes one hash of the names and contents of files. The hash changes if a file is added, removed or changed. */
export function digestOf(root, paths) {
  const hash = createHash('sha256')
  for (const path of filesOf(root, paths).toSorted()) hash.update(`${path}\0${contentOf(root, path)}\0`)
  return hash.digest('hex')
}

function printsOf(root, paths) {
  return Object.fromEntries(
    filesOf(root, paths).map((path) => {
      const { size, mtimeMs } = statSync(join(root, path))
      return [path, `${size} ${mtimeMs}`]
    }),
  )
}

/** The record of one compiler, stored in a file. */
export class State {
  #root
  #file

  constructor(root, file) {
    this.#root = root
    this.#file = join(root, file)
  }

  /**
   * Compares the files with the record. `current`: the outputs were compiled from these inputs. `changed`: the outputs
   * were compiled from other inputs. `gone`: an output was removed or changed, or there is no record.
   */
  compare(inputs, outputs) {
    const record = this.#read()
    if (record === null) return 'gone'
    const prints = printsOf(this.#root, outputs)
    const isWhole = Object.entries(record.outputs).every(([path, print]) => prints[path] === print)
    if (!isWhole) return 'gone'
    return record.inputs === digestOf(this.#root, inputs) ? 'current' : 'changed'
  }

  /** Deletes the record. A compiler that is stopped leaves no record. */
  forget() {
    rmSync(this.#file, { force: true })
  }

  /** Records the outputs with the digest of their inputs. A digest of null means that the compiler reported errors. */
  keep(digest, outputs) {
    mkdirSync(dirname(this.#file), { recursive: true })
    writeFileSync(this.#file, JSON.stringify({ inputs: digest, outputs: printsOf(this.#root, outputs) }))
  }

  #read() {
    try {
      return JSON.parse(readFileSync(this.#file, 'utf8'))
    } catch {
      return null
    }
  }
}
