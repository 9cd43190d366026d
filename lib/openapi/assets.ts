import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createGzip, gunzip } from 'node:zlib'
import type { Request, Response } from '../../types/express.js'
import { yieldToEventLoop } from '../common/eventLoop.js'
import { hasTag } from '../parse/match.js'

export const JAVASCRIPT = 'text/javascript; charset=utf-8'

const unzip = promisify(gunzip)

/** A file with its compressed content. */
export interface Asset {
  readonly type: string
  readonly zipped: Buffer
  /** Uncompressed size in bytes. */
  readonly length: number
  readonly hash: string
}

/** Compresses a file part by part, so that the event loop runs other work in between. */
export async function compressAsset(type: string, parts: Iterable<string> | Buffer): Promise<Asset> {
  const hash = createHash('sha256')
  let length = 0
  const readParts = async function* (): AsyncGenerator<Buffer> {
    for (const bytes of Buffer.isBuffer(parts) ? [parts] : joinParts(parts)) {
      hash.update(bytes)
      length += bytes.length
      yield bytes
      await yieldToEventLoop()
    }
  }
  const zipped = await pipeline(readParts, createGzip(), buffer)
  return { type, zipped, length, hash: hash.digest('base64url').slice(0, 27) }
}

const PART_LENGTH = 2 ** 15

/** Joins small parts into larger parts, because each part costs a turn of the event loop and of the compressor. */
function* joinParts(parts: Iterable<string>): Generator<Buffer> {
  let known = ''
  for (const part of parts) {
    known += part
    if (known.length < PART_LENGTH) continue
    yield Buffer.from(known)
    known = ''
  }
  yield Buffer.from(known)
}

/** Sends a file in an encoding that the client accepts. Sends 304 if the client has the current file. */
export async function sendAsset(req: Request, res: Response, { type, zipped, length, hash }: Asset): Promise<void> {
  const isZipped = req.acceptsEncodings('gzip', 'identity') === 'gzip'
  const tag = isZipped ? `"${hash}-gzip"` : `"${hash}"`
  res.vary('Accept-Encoding')
  res.setHeader('ETag', tag)
  res.setHeader('Cache-Control', 'no-cache')
  res.setHeader('X-Content-Type-Options', 'nosniff')
  const known = req.headers['if-none-match']
  if (known !== undefined && hasTag(tag, known)) {
    res.status(304).end()
    return
  }
  res.setHeader('Content-Type', type)
  res.setHeader('Content-Length', isZipped ? zipped.length : length)
  if (isZipped) res.setHeader('Content-Encoding', 'gzip')
  res.status(200)
  if (req.method === 'HEAD') res.end()
  else res.end(isZipped ? zipped : await unzip(zipped))
}

/** Loads the browser client, which the build writes to `dist` as one file. */
export async function loadClientFile(): Promise<Asset> {
  return compressAsset(JAVASCRIPT, await readFile(new URL('../browser/client.js', import.meta.url)))
}

// ---------------------------------------------------------------- Swagger UI

/** Files of Swagger UI that the page needs. */
const SWAGGER_FILES: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': JAVASCRIPT,
  'favicon-32x32.png': 'image/png',
}

const SWAGGER_INITIALIZER = `SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  validatorUrl: null,
  queryConfigEnabled: false,
  presets: [SwaggerUIBundle.presets.apis],
})
`

/** Loads the files of Swagger UI by name. Returns null if the optional peer dependency is not installed. */
export async function loadSwaggerUi(): Promise<ReadonlyMap<string, Asset> | null> {
  const folder = await findModuleFolder('swagger-ui-dist/absolute-path.js')
  if (folder === null) return null
  const files = Object.entries(SWAGGER_FILES).map(async ([name, type]): Promise<[string, Asset]> => {
    return [name, await compressAsset(type, await readFile(join(folder, name)))]
  })
  const own: [string, Asset] = ['initializer.js', await compressAsset(JAVASCRIPT, [SWAGGER_INITIALIZER])]
  return new Map([...(await Promise.all(files)), own])
}

/**
 * Finds the folder of a module. The name is a variable, so that bundlers and compilers do not resolve an optional peer
 * dependency.
 */
async function findModuleFolder(module: string): Promise<string | null> {
  try {
    const { default: folder }: { readonly default: unknown } = await import(module)
    return typeof folder === 'function' ? String(folder()) : null
  } catch {
    return null
  }
}

/** Writes the HTML page of Swagger UI. The page loads its files from below its path. */
export function writeSwaggerPage(title: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" type="image/png" href="docs/favicon-32x32.png">
<link rel="stylesheet" href="docs/swagger-ui.css">
</head>
<body>
<div id="swagger-ui"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/initializer.js"></script>
</body>
</html>
`
}
