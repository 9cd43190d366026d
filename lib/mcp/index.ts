// Public exports of `sequelize-crud-router/mcp`. The host installs the server library of the Model Context Protocol.

export { crudMcp, type McpHandler } from './crudMcp.js'
export type { McpAuthorization, McpOptions } from './options.js'
