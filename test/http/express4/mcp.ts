import '../../support/express4.js'

await import('../mcp/mcp.js')
