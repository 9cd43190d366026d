import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Validator } from '@seriousme/openapi-schema-validator'

const PROGRAM = createRequire(import.meta.url)
  .resolve('@redocly/cli/package.json')
  .replace('package.json', 'bin/cli.js')

/** Validates an OpenAPI document with a public validator. Returns its errors, or null for a valid document. */
export async function findErrors(document: object): Promise<unknown> {
  // The validator gets a copy, because it modifies its input.
  const { valid, errors } = await new Validator().validate(JSON.parse(JSON.stringify(document)))
  return valid ? null : (errors ?? 'invalid')
}

interface Finding {
  readonly ruleId: string
  readonly message: string
  readonly location: readonly { readonly pointer?: string; readonly source: { readonly ref: string } }[]
}

const RULES = `extends: [recommended-strict]
rules:
  operation-4xx-problem-details-rfc7807: error
`

/**
 * Checks OpenAPI documents with a public linter. The linter's strict recommended rules and its rule for problem details
 * are active. Returns the findings as texts.
 */
export async function lintDocuments(documents: Readonly<Record<string, object>>): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'lint-'))
  try {
    const files = Object.keys(documents).map((name) => `${name}.json`)
    await writeFile(join(folder, 'redocly.yaml'), RULES)
    for (const [name, document] of Object.entries(documents)) {
      await writeFile(join(folder, `${name}.json`), JSON.stringify(document))
    }
    // The output has one JSON object per file, without separators between the objects.
    const texts = (await lint(folder, files)).split(/(?<=\n\})(?=\{\n)/)
    const found = texts.map((text): { readonly problems: readonly Finding[] } => JSON.parse(text))
    return found
      .flatMap(({ problems }) => problems)
      .map(({ ruleId, message, location: [at] }) => `${at?.source.ref}: ${ruleId}: ${at?.pointer}: ${message}`)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Runs the linter. Findings are no failure. Messages of the linter itself go to stderr. */
function lint(cwd: string, files: readonly string[]): Promise<string> {
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', NODE_OPTIONS: '' }
  const args = [PROGRAM, 'lint', ...files, '--config', 'redocly.yaml', '--format', 'json', '--max-problems', '100']
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { cwd, env, maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      if (stdout.includes('"problems"')) resolve(stdout.slice(stdout.indexOf('{'), stdout.lastIndexOf('}') + 1))
      else reject(error ?? new Error(stderr))
    })
  })
}
