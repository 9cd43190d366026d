// Compares responses of the tests' servers with the OpenAPI documents of their resources.

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { dereference, type Schema, validate } from '@cfworker/json-schema'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { PROBLEMS, type ProblemCode } from '../../lib/common/problem.js'
import { CrudConfigError, type JsonSchema, type OpenApiDocument, openApi, type ResourceInfo } from '../../lib/index.js'
import { INFO } from './documented.js'

/** A request to a router, with its path below the mount path. */
interface RoutedRequest {
  readonly resource: ResourceInfo
  readonly url: string
}

interface CheckedReply {
  readonly method: string
  readonly request: RoutedRequest
  readonly status: number
  readonly headers: ReturnType<ServerResponse['getHeaders']>
  readonly body: string
}

const undocumentedListeners = new WeakSet<RequestListener>()

/** Excludes a server from the comparison, because a test has extended its operation table. */
export function allowUndocumented(listener: RequestListener): void {
  undocumentedListeners.add(listener)
}

/** Wraps a listener. Parts of responses that are not documented are added to `objections`. */
export function checkReplies(listener: RequestListener, objections: string[]): RequestListener {
  return (req, res) => {
    if (undocumentedListeners.has(listener)) {
      listener(req, res)
      return
    }
    const chunks: Buffer[] = []
    collect(res, chunks)
    observeLayers(routerOf(listener))
    res.on('finish', () => {
      const request = requestsInProgress.get(req)
      if (request === undefined) return
      const body = Buffer.concat(chunks).toString('utf8')
      const { method = '' } = req
      objections.push(...findObjections({ method, request, status: res.statusCode, headers: res.getHeaders(), body }))
    })
    listener(req, res)
  }
}

function collect(res: ServerResponse, chunks: Buffer[]): void {
  const collectChunk = (chunk: unknown): void => {
    if (typeof chunk === 'string') chunks.push(Buffer.from(chunk))
    else if (chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk))
  }
  const { write, end } = res
  res.write = (...given: unknown[]) => {
    collectChunk(given[0])
    return Reflect.apply(write, res, given)
  }
  res.end = (...given: unknown[]) => {
    collectChunk(given[0])
    return Reflect.apply(end, res, given)
  }
}

// ---------------------------------------------------------------- requests to routers

const requestsInProgress = new WeakMap<IncomingMessage, RoutedRequest>()

interface Layer {
  handle: unknown
}

type Stack = readonly Layer[]

/** Layers of the router of an Express 4 or Express 5 application. */
function routerOf(listener: object): Stack {
  const own: unknown = Reflect.get(listener, '_router')
  const router: unknown = own ?? (Reflect.has(listener, 'lazyrouter') ? undefined : Reflect.get(listener, 'router'))
  return stackOf(router)
}

function stackOf(router: unknown): Stack {
  const isObject = (typeof router === 'function' || typeof router === 'object') && router !== null
  const stack: unknown = isObject ? Reflect.get(router, 'stack') : undefined
  return Array.isArray(stack) ? stack : []
}

const observedLayers = new WeakSet<Layer>()

function observeLayers(stack: Stack): void {
  for (const layer of stack) {
    if (observedLayers.has(layer)) continue
    const { handle } = layer
    if (typeof handle !== 'function') continue
    const resource: ResourceInfo | undefined = Reflect.get(handle, 'resource')
    if (resource === undefined) {
      observeLayers(stackOf(handle))
      continue
    }
    observedLayers.add(layer)
    // With `configure`, some routes of a router belong to the application.
    if (stackOf(handle).some((inner) => Reflect.get(inner, 'route') === undefined)) continue
    layer.handle = Object.assign((req: IncomingMessage, res: unknown, next: unknown): unknown => {
      requestsInProgress.set(req, { resource, url: req.url ?? '' })
      return Reflect.apply(handle, undefined, [req, res, next])
    }, handle)
  }
}

// ---------------------------------------------------------------- documents

/** A document, and the schemas of its components in a form that rejects unknown members. */
interface KnownDocument {
  readonly document: OpenApiDocument
  readonly schemas: Record<string, Schema | boolean>
}

const documents = new WeakMap<ResourceInfo, KnownDocument | null>()

function documentOf(resource: ResourceInfo, again = false): KnownDocument | null {
  const known = documents.get(resource)
  if (known !== undefined && !again) return known
  const made = createDocument(resource)
  documents.set(resource, made)
  return made
}

const BASE = new URL('https://tests.example/')

