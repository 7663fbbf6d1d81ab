import {
  Client as StatelessClient,
  StreamableHTTPClientTransport as StatelessTransport,
} from '@modelcontextprotocol/client'
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as EarlierTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { JsonObject } from '@switchboard/protocol'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { HandlerContext } from '../src/call/handler-context.js'
import { closeAll, count, echo, send, startAgent } from './support/agents.js'

afterEach(closeAll)

interface CallOptions {
  readonly onprogress?: (progress: {
    progress: number
    total?: number | undefined
    message?: string | undefined
  }) => void
  readonly signal?: AbortSignal
}

/** The official clients, of SDK 2.x in both modes and of SDK 1.x. */
const CLIENTS = {
  '2026-07-28': (url: string, headers: Record<string, string>) => connectStateless(url, headers, { pin: '2026-07-28' }),
  '2025-11-25': (url: string, headers: Record<string, string>) => connectStateless(url, headers, 'legacy'),
  '2025-11-25 (SDK 1.x)': async (url: string, headers: Record<string, string>) => {
    const client = new EarlierClient({ name: 'test', version: '1.0.0' })
    await client.connect(new EarlierTransport(new URL(`${url}/mcp`), { requestInit: { headers } }))
    return {
      server: () => client.getServerVersion(),
      tools: async () => (await client.listTools()).tools,
      call: (name: string, args: JsonObject, options: CallOptions = {}) =>
        client.callTool({ name, arguments: args }, undefined, options),
      close: () => client.close(),
    }
  },
}

async function connectStateless(
  url: string,
  headers: Record<string, string>,
  mode: 'legacy' | { pin: string },
  answer?: (message: string) => JsonObject,
) {
  const client = new StatelessClient(
    { name: 'test', version: '1.0.0' },
    { versionNegotiation: { mode }, ...(answer && { capabilities: { elicitation: { form: {} } } }) },
  )
  if (answer)
    client.setRequestHandler('elicitation/create', ({ params }) => ({
      action: 'accept',
      content: answer(params.message) as Record<string, string>,
    }))
  await client.connect(new StatelessTransport(new URL(`${url}/mcp`), { requestInit: { headers } }))
  return {
    server: () => client.getServerVersion(),
    tools: async () => (await client.listTools()).tools,
    call: (name: string, args: JsonObject, options: CallOptions = {}) =>
      client.callTool({ name, arguments: args }, options),
    close: () => client.close(),
  }
}

