import type { DocumentedOperation, DocumentTag, JsonSchema, OpenApiDocument, XCrud } from '../../types/openApi.js'
import { code, escaped, prose, table } from './html.js'
import { sampleOf } from './sample.js'
import { STYLE } from './style.js'

/** What stands in the page for the origin that its reader has it from. */
const ORIGIN = '\u0000origin\u0000'

/** A page for people, made of a document, without any script; from an origin that is known with the request. */
export function pageOf(document: OpenApiDocument, urls: Readonly<Record<string, string>>): (origin: string) => string {
  const { info, tags } = document
  const { title, version, description } = info
  const links = Object.entries(urls).map(([name, url]) => `<a href="${escaped(url)}">${escaped(name)}</a>`)
  const text = `<!doctype html>
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
${description === undefined ? '' : `<p>${prose(description)}</p>`}
<p class="links">${links.join(' ')}</p>
<nav aria-label="Resources">${tags.map(({ name }) => `<a href="#${escaped(name)}">${escaped(name)}</a>`).join(' ')}</nav>
</header>
<main>
${tags.map((tag) => resourceOf(document, tag)).join('\n')}
</main>
</body>
</html>
`
  const parts = text.split(escaped(ORIGIN))
  return (origin) => parts.join(escaped(origin))
}

function resourceOf(document: OpenApiDocument, tag: DocumentTag): string {
  const { name, description, 'x-crud': crud } = tag
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([, { tags }]) => tags.includes(name))
      .map(([method, operation]) => operationOf(document, method, path, operation)),
  )
  return `<section id="${escaped(name)}">
<h2>${escaped(name)}</h2>
<p>${prose(description)}</p>
${operations.join('\n')}
<h3>Fields</h3>
${fieldsOf(crud.fields)}
${crud.relations.map(relationOf).join('\n')}
</section>`
}

function fieldsOf(fields: XCrud['fields']): string {
  return table(
    ['Field', 'Type', 'Operators', 'Sort', 'Select', 'Needs'],
    fields.map(({ name, type, nullable, operators, sortable, selectable, values, permission, writePermission }) => [
      code(name),
      escaped([values === undefined ? type : values.join(' | '), ...(nullable ? ['null'] : [])].join(' | ')),
      operators.map(code).join(' '),
      sortable ? 'yes' : '',
      selectable ? 'yes' : '',
      [
        ...(permission === undefined ? [] : [`${code(permission)} to read`]),
        ...(writePermission === undefined ? [] : [`${code(writePermission)} to write`]),
      ].join(', '),
    ]),
  )
}

function relationOf({ name, many, resource, fields }: XCrud['relations'][number]): string {
  const what = resource === null ? '' : ` of ${escaped(resource)}`
  return `<details><summary>${code(name)} <span>${many ? 'a collection' : 'one record'}${what}</span></summary>
${fieldsOf(fields)}
</details>`
}

function operationOf(document: OpenApiDocument, method: string, path: string, operation: DocumentedOperation): string {
  const { operationId, summary, description, parameters = [], responses, security } = operation
  const isFree = security.some((requirement) => Object.keys(requirement).length === 0)
  const replies = Object.entries(responses).map(([status, reply]) => [
    code(status),
    prose(descriptionOf(document, reply)),
  ])
  return `<details id="${escaped(operationId)}">
<summary><b class="${escaped(method)}">${escaped(method.toUpperCase())}</b> ${code(path)} <span>${escaped(summary)}</span></summary>
${description === undefined ? '' : `<p>${prose(description)}</p>`}
${security.length === 0 ? '' : `<p>${isFree ? 'Shows, or takes, more where callers say who they are.' : 'For callers who say who they are.'}</p>`}
<pre tabindex="0">${escaped(curlOf(document, method, path, operation))}</pre>
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

function descriptionOf(document: OpenApiDocument, { $ref, description = '' }: JsonSchema): string {
  if (typeof $ref !== 'string') return String(description)
  const name = $ref.split('/').at(-1) ?? ''
  return String(document.components.responses?.[name]?.description ?? '')
}

/** A line that does it, for a shell. */
function curlOf(document: OpenApiDocument, method: string, path: string, operation: DocumentedOperation): string {
  const { parameters = [], requestBody, security } = operation
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const parameter = parameters.find((each) => each.in === 'path' && each.name === name)
    return encodeURIComponent(String(sampleOf(document, Object(parameter?.schema))))
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

/** Text as one word of a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** Where the document says that its paths are: at the reader's own origin, unless it names another one. */
function serverOf({ servers: [server] }: OpenApiDocument): string {
  const url = (server?.url ?? '').replace(/\/$/, '')
  return /^https?:/i.test(url) ? url : ORIGIN + url
}
