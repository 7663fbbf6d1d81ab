import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { WebSocketServer } from 'ws'
import { createGateway, type GatewayDeps } from '../../src/gateway/create-gateway.js'
import type { AgentCall, Endpoint, Gateway, GatewayError } from '../../src/gateway/gateway.js'
import type { GatewayOptions } from '../../src/gateway/gateway-options.js'

/** An agent on a loopback address. */
export interface TestAgent {
  readonly url: string
  readonly port: number
  /** Open connections. */
  readonly sockets: ReadonlySet<Socket>
  /** Number of connections accepted so far. */
  readonly connections: () => number
  close(): Promise<void>
}

interface Listening {
  listen(target: { port: number; host: string } | { path: string }, callback: () => void): unknown
  address(): AddressInfo | string | null
  on(event: 'connection', listener: (socket: Socket) => void): unknown
  close(callback: () => void): unknown
}

async function start(server: Listening, scheme: string, path?: string): Promise<TestAgent> {
  const sockets = new Set<Socket>()
  let connections = 0
  server.on('connection', (socket) => {
    connections++
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) =>
    server.listen(path === undefined ? { port: 0, host: '127.0.0.1' } : { path }, resolve),
  )
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  return {
    url: path === undefined ? `${scheme}://127.0.0.1:${port}/` : `unix:${path}`,
    port,
    sockets,
    connections: () => connections,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

export const startHttpAgent = (listener: RequestListener, path?: string): Promise<TestAgent> =>
  start(createServer(listener), 'http', path)

/** An agent that handles TCP connections itself. */
export const startRawAgent = (onConnection: (socket: Socket) => void): Promise<TestAgent> =>
  start(createTcpServer(onConnection), 'http')

/** An agent behind a WebSocket; the listener receives each message and sends raw text. */
export async function startSocketAgent(
  onMessage: (text: string, send: (text: string) => void, close: (code?: number) => void) => void,
  onUpgrade: (request: IncomingMessage, socket: WebSocketServer) => void = () => {},
): Promise<TestAgent> {
  const server = createServer()
  const sockets = new WebSocketServer({ server })
  sockets.on('connection', (socket, request) => {
    onUpgrade(request, sockets)
    socket.on('error', () => {})
    socket.on('message', (data) =>
      onMessage(
        String(data),
        (text) => socket.send(text),
        (code) => socket.close(code),
      ),
    )
  })
  return start(server, 'ws')
}

export async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

export function sendJson(response: ServerResponse, value: unknown, status = 200, headers: Record<string, string> = {}) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value))
}

/** A gateway that may call loopback addresses and resolves no names. */
export function createTestGateway(options: Partial<GatewayOptions> = {}, deps: Partial<GatewayDeps> = {}): Gateway {
  return createGateway(
    { allowLoopback: true, connectMs: 1000, ...options },
    { self: () => [], random: () => 0, resolve: async () => [], ...deps },
  )
}

export const endpoint = (url: string, protocol: Endpoint['protocol'] = 'http'): Endpoint => ({ protocol, url })

export function callOf(target: string | Endpoint | readonly Endpoint[], changes: Partial<AgentCall> = {}): AgentCall {
  const endpoints = typeof target === 'string' ? [endpoint(target)] : 'url' in target ? [target] : target
  return {
    agent: 'a1',
    endpoints,
    operation: 'echo',
    payload: { kind: 'json', value: { text: 'hi' } },
    headers: {},
    wantsStream: false,
    idempotent: false,
    timeoutMs: 2000,
    signal: new AbortController().signal,
    ...changes,
  }
}

/** Collects a stream. */
export async function gather<T>(parts: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const part of parts) all.push(part)
  return all
}

/** The error that a call fails with. */
export const failure = (promise: Promise<unknown>): Promise<GatewayError> =>
  promise.then(
    () => {
      throw new Error('it succeeded')
    },
    (error: GatewayError) => error,
  )
