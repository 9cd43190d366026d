import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { CallToolRequestSchema, ErrorCode, ListToolsRequestSchema, McpError } from '@modelcontextprotocol/sdk/types.js'
import type { Request, RequestHandler, Response } from '../../types/express.js'
import type { Identity, IdentityFunction } from '../../types/identity.js'
import type { Documentable } from '../../types/openApi.js'
import { logError } from '../common/log.js'
import { NO_REQUEST } from '../common/noRequest.js'
import { Problem, problem } from '../common/problem.js'
import { report } from '../common/report.js'
import { didYouMean } from '../config/suggest.js'
import { isParsedBy } from '../http/call.js'
import { respondError } from '../http/respond.js'
import { refused, type ToolResult, told } from './answers.js'
import { readArguments, schemaOf } from './arguments.js'
import type { Context } from './called.js'
import { assertEntered } from './gate.js'
import { servedOf, wrong } from './served.js'
import { type Tool, toolsFor } from './tools.js'

export interface McpOptions {
  /** Routers or controllers. Tools know them by the last word of their path, or by a name given here. */
  readonly resources: readonly (Documentable | { readonly resource: Documentable; readonly name?: string })[]
  /**
   * Who asks, for resources without an identity function of their own. An identity instead of a function is whoever asks
   * of all of them: for `connect`, and HTTP is not served then.
   */
  readonly identity?: IdentityFunction | Identity
  /** Whether the tools that write are there. Default false. */
  readonly write?: boolean
  /** The most records of an answer, and the most of collections in it. Default 100. */
  readonly maxRecords?: number
}

/** An Express handler that speaks the Model Context Protocol over HTTP. */
export interface McpHandler extends RequestHandler {
  /** Serves one client over a transport of the protocol's SDK, such as that of standard input and output. */
  readonly connect: (transport: Transport) => Promise<void>
}

/**
 * Agents' way to resources, by the Model Context Protocol: tools that list, describe, query and write records, and run actions, through
 * the same stages as HTTP.
 *
 * @throws CrudConfigError for wrong options
 */
export function crudMcp(options: McpOptions): McpHandler {
  assertOptions(options)
  const { identity, write = false, maxRecords = 100 } = options
  const served = servedOf(options)
  const tools = toolsFor(served, write)
  const operations = tools.flatMap(({ operation }) => operation ?? [])
  const serverFor = (request: Request | null): Server =>
    serverOf(tools, { served, request, maxRecords, operations, writes: write })
  const maxRequestBodySize =
    Math.max(...[...served.values()].map(({ resource }) => resource.limits.bodySize)) + ENVELOPE

  async function answer(req: Request, res: Response): Promise<void> {
    if (typeof identity === 'object')
      throw new TypeError('crudMcp: one identity is for connect: over HTTP everybody had it')
    await assertEntered(served, req, res)
    const server = serverFor(req)
    const transport = new StreamableHTTPServerTransport({
      // Without sessions: nothing is kept between two requests.
      enableJsonResponse: true,
      maxRequestBodySize,
    })
    res.once('close', () => {
      server.close().catch(() => undefined)
    })
    await server.connect(transport)
    await transport.handleRequest(req, res, isParsedBy(req) ? req.body : undefined)
  }

  const handler: RequestHandler = (req, res) => {
    answer(req, res).catch((error: unknown) => respondError(req, res, error, logError))
  }
  return Object.assign(handler, { connect: (transport: Transport) => serverFor(null).connect(transport) })
}

/** What a message has around the values in it. */
const ENVELOPE = 65_536

const OPTIONS: readonly string[] = ['resources', 'identity', 'write', 'maxRecords'] satisfies (keyof McpOptions)[]

function assertOptions(options: McpOptions): void {
  if (options === undefined || options === null) throw wrong('options are missing.')
  // Routers are functions.
  if (typeof options !== 'object' || Array.isArray(options))
    throw wrong('the argument must be an object with "resources".')
  for (const name of Object.keys(options)) {
    if (!OPTIONS.includes(name)) throw wrong(`there is no option "${name}".${didYouMean(name, OPTIONS)}`)
  }
  const { identity, write, maxRecords } = options
  if (Object.hasOwn(options, 'identity') && typeof identity !== 'function' && !isIdentity(identity)) {
    throw wrong('identity must be a function, or an identity: { name, roles, permissions, claims }.')
  }
  if (write !== undefined && typeof write !== 'boolean') throw wrong('write must be a boolean.')
  if (maxRecords !== undefined && !(Number.isSafeInteger(maxRecords) && maxRecords >= 1)) {
    throw wrong('maxRecords must be a whole number from 1.')
  }
}

function isIdentity(identity: McpOptions['identity']): boolean {
  return typeof identity === 'object' && identity !== null && typeof identity.roles?.has === 'function'
}

function serverOf(tools: readonly Tool[], context: Context): Server {
  const server = new Server(
    { name: 'sequelize-crud-router', version: '1' },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  )
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: tools.map((tool) => listed(taking(tool, context))),
  }))
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const tool = tools.find(({ name }) => name === params.name)
    if (tool === undefined)
      throw new McpError(ErrorCode.InvalidParams, `There is no tool "${params.name.slice(0, 50)}".`)
    return call(taking(tool, context), context, params.arguments ?? {})
  })
  return server
}

const INSTRUCTIONS =
  'Ask list_resources first, then describe_resource for the fields of one. An error says what is wrong, and where in the filter.'

/** A tool whose key may be left out, if one of the resources is a singleton. */
function taking(tool: Tool, { served }: Context): Tool {
  if (![...served.values()].some(({ resource }) => resource.behaviours.ownKey !== null)) return tool
  const required = tool.required.filter((name) => name !== 'key')
  return required.length === tool.required.length ? tool : { ...tool, required, optional: [...tool.optional, 'key'] }
}

function listed({ name, description, required, optional, writes }: Tool) {
  const annotations = {
    readOnlyHint: writes === 'nothing',
    destructiveHint: writes === 'overwrites',
    idempotentHint: writes !== 'adds',
    openWorldHint: false,
  }
  return { name, description, inputSchema: schemaOf(required, optional), annotations }
}

/** What a tool answers. What it refuses is an answer as well, that a model can read. */
async function call(tool: Tool, context: Context, given: Readonly<Record<string, unknown>>): Promise<ToolResult> {
  try {
    return told(await tool.run(context, readArguments(given, tool.required, tool.optional)))
  } catch (error) {
    if (error instanceof Problem) return refused(error)
    report(error, context.request ?? NO_REQUEST, logError)
    return refused(problem('internal', { detail: 'An unexpected error occurred.' }))
  }
}
