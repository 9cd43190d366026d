import type { Request, RequestHandler, Response } from '../../types/express.js'
import type { ApiDocsOptions, DocumentUrls, OpenApiDocument } from '../../types/openApi.js'
import { inTurns } from '../common/turns.js'
import { perGeneration } from '../compile/mounted.js'
import { type Asset, assetOf, clientFile, JAVASCRIPT, send, swaggerFiles, swaggerPage } from './assets.js'
import { writeAsyncApi } from './asyncApi.js'
import { identifier, writeTypes } from './clientTypes.js'
import { invalid } from './components.js'
import { SCRIPT } from './explorer.js'
import { escaped } from './html.js'
import { assertApart } from './names.js'
import { textOf, writeDocument } from './openApi.js'
import { writePage } from './page.js'
import { assertOptions, assertPaths, DOCS_OPTIONS, subjectsOf } from './subjects.js'

/** Content Security Policy: the page loads from its own server only. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'"

const HTML = 'text/html; charset=utf-8'
const JSON_TYPE = 'application/json; charset=utf-8'
const URLS: DocumentUrls = Object.freeze({ openApi: 'openapi.json', clientTypes: 'client.d.ts' })
const LINKS = {
  'OpenAPI document': URLS.openApi,
  'Types for TypeScript': URLS.clientTypes,
  'Client for browsers': 'client.js',
}
const EVENTS = 'asyncapi.json'

type Answer = (req: Request, res: Response) => void | Promise<void>

/**
 * A handler that serves documentation of resources. Other requests are passed on.
 * - `/openapi.json`: the OpenAPI document
 * - `/asyncapi.json`: the AsyncAPI document of push hubs
 * - `/client.js`, `/client.d.ts`: the browser client and its types
 * - `/docs`: a page for people
 *
 * @throws CrudConfigError for wrong options and for conflicting names or paths of resources. Errors that depend on later mounts go to
 * `next`
 */
export function apiDocs(options: ApiDocsOptions): RequestHandler {
  return apiDocsWith(swaggerFiles, options)
}

/** `apiDocs` with another source of Swagger UI. */
export function apiDocsWith(load: typeof swaggerFiles, given: ApiDocsOptions): RequestHandler {
  assertOptions(given, 'apiDocs', DOCS_OPTIONS)
  const { path = '/', ui, ...options } = given
  const subjects = subjectsOf(options.resources)
  assertApart(subjects, identifier)
  assertPaths(subjects)
  if (ui !== undefined && ui !== 'swagger' && typeof ui !== 'function')
    throw invalid('ui must be "swagger" or a function.')
  if (!/^\/[^?#]*$/.test(path)) throw invalid('path must begin with "/".')
  const base = path.replace(/\/+$/, '')
  const document = (): Promise<OpenApiDocument> => inTurns(writeDocument(options))
  const json = written(async () => assetOf(JSON_TYPE, textOf(await document())))
  const types = written(async () => assetOf('text/plain; charset=utf-8', [await inTurns(writeTypes(options))]))
  const client = once(clientFile)
  const hasHubs = subjects.some(({ resource: { hub } }) => hub !== null)
  const events = hasHubs ? eventsOf(options) : null
  const links = events === null ? LINKS : { ...LINKS, 'AsyncAPI document of events': EVENTS }
  const page = written(async () => inTurns(writePage(await document(), links)))
  const files = once(ui === 'swagger' ? () => swaggerWith(load) : ui === undefined ? ownFiles : noFiles)

  const docs: Answer = async (req, res) => {
    if (typeof ui === 'function') return send(req, res, await assetOf(HTML, [ui(URLS)]))
    await files()
    const html = ui === undefined ? (await page())(originOf(req)) : [swaggerPage(escaped(options.info.title))]
    res.setHeader('Content-Security-Policy', POLICY)
    await send(req, res, await assetOf(HTML, html))
  }
  const eventRoutes: readonly (readonly [string, Answer])[] =
    events === null ? [] : [[`${base}/${EVENTS}`, async (req, res) => send(req, res, await events())]]
  const routes: ReadonlyMap<string, Answer> = new Map([
    [`${base}/openapi.json`, async (req, res) => send(req, res, await json())],
    ...eventRoutes,
    [`${base}/client.d.ts`, async (req, res) => send(req, res, await types())],
    [`${base}/client.js`, async (req, res) => send(req, res, await client())],
    [`${base}/docs`, docs],
  ])
  const below = `${base}/docs/`

  const answerOf = async (req: Request): Promise<Answer | null> => {
    const known = routes.get(req.path)
    if (known !== undefined) return known
    // At this address, relative links of the page would be one level too deep.
    if (req.path === below) return (_, res) => void res.redirect(308, '../docs')
    if (!req.path.startsWith(below)) return null
    const file = (await files()).get(req.path.slice(below.length))
    return file === undefined ? null : (_, res) => send(req, res, file)
  }

  return (req, res, next) => {
    if (req.method !== 'GET' && req.method !== 'HEAD') return next()
    answerOf(req)
      .then((answer) => (answer === null ? next() : answer(req, res)))
      .catch(next)
  }
}

type Files = ReadonlyMap<string, Asset>

/** The files of Swagger UI. @throws Error where the optional peer is not installed */
async function swaggerWith(load: typeof swaggerFiles): Promise<Files> {
  const files = await load()
  if (files !== null) return files
  throw new Error(`apiDocs: ui: 'swagger' needs the package swagger-ui-dist: npm install swagger-ui-dist`)
}

/** The files of the package's own page. */
async function ownFiles(): Promise<Files> {
  return new Map([['try.js', await assetOf(JAVASCRIPT, [SCRIPT])]])
}

async function noFiles(): Promise<Files> {
  return new Map()
}

/** The AsyncAPI document of the hubs. */
function eventsOf({ resources, info, security }: Omit<ApiDocsOptions, 'path' | 'ui'>): () => Promise<Asset> {
  const options = { resources, info, ...(security === undefined ? {} : { security }) }
  return written(async () => assetOf(JSON_TYPE, [JSON.stringify(await inTurns(writeAsyncApi(options)))]))
}

/** Origin of the page as the reader sees it. `localhost` if the `Host` header is invalid. */
function originOf({ protocol, headers: { host = '' } }: Request): string {
  return `${protocol}://${/^[\w.:[\]-]+$/.test(host) ? host : 'localhost'}`
}

/** Caches the result of some work until another resource mounts. */
function written<T>(work: () => Promise<T>): () => Promise<T> {
  const known = perGeneration(() => once(work))
  return () => known()()
}

/** Caches the result of some work. A failure is not cached: the next call tries again. */
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
