import { createHash } from 'node:crypto'
import type { Request, RequestHandler, Response } from 'express'
import type { ApiDocsOptions, DocumentUrls } from '../../types/openApi.js'
import { CrudConfigError } from '../common/errors.js'
import { perGeneration } from '../compile/mounted.js'
import { isNamed } from '../parse/match.js'
import { clientTypes } from './clientTypes.js'
import { escaped } from './html.js'
import { openApi } from './openApi.js'
import { assertOptions, DOCS_OPTIONS } from './options.js'
import { pageOf } from './page.js'
import { Subjects } from './subjects.js'
import { type Asset, swaggerFiles, swaggerPage } from './swagger.js'

/** Nothing but what the page's own server has: neither its scripts nor its requests go anywhere else. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'"

const URLS: DocumentUrls = Object.freeze({ openApi: 'openapi.json', clientTypes: 'client.d.ts' })

type Answer = (req: Request, res: Response) => void | Promise<void>

/**
 * A handler that serves the OpenAPI document of resources at `/openapi.json`, the types of their clients at `/client.d.ts`, and a
 * page for people at `/docs`: Swagger UI where `swagger-ui-dist` is installed, else one without script. What it does not know
 * goes on to whoever comes next.
 *
 * @throws CrudConfigError for wrong options and what is no resource; what only all mounts tell, requests hear by `next`
 */
export function apiDocs(options: ApiDocsOptions): RequestHandler {
  return apiDocsWith(swaggerFiles, options)
}

/** The same with another source of Swagger UI, which may have none. */
export function apiDocsWith(load: typeof swaggerFiles, given: ApiDocsOptions): RequestHandler {
  assertOptions(given, 'apiDocs', DOCS_OPTIONS)
  const { path = '/', ui, ...options } = given
  new Subjects(options.resources)
  if (!/^\/[^?#]*$/.test(path)) throw new CrudConfigError('INVALID_OPTION', 'path must begin with "/".')
  const base = path.replace(/\/+$/, '')
  const document = perGeneration(() => openApi(options))
  const json = perGeneration(() => asset('application/json; charset=utf-8', JSON.stringify(document())))
  const page = perGeneration(() =>
    pageOf(document(), { 'OpenAPI document': URLS.openApi, 'Types for TypeScript': URLS.clientTypes }),
  )
  const types = perGeneration(() => asset('text/plain; charset=utf-8', clientTypes(options)))
  const swagger = ui === undefined ? once(load) : async () => null

  const docs: Answer = async (req, res) => {
    if (ui !== undefined) return send(req, res, asset(HTML, ui(URLS)))
    const files = await swagger()
    const html = files === null ? page()(originOf(req)) : swaggerPage(escaped(options.info.title))
    res.setHeader('Content-Security-Policy', POLICY)
    send(req, res, asset(HTML, html))
  }
  const routes: ReadonlyMap<string, Answer> = new Map([
    [`${base}/openapi.json`, (req, res) => send(req, res, json())],
    [`${base}/client.d.ts`, (req, res) => send(req, res, types())],
    [`${base}/docs`, docs],
  ])
  const files = `${base}/docs/`

  const answerOf = async (req: Request): Promise<Answer | null> => {
    const known = routes.get(req.path)
    if (known !== undefined) return known
    // What the page refers to would be looked for one level too deep.
    if (req.path === files) return (_, res) => void res.redirect(308, '../docs')
    if (!req.path.startsWith(files)) return null
    const file = (await swagger())?.get(req.path.slice(files.length))
    return file === undefined ? null : (_, res) => send(req, res, file)
  }

  return (req, res, next) => {
    if (req.method !== 'GET' && req.method !== 'HEAD') return next()
    answerOf(req)
      .then((answer) => (answer === null ? next() : answer(req, res)))
      .catch(next)
  }
}

const HTML = 'text/html; charset=utf-8'

function asset(type: string, text: string): Asset {
  return { type, bytes: Buffer.from(text) }
}

const tags = new WeakMap<Asset, string>()

function tagOf(file: Asset): string {
  const tag = tags.get(file) ?? `"${createHash('sha256').update(file.bytes).digest('base64url').slice(0, 27)}"`
  tags.set(file, tag)
  return tag
}

/** Sends what a client has not got already. */
function send(req: Request, res: Response, file: Asset): void {
  const tag = tagOf(file)
  res.setHeader('ETag', tag)
  res.setHeader('Cache-Control', 'no-cache')
  res.setHeader('X-Content-Type-Options', 'nosniff')
  const known = req.headers['if-none-match']
  if (known !== undefined && isNamed(tag, known)) {
    res.status(304).end()
    return
  }
  res.setHeader('Content-Type', file.type)
  res.setHeader('Content-Length', file.bytes.length)
  res.status(200).end(req.method === 'HEAD' ? undefined : file.bytes)
}

/** Where the reader has the page from, for lines to copy; what is no host is left out. */
function originOf({ protocol, headers: { host = '' } }: Request): string {
  return `${protocol}://${/^[\w.:[\]-]+$/.test(host) ? host : 'localhost'}`
}

/** What fails is tried again by who comes next. */
function once<T>(work: () => Promise<T>): () => Promise<T> {
  let known: Promise<T> | null = null
  return () => {
    known ??= work().catch((error: unknown) => {
      known = null
      throw error
    })
    return known
  }
}
