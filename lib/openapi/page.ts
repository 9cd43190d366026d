import type {
  DocumentedOperation,
  DocumentReference,
  DocumentTag,
  JsonSchema,
  OpenApiDocument,
  XCrud,
  XCrudRelation,
} from '../../types/openApi.js'
import type { Steps } from '../common/turns.js'
import { formOf } from './explorer.js'
import { code, escaped, paragraphs, prose, table } from './html.js'
import { LISTS, OPERATOR_WORDS } from './operatorWords.js'

/** Placeholder of the reader's origin. */
const ORIGIN = '\u0000origin\u0000'

/** Writes the page for people, one resource per step. The result creates the text for the origin of a request. */
export function* writePage(
  document: OpenApiDocument,
  urls: Readonly<Record<string, string>>,
): Steps<(origin: string) => readonly string[]> {
  const { info, tags } = document
  const { title, version, description } = info
  const links = Object.entries(urls).map(([name, url]) => `<a href="${escaped(url)}">${escaped(name)}</a>`)
  const sections: string[] = [legend()]
  const routes = routesOf(document)
  for (const tag of tags) {
    const own = routes.filter(({ operation }) => operation.tags.includes(tag.name))
    sections.push(resourceOf(document, tag, own))
    yield
  }
  const head = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)} ${escaped(version)}</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<header>
<h1>${escaped(title)} <small>${escaped(version)}</small></h1>
${description === undefined ? '' : paragraphs(description)}
<p class="links">${links.join(' ')}</p>
<nav aria-label="Resources">${tags.map(({ name }) => `<a href="#${escaped(name)}">${escaped(name)}</a>`).join(' ')}</nav>
</header>
<main>
`
  const parts = [head, ...sections, '</main>\n<script src="docs/try.js"></script>\n</body>\n</html>\n']
  return (origin) => parts.map((part) => part.replaceAll(escaped(ORIGIN), escaped(origin)))
}

interface Route {
  readonly path: string
  readonly method: string
  readonly operation: DocumentedOperation
}

function routesOf({ paths }: OpenApiDocument): readonly Route[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  )
}

/** Explains the filter operators in words. */
function legend(): string {
  const rows = [...OPERATOR_WORDS].map(([token, words]) => {
    const value = LISTS.has(token) ? 'a;b' : 'a'
    return [code(token), escaped(words), code(`field${token}${value}`)]
  })
  return `<details><summary>Operators of filters</summary>
<p>A comma joins conditions by and, <code>|</code> joins them by or, and parentheses group them.</p>
${table(['Operator', 'Means', 'Example'], rows)}
</details>
`
}

/** Form for the list of a resource, if its URL is known and belongs to this server. */
function explorerOf(document: OpenApiDocument, { 'x-crud': crud }: DocumentTag, routes: readonly Route[]): string {
  const list = routes.find(({ method, path }) => method === 'get' && path === crud.path)
  const server = serverOf(document)
  if (list === undefined || crud.singleton || list.path.includes('{') || !server.startsWith(ORIGIN)) return ''
  const { parameters = [], security } = list.operation
  const filter = parameters.map((each) => resolved(document, each)).find(({ name }) => name === 'filter')
  const [, example] = Object.values<JsonSchema>(Object(filter?.examples))
  const takesToken = security.some((each) => Object.hasOwn(each, 'bearerAuth'))
  // Behind a proxy the origin may have another protocol for the server than for the reader.
  return formOf(server.slice(ORIGIN.length) + list.path, crud, {
    example: example === undefined ? null : String(example.value),
    takesToken,
  })
}

function resourceOf(document: OpenApiDocument, tag: DocumentTag, routes: readonly Route[]): string {
  const { name, description, 'x-crud': crud } = tag
  const operations = routes.map((route) => operationOf(document, route))
  return `<section id="${escaped(name)}">
<h2>${escaped(name)}</h2>
<p>${prose(description)}</p>
${explorerOf(document, tag, routes)}
${operations.join('\n')}
<h3>Fields</h3>
${fieldsOf(crud.fields)}
${crud.relations.map((relation) => relationOf(document, relation)).join('\n')}
</section>
`
}

function fieldsOf(fields: XCrud['fields']): string {
  return table(
    ['Field', 'Type', 'Operators', 'Sort', 'Select', 'Needs'],
    fields.map(({ name, type, nullable, operators, sortable, selectable, values, permission, writePermission }) => [
      code(name),
      escaped([values === undefined ? type : values.join(' | '), ...(nullable ? ['null'] : [])].join(' | ')),
      operators.map(operator).join(' '),
      sortable ? 'yes' : '',
      selectable ? 'yes' : '',
      [
        ...(permission === undefined ? [] : [`${code(permission)} to read`]),
        ...(writePermission === undefined ? [] : [`${code(writePermission)} to write`]),
      ].join(', '),
    ]),
  )
}

function operator(token: string): string {
  return `<code title="${escaped(OPERATOR_WORDS.get(token) ?? '')}">${escaped(token)}</code>`
}

function relationOf(document: OpenApiDocument, { name, many, resource, fields }: XCrudRelation): string {
  const what = resource === null ? '' : ` of ${escaped(resource)}`
  return `<details><summary>${code(name)} <span>${many ? 'a collection' : 'one record'}${what}</span></summary>
