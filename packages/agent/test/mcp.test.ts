import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterEach, describe, expect, it } from 'vitest'
import { closeAll, count, echo, send, startAgent } from './support/agents.js'

afterEach(closeAll)

async function connect(url: string, headers: Record<string, string> = {}): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' })
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } })
  await client.connect(transport)
  return client
}

const contentOf = (result: Awaited<ReturnType<Client['callTool']>>): unknown => result.content

describe('the official MCP client', () => {
  it('finds the capabilities of an agent built with the kit as tools', async () => {
    const { url } = await startAgent({ capabilities: [{ ...echo, safe: true }, count] })
    const client = await connect(url)
    expect(client.getServerVersion()).toMatchObject({ name: 'tester', version: '2.1.0' })
    const { tools } = await client.listTools()
    expect(tools).toEqual([
      {
        name: 'echo',
        description: 'Returns its input.',
        inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
        outputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
        annotations: { readOnlyHint: true, idempotentHint: true },
      },
      expect.objectContaining({ name: 'count' }),
    ])
    await client.close()
  })

  it('calls them', async () => {
    const { url } = await startAgent()
    const client = await connect(url)
    const result = await client.callTool({ name: 'echo', arguments: { text: 'hi' } })
    expect(result.structuredContent).toEqual({ text: 'hi' })
    expect(contentOf(result)).toEqual([{ type: 'text', text: '{"text":"hi"}' }])
    await client.close()
  })

  it('gets parts as progress notifications', async () => {
    const { url } = await startAgent({ capabilities: [count] })
    const client = await connect(url)
    const heard: (string | undefined)[] = []
    const onprogress = ({ message }: { message?: string | undefined }) => void heard.push(message)
    const result = await client.callTool({ name: 'count', arguments: { to: 2 } }, undefined, { onprogress })
    expect(heard).toEqual(['{"n":1}', '{"n":2}'])
    expect(contentOf(result)).toEqual([{ type: 'text', text: '[{"n":1},{"n":2}]' }])
    await client.close()
  })

  it('gets errors about its arguments as the result of the tool', async () => {
    const { url } = await startAgent()
    const client = await connect(url)
    const wrong = await client.callTool({ name: 'echo', arguments: { text: 5 } })
    expect(wrong).toMatchObject({ isError: true, content: [{ type: 'text', text: '/text must be a string' }] })
    expect(await client.callTool({ name: 'missing', arguments: {} })).toMatchObject({ isError: true })
    await client.close()
  })

  it('passes an input that is not an object as the argument input', async () => {
    const shout = {
      ...echo,
      input: { type: 'string' },
      output: {},
      handler: (input: unknown) => String(input).toUpperCase(),
    }
    const { url } = await startAgent({ capabilities: [shout] })
    const client = await connect(url)
    expect(contentOf(await client.callTool({ name: 'echo', arguments: { input: 'hi' } }))).toEqual([
      { type: 'text', text: 'HI' },
    ])
    await client.close()
  })

  it('needs the same credentials as other callers', async () => {
    const { url } = await startAgent({ authentication: { apiKeys: [{ subject: 'ann', key: 'secret' }] } })
    await expect(connect(url)).rejects.toThrow(/401/)
    const client = await connect(url, { 'x-api-key': 'secret' })
    expect((await client.listTools()).tools).toHaveLength(1)
    await client.close()
  })

  it('has no session', async () => {
    const { url } = await startAgent()
    expect((await send(`${url}/mcp`)).status).toBe(405)
  })
})
