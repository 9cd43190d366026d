import '../../support/express4.js'

await import('../mcp.js')