/** Returns null for a resource with invalid relations, or with a name that documents do not allow. */
function createDocument(resource: ResourceInfo): KnownDocument | null {
  try {
    const document = openApi({ resources: [resource], info: INFO })
    const schemas: KnownDocument['schemas'] = {}
    for (const [name, schema] of Object.entries(document.components.schemas ?? {}))
      dereference(rejectUnknownMembers(schema), schemas, BASE, `/components/schemas/${name}`)
    return { document, schemas }
  } catch (error) {
    if (error instanceof CrudConfigError) return null
    throw error
  }
}

/** Schemas of responses in a form that rejects unknown members, by their schema in the document. */
const closedSchemas = new WeakMap<JsonSchema, Schema>()

function closedSchemaOf({ schemas }: KnownDocument, schema: JsonSchema): Schema {
  const known = closedSchemas.get(schema)
  if (known !== undefined) return known
  const closed = rejectUnknownMembers(schema)
  dereference(closed, schemas, BASE, `/${Object.keys(schemas).length}`)
  closedSchemas.set(schema, closed)
  return closed
}

/**
 * Validates a value. The library interprets schemas, because Ajv compiles a function for each, which takes longer than
 * the requests of most tests.
 */
function findErrors(known: KnownDocument, schema: JsonSchema, value: unknown): readonly string[] {
  return validate(value, closedSchemaOf(known, schema), '2020-12', known.schemas).errors.map(
    ({ instanceLocation, error }) => `${instanceLocation}: ${error}`,
  )
}

function createValidator(): Ajv2020 {
  const ajv = new Ajv2020({ strict: false, validateSchema: false, validateFormats: true })
  addFormats.default(ajv)
  ajv.addFormat('int32', { type: 'number', validate: (value: number) => Math.abs(value) <= 2 ** 31 })
  ajv.addFormat('int64', true)
  ajv.addFormat('double', true)
  return ajv
}

/** Returns a function that finds the validator of a schema in the document, by the schema's path. */
export function validatorFor(document: OpenApiDocument): {
  readonly ajv: Ajv2020
  readonly validatorAt: (path: readonly string[]) => ValidateFunction
} {
  const ajv = createValidator()
  ajv.addSchema(JSON.parse(JSON.stringify(document)), 'document')
  const validatorAt = (path: readonly string[]): ValidateFunction => {
    const validate = ajv.getSchema(`document#/${path.map(escapePointer).join('/')}`)
    if (validate === undefined) throw new RangeError(`there is no schema at ${path.join('/')}`)
    return validate
  }
  return { ajv, validatorAt }
}

function escapePointer(name: string): string {
  return encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))
}

/**
 * Converts a schema so that it rejects unknown members. Clients must accept unknown members, but responses in tests
 * have none. The library does not check the format `int32`, so it becomes bounds.
 */
function rejectUnknownMembers(schema: object): Schema {
  if (Array.isArray(schema)) return schema.map(each)
  const entries = Object.entries(schema).map(([name, value]) => [name, each(value)])
  const object = Object.fromEntries(entries)
  if (object.format === 'int32') return { minimum: -(2 ** 31), maximum: 2 ** 31, ...object }
  const isOpen = object.type !== 'object' || object.properties === undefined || 'additionalProperties' in object
  return isOpen ? object : { ...object, additionalProperties: false }
}

function each(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? rejectUnknownMembers(value) : value
}

// ---------------------------------------------------------------- the check

function findObjections(checked: CheckedReply): readonly string[] {
  const { resource } = checked.request
  const first = checkReply(checked, documentOf(resource))
  // The check runs again with a new document, because later mounts may have changed the document.
  return first.length === 0 ? first : checkReply(checked, documentOf(resource, true))
}

function checkReply(checked: CheckedReply, known: KnownDocument | null): readonly string[] {
  const place = known === null ? null : findPath(checked, known.document)
  if (known === null || place === null) return []
  const { status, body, method, request } = checked
  if (isForeign(checked)) return []
  const where = `${method} ${request.url} answers ${status} ${body.slice(0, 1000)}`
  const { path, verb } = place
  const reply = resolveReference(known.document, known.document.paths[path]?.[verb]?.responses[String(status)])
  if (reply === null) return [`${where}: the document has no such status`]
  return [...headersOf(known, checked, reply), ...contentOf(known, checked, reply)].map(
    (message) => `${where}: ${message}`,
  )
}

/**
 * Method QUERY, which OpenAPI 3.1 cannot describe. Responses to QUERY equal those to GET, except for errors of the
 * body.
 */
const QUERY = 'QUERY'
const BODY_ERRORS: ReadonlySet<string> = new Set(['malformed-body', 'content-too-large', 'unsupported-media-type'])

type Verb = 'get' | 'put' | 'post' | 'patch' | 'delete'

