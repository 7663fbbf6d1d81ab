import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { JsonObject, JsonValue } from '@switchboard/protocol'
import { aidipAgent } from '../support/documents.js'

/** One request that the agent received. */
export interface Received {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  /** The body as JSON, typed as JSON.parse types it. */
  readonly json: ReturnType<typeof JSON.parse>
}

export type Reply = (received: Received, response: ServerResponse, request: IncomingMessage) => unknown

/** A plain HTTP agent on loopback. */
export interface TestAgent {
  readonly url: string
  readonly calls: Received[]
  /** How it responds from now on. */
  reply: Reply
  /** A document to register it with. */
  document(changes?: JsonObject): JsonObject
  close(): Promise<void>
}

/** Starts an agent; by default it echoes its input. */
export async function startAgent(reply: Reply = echo): Promise<TestAgent> {
  const calls: Received[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    const received = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body,
      json: parse(body),
    }
    calls.push(received)
    await agent.reply(received, response, request)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}/agent`
  const agent: TestAgent = {
    url,
    calls,
    reply,
    document: (changes = {}) => aidipAgent({ id: 'x', endpoint: url, ...changes }),
    async close() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
  return agent
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return undefined
  }
}

export function sendJson(
  response: ServerResponse,
  value: JsonValue,
  status = 200,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value))
}

export const echo: Reply = ({ json }, response) => sendJson(response, json)

/** Always the same response. */
export const fixed =
  (value: JsonValue, status = 200, headers: Record<string, string> = {}): Reply =>
  (_received, response) =>
    sendJson(response, value, status, headers)
