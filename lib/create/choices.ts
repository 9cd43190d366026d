import { DATABASES, type Database } from './schema.js'

export const LANGUAGES = ['typescript', 'javascript'] as const

/** All choices that determine the application. */
export interface Choices {
  /** Absolute path. */
  readonly folder: string
  /** Name of the new package. */
  readonly name: string
  readonly language: (typeof LANGUAGES)[number]
  readonly database: Database
  readonly login: boolean
  readonly docs: boolean
  readonly agents: boolean
  readonly live: boolean
  /** Database whose tables become models: a URL, or the path of a SQLite file. null selects the example application. */
  readonly from: string | null
}

/** Whether this Node.js has `node:sqlite` without a flag. */
export function hasBuiltinSqlite(version: string = process.versions.node): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > 22 || (major === 22 && minor >= 13)
}

/** An error that the program prints without a stack trace. */
export class WrongArgument extends Error {}

const PROTOCOLS: ReadonlyMap<string, Database> = new Map([
  ...DATABASES.map((name) => [`${name}:`, name] as const),
  ['postgresql:', 'postgres'],
])

/** Parses `--from`. The address is a URL or the path of a SQLite file. */
export function parseSource(from: string): { readonly database: Database; readonly address: string } {
  const isAddress = /^[a-z]+:\/\//i.test(from)
  const url = isAddress && URL.canParse(from) ? new URL(from) : null
  // The text is not repeated, because it may contain a password.
  if (url === null && isAddress) {
    throw new WrongArgument(
      '--from is not a valid address. Percent-encode special characters of the user name and the password: "/" is %2F.',
    )
  }
  if (url === null) return { database: 'sqlite', address: from.replace(/^sqlite:/, '') }
  const database = PROTOCOLS.get(url.protocol)
  if (database === 'sqlite') return { database, address: from.replace(/^sqlite:\/\//, '') }
  if (database !== undefined) return { database, address: url.href }
  throw new WrongArgument('--from must be postgres://..., mysql://..., mariadb://..., or the path of a SQLite file.')
}
