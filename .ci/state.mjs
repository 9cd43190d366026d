// What a compiler was given and what it left behind, so that it runs only when it has to. Inputs are compared by what
// they hold, since git and copying change times and tools of the same second change files; outputs by size and time.

import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Every file below some paths, which may be files themselves; those that do not exist have none. */
export function filesOf(root, paths) {
  return paths.flatMap((path) => {
    const stats = statSync(join(root, path), { throwIfNoEntry: false })
    if (stats === undefined) return []
    return stats.isDirectory() ? filesIn(root, path) : [path]
  })
}

/** What an example of its own package has installed and built is no source. */
const FOREIGN = new Set(['node_modules', 'dist'])

function filesIn(root, folder) {
  const entries = readdirSync(join(root, folder), { withFileTypes: true })
  return entries.flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (!entry.isDirectory()) return [path]
    return FOREIGN.has(entry.name) ? [] : filesIn(root, path)
  })
}

/** What files hold, each read once: stages share most of their inputs, and none of them writes an input. */
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

/** One text for the names and contents of all these files: another file, or one less, makes it another. */
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

/** The record of one compiler in a file of its own. */
export class State {
  #root
  #file

  constructor(root, file) {
    this.#root = root
    this.#file = join(root, file)
  }

  /**
   * `current` when the outputs are what came of these inputs, `changed` when they came of others, `gone` when some were
   * removed or written by somebody else, or when nobody knows.
   */
  compare(inputs, outputs) {
    const record = this.#read()
    if (record === null) return 'gone'
    const prints = printsOf(this.#root, outputs)
    const isWhole = Object.entries(record.outputs).every(([path, print]) => prints[path] === print)
    if (!isWhole) return 'gone'
    return record.inputs === digestOf(this.#root, inputs) ? 'current' : 'changed'
  }

  /** Until `keep`, nobody knows: for the time in which the compiler runs and may be stopped. */
  forget() {
    rmSync(this.#file, { force: true })
  }

  /** Records the outputs as what comes of inputs with that digest; null for those of a compiler that complained. */
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
