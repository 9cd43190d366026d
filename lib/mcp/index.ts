// The public list of `sequelize-crud-router/mcp`. It needs the server library of the Model Context Protocol, which the host installs.

export { crudMcp, type McpHandler } from './crudMcp.js'
export type { McpAuthorization, McpOptions } from './options.js'
