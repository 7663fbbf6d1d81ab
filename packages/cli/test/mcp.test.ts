import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { aidip, type Bench, startBench } from './support/cli.js'

let bench: Bench
beforeAll(async () => {
  bench = await startBench()
})
afterAll(() => bench.close())

it('switchboard mcp lets an assistant find the agents of a directory', async () => {
  await bench.cli('register', bench.file('t.json', aidip('translator', { description: 'Translates contracts.' })))
  const client = new Client({ name: 'assistant', version: '1.0.0' })
  const args = ['packages/cli/dist/main.js', 'mcp', '--url', bench.url]
  const transport = new StdioClientTransport({ command: process.execPath, args })
  await client.connect(transport)
  const { structuredContent } = await client.callTool({
    name: 'find_agents',
    arguments: { task: 'translate a contract' },
  })
  expect(structuredContent).toMatchObject({ agents: [{ id: 'translator' }] })
  await client.close()
})

it('switchboard mcp shows its help', async () => {
  const { code, stdout } = await bench.cli('mcp', '--help')
  expect(code).toBe(0)
  expect(stdout).toContain('"mcpServers"')
})