/** Finds the documented path of a request. Fixed paths come first, as in routers. */
function findPath(
  { method, request }: CheckedReply,
  { paths }: OpenApiDocument,
): { readonly path: string; readonly verb: Verb } | null {
  const verb = (method === 'HEAD' || method === QUERY ? 'get' : method.toLowerCase()) as Verb
  const url = (request.url.split(/[?#]/)[0] ?? '').replace(/(?<=.)\/$/, '')
  const found = patternsOf(paths).find(({ path, pattern }) => paths[path]?.[verb] !== undefined && pattern.test(url))
  return found === undefined ? null : { path: found.path, verb }
}

interface PathPattern {
  readonly path: string
  readonly pattern: RegExp
}

const patterns = new WeakMap<OpenApiDocument['paths'], readonly PathPattern[]>()

/** Patterns of a document's paths. The patterns are created once, because every response is looked up. */
function patternsOf(paths: OpenApiDocument['paths']): readonly PathPattern[] {
  const known = patterns.get(paths)
  if (known !== undefined) return known
  const made = Object.keys(paths)
    .toSorted((a, b) => Number(a.includes('{')) - Number(b.includes('{')))
    .map((path) => ({ path, pattern: patternOf(path) }))
  patterns.set(paths, made)
  return made
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{\w+\}/g, '[^/]+')}$`, 'i')
}

/** Whether a response comes from the application. No document describes such a response. */
function isForeign({ method, status, body, headers }: CheckedReply): boolean {
  if (status < 400) return false
  if (!String(headers['content-type']).startsWith('application/problem+json')) return true
  const { code, title, detail } = JSON.parse(body)
  // A scope function of the host may throw a 403 with its own message.
  if (status === 403 && !/^You may not /.test(detail)) return true
  if (method === QUERY && BODY_ERRORS.has(code)) return true
  return status === 405 || !Object.hasOwn(PROBLEMS, code) || PROBLEMS[code as ProblemCode].title !== title
}

function resolveReference(document: OpenApiDocument, schema: JsonSchema | undefined): JsonSchema | null {
  if (schema === undefined) return null
  if (typeof schema.$ref !== 'string') return schema
  const names = schema.$ref.slice(2).split('/')
  return names.reduce<unknown>((at, name) => Reflect.get(Object(at), name), document) as JsonSchema
}

const DOCUMENTED_HEADERS = [
  ...['location', 'link', 'x-total-count', 'preference-applied', 'retry-after', 'www-authenticate'],
  'idempotency-replayed',
]

function headersOf({ document }: KnownDocument, { headers }: CheckedReply, reply: JsonSchema): readonly string[] {
  const documentedHeaders = Object.entries(Object(reply.headers)).map(([name, schema]) => {
    return [name.toLowerCase(), resolveReference(document, schema as JsonSchema) ?? {}] as const
  })
  const names = documentedHeaders.map(([name]) => name)
  return [
    ...documentedHeaders.flatMap(([name, { required, schema }]) => {
      const value = headers[name]
      if (value === undefined) return required === true ? [`the header ${name} is missing`] : []
      const isWrong = Reflect.get(Object(schema), 'type') === 'integer' && !/^\d+$/.test(String(value))
      return isWrong ? [`the header ${name} is no number`] : []
    }),
    ...DOCUMENTED_HEADERS.filter((name) => headers[name] !== undefined && !names.includes(name)).map(
      (name) => `the document knows no header ${name}`,
    ),
  ]
}

function contentOf(known: KnownDocument, checked: CheckedReply, reply: JsonSchema): readonly string[] {
  const { body, headers, method, request } = checked
  if (body === '' && (method === 'HEAD' || headers['preference-applied'] !== undefined)) return []
  const content: Readonly<Record<string, { readonly schema: JsonSchema }>> = Object(reply.content)
  const [type = ''] = String(headers['content-type'] ?? '').split(';')
  if (Object.keys(content).length === 0) return body === '' ? [] : ['the document knows no body']
  const media = content[type]
  if (media === undefined) return [`the document knows no ${type}`]
  if (!/[/+]json$/.test(type)) return []
  const isSelected = method === QUERY || (new URL(request.url, 'http://x').searchParams.get('select') ?? '') !== ''
  const modes = media.schema.anyOf
  const alternatives: readonly JsonSchema[] = Array.isArray(modes)
    ? modes.filter(({ $ref }) => isSelected || !/Projection/.test($ref))
    : [media.schema]
  const value: unknown = JSON.parse(body)
  const errors: string[] = []
  for (const schema of alternatives) {
    const found = findErrors(known, schema, value)
    if (found.length === 0) return []
    errors.push(...found)
  }
  return errors
}
