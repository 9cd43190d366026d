import type { Request, RequestHandler, Response } from '../../types/express.js'
import type { ApiDocsOptions, DocumentUrls, OpenApiDocument } from '../../types/openApi.js'
import { runYielding } from '../common/eventLoop.js'
import { cacheUntilMount } from '../compile/mounted.js'
import {
  type Asset,
  compressAsset,
  JAVASCRIPT,
  loadClientFile,
  loadSwaggerUi,
  sendAsset,
  writeSwaggerPage,
} from './assets.js'
import { writeAsyncApi } from './asyncApi.js'
import { toIdentifier, writeTypes } from './clientTypes.js'
import { invalidOption } from './components.js'
import { FORM_SCRIPT } from './explorer.js'
import { escapeHtml } from './html.js'
import { assertDistinctResourceNames } from './names.js'
import { stringifyDocument, writeDocument } from './openApi.js'
import { writePage } from './page.js'
import { API_DOCS_OPTIONS, assertDistinctDocumentedRoutes, assertOptions, createSubjects } from './subjects.js'

/** Content Security Policy: the page loads from its own server only. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'"

const HTML_TYPE = 'text/html; charset=utf-8'
const JSON_TYPE = 'application/json; charset=utf-8'
const DOCUMENT_URLS: DocumentUrls = Object.freeze({ openApi: 'openapi.json', clientTypes: 'client.d.ts' })
const LINK_HEADER = {
  'OpenAPI document': DOCUMENT_URLS.openApi,
  'Types for TypeScript': DOCUMENT_URLS.clientTypes,
  'Client for browsers': 'client.js',
}
const EVENTS_FILE = 'asyncapi.json'

type AnswerRequest = (req: Request, res: Response) => void | Promise<void>

/**
 * Creates a handler that serves documentation of resources. Other requests are passed on.
 * - `/openapi.json`: the OpenAPI document
 * - `/asyncapi.json`: the AsyncAPI document of push hubs
 * - `/client.js`, `/client.d.ts`: the browser client and its types
 * - `/docs`: an HTML page for readers
 *
 * @throws CrudConfigError for wrong options and for conflicting names or paths of resources. Errors that depend on
 * later mounts are passed to `next`
 */
export function apiDocs(options: ApiDocsOptions): RequestHandler {
  return createApiDocs(loadSwaggerUi, options)
}

