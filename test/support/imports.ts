import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'

/** A source file of the package with its imports. The file's path is relative to the root, with forward slashes. */
export interface Source {
  readonly path: string
  readonly imports: readonly Import[]
}

export interface Import {
  /** A path from the root, such as `lib/problem.ts`, or a package name without a path. */
  readonly target: string
  readonly relative: boolean
  /** Whether the import is an `import type` or `export type`, which do not exist at run time. */
  readonly typeOnly: boolean
}

// Regular expressions suffice, because the formatter puts statements at the start of a line, and examples in comments
// after a `*`.
const STATEMENTS: readonly RegExp[] = [
  /^import\s+(?<type>type\s+)?[\w$*{][^'"]*?\sfrom\s*['"](?<from>[^'"]+)['"]/gm,
  /^import\s*['"](?<from>[^'"]+)['"]/gm,
  /^export\s+(?<type>type\s+)?(?:\*(?:\s+as\s+[\w$]+)?|\{[^}]*\})\s*from\s*['"](?<from>[^'"]+)['"]/gm,
  /^(?!\s*(?:\*|\/\/)).*\b(?:import|require|resolve)\(\s*['"](?<from>[^'"]+)['"]/gm,
]

/** Finds the imports in the text of a file. Dynamic imports count as run-time imports. */
export function parseSource(path: string, text: string): Source {
  const found = STATEMENTS.flatMap((statement) => [...text.matchAll(statement)])
  return {
    path,
    imports: found.map(({ groups = {} }) => {
      const from = groups.from ?? ''
      const relative = from.startsWith('.')
      return {
        target: relative ? fileAt(path, from) : packageOf(from),
        relative,
        typeOnly: groups.type !== undefined,
      }
    }),
  }
}

/** Reads every TypeScript file below some folders of the repository. */
export function readSources(root: string, folders: readonly string[]): Source[] {
  return folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
      .filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts'))
      .map((path) => parseSource(path, readFileSync(join(root, path), 'utf8'))),
  )
}

/**
 * Resolves a relative import: `../problem.js` in `lib/plan/filter.ts` becomes `lib/problem.ts`. Only the files of
 * `grammar/` are JavaScript in the sources.
 */
function fileAt(path: string, from: string): string {
  const target = posix.join(dirname(path), from)
  return target.startsWith('grammar/') ? target : target.replace(/\.js$/, '.ts')
}

function packageOf(from: string): string {
  if (from.startsWith('node:')) return from
  return from.split('/', from.startsWith('@') ? 2 : 1).join('/')
}
