import { command } from '../command/command.js'
import { openDirectory } from '../directory.js'
import { CONNECTION_OPTIONS } from '../settings.js'

export const mcp = command({
  summary: 'offer the directory to an assistant as an MCP server',
  about: `Speaks MCP over standard input and output; the assistant starts this command by itself, with settings such as { "mcpServers": { "switchboard": { "command": "switchboard", "args": ["mcp", "--url", "https://directory.example"] } } }. A directory also serves MCP at its own URL, below /mcp.`,
  options: CONNECTION_OPTIONS,
  examples: ['switchboard mcp --url https://directory.example'],
  async run(values) {
    const { createMcpServer, serveStdio } = await import('@switchboard/mcp')
    const directory = await openDirectory(values)
    await new Promise<void>((resolve) => {
      const connection = serveStdio(() => createMcpServer({ directory }))
      process.stdin.once('end', () => connection.close().then(resolve, resolve))
    })
    return 0
  },
})
