// The public list of `sequelize-crud-router/mcp`. It needs the SDK of the Model Context Protocol, which the host installs.

export { crudMcp, type McpHandler, type McpOptions } from './crudMcp.js'
