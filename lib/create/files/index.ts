import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import { parseSource } from '../choices.js'
import { writeApp, writeServer } from './app.js'
import { writeLogin } from './login.js'
import { writeModelsFile } from './models.js'
import { extensionOf, joinLines, type Plan } from './plan.js'
import { writeCompose, writeGitignore, writePackageJson, writeTsconfig } from './project.js'
import { writeReadme } from './readme.js'
import { writeTest } from './test.js'

/** A file of the application. Only the user may read a secret file. */
export interface GeneratedFile {
  readonly path: string
  readonly content: string
  readonly isSecret?: true
}

/** Writes the files of an application, at most ten. */
export function writeAllFiles(plan: Plan): readonly GeneratedFile[] {
  const file = extensionOf(plan)
  const { database, from } = plan
  return [
    { path: 'package.json', content: writePackageJson(plan) },
    { path: '.gitignore', content: writeGitignore() },
    { path: 'README.md', content: writeReadme(plan) },
    ...(file === 'ts' ? [{ path: 'tsconfig.json', content: writeTsconfig() }] : []),
    ...(from === null && database !== 'sqlite' ? [{ path: 'compose.yaml', content: writeCompose(database) }] : []),
    ...(from === null ? [] : [{ path: '.env', content: writeEnvironment(plan, from), isSecret: true as const }]),
    { path: `src/models.${file}`, content: writeModelsFile(plan) },
    { path: `src/app.${file}`, content: writeApp(plan) },
    { path: `src/server.${file}`, content: writeServer(plan) },
    ...(plan.login ? [{ path: `src/login.${file}`, content: writeLogin(plan) }] : []),
    { path: `test/app.test.${file}`, content: writeTest(plan) },
  ]
}

function writeEnvironment({ login }: Plan, from: string): string {
  const { database, address } = parseSource(from)
  return joinLines(
    database === 'sqlite' ? `DATABASE_FILE=${quoteValue(resolve(address))}` : `DATABASE_URL=${quoteValue(address)}`,
    login && `JWT_SECRET=${quoteValue(randomBytes(32).toString('base64url'))}`,
  )
}

/** Quotes a value of `.env`. The quote is a character that the value does not contain. */
function quoteValue(value: string): string {
  const quote = ["'", '"', '`'].find((each) => !value.includes(each))
  if (quote === undefined || /[\r\n]/.test(value))
    throw new RangeError('.env cannot contain this address: it has all kinds of quotes, or a line break.')
  return `${quote}${value}${quote}`
}
