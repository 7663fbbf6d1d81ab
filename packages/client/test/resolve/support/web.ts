import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { isIP, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonValue } from '@switchboard/protocol'
import { Agent, buildConnector, fetch as undiciFetch } from 'undici'
import { createAuthority } from '../../../../server/test/support/tls.js'

/** The response for a URL: a JSON value, or a function that writes it. */
export type Page = JsonValue | ((response: ServerResponse, headers: IncomingHttpHeaders) => void)

export interface Web {
  /** Pages by URL; any other URL is a 404. */
  pages: Record<string, Page>
  /** Requested URLs, in order. */
  readonly requestedUrls: string[]
  readonly headers: IncomingHttpHeaders[]
  /** Trusts the CA of these hosts, and connects every host name to this server. */
  readonly fetch: typeof fetch
  /** The same without trusting the CA. */
  readonly distrustingFetch: typeof fetch
  /** Port that serves the same pages over plain HTTP. */
  readonly plainPort: number
  close(): Promise<void>
}

const NAMES = ['example.com', '*.example.com', 'example.net', 'example.org', '*.example.org', 'translator.example']

/** Starts one server with real TLS and its own CA for many host names. */
export async function startWeb(): Promise<Web> {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-web-'))
  const authority = createAuthority(folder, 'web')
  const identity = authority.issue('/CN=web', ...NAMES.map((name) => `DNS:${name}`), 'IP:127.0.0.1')
  const [requestedUrls, headers]: [string[], IncomingHttpHeaders[]] = [[], []]
  const web: { pages: Record<string, Page> } = { pages: {} }

  const listener =
    (scheme: string) =>
    (request: IncomingMessage, response: ServerResponse): void => {
      const url = `${scheme}://${request.headers.host}${request.url}`
      requestedUrls.push(url)
      headers.push(request.headers)
      const page = Object.hasOwn(web.pages, url) ? web.pages[url] : undefined
      if (typeof page === 'function') page(response, request.headers)
      else sendJson(response, page === undefined ? 404 : 200, page ?? { title: 'Not Found', status: 404 })
    }
  const server = createTlsServer({ cert: identity.cert, key: identity.key }, listener('https'))
  const plain = createServer(listener('http'))
  await Promise.all([listen(server), listen(plain)])
  const [trusting, distrusting] = [createAgent(portOf(server), authority.cert), createAgent(portOf(server))]

  return Object.assign(web, {
    requestedUrls,
    headers,
    fetch: fetchThrough(trusting),
    distrustingFetch: fetchThrough(distrusting),
    plainPort: portOf(plain),
    async close() {
      await Promise.all([trusting.destroy(), distrusting.destroy()])
      server.closeAllConnections()
      plain.closeAllConnections()
      await Promise.all([server, plain].map((each) => new Promise((done) => each.close(done))))
      rmSync(folder, { recursive: true, force: true })
    },
  })
}

export function sendJson(response: ServerResponse, status: number, body: JsonValue, headers: object = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

const listen = (server: Server): Promise<void> =>
  new Promise((done) => void server.listen(0, '127.0.0.1', () => done()))

function portOf(server: Server): number {
  const address = server.address()
  return typeof address === 'object' && address ? address.port : 0
}

function createAgent(port: number, ca?: string): Agent {
  const connector = buildConnector(ca === undefined ? {} : { ca })
  return new Agent({
    connect: ({ hostname, ...more }, done) =>
      connector(
        { ...more, hostname: '127.0.0.1', port: String(port), servername: isIP(hostname) ? '' : hostname },
        done,
      ),
  })
}

function fetchThrough(dispatcher: Agent): typeof fetch {
  return async (input, init) => {
    const headers = Object.fromEntries(new Headers(init?.headers))
    const response = await undiciFetch(String(input), {
      headers,
      dispatcher,
      ...(init?.signal && { signal: init.signal }),
      ...(init?.redirect && { redirect: init.redirect }),
    })
    const [names, empty] = [[...response.headers], response.status === 304 || response.body === null]
    return new Response(empty ? null : response.body, { status: response.status, headers: names })
  }
}
