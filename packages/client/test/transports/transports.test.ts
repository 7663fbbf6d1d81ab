import { describe, expect, it } from 'vitest'
import { createCaller, createTransports, invokeAgent, streamAgent, type Transport } from '../../src/index.js'
import { codeOf, collect } from './support/agent-host.js'

const foo: Transport = {
  invoke: async ({ uri, input, operation = 'none' }) => ({
    output: { uri, operation, input: JSON.parse(JSON.stringify(input)) },
    contentType: 'application/json',
    status: 200,
    trusted: false,
    warnings: [],
  }),
  async *stream() {
    yield { data: 'by foo' }
  },
}

const noFetch: typeof fetch = async () => {
  throw new Error('the network was used')
}

describe('transports', () => {
  it('AURI-6.1-06 are used if registered, and never guessed otherwise', async () => {
    const transports = createTransports({ fetch: noFetch })
    const options = { fetch: noFetch, transports }
    expect(await codeOf(invokeAgent('agent+foo://h/p', {}, options))).toBe('unsupported_transport')
    transports.register('foo', foo)
    const reply = await invokeAgent('agent+foo://h/p?a=1', { b: 2 }, options)
    expect(reply.output).toEqual({ uri: 'agent+foo://h/p', operation: 'none', input: { a: '1', b: 2 } })
    expect(await collect(streamAgent('agent+foo://h/p', {}, options))).toEqual([{ data: 'by foo' }])
    expect(await codeOf(invokeAgent('agent+bar://h/p', {}, options))).toBe('unsupported_transport')
  })

  it('must have names that are valid in a URI', () => {
    const transports = createTransports()
    expect(() => transports.register('f_o', foo)).toThrow(expect.objectContaining({ code: 'invalid_argument' }))
    expect(transports.names).toEqual(expect.arrayContaining(['https', 'wss', 'unix', 'local']))
  })

  it('are closed by the caller that created them, but not if they were passed in', async () => {
    let closed = 0
    const counting = { ...foo, close: async () => void closed++ }
    const transports = createTransports({ fetch: noFetch })
    transports.register('foo', counting)
    await createCaller({ transports }).close()
    expect(closed).toBe(0)
    const own = createCaller({ fetch: noFetch })
    own.transports.register('foo', counting)
    await own.close()
    expect(closed).toBe(1)
  })

  it('are not used for an invalid URI', async () => {
    expect(await codeOf(invokeAgent('https://h/p', {}, { fetch: noFetch }))).toBe('invalid_uri')
    expect(await codeOf(collect(streamAgent('agent://', {}, { fetch: noFetch })))).toBe('invalid_uri')
    expect(await codeOf(invokeAgent('agent+https://169.254.169.254/x', {}, { fetch: noFetch }))).toBe('blocked_address')
    expect(await codeOf(invokeAgent('agent+https://127.0.0.1/x', {}, { fetch: noFetch }))).toBe('blocked_address')
  })
})
