import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A file that is sent as it is. */
export interface Asset {
  readonly type: string
  readonly bytes: Buffer
}

/** The files of the package that the page needs, and no other. */
const FILES: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
}

const INITIALIZER = `SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  validatorUrl: null,
  queryConfigEnabled: false,
  presets: [SwaggerUIBundle.presets.apis],
})
`

/** The files of Swagger UI by name; null where the optional peer is not installed. */
export async function swaggerFiles(): Promise<ReadonlyMap<string, Asset> | null> {
  const folder = await folderOf('swagger-ui-dist/absolute-path.js')
  if (folder === null) return null
  const files = Object.entries(FILES).map(async ([name, type]): Promise<[string, Asset]> => {
    return [name, { type, bytes: await readFile(join(folder, name)) }]
  })
  const own: [string, Asset] = [
    'initializer.js',
    { type: 'text/javascript; charset=utf-8', bytes: Buffer.from(INITIALIZER) },
  ]
  return new Map([...(await Promise.all(files)), own])
}

/** The name is not written where it is imported, so that bundlers and compilers do not look for what may be missing. */
async function folderOf(module: string): Promise<string | null> {
  try {
    const { default: folder }: { readonly default: unknown } = await import(module)
    return typeof folder === 'function' ? String(folder()) : null
  } catch {
    return null
  }
}

/** The page of Swagger UI. Its files are below its own path. */
export function swaggerPage(title: string): string {
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
