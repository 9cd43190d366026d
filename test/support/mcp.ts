import {
  Client,
  type ClientCapabilities,
  type ElicitResult,
  InMemoryTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client'
import type { McpHandler } from '../../lib/mcp/index.js'

/** Versions of the protocol that the tests' agents use. */
export const REVISIONS = ['2025-11-25', '2026-07-28'] as const
export type Revision = (typeof REVISIONS)[number]

/** Result of a tool: its JSON, and whether the result is a problem. */
export interface ToolOutcome {
  readonly isError: boolean
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every shape, and asserts what it finds
  readonly body: any
}

/** An agent. The agent is the MCP SDK's client, which validates results by the schemas of the tools. */
export interface Agent {
  readonly client: Client
  readonly call: (tool: string, given?: Record<string, unknown>) => Promise<ToolOutcome>
  readonly tools: () => Promise<readonly string[]>
  readonly close: () => Promise<void>
}

export interface AgentOptions {
  /** The only protocol version that the agent supports. Default: the current version. */
  readonly revision?: Revision
  /**
   * Returns answers of the agent's user. Undefined for an agent without elicitation. Default: confirms every question.
   */
  readonly person?: ((message: string, schema: unknown) => ElicitResult) | undefined
  /** Kinds of elicitation that the agent supports. Default: forms, which `{}` declares. */
  readonly elicitation?: NonNullable<ClientCapabilities['elicitation']>
}

export const confirms = (): ElicitResult => ({ action: 'accept', content: { confirm: true } })

export async function connectAgent(transport: Transport, options: AgentOptions = {}): Promise<Agent> {
  const { revision = '2026-07-28', person = confirms, elicitation = {} } = options
  const canAnswer = !('person' in options) || options.person !== undefined
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    {
      capabilities: canAnswer ? { elicitation } : {},
      versionNegotiation: { mode: revision === '2025-11-25' ? 'legacy' : { pin: revision } },
    },
  )
  if (canAnswer)
    client.setRequestHandler('elicitation/create', ({ params }) =>
      person(params.message, Reflect.get(params, 'requestedSchema')),
    )
  await client.connect(transport)
  return {
    client,
    call: async (name, given = {}) => {
      const { content, isError, structuredContent } = await client.callTool({ name, arguments: given })
      const [first] = content
      if (first?.type !== 'text') throw new TypeError(`${name} answered no text`)
      const body: unknown = JSON.parse(first.text)
      if (isError !== true && JSON.stringify(structuredContent) !== first.text) {
        throw new TypeError(`${name} answered two things: ${first.text} and ${JSON.stringify(structuredContent)}`)
      }
      return { isError: isError === true, body }
    },
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    close: () => client.close(),
  }
}

/** Connects an agent over HTTP. All its requests have the headers. */
export function connectAgentOverHttp(
  url: string,
  headers: Record<string, string> = {},
  options: AgentOptions = {},
): Promise<Agent> {
  return connectAgent(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }), options)
}

/** Connects an agent in this process, without HTTP. */
export async function connectAgentInProcess({ connect }: McpHandler, options: AgentOptions = {}): Promise<Agent> {
  const [own, other] = InMemoryTransport.createLinkedPair()
  connect(other)
  return connectAgent(own, options)
}