${fieldsOf(resolved(document, fields))}
</details>`
}

function operationOf(document: OpenApiDocument, { method, path, operation }: Route): string {
  const { operationId, summary, description, responses, security } = operation
  const parameters = (operation.parameters ?? []).map((parameter) => resolved(document, parameter))
  const isFree = security.some((requirement) => Object.keys(requirement).length === 0)
  const replies = Object.entries(responses).map(([status, reply]) => [
    code(status),
    prose(String(resolved(document, reply).description ?? '')),
  ])
  return `<details id="${escaped(operationId)}">
<summary><b class="${escaped(method)}">${escaped(method.toUpperCase())}</b> ${code(path)} <span>${escaped(summary)}</span></summary>
${description === undefined ? '' : `<p>${prose(description)}</p>`}
${security.length === 0 ? '' : `<p>${isFree ? 'Authenticated callers may see or change more.' : 'Requires authentication.'}</p>`}
<pre tabindex="0">${keyed(escaped(curlOf(document, { method, path, operation: { ...operation, parameters } })))}</pre>
${parameters.length === 0 ? '' : parametersOf(parameters)}
${table(['Status', 'Means'], replies)}
</details>`
}

function parametersOf(parameters: readonly JsonSchema[]): string {
  return table(
    ['Parameter', 'In', 'Means'],
    parameters.map(({ name, in: place, description = '', required }) => [
      code(String(name)) + (required === true ? ' *' : ''),
      escaped(String(place)),
      `<div class="text">${prose(String(description))}</div>`,
    ]),
  )
}

/** Marks the key of the record in a command. The page's script replaces it with a real key. */
const KEY = '\u0001'

function keyed(command: string): string {
  const [before = '', key, ...after] = command.split(KEY)
  return key === undefined ? command : `${before}<span class="key">${key}</span>${after.join('')}`
}

/** A curl command that sends the request. */
function curlOf(document: OpenApiDocument, { method, path, operation }: Route): string {
  const { parameters = [], requestBody, security } = operation
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const parameter = parameters.find((each) => each.in === 'path' && each.name === name)
    const sample = encodeURIComponent(String(sampleOf(document, Object(parameter?.schema))))
    return name === 'id' ? KEY + sample + KEY : sample
  })
  const needed = parameters.filter(({ in: place, required }) => place === 'header' && required === true)
  const schema = Object(requestBody).content?.['application/json']?.schema
  const lines = [
    `curl${method === 'get' ? '' : ` -X ${method.toUpperCase()}`} ${quoted(serverOf(document) + filled)}`,
    ...(security.some((each) => Object.hasOwn(each, 'bearerAuth')) ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    ...needed.map(({ name }) => `-H ${quoted(`${String(name)}: *`)}`),
    ...(schema === undefined
      ? []
      : [`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(sampleOf(document, schema)))}`]),
  ]
  return lines.join(' \\\n  ')
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** URL of the document's first server, or else the reader's origin. */
function serverOf({ servers: [server] }: OpenApiDocument): string {
  const url = (server?.url ?? '').replace(/\/$/, '')
  return /^https?:/i.test(url) ? url : ORIGIN + url
}

// ---------------------------------------------------------------- references and samples

const FORMATS: Readonly<Record<string, string>> = {
  date: '2026-01-31',
  'date-time': '2026-01-31T08:30:00.000Z',
  uuid: '00000000-0000-4000-8000-000000000000',
}

/** Example value for a schema. */
function sampleOf(document: OpenApiDocument, schema: JsonSchema): unknown {
  const { $ref, anyOf, type, enum: values, examples } = schema
  if (typeof $ref === 'string') return sampleOf(document, resolved(document, schema))
  if (Array.isArray(examples)) return examples[0]
  if (Array.isArray(values)) return values[0]
  if (Array.isArray(anyOf)) return sampleOf(document, anyOf[0])
  const [first] = [type].flat()
  return SAMPLES[String(first)]?.(schema, document) ?? {}
}

const SAMPLES: Readonly<Record<string, (schema: JsonSchema, document: OpenApiDocument) => unknown>> = {
  string: ({ format, minLength = 0, maxLength = 1000 }) =>
    FORMATS[String(format)] ?? 'text'.padEnd(Number(minLength), 't').slice(0, Number(maxLength)),
  integer: number,
  number,
  boolean: () => true,
  array: ({ items }, document) => [sampleOf(document, Object(items))],
  // Includes the required members, or else the first optional member.
  object: ({ properties, required = [] }, document) => {
    const all = Object.entries<JsonSchema>(Object(properties)).filter(([, { readOnly }]) => readOnly !== true)
    const needed = all.filter(([name]) => [required].flat().includes(name))
    const shown = [required].flat().length === 0 ? all.slice(0, 1) : needed
    return Object.fromEntries(shown.map(([name, each]) => [name, sampleOf(document, each)]))
  },
}

/** Content of a reference. Other content is returned unchanged. */
function resolved<T extends object>(document: OpenApiDocument, content: T | DocumentReference): T {
  if (!('$ref' in content) || typeof content.$ref !== 'string') return content as T
  const names = content.$ref.slice(2).split('/')
  return names.reduce((at, name) => Object(Reflect.get(at, name)), document as object) as T
}

function number({ minimum = 1, maximum = 1 }: JsonSchema): number {
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