/** Creates the handler of `apiDocs` with a given source of Swagger UI. */
export function createApiDocs(load: typeof loadSwaggerUi, given: ApiDocsOptions): RequestHandler {
  assertOptions(given, 'apiDocs', API_DOCS_OPTIONS)
  const { path = '/', ui, ...options } = given
  const subjects = createSubjects(options.resources)
  assertDistinctResourceNames(subjects, toIdentifier)
  assertDistinctDocumentedRoutes(subjects)
  if (ui !== undefined && ui !== 'swagger' && typeof ui !== 'function')
    throw invalidOption('ui must be "swagger" or a function.')
  if (!/^\/[^?#]*$/.test(path)) throw invalidOption('path must begin with "/".')
  const base = path.replace(/\/+$/, '')
  const document = (): Promise<OpenApiDocument> => runYielding(writeDocument(options))
  const json = cacheWritten(async () => compressAsset(JSON_TYPE, stringifyDocument(await document())))
  const types = cacheWritten(async () =>
    compressAsset('text/plain; charset=utf-8', [await runYielding(writeTypes(options))]),
  )
  const client = cacheSuccess(loadClientFile)
  const hasHubs = subjects.some(({ resource: { hub } }) => hub !== null)
  const events = hasHubs ? createEventsLoader(options) : null
  const links = events === null ? LINK_HEADER : { ...LINK_HEADER, 'AsyncAPI document of events': EVENTS_FILE }
  const page = cacheWritten(async () => runYielding(writePage(await document(), links)))
  const files = cacheSuccess(
    ui === 'swagger' ? () => loadSwaggerFiles(load) : ui === undefined ? loadOwnFiles : loadNoFiles,
  )

  const docs: AnswerRequest = async (req, res) => {
    if (typeof ui === 'function') return sendAsset(req, res, await compressAsset(HTML_TYPE, [ui(DOCUMENT_URLS)]))
    await files()
    const html = ui === undefined ? (await page())(pageOrigin(req)) : [writeSwaggerPage(escapeHtml(options.info.title))]
    res.setHeader('Content-Security-Policy', CONTENT_SECURITY_POLICY)
    await sendAsset(req, res, await compressAsset(HTML_TYPE, html))
  }
  const eventRoutes: readonly (readonly [string, AnswerRequest])[] =
    events === null ? [] : [[`${base}/${EVENTS_FILE}`, async (req, res) => sendAsset(req, res, await events())]]
  const routes: ReadonlyMap<string, AnswerRequest> = new Map([
    [`${base}/openapi.json`, async (req, res) => sendAsset(req, res, await json())],
    ...eventRoutes,
    [`${base}/client.d.ts`, async (req, res) => sendAsset(req, res, await types())],
    [`${base}/client.js`, async (req, res) => sendAsset(req, res, await client())],
    [`${base}/docs`, docs],
  ])
  const below = `${base}/docs/`

  const findAnswer = async (req: Request): Promise<AnswerRequest | null> => {
    const known = routes.get(req.path)
    if (known !== undefined) return known
    // At this address, relative links of the page would point one level too deep.
    if (req.path === below) return (_, res) => void res.redirect(308, '../docs')
    if (!req.path.startsWith(below)) return null
    const file = (await files()).get(req.path.slice(below.length))
    return file === undefined ? null : (_, res) => sendAsset(req, res, file)
  }

  return (req, res, next) => {
    if (req.method !== 'GET' && req.method !== 'HEAD') return next()
    findAnswer(req)
      .then((answer) => (answer === null ? next() : answer(req, res)))
      .catch(next)
  }
}

type Files = ReadonlyMap<string, Asset>

/** The files of Swagger UI. @throws Error if the optional peer dependency is not installed */
async function loadSwaggerFiles(load: typeof loadSwaggerUi): Promise<Files> {
  const files = await load()
  if (files !== null) return files
  throw new Error(`apiDocs: ui: 'swagger' needs the package swagger-ui-dist: npm install swagger-ui-dist`)
}

/** The files of the package's own page. */
async function loadOwnFiles(): Promise<Files> {
  return new Map([['try.js', await compressAsset(JAVASCRIPT, [FORM_SCRIPT])]])
}

async function loadNoFiles(): Promise<Files> {
  return new Map()
}

/** The AsyncAPI document of the hubs. */
function createEventsLoader({ resources, info, security }: Omit<ApiDocsOptions, 'path' | 'ui'>): () => Promise<Asset> {
  const options = { resources, info, ...(security === undefined ? {} : { security }) }
  return cacheWritten(async () => compressAsset(JSON_TYPE, [JSON.stringify(await runYielding(writeAsyncApi(options)))]))
}

/**
 * Origin of the page in the reader's browser. `localhost` if the `Host` header is invalid. The page contains the origin
 * many times, so its length is limited.
 */
function pageOrigin({ protocol, headers: { host = '' } }: Request): string {
  // Behind a trusted proxy, Express takes the protocol from a header.
  return `${protocol === 'https' ? 'https' : 'http'}://${/^[\w.:[\]-]{1,261}$/.test(host) ? host : 'localhost'}`
}

/** Caches the result of `work` until another resource mounts. */
function cacheWritten<T>(work: () => Promise<T>): () => Promise<T> {
  const known = cacheUntilMount(() => cacheSuccess(work))
  return () => known()()
}

/** Caches the result of `work`. A failure is not cached: the next call tries again. */
function cacheSuccess<T>(work: () => Promise<T>): () => Promise<T> {
  let known: Promise<T> | null = null
  return () => {
    known ??= work().catch((error: unknown) => {
      known = null
      throw error
    })
    return known
  }
}
