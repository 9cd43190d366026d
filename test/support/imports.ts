import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'

/** A source file of the package, by its path from the root with forward slashes, with what it imports. */
export interface Source {
  readonly path: string
  readonly imports: readonly Import[]
}

export interface Import {
  /** A path from the root, like `lib/problem.ts`, or the name of a package without a path inside it. */
  readonly target: string
  readonly relative: boolean
  /** True for `import type` and `export type`: nothing of it is left at run time. */
  readonly typeOnly: boolean
}

// The formatter puts statements at the start of a line and examples in comments behind a `*`, so a regex is enough.
const STATEMENTS: readonly RegExp[] = [
  /^import\s+(?<type>type\s+)?[\w$*{][^'"]*?\sfrom\s*['"](?<from>[^'"]+)['"]/gm,
  /^import\s*['"](?<from>[^'"]+)['"]/gm,
  /^export\s+(?<type>type\s+)?(?:\*(?:\s+as\s+[\w$]+)?|\{[^}]*\})\s*from\s*['"](?<from>[^'"]+)['"]/gm,
  /^(?!\s*(?:\*|\/\/)).*\b(?:import|require|resolve)\(\s*['"](?<from>[^'"]+)['"]/gm,
]

/** What a text imports, standing at a path. Dynamic imports count as imports at run time. */
export function source(path: string, text: string): Source {
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

/** Every TypeScript file below folders of the repository. */
export function sources(root: string, folders: readonly string[]): Source[] {
  return folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
      .filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts'))
      .map((path) => source(path, readFileSync(join(root, path), 'utf8'))),
  )
}

/** `../problem.js` in `lib/plan/filter.ts` is `lib/problem.ts`; only the grammar is JavaScript in the sources. */
function fileAt(path: string, from: string): string {
  const target = posix.join(dirname(path), from)
  return target.startsWith('grammar/') ? target : target.replace(/\.js$/, '.ts')
}

function packageOf(from: string): string {
  if (from.startsWith('node:')) return from
  return from.split('/', from.startsWith('@') ? 2 : 1).join('/')
}
