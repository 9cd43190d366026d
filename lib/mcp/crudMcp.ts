import type { Transport } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import type { Request, RequestHandler, Response } from '../../types/express.js'
import { logError } from '../common/log.js'
import { respondError } from '../http/respond.js'
import { createMetadataHandler } from './authorization.js'
import { createHttpService } from './http.js'
import { assertOptions, type McpOptions } from './options.js'
import { assertRequestAllowed, createRequestChecks } from './requestChecks.js'
import { createServer, type Toolbox, toListedTool } from './server.js'
import { createToolResources } from './toolResource.js'
import { selectTools } from './tools.js'

/** An Express handler for the Model Context Protocol over HTTP. */
export interface McpHandler extends RequestHandler {
  /** Middleware that serves the metadata of `authorization` at its well-known path. Passes on all other requests. */
  readonly metadata: RequestHandler
  /** Serves one client over standard input and output, or over another transport of the MCP SDK. */
  readonly connect: (transport?: Transport) => { readonly close: () => Promise<void> }
}

/**
 * Serves resources to agents by the Model Context Protocol. Tools list, describe, query and write records, and run
 * actions. Calls pass through the same stages as HTTP requests.
 * @throws CrudConfigError for wrong options
 */
export function crudMcp(options: McpOptions): McpHandler {
  assertOptions(options)
  const { identity, write = false, confirm = true, maxRecords = 100, maxBytes = 100_000, authorization } = options
  const served = createToolResources(options)
  const tools = selectTools(served, write)
  const toolbox: Toolbox = {
    tools: new Map(tools.map((tool) => [tool.name, tool])),
    listed: tools.map(toListedTool),
    confirm,
  }
  const operations = tools.flatMap(({ operation }) => operation ?? [])
  const createServerFor = (request: Request | null) =>
    createServer(toolbox, { resources: served, request, maxRecords, maxBytes, operations, hasWriteTools: write })
  const gate = createRequestChecks(served, options)
  const service = createHttpService(
    createServerFor,
    Math.max(...[...served.values()].map(({ resource }) => resource.limits.bodySize)) + ENVELOPE_BYTES,
  )

  async function answerRequest(req: Request, res: Response): Promise<void> {
    if (typeof identity === 'object')
      throw new TypeError(
        'crudMcp: over HTTP the option identity must be a function, because all callers would share a fixed identity. A fixed identity works only with connect',
      )
    await assertRequestAllowed(gate, req, res)
    await service(req, res)
  }

  const handleRequest: RequestHandler = (req, res) => {
    answerRequest(req, res).catch((error: unknown) => respondError(req, res, error, logError))
  }
  return Object.assign(handleRequest, {
    metadata: createMetadataHandler(authorization),
    connect: (transport?: Transport) =>
      serveStdio(() => createServerFor(null), transport === undefined ? {} : { transport }),
  })
}

/** Size of a message without its values, in bytes. The size is added to the limit of the values. */
const ENVELOPE_BYTES = 65_536
