import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { McpHandler } from '../../lib/mcp/index.js'

/** What a tool has answered: its JSON, and whether that is a problem. */
export interface Told {
  readonly isError: boolean
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every shape, and asserts what it finds
  readonly body: any
}

/** An agent: the SDK's own client. */
export interface Agent {
  readonly client: Client
  readonly call: (tool: string, given?: Record<string, unknown>) => Promise<Told>
  readonly tools: () => Promise<readonly string[]>
  readonly close: () => Promise<void>
}

export async function agentOver(transport: Transport): Promise<Agent> {
  const client = new Client({ name: 'test', version: '1.0.0' })
  await client.connect(transport)
  return {
    client,
    call: async (name, given = {}) => {
      const { content, isError } = await client.callTool({ name, arguments: given })
      const [first] = Array.isArray(content) ? content : []
      return { isError: isError === true, body: JSON.parse(first.text) }
    },
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    close: () => client.close(),
  }
}

/** An agent that comes over HTTP, with these headers. */
export function agentAt(url: string, headers: Record<string, string> = {}): Promise<Agent> {
  return agentOver(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
}

/** An agent within the program. */
export async function agentWithin({ connect }: McpHandler): Promise<Agent> {
  const [own, other] = InMemoryTransport.createLinkedPair()
  await connect(other)
  return agentOver(own)
}
