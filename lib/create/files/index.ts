import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import { sourceOf } from '../choices.js'
import { app, server } from './app.js'
import { login } from './login.js'
import { models } from './models.js'
import { extension, lines, type Plan } from './plan.js'
import { compose, gitignore, packageJson, tsconfig } from './project.js'
import { readme } from './readme.js'
import { test } from './test.js'

/** A file of the application. Secret files are readable only by the user. */
export interface File {
  readonly path: string
  readonly content: string
  readonly isSecret?: true
}

/** The files of an application, at most ten. */
export function filesOf(plan: Plan): readonly File[] {
  const file = extension(plan)
  const { database, from } = plan
  return [
    { path: 'package.json', content: packageJson(plan) },
    { path: '.gitignore', content: gitignore() },
    { path: 'README.md', content: readme(plan) },
    ...(file === 'ts' ? [{ path: 'tsconfig.json', content: tsconfig() }] : []),
    ...(from === null && database !== 'sqlite' ? [{ path: 'compose.yaml', content: compose(database) }] : []),
    ...(from === null ? [] : [{ path: '.env', content: environment(plan, from), isSecret: true as const }]),
    { path: `src/models.${file}`, content: models(plan) },
    { path: `src/app.${file}`, content: app(plan) },
    { path: `src/server.${file}`, content: server(plan) },
    ...(plan.login ? [{ path: `src/login.${file}`, content: login(plan) }] : []),
    { path: `test/app.test.${file}`, content: test(plan) },
  ]
}

function environment({ login }: Plan, from: string): string {
  const { database, address } = sourceOf(from)
  return lines(
    database === 'sqlite' ? `DATABASE_FILE=${quoted(resolve(address))}` : `DATABASE_URL=${quoted(address)}`,
    login && `JWT_SECRET=${quoted(randomBytes(32).toString('base64url'))}`,
  )
}

/** Quotes a value of `.env` with a quote that the value does not contain. */
function quoted(value: string): string {
  const quote = ["'", '"', '`'].find((each) => !value.includes(each))
  if (quote === undefined || /[\r\n]/.test(value))
    throw new RangeError('.env cannot contain this address: it has all kinds of quotes, or a line break.')
  return `${quote}${value}${quote}`
}
