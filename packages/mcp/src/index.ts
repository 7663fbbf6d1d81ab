export { serveStdio } from '@modelcontextprotocol/server/stdio'
export { createMcpServer, type McpServerSettings, type ToolDirectory } from './create-mcp-server.js'
export { handleMcp, type McpHandlerSettings } from './handle-mcp.js'
