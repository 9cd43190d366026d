// Traces one request, and prints the counts.

import { recordEntries, type TracedFunction } from './entries.js'
import type { TracedRequest, TracedServer } from './requests.js'

/** Files and folders of `lib` whose functions write Sequelize's `where` and `include` trees, and the text of SQL. */
export const SQL_WRITERS: readonly string[] = [
  'common/sqlText.ts',
  'perform/aggregate.ts',
  'perform/childSelect.ts',
  'perform/columnConditions.ts',
  'perform/comparisons.ts',
  'perform/joins.ts',
  'perform/keysetPredicate.ts',
  'perform/presentTables.ts',
  'perform/sql/',
  'perform/tableContext.ts',
  'perform/where.ts',
  'sequelize/dialect/',
  'sequelize/sql.ts',
  'sequelize/sqlCache.ts',
  'sequelize/whereTree.ts',
]

function writesSql({ file }: Pick<TracedFunction, 'file'>): boolean {
  return SQL_WRITERS.some((writer) => file.replace(/js$/, 'ts').startsWith(`lib/${writer}`))
}

/** Number of warm-up requests before the traced request. Warm-up requests do work that happens only once. */
const WARM_UP = 30

interface Counts {
  /** Number of distinct functions. */
  readonly functions: number
  readonly files: number
  /** Number of entered functions that are in another file than the function entered before. */
  readonly changes: number
}

export interface TracedRow {
  readonly name: string
  readonly all: Counts
  readonly withoutSql: Counts
}

export async function traceRequest(request: TracedRequest, server: TracedServer): Promise<TracedRow> {
  const entered = await findEntered(request, server)
  return {
    name: request.name,
    all: countsOf(entered),
    withoutSql: countsOf(entered.filter((one) => !writesSql(one))),
  }
}

/**
 * Lists the named functions that a request enters. Files are in the order of their first function. Functions that write
 * SQL text are left out.
 */
export async function listEntered(request: TracedRequest, server: TracedServer): Promise<string> {
  const entered = new Set(await findEntered(request, server))
  const lines: { readonly file: string; readonly names: string[] }[] = []
  for (const traced of entered) {
    const { file, name } = traced
    if (name === '' || writesSql(traced)) continue
    const last = lines.at(-1)
    if (last?.file === file) last.names.push(name)
    else lines.push({ file, names: [name] })
  }
  return lines.map(({ file, names }) => `${file.replace(/js$/, 'ts')}: ${names.join(', ')}`).join('\n')
}

async function findEntered(request: TracedRequest, server: TracedServer): Promise<readonly TracedFunction[]> {
  const target = targetOf(request, server)
  for (let count = 0; count < WARM_UP; count += 1) await server.send(await target())
  const last = await target()
  return recordEntries(async () => {
    await server.send(last)
  })
}

/** Completes a path with a trailing slash by the key of a record that is created for the request. */
function targetOf(request: TracedRequest, server: TracedServer): () => Promise<TracedRequest> {
  if (!request.path.endsWith('/')) return async () => request
  const create = { name: 'POST', method: 'POST', path: request.path.slice(0, -1), body: { name: 'Dimitri Haas' } }
  return async () => ({ ...request, path: `${request.path}${Object(await server.send(create)).id}` })
}

function countsOf(entered: readonly TracedFunction[]): Counts {
  return {
    functions: new Set(entered).size,
    files: new Set(entered.map(({ file }) => file)).size,
    changes: entered.filter(({ file }, index) => index > 0 && entered[index - 1]?.file !== file).length,
  }
}

const HEADINGS = ['request', 'functions', 'without SQL', 'files', 'without SQL', 'changes of file', 'without SQL']

/** Writes a Markdown table. */
export function table(rows: readonly TracedRow[]): string {
  const cells = rows.map(({ name, all, withoutSql }) => [
    name,
    ...[all.functions, withoutSql.functions, all.files, withoutSql.files, all.changes, withoutSql.changes].map(String),
  ])
  const widths = HEADINGS.map((heading, at) => Math.max(heading.length, ...cells.map((row) => row[at]?.length ?? 0)))
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join(' | ')} |`
  const rule = widths.map((width, at) => (at === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`))
  return [line(HEADINGS), line(rule), ...cells.map(line)].join('\n')
}
