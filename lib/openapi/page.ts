import type {
  DocumentedOperation,
  DocumentReference,
  DocumentTag,
  JsonSchema,
  OpenApiDocument,
  XCrud,
  XCrudRelation,
} from '../../types/openApi.js'
import type { Steps } from '../common/eventLoop.js'
import { writeForm } from './explorer.js'
import { escapeHtml, toCode, toHtml, toParagraphs, toTable } from './html.js'
import { LIST_OPERATORS, OPERATOR_WORDS } from './operatorWords.js'

/** Placeholder of the origin in the reader's browser. */
const ORIGIN_PLACEHOLDER = '\u0000origin\u0000'

/**
 * Writes the documentation page, one resource per step. Returns a function that creates the page's text for the origin
 * of a request.
 */
export function* writePage(
  document: OpenApiDocument,
  urls: Readonly<Record<string, string>>,
): Steps<(origin: string) => readonly string[]> {
  const { info, tags } = document
  const { title, version, description } = info
  const links = Object.entries(urls).map(([name, url]) => `<a href="${escapeHtml(url)}">${escapeHtml(name)}</a>`)
  const sections: string[] = [writeLegend()]
  const routes = collectRoutes(document)
  for (const tag of tags) {
    const own = routes.filter(({ operation }) => operation.tags.includes(tag.name))
    sections.push(writeResource(document, tag, own))
    yield
  }
  const head = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)} ${escapeHtml(version)}</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<header>
<h1>${escapeHtml(title)} <small>${escapeHtml(version)}</small></h1>
${description === undefined ? '' : toParagraphs(description)}
<p class="links">${links.join(' ')}</p>
<nav aria-label="Resources">${tags.map(({ name }) => `<a href="#${escapeHtml(name)}">${escapeHtml(name)}</a>`).join(' ')}</nav>
</header>
<main>
`
  const parts = [head, ...sections, '</main>\n<script src="docs/try.js"></script>\n</body>\n</html>\n']
  // A text as replacement could contain patterns such as "$`", which repeat a part of the page.
  return (origin) => parts.map((part) => part.replaceAll(escapeHtml(ORIGIN_PLACEHOLDER), () => escapeHtml(origin)))
}

interface Route {
  readonly path: string
  readonly method: string
  readonly operation: DocumentedOperation
}

function collectRoutes({ paths }: OpenApiDocument): readonly Route[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  )
}

/** Writes a table that explains the filter operators in words. */
function writeLegend(): string {
  const rows = [...OPERATOR_WORDS].map(([token, words]) => {
    const value = LIST_OPERATORS.has(token) ? 'a;b' : 'a'
    return [toCode(token), escapeHtml(words), toCode(`field${token}${value}`)]
  })
  return `<details><summary>Operators of filters</summary>
<p>A comma joins conditions by and, <code>|</code> joins them by or, and parentheses group them.</p>
${toTable(['Operator', 'Means', 'Example'], rows)}
</details>
`
}

/** Writes the form for a resource's list, if the list's URL is known and belongs to this server. */
function writeExplorer(document: OpenApiDocument, { 'x-crud': crud }: DocumentTag, routes: readonly Route[]): string {
  const list = routes.find(({ method, path }) => method === 'get' && path === crud.path)
  const server = serverUrl(document)
  if (list === undefined || crud.singleton || list.path.includes('{') || !server.startsWith(ORIGIN_PLACEHOLDER))
    return ''
  const { parameters = [], security } = list.operation
  const filter = parameters.map((each) => resolveReference(document, each)).find(({ name }) => name === 'filter')
  const [, example] = Object.values<JsonSchema>(Object(filter?.examples))
  const takesToken = security.some((each) => Object.hasOwn(each, 'bearerAuth'))
  // The form has only the path. Behind a proxy, the server may see another protocol than the reader.
  return writeForm(server.slice(ORIGIN_PLACEHOLDER.length) + list.path, crud, {
    example: example === undefined ? null : String(example.value),
    takesToken,
  })
}

function writeResource(document: OpenApiDocument, tag: DocumentTag, routes: readonly Route[]): string {
  const { name, description, 'x-crud': crud } = tag
  const operations = routes.map((route) => writeOperation(document, route))
  return `<section id="${escapeHtml(name)}">
<h2>${escapeHtml(name)}</h2>
<p>${toHtml(description)}</p>
${writeExplorer(document, tag, routes)}
${operations.join('\n')}
<h3>Fields</h3>
${writeFields(crud.fields)}
${crud.relations.map((relation) => writeRelation(document, relation)).join('\n')}
</section>
`
}

function writeFields(fields: XCrud['fields']): string {
  return toTable(
    ['Field', 'Type', 'Operators', 'Sort', 'Select', 'Needs'],
    fields.map(({ name, type, nullable, operators, sortable, selectable, values, permission, writePermission }) => [
      toCode(name),
      escapeHtml([values === undefined ? type : values.join(' | '), ...(nullable ? ['null'] : [])].join(' | ')),
      operators.map(writeOperator).join(' '),
      sortable ? 'yes' : '',
      selectable ? 'yes' : '',
      [
        ...(permission === undefined ? [] : [`${toCode(permission)} to read`]),
        ...(writePermission === undefined ? [] : [`${toCode(writePermission)} to write`]),
      ].join(', '),
    ]),
  )
}

