import type { RequestHandler } from 'express'
import type { Sample } from '../program.js'
import { samples } from './requests.js'

/** Content Security Policy: the page loads nothing and has only its own styles. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const STYLE = `
:root { color-scheme: light dark }
body { max-width: 52rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; font: 1rem/1.5 system-ui, sans-serif }
h1 { margin: 0; font-size: 1.75rem }
h2 { margin: 2rem 0 0.5rem; font-size: 1.125rem }
ul { margin: 0; padding: 0; list-style: none }
li { margin: 0 0 1rem }
.places { display: grid; grid-template-columns: repeat(auto-fit, minmax(14rem, 1fr)); gap: 0.75rem; margin-top: 1.25rem }
.places li { margin: 0; padding: 0.75rem 1rem; border: 1px solid color-mix(in srgb, currentcolor 25%, transparent); border-radius: 0.5rem }
.places a { font-weight: 600 }
pre { margin: 0.25rem 0 0; padding: 0.5rem 0.75rem; border-radius: 0.5rem; overflow-x: auto; font-size: 0.875rem;
  background: color-mix(in srgb, currentcolor 8%, transparent) }
`

const PLACES: readonly (readonly [path: string, title: string, about: string])[] = [
  ['docs', 'Documentation of the API', 'written from the models, for people'],
  ['openapi.json', 'OpenAPI document', 'the same, for generators and tools'],
  ['live/', 'Live board', 'orders by push: open it in two windows'],
]

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character)
}

/** Path of a request that a link can send, or null for other requests. */
function linkOf({ command }: Sample): string | null {
  const [, path] = /^curl (?:-g )?'localhost:\d+\/([^']*)'$/.exec(command) ?? []
  return path ?? null
}

function shown(sample: Sample): string {
  const link = linkOf(sample)
  const title = escaped(sample.title)
  const head = link === null ? title : `<a href="${escaped(link)}">${title}</a>`
  return `<li>${head}<pre>${escaped(sample.command)}</pre></li>`
}

/** Serves the page at /, with links and with the requests that the program prints. */
export const frontPage: RequestHandler = (req, res) => {
  const places = PLACES.map(([path, title, about]) => `<li><a href="${path}">${title}</a><br>${about}</li>`)
  const requests = samples(req.socket.localPort ?? 0).map(shown)
  res
    .set('Content-Security-Policy', CONTENT_SECURITY_POLICY)
    .type('html')
    .send(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>League</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<h1>League</h1>
<p>Three Sequelize models, served by <code>sequelize-crud-router</code>: players, teams and orders.</p>
<ul class="places">${places.join('')}</ul>
<h2>Requests to try</h2>
<ul>${requests.join('\n')}</ul>
</body>
</html>
`)
}
