import { mkdtempSync, rmSync } from 'node:fs'
import {
  createServer as createPlainServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonValue } from '@switchboard/protocol'
import { Agent, fetch as undiciFetch } from 'undici'
import { type WebSocket, WebSocketServer } from 'ws'
import { createAuthority, type Identity } from '../../../../server/test/support/tls.js'

/** A request as the host received it. */
export interface Seen {
  readonly method: string
  /** Path and query. */
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly text: string
  /** The parsed body, typed as JSON.parse types it; undefined if it is not JSON. */
  readonly json: ReturnType<typeof JSON.parse>
}

export type Handler = (seen: Seen, response: ServerResponse) => void

/** A server for agents, with TLS and its own CA. */
export interface AgentHost {
  /** `127.0.0.1:port`, the authority of agent URIs. */
  readonly authority: string
  readonly origin: string
  /** By path; other paths return 404 with problem details. */
  handlers: Record<string, Handler>
  readonly seen: Seen[]
  /** Requests except those for descriptors. */
  readonly calls: Seen[]
  /** Sockets by path. */
  sockets: Record<string, (socket: WebSocket, request: IncomingMessage) => void>
  /** Trusts the CA. */
  readonly fetch: typeof fetch
  readonly ca: string
  /** A client certificate that the host trusts. */
  readonly client: Identity
  close(): Promise<void>
}

const isDescriptor = ({ url }: Seen): boolean => /\/(agents|agent|agent-card)\.json$/.test(url)

export async function startAgentHost(tls: { requestCert?: boolean } = {}): Promise<AgentHost> {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-host-'))
  const authority = createAuthority(folder, 'host')
  const identity = authority.issue('/CN=host', 'IP:127.0.0.1', 'DNS:localhost')
  const client = authority.issue('/CN=client', 'URI:https://client.example')
  const seen: Seen[] = []
  const host: Pick<AgentHost, 'handlers' | 'sockets' | 'seen' | 'calls'> = {
    handlers: {},
    sockets: {},
    seen,
    get calls() {
      return seen.filter((request) => !isDescriptor(request))
    },
  }
  const server = createServer(
    { ...identity, ...(tls.requestCert && { requestCert: true, rejectUnauthorized: true, ca: authority.cert }) },
    recorder(seen, (path) => (Object.hasOwn(host.handlers, path) ? host.handlers[path] : undefined)),
  )
  const webSockets = new WebSocketServer({ noServer: true })
  server.on('upgrade', (request, socket, head) => {
    const open = host.sockets[request.url?.split('?')[0] ?? '']
    if (!open) return void socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n')
    webSockets.handleUpgrade(request, socket, head, (webSocket) => open(webSocket, request))
  })
  const port = await listen(server)
  const dispatcher = new Agent({ connect: { ca: authority.cert, ...(tls.requestCert && client) } })
  return Object.assign(host, {
    authority: `127.0.0.1:${port}`,
    origin: `https://127.0.0.1:${port}`,
    fetch: fetchThrough(dispatcher),
    ca: authority.cert,
    client,
    async close() {
      for (const socket of webSockets.clients) socket.terminate()
      await dispatcher.destroy()
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
      rmSync(folder, { recursive: true, force: true })
    },
  })
}

/** A plain server on a free port, or on a Unix socket. */
export async function startPlainHost(
  handle: Handler,
  socketPath?: string,
): Promise<{ url: string; seen: Seen[]; close(): Promise<void> }> {
  const seen: Seen[] = []
  const server = createPlainServer(recorder(seen, () => handle))
  const port = await listen(server, socketPath)
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    async close() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

function recorder(seen: Seen[], find: (path: string) => Handler | undefined): RequestListener {
  return async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString()
    const received = {
      method: request.method ?? '',
      url: request.url ?? '',
      headers: request.headers,
      text,
      json: toJson(text),
    }
    seen.push(received)
    const handle = find(received.url.split('?')[0] ?? '')
    if (handle) handle(received, response)
    else sendJson(response, 404, { title: 'Not Found', status: 404 }, { 'content-type': 'application/problem+json' })
  }
}

function toJson(text: string): ReturnType<typeof JSON.parse> {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body?: JsonValue,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(body === undefined ? undefined : JSON.stringify(body))
}

/** Sends the same response to every call. */
export const always =
  (body: JsonValue, status = 200, headers: Record<string, string> = {}): Handler =>
  (_seen, response) =>
    sendJson(response, status, body, headers)

interface Listens {
  listen(port: number, host: string, done: () => void): unknown
  listen(path: string, done: () => void): unknown
  address(): string | AddressInfo | null
}

async function listen(server: Listens, socketPath?: string): Promise<number> {
  await new Promise<void>((done) => {
    if (socketPath === undefined) server.listen(0, '127.0.0.1', done)
    else server.listen(socketPath, done)
  })
  const address = server.address()
  return typeof address === 'object' && address ? address.port : 0
}

function fetchThrough(dispatcher: Agent): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init)
    const body = request.body === null ? undefined : await request.arrayBuffer()
    const response = await undiciFetch(request.url, {
      method: request.method,
      headers: Object.fromEntries(request.headers),
      redirect: request.redirect,
      signal: request.signal,
      dispatcher,
      ...(body && { body }),
    })
    const hasBody = response.body !== null && ![204, 304].includes(response.status)
    return new Response(hasBody ? response.body : null, { status: response.status, headers: [...response.headers] })
  }
}

/** Retry options that do not wait, and record how long they would have. */
export function fakeRetry(): {
  waits: number[]
  retry: { sleep: (ms: number) => Promise<void>; random: () => number }
} {
  const waits: number[] = []
  const sleep = async (ms: number): Promise<void> => {
    waits.push(ms)
  }
  return { waits, retry: { sleep, random: () => 0 } }
}

/** The code of the error that the promise rejects with. */
export async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : `not ours: ${String(error)}`
  }
  return 'no error'
}

/** All parts of a stream. */
export async function collect<T>(parts: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const part of parts) all.push(part)
  return all
}
