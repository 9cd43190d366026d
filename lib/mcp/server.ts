import {
  type CallToolResult,
  type InputRequiredResult,
  type Tool as ListedTool,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { logError } from '../common/log.js'
import { NO_REQUEST } from '../common/noRequest.js'
import { Problem, problem } from '../common/problem.js'
import { reportError } from '../common/report.js'
import { toErrorResult, toToolResult } from './answers.js'
import { createArgumentsSchema, readArguments } from './arguments.js'
import type { ToolContext } from './callResource.js'
import { requestConfirmation } from './confirm.js'
import type { Tool } from './tools.js'

/** Converts a tool to its entry in the result of `tools/list`. */
export function toListedTool({ name, description, required, optional, output, effect }: Tool): ListedTool {
  const annotations = {
    readOnlyHint: effect === 'nothing',
    destructiveHint: effect === 'overwrites' || effect === 'anything',
    idempotentHint: effect === 'nothing' || effect === 'overwrites',
    openWorldHint: false,
  }
  return {
    name,
    description,
    inputSchema: createArgumentsSchema(required, optional),
    outputSchema: output,
    annotations,
  }
}

/** The tools of one handler. */
export interface Toolbox {
  readonly tools: ReadonlyMap<string, Tool>
  /** The entries of `tools` in the result of `tools/list`. */
  readonly listed: ListedTool[]
  /** Whether a person must confirm calls of tools with a `question`. */
  readonly confirm: boolean
}

/** Creates a protocol server for one HTTP request, or for one connection over another transport. */
export function createServer({ tools, listed, confirm }: Toolbox, context: ToolContext): Server {
  const server = new Server(
    { name: 'sequelize-crud-router', version: '1' },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  )
  server.setRequestHandler('tools/list', () => ({ tools: listed }))
  server.setRequestHandler('tools/call', async ({ params }, about) => {
    const tool = tools.get(params.name)
    if (tool === undefined) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool "${params.name.slice(0, 50)}".`)
    }
    return callTool({ tool, context, server, serverContext: about, confirm }, params.arguments ?? {})
  })
  return server
}

const INSTRUCTIONS =
  'Call list_resources first, then describe_resource for the fields of a resource. Errors say what is wrong and where.'

interface ToolCall {
  readonly tool: Tool
  readonly context: ToolContext
  readonly server: Server
  readonly serverContext: ServerContext
  readonly confirm: boolean
}

/**
 * Runs a tool. Returns the tool's answer, or the question that a person must confirm first. A problem is returned as an
 * answer, so that the language model can read it.
 */
async function callTool(
  { tool, context, server, serverContext, confirm }: ToolCall,
  given: Readonly<Record<string, unknown>>,
): Promise<CallToolResult | InputRequiredResult> {
  try {
    const read = readArguments(given, tool.required, tool.optional)
    if (confirm && tool.question !== undefined) {
      const question = requestConfirmation(await tool.question(context, read), server, serverContext)
      if (question !== null) return question
    }
    return toToolResult(await tool.run(context, read))
  } catch (error) {
    if (error instanceof Problem) return toErrorResult(error)
    reportError(error, context.request ?? NO_REQUEST, logError)
    return toErrorResult(problem('internal', { detail: 'An unexpected error occurred.' }))
  }
}