function writeOperator(token: string): string {
  return `<code title="${escapeHtml(OPERATOR_WORDS.get(token) ?? '')}">${escapeHtml(token)}</code>`
}

function writeRelation(document: OpenApiDocument, { name, many, resource, fields }: XCrudRelation): string {
  const what = resource === null ? '' : ` of ${escapeHtml(resource)}`
  return `<details><summary>${toCode(name)} <span>${many ? 'a collection' : 'one record'}${what}</span></summary>
${writeFields(resolveReference(document, fields))}
</details>`
}

function writeOperation(document: OpenApiDocument, { method, path, operation }: Route): string {
  const { operationId, summary, description, responses, security } = operation
  const parameters = (operation.parameters ?? []).map((parameter) => resolveReference(document, parameter))
  const isFree = security.some((requirement) => Object.keys(requirement).length === 0)
  const replies = Object.entries(responses).map(([status, reply]) => [
    toCode(status),
    toHtml(String(resolveReference(document, reply).description ?? '')),
  ])
  return `<details id="${escapeHtml(operationId)}">
<summary><b class="${escapeHtml(method)}">${escapeHtml(method.toUpperCase())}</b> ${toCode(path)} <span>${escapeHtml(summary)}</span></summary>
${description === undefined ? '' : `<p>${toHtml(description)}</p>`}
${security.length === 0 ? '' : `<p>${isFree ? 'Authenticated callers may see or change more.' : 'Requires authentication.'}</p>`}
<pre tabindex="0">${markKey(escapeHtml(writeCurl(document, { method, path, operation: { ...operation, parameters } })))}</pre>
${parameters.length === 0 ? '' : writeParameters(parameters)}
${toTable(['Status', 'Means'], replies)}
</details>`
}

function writeParameters(parameters: readonly JsonSchema[]): string {
  return toTable(
    ['Parameter', 'In', 'Means'],
    parameters.map(({ name, in: place, description = '', required }) => [
      toCode(String(name)) + (required === true ? ' *' : ''),
      escapeHtml(String(place)),
      `<div class="text">${toHtml(String(description))}</div>`,
    ]),
  )
}

/** Placeholder of the record's key in a command. The page's script replaces it with a real key. */
const KEY_PLACEHOLDER = '\u0001'

function markKey(command: string): string {
  const [before = '', key, ...after] = command.split(KEY_PLACEHOLDER)
  return key === undefined ? command : `${before}<span class="key">${key}</span>${after.join('')}`
}

/** Writes a curl command that sends the request. */
function writeCurl(document: OpenApiDocument, { method, path, operation }: Route): string {
  const { parameters = [], requestBody, security } = operation
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const parameter = parameters.find((each) => each.in === 'path' && each.name === name)
    const sample = encodeURIComponent(String(createSample(document, Object(parameter?.schema))))
    return name === 'id' ? KEY_PLACEHOLDER + sample + KEY_PLACEHOLDER : sample
  })
  const needed = parameters.filter(({ in: place, required }) => place === 'header' && required === true)
  const schema = Object(requestBody).content?.['application/json']?.schema
  const lines = [
    `curl${method === 'get' ? '' : ` -X ${method.toUpperCase()}`} ${quoteForShell(serverUrl(document) + filled)}`,
    ...(security.some((each) => Object.hasOwn(each, 'bearerAuth')) ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    ...needed.map(({ name }) => `-H ${quoteForShell(`${String(name)}: *`)}`),
    ...(schema === undefined
      ? []
      : [`-H 'Content-Type: application/json'`, `-d ${quoteForShell(JSON.stringify(createSample(document, schema)))}`]),
  ]
  return lines.join(' \\\n  ')
}

function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** URL of the document's first server. A URL without an origin gets the placeholder of the reader's origin. */
function serverUrl({ servers: [server] }: OpenApiDocument): string {
  const url = (server?.url ?? '').replace(/\/$/, '')
  return /^https?:/i.test(url) ? url : ORIGIN_PLACEHOLDER + url
}

// ---------------------------------------------------------------- references and samples

const FORMAT_SAMPLES: Readonly<Record<string, string>> = {
  date: '2026-01-31',
  'date-time': '2026-01-31T08:30:00.000Z',
  uuid: '00000000-0000-4000-8000-000000000000',
}

/** Example value for a schema. */
function createSample(document: OpenApiDocument, schema: JsonSchema): unknown {
  const { $ref, anyOf, type, enum: values, examples } = schema
  if (typeof $ref === 'string') return createSample(document, resolveReference(document, schema))
  if (Array.isArray(examples)) return examples[0]
  if (Array.isArray(values)) return values[0]
  if (Array.isArray(anyOf)) return createSample(document, anyOf[0])
  const [first] = [type].flat()
  return SAMPLE_CREATORS[String(first)]?.(schema, document) ?? {}
}

