import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLocalClient, createLocalRuntime, type LocalClient, type LocalRuntimeOptions } from '../../src/index.js'

/** What an agent of the tests has seen of a call. */
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
  /** Stops the runtime and starts it again on the same folder. */
  restart(more?: Partial<LocalRuntimeOptions>): Promise<void>
  close(): Promise<void>
}

/** A runtime with a folder of its own, and a bridge on a free port. */
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

/** An agent of this computer: a plain HTTP server, on a socket or a port. */
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

export interface RawAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** Typed as JSON.parse types it. */
  readonly json: ReturnType<typeof JSON.parse>
}

export interface RawRequest {
  /** Instead of the host and port of the URL. */
  readonly socketPath?: string
  readonly method?: string
  /** Names and values in a row, exactly as they are sent. */
  readonly headers?: readonly string[]
  readonly body?: string | Uint8Array
}

/** Sends a request as it is written here, Host and Origin too, which no browser lets a page choose. */
export function sendRaw(
  url: string,
  { method = 'POST', headers = [], body, socketPath }: RawRequest,
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    // Given apart, since URLs take "." and ".." out of paths.
    const path = url.slice(new URL(url).origin.length) || '/'
    const place = { path, ...(socketPath !== undefined && { socketPath }) }
    const options = { ...place, method, headers: [...headers], setHost: false, agent: false as const }
    const sent = request(url, options, async (message) => {
      const text = await textOf(message)
      const { statusCode: status = 0, headers: answered } = message
      resolve({ status, headers: answered, text, json: isJson(text) ? JSON.parse(text) : undefined })
    })
    sent.on('error', reject).end(body)
  })
}

const isJson = (text: string): boolean => /^[[{"]/.test(text)

async function textOf(message: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of message.setEncoding('utf8')) text += chunk
  return text
}
