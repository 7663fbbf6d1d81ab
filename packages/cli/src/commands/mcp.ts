import { parseArgs } from 'node:util'
import { createMcpServer, serveStdio } from '@switchboard/mcp'
import { openDirectory } from '../directory.js'
import { DIRECTORY_FLAGS, DIRECTORY_HELP } from '../settings.js'
import { print } from '../terminal/print.js'

const HELP = `switchboard mcp: offer a directory to an assistant as an MCP server, over standard input and output

  switchboard mcp

${DIRECTORY_HELP.replace(/\n.*--json.*/, '')}

The assistant starts this command by itself. A directory also serves MCP at its own URL, below /mcp.

Example, in the settings of an assistant:
  { "mcpServers": { "switchboard": { "command": "switchboard", "args": ["mcp", "--url", "https://directory.example"] } } }
`

export async function mcp(args: string[]): Promise<number> {
  const { json: _json, ...flags } = DIRECTORY_FLAGS
  const { values } = parseArgs({ args, options: flags })
  if (values.help) {
    await print(HELP)
    return 0
  }
  const directory = openDirectory(values)
  await new Promise<void>((resolve) => {
    const connection = serveStdio(() => createMcpServer({ directory }))
    process.stdin.once('end', () => connection.close().then(resolve, resolve))
  })
  return 0
}