describe.each(Object.entries(CLIENTS))('the official MCP client for %s', (_, open) => {
  const connect = (url: string, headers: Record<string, string> = {}) => open(url, headers)

  it('finds the capabilities of an agent built with the kit as tools', async () => {
    const { url } = await startAgent({ capabilities: [{ ...echo, safe: true }, count] })
    const client = await connect(url)
    expect(client.server()).toMatchObject({ name: 'tester', version: '2.1.0' })
    expect(await client.tools()).toEqual([
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
    const result = await client.call('echo', { text: 'hi' })
    expect(result.structuredContent).toEqual({ text: 'hi' })
    expect(result.content).toEqual([{ type: 'text', text: '{"text":"hi"}' }])
    await client.close()
  })

  it('gets parts as progress notifications', async () => {
    const { url } = await startAgent({ capabilities: [count] })
    const client = await connect(url)
    const heard: (string | undefined)[] = []
    const result = await client.call('count', { to: 2 }, { onprogress: ({ message }) => void heard.push(message) })
    expect(heard).toEqual(['{"n":1}', '{"n":2}'])
    expect(result.content).toEqual([{ type: 'text', text: '[{"n":1},{"n":2}]' }])
    await client.close()
  })

  it('gets what the handler says about its progress', async () => {
    const handler = (_: unknown, { progress }: HandlerContext) => {
      progress(0.5, 'half')
      return { text: 'done' }
    }
    const { url } = await startAgent({ capabilities: [{ ...echo, handler }] })
    const client = await connect(url)
    const heard: unknown[] = []
    await client.call('echo', { text: 'hi' }, { onprogress: (progress) => void heard.push(progress) })
    expect(heard).toEqual([{ progress: 0.5, total: 1, message: 'half' }])
    await client.close()
  })

  it('cancels a call: the signal of the handler aborts', async () => {
    const started = vi.fn()
    const aborted = vi.fn()
    const handler = async (_: unknown, { signal }: HandlerContext) => {
      started()
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      aborted()
      return { text: 'too late' }
    }
    const { url } = await startAgent({ capabilities: [{ ...echo, handler }] })
    const [client, other] = [await connect(url), await connect(url)]
    const caller = new AbortController()
    const calling = client.call('echo', { text: 'hi' }, { signal: caller.signal }).catch((error: unknown) => error)
    // The other client numbers its requests in the same way.
    const still = other.call('echo', { text: 'hi' }).catch((error: unknown) => error)
    await vi.waitFor(() => expect(started).toHaveBeenCalledTimes(2), 5000)
    caller.abort()
    expect(await calling).toBeInstanceOf(Error)
    await vi.waitFor(() => expect(aborted).toHaveBeenCalled(), 5000)
    expect(aborted).toHaveBeenCalledTimes(1)
    await client.close()
    await other.close()
    await closeAll()
    await still
  })

  it('gets links to files', async () => {
    const files = [{ uri: 'https://a.example/a.pdf', name: 'a.pdf', mimeType: 'application/pdf', size: 7 }]
    const { url } = await startAgent({ capabilities: [{ name: 'scan', handler: () => ({ pages: 1, files }) }] })
    const client = await connect(url)
    expect(await client.call('scan', {})).toMatchObject({
      content: [{ type: 'text' }, { type: 'resource_link', ...files[0] }],
      structuredContent: { pages: 1, files },
    })
    await client.close()
  })

  it('gets errors about its arguments as the result of the tool', async () => {
    const { url } = await startAgent()
    const client = await connect(url)
    const wrong = await client.call('echo', { text: 5 })
    expect(wrong).toMatchObject({ isError: true, content: [{ type: 'text', text: '/text must be a string' }] })
    expect(await client.call('missing', {})).toMatchObject({ isError: true })
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
    expect((await client.call('echo', { input: 'hi' })).content).toEqual([{ type: 'text', text: 'HI' }])
    await client.close()
  })

  it('needs the same credentials as other callers', async () => {
    const { url } = await startAgent({ authentication: { apiKeys: [{ subject: 'ann', key: 'secret' }] } })
    await expect(connect(url)).rejects.toThrow(/401|Unauthorized/i)
    const client = await connect(url, { 'x-api-key': 'secret' })
    expect(await client.tools()).toHaveLength(1)
    await client.close()
  })
})

describe('the MCP server of the kit', () => {
  it('has no streams of its own', async () => {
    const { url } = await startAgent()
    expect((await send(`${url}/mcp`)).status).toBe(405)
  })

  const plan = {
    name: 'plan',
    handler: (input: unknown) => {
      const { inputResponses, requestState } = input as { inputResponses?: JsonObject; requestState: string }
      if (inputResponses) return { answers: inputResponses, requestState }
      const requestedSchema = { type: 'object', properties: { city: { type: 'string' } } }
      const where = { method: 'elicitation/create', params: { mode: 'form', message: 'Where?', requestedSchema } }
      return { status: 'input-required', inputRequests: { where }, requestState: 'state-1' }
    },
  }

  it('asks a client of 2026-07-28 for more input, and gets the answers with the next call', async () => {
    const { url } = await startAgent({ capabilities: [plan] })
    const asked: string[] = []
    const client = await connectStateless(url, {}, { pin: '2026-07-28' }, (message) => {
      asked.push(message)
      return { city: 'Rome' }
    })
    expect((await client.call('plan', {})).structuredContent).toMatchObject({
      answers: { where: { action: 'accept', content: { city: 'Rome' } } },
      requestState: 'state-1',
    })
    expect(asked).toEqual(['Where?'])
    await client.close()
  })

  it('returns the questions as the output to clients of earlier versions, which have no such result', async () => {
    const { url } = await startAgent({ capabilities: [plan] })
    const client = await connectStateless(url, {}, 'legacy')
    expect((await client.call('plan', {})).structuredContent).toMatchObject({ status: 'input-required' })
    await client.close()
  })
})