const SAMPLE_CREATORS: Readonly<Record<string, (schema: JsonSchema, document: OpenApiDocument) => unknown>> = {
  string: ({ format, minLength = 0, maxLength = 1000 }) =>
    FORMAT_SAMPLES[String(format)] ?? 'text'.padEnd(Number(minLength), 't').slice(0, Number(maxLength)),
  integer: sampleNumber,
  number: sampleNumber,
  boolean: () => true,
  array: ({ items }, document) => [createSample(document, Object(items))],
  // A sample has the required members. Without required members, it has the first optional member.
  object: ({ properties, required = [] }, document) => {
    const all = Object.entries<JsonSchema>(Object(properties)).filter(([, { readOnly }]) => readOnly !== true)
    const needed = all.filter(([name]) => [required].flat().includes(name))
    const shown = [required].flat().length === 0 ? all.slice(0, 1) : needed
    return Object.fromEntries(shown.map(([name, each]) => [name, createSample(document, each)]))
  },
}

/** Resolves a reference to its content. Other content is returned unchanged. */
function resolveReference<T extends object>(document: OpenApiDocument, content: T | DocumentReference): T {
  if (!('$ref' in content) || typeof content.$ref !== 'string') return content as T
  const names = content.$ref.slice(2).split('/')
  return names.reduce((at, name) => Object(Reflect.get(at, name)), document as object) as T
}

function sampleNumber({ minimum = 1, maximum = 1 }: JsonSchema): number {
  return Math.min(Math.max(1, Math.ceil(Number(minimum))), Math.max(Number(maximum), Number(minimum)))
}

const STYLE = `
:root { color-scheme: light dark; --ink: #1c2430; --soft: #556070; --ground: #ffffff; --panel: #f4f6f9; --line: #d5dbe3; --link: #0b57a4; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6eaf0; --soft: #a3aebd; --ground: #14181e; --panel: #1d232c; --line: #353e4a; --link: #8ab8f0; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 70rem; padding: 1rem; font: 1rem/1.5 system-ui, sans-serif; color: var(--ink); background: var(--ground); }
h1 { margin: 0.5rem 0; font-size: 1.75rem; overflow-wrap: anywhere; }
h1 small { font-size: 1rem; font-weight: normal; color: var(--soft); }
h2 { margin: 2.5rem 0 0.5rem; padding-top: 0.5rem; border-top: 1px solid var(--line); font-size: 1.375rem; }
h3 { margin: 1.5rem 0 0.5rem; font-size: 1.0625rem; }
a { color: var(--link); }
nav, .links { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; }
code, pre { font: 0.875rem/1.5 ui-monospace, monospace; }
code { overflow-wrap: anywhere; }
details { margin: 0.375rem 0; border: 1px solid var(--line); border-radius: 0.375rem; background: var(--panel); padding: 0 0.75rem; }
summary { cursor: pointer; padding: 0.5rem 0; }
summary span { color: var(--soft); }
summary b { display: inline-block; min-width: 4.25rem; font: bold 0.8125rem/1.5 ui-monospace, monospace; }
.get { color: #0b6b43; } .post { color: #0b57a4; } .put, .patch { color: #8a5300; } .delete { color: #b3261e; }
@media (prefers-color-scheme: dark) {
  .get { color: #7fd4a8; } .post { color: #8ab8f0; } .put, .patch { color: #f0b860; } .delete { color: #f2a29b; }
}
form { display: flex; flex-wrap: wrap; gap: 0.5rem; align-items: end; margin: 0.75rem 0; }
label { flex: 1 1 12rem; font-size: 0.875rem; color: var(--soft); }
input { display: block; width: 100%; font: 0.875rem/1.5 ui-monospace, monospace; }
input, button { padding: 0.375rem 0.5rem; border: 1px solid var(--line); border-radius: 0.375rem; color: var(--ink); background: var(--ground); }
button { font: inherit; cursor: pointer; background: var(--panel); }
form pre { flex: 1 1 100%; max-height: 24rem; overflow: auto; user-select: text; }
pre { margin: 0.5rem 0; padding: 0.75rem; overflow-x: auto; border: 1px solid var(--line); border-radius: 0.375rem; background: var(--ground); user-select: all; }
.scroll { overflow-x: auto; margin: 0.5rem 0 1rem; }
table { border-collapse: collapse; width: 100%; font-size: 0.9375rem; }
th, td { padding: 0.375rem 0.75rem 0.375rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { color: var(--soft); font-weight: 600; }
td:first-child code { overflow-wrap: normal; white-space: nowrap; }
.text { min-width: 14rem; white-space: pre-line; }
a:focus-visible, summary:focus-visible, input:focus-visible, button:focus-visible, [tabindex]:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
`
