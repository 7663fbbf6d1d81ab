import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLocalClient, createLocalRuntime, type LocalClient, type LocalRuntimeOptions } from '../../src/index.js'

/** A request as a test agent received it. */
export interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface Computer {
  readonly socket: string
  readonly state: string
  readonly bridgeUrl: string
  readonly client: LocalClient
  /** Stops the runtime and starts it again with the same folders. */
  restart(more?: Partial<LocalRuntimeOptions>): Promise<void>
  close(): Promise<void>
}

/** Starts a runtime in a temporary folder, with a bridge on a free port. */
export async function startComputer(options: Partial<LocalRuntimeOptions> = {}): Promise<Computer> {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-local-'))
  const [socket, state] = [join(folder, 'run', 'local.sock'), join(folder, 'state')]
  const start = (more: Partial<LocalRuntimeOptions> = {}) =>
    createLocalRuntime({ socket, state, bridgePort: 0, ...options, ...more })
  let runtime = await start()
  return {
    socket,
    state,
    get bridgeUrl() {
      return runtime.bridgeUrl ?? ''
    },
    client: createLocalClient(socket),
    async restart(more) {
      await runtime.close()
      runtime = await start(more)
    },
    async close() {
      await runtime.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Starts an agent: a plain HTTP server on a socket or a port. */
export async function startAgent(
  handle: (seen: Seen, response: ServerResponse) => void,
  socket?: string,
): Promise<{ readonly url: string; readonly seen: Seen[]; close(): Promise<void> }> {
  const seen: Seen[] = []
  const server = createServer(async (message, response) => {
    const body = await textOf(message)
    const { method = '', url = '', headers } = message
    seen.push({ method, url, headers, body })
    handle({ method, url, headers, body }, response)
  })
  await new Promise<void>((resolve) => {
    if (socket === undefined) server.listen(0, '127.0.0.1', resolve)
    else server.listen(socket, resolve)
  })
  const address = server.address()
  const url = typeof address === 'object' && address ? `http://127.0.0.1:${address.port}` : ''
  return {
    url,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

export interface RawResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** Has the type that JSON.parse returns. */
  readonly json: ReturnType<typeof JSON.parse>
}

export interface RawRequest {
  /** Connects here instead of the host and port of the URL. */
  readonly socketPath?: string
  readonly method?: string
  /** Alternating names and values, sent exactly like this. */
  readonly headers?: readonly string[]
  readonly body?: string | Uint8Array
}

/** Sends a request verbatim, including Host and Origin, which browsers do not let pages set. */
export function sendRaw(
  url: string,
  { method = 'POST', headers = [], body, socketPath }: RawRequest,
): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    // Passed separately, since URL parsing removes "." and ".." segments.
    const path = url.slice(new URL(url).origin.length) || '/'
    const address = { path, ...(socketPath !== undefined && { socketPath }) }
    const options = { ...address, method, headers: [...headers], setHost: false, agent: false as const }
    const outgoing = request(url, options, async (message) => {
      const text = await textOf(message)
      const { statusCode: status = 0, headers: received } = message
      resolve({ status, headers: received, text, json: isJson(text) ? JSON.parse(text) : undefined })
    })
    outgoing.on('error', reject).end(body)
  })
}

const isJson = (text: string): boolean => /^[[{"]/.test(text)

async function textOf(message: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of message.setEncoding('utf8')) text += chunk
  return text
}
