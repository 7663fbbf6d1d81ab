import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as EarlierTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { LATEST_PROTOCOL_VERSION as LATEST_EARLIER_VERSION } from '@modelcontextprotocol/sdk/types.js'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { aidip, type Bench, startBench } from './support/cli.js'

let bench: Bench
beforeAll(async () => {
  bench = await startBench()
})
afterAll(() => bench.close())

/** The two clients have the same interface, but not the same types. */
const sessions = {
  async '2026-07-28'(command: { command: string; args: string[] }) {
    const client = new Client({ name: 'assistant', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
    await client.connect(new StdioClientTransport(command))
    return {
      version: client.getNegotiatedProtocolVersion(),
      call: (name: string, args: Record<string, unknown>) => client.callTool({ name, arguments: args }),
      uris: async () => (await client.listResources()).resources.map(({ uri }) => uri),
      read: async (uri: string) => JSON.stringify(await client.readResource({ uri })),
      close: () => client.close(),
    }
  },
  async '2025-11-25'(command: { command: string; args: string[] }) {
    const client = new EarlierClient({ name: 'assistant', version: '1.0.0' })
    await client.connect(new EarlierTransport(command))
    return {
      version: LATEST_EARLIER_VERSION,
      call: (name: string, args: Record<string, unknown>) => client.callTool({ name, arguments: args }),
      uris: async () => (await client.listResources()).resources.map(({ uri }) => uri),
      read: async (uri: string) => JSON.stringify(await client.readResource({ uri })),
      close: () => client.close(),
    }
  },
}

it.each(['2026-07-28', '2025-11-25'] as const)(
  'switchboard mcp lets an assistant that speaks %s find and read the agents of a directory',
  async (version) => {
    await bench.cli('register', bench.file('t.json', aidip('translator', { description: 'Translates contracts.' })))
    const args = ['packages/cli/dist/main.js', 'mcp', '--url', bench.url]
    const session = await sessions[version]({ command: process.execPath, args })
    expect(session.version).toBe(version)
    const found = await session.call('find_agents', { task: 'translate a contract' })
    expect(found.structuredContent).toMatchObject({ agents: [{ id: 'translator' }] })
    const counted = await session.call('list_capabilities', {})
    expect(counted.structuredContent).toMatchObject({ agents: 1, capabilities: [{ agents: 1 }] })
    const [uri = ''] = await session.uris()
    expect(uri).toBe('switchboard://agents/translator/metadata.json')
    expect(await session.read(uri)).toContain('Translates contracts.')
    await session.close()
  },
)

it('switchboard mcp shows its help', async () => {
  const { code, stdout } = await bench.cli('mcp', '--help')
  expect(code).toBe(0)
  expect(stdout).toContain('"mcpServers"')
})
