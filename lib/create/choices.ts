import { DATABASES, type Database } from './schema.js'

export const LANGUAGES = ['typescript', 'javascript'] as const

/** Everything that decides what is written. */
export interface Choices {
  /** An absolute path. */
  readonly folder: string
  /** The name of the package that is written. */
  readonly name: string
  readonly language: (typeof LANGUAGES)[number]
  readonly database: Database
  readonly login: boolean
  readonly docs: boolean
  readonly agents: boolean
  readonly live: boolean
  /** The database whose tables become models: a URL, or the path of a SQLite file. Null for an example. */
  readonly from: string | null
}

/** The first Node that has `node:sqlite` without a flag. */
export function hasBuiltinSqlite(version: string = process.versions.node): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > 22 || (major === 22 && minor >= 13)
}

/** A wrong argument, which is reported without a stack. */
export class WrongArgument extends Error {}

const PROTOCOLS: ReadonlyMap<string, Database> = new Map([
  ...DATABASES.map((name) => [`${name}:`, name] as const),
  ['postgresql:', 'postgres'],
])

/** The database that `--from` names, and its address: a URL without credentials in plain sight of nobody, or a path. */
export function sourceOf(from: string): { readonly database: Database; readonly address: string } {
  const url = /^[a-z]+:\/\//i.test(from) && URL.canParse(from) ? new URL(from) : null
  if (url === null) return { database: 'sqlite', address: from.replace(/^sqlite:/, '') }
  const database = PROTOCOLS.get(url.protocol)
  if (database === 'sqlite') return { database, address: from.replace(/^sqlite:\/\//, '') }
  if (database !== undefined) return { database, address: url.href }
  throw new WrongArgument('--from must be postgres://..., mysql://..., mariadb://..., or the path of a SQLite file.')
}
