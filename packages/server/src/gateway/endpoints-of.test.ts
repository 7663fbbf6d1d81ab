import type { Binding, DocumentFormat } from '@switchboard/protocol'
import { readRecord } from '@switchboard/protocol'
import { describe, expect, it } from 'vitest'
import { endpointsOf } from './endpoints-of.js'

const endpoints = (bindings: Binding[], format: DocumentFormat = 'profile') =>
  endpointsOf({ format, bindings }).map(({ protocol, url }) => `${protocol} ${url}`)
const one = (protocol: string, endpoint: string, source?: Binding['source']) =>
  endpoints([{ protocol, endpoint, ...(source && { source }) }])[0]

describe('endpointsOf', () => {
  it.each(['https', 'HTTP', 'rest', 'json', 'http+json', 'openapi'])('reads %s as plain HTTP', (protocol) => {
    expect(one(protocol, 'https://a.example/x')).toBe('http https://a.example/x')
  })

  it.each(['a2a', 'A2A', 'a2a-jsonrpc', 'a2a/0.3'])('reads %s as A2A', (protocol) => {
    expect(one(protocol, 'https://a.example')).toBe('a2a https://a.example')
  })

  it.each(['mcp', 'MCP', 'mcp-streamable-http'])('reads %s as MCP', (protocol) => {
    expect(one(protocol, 'https://a.example/mcp')).toBe('mcp https://a.example/mcp')
  })

  it.each([
    ['wss', 'wss://a.example/s'],
    ['websocket', 'wss://a.example/s'],
    ['ws', 'ws://127.0.0.1:1/s'],
    ['https', 'wss://a.example/s'],
    ['agent+wss', 'agent+wss://a.example/s'],
  ])('reads %s at %s as a WebSocket', (protocol, endpoint) => {
    expect(one(protocol, endpoint)).toBe(`websocket ${endpoint.replace('agent+', '')}`)
  })

  it.each([
    ['unix:/run/a.sock', 'unix:/run/a.sock'],
    ['unix:///run/a.sock', 'unix:/run/a.sock'],
    ['/run/a.sock', 'unix:/run/a.sock'],
    ['agent+unix://%2Frun%2Fa.sock', 'unix:/run/a.sock'],
    ['agent+unix://%2Frun%2Fa.sock/do/it?x=1', 'unix:/run/a.sock:/do/it?x=1'],
  ])('C-81 reads the socket in %s', (endpoint, expected) => {
    expect(one('unix', endpoint)).toBe(`unix ${expected}`)
  })

  it('reads the URL in agent+https', () => {
    expect(one('agent+https', 'agent+https://a.example:8443/x?y=1#z')).toBe('http https://a.example:8443/x?y=1')
    expect(one('https', 'agent+https://u:p@a.example')).toBe('http https://a.example/')
  })

  it.each([
    ['grpc', 'https://a.example'],
    ['a2a-grpc', 'https://a.example'],
    ['grpc', 'grpc://a.example'],
    ['mqtt', 'mqtts://a.example'],
    ['jsonrpc', 'https://a.example'],
    ['x-own', 'https://a.example'],
    ['agent', 'agent://a.example/x'],
    ['unix', 'agent+unix://planner/x'],
    ['unix', 'unix:relative'],
    ['mcp', 'pkg:npm/server@1'],
    ['mcp-stdio', 'stdio://server'],
    ['https', '/agents/x'],
    ['https', '//evil.example/x'],
    ['https', 'https://'],
    ['websocket', 'https://a.example'],
    ['https', 'javascript:alert(1)'],
  ])('C-44 finds no endpoint for %s at %s', (protocol, endpoint) => {
    expect(one(protocol, endpoint)).toBeUndefined()
  })

  it('skips gRPC interfaces of a card, and MCP over HTTP+SSE', () => {
    expect(one('a2a', 'https://a.example', { protocolBinding: 'GRPC' })).toBeUndefined()
    expect(one('a2a', 'https://a.example', { transport: 'grpc' })).toBeUndefined()
    expect(one('a2a', 'https://a.example', { transport: 'JSONRPC' })).toBe('a2a https://a.example')
    expect(one('mcp', 'https://a.example', { type: 'sse' })).toBeUndefined()
  })

  it('reads the interfaces of a card as A2A, and its other bindings by their protocol', () => {
    const document = {
      name: 'card',
      description: 'd',
      version: '1.0.0',
      url: 'https://a.example/rpc',
      preferredTransport: 'JSONRPC',
      additionalInterfaces: [
        { url: 'https://a.example/grpc', transport: 'GRPC' },
        { url: 'https://a.example/v1', transport: 'HTTP+JSON' },
      ],
      bindings: [
        { protocol: 'jsonrpc', endpoint: 'https://b.example/rpc' },
        { protocol: 'https', endpoint: 'https://b.example/run' },
      ],
      capabilities: {},
      skills: [],
    }
    const record = readRecord('a2a', document, 'card')
    expect(endpointsOf(record).map(({ protocol, url }) => `${protocol} ${url}`)).toEqual([
      'a2a https://a.example/rpc',
      'a2a https://a.example/v1',
      'a2a https://b.example/rpc',
      'http https://b.example/run',
    ])
  })

  it('C-19 keeps the order of the record, removes duplicates, and stops at eight', () => {
    const binding = (protocol: string, n: number): Binding => ({ protocol, endpoint: `https://a${n}.example/` })
    expect(endpoints([binding('a2a', 1), binding('grpc', 1), binding('https', 1), binding('rest', 1)])).toEqual([
      'a2a https://a1.example/',
      'http https://a1.example/',
    ])
    expect(endpoints(Array.from({ length: 50 }, (_, n) => binding('https', n)))).toHaveLength(8)
  })
})
