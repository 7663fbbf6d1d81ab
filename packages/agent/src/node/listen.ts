import { chmod, unlink } from 'node:fs/promises'
import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { connect } from 'node:net'
import { isMainThread } from 'node:worker_threads'
import { isLoopbackHost } from '@switchboard/protocol'
import { LONGEST_WAIT_MS } from '../capability.js'
import { AgentError } from '../errors.js'

export interface TlsOptions {
  readonly cert: string
  readonly key: string
  /** CA certificates that client certificates are verified with; without it none are requested. */
  readonly clientCa?: string
  /** Reject callers without a certificate; needs `clientCa`. */
  readonly clientRequired?: boolean
}

export interface ListenOptions {
  /** Default: 0, a free port. */
  readonly port?: number
  /** Default: 127.0.0.1. */
  readonly host?: string
  readonly tls?: TlsOptions
  /** Path of a Unix socket, for callers of the same user. Without `port` and `host`, the agent listens only there. */
  readonly socket?: string
  /** A proxy terminates TLS, sets X-Forwarded-For, and is the only one that can reach this agent. */
  readonly behindProxy?: boolean
}

/** Milliseconds until the headers of a request, and the whole request, must have arrived. */
const HEADERS_MS = 20_000
const REQUEST_MS = 120_000
/** Milliseconds without traffic until a connection is closed, so that a caller that stops reading frees its handler. */
const SILENCE_MS = LONGEST_WAIT_MS + 10_000
/** Delegation chains are long. */
const MAX_HEADER_BYTES = 32 * 1024

/** Creates a server that does not listen yet. Plain HTTP is only allowed on loopback, or behind a proxy with TLS. */
export function createNodeServer(options: ListenOptions, onRequest: RequestListener): Server {
  const { tls, host = '127.0.0.1', behindProxy = false } = options
  if (!tls && !behindProxy && !isLoopbackHost(host)) {
    throw new AgentError(
      'invalid_definition',
      `plain HTTP on ${host} is not private: set tls, or behindProxy if a proxy terminates TLS`,
    )
  }
  const limits = { headersTimeout: HEADERS_MS, requestTimeout: REQUEST_MS, maxHeaderSize: MAX_HEADER_BYTES }
  if (!tls) return createHttpServer(limits, onRequest).setTimeout(SILENCE_MS)
  const { cert, key, clientCa: ca, clientRequired = false } = tls
  if (clientRequired && ca === undefined) {
    throw new AgentError('invalid_definition', 'tls.clientRequired needs tls.clientCa, to verify certificates with')
  }
  const verification = ca === undefined ? {} : { ca, requestCert: true, rejectUnauthorized: clientRequired }
  return createHttpsServer({ ...limits, cert, key, ...verification }, onRequest).setTimeout(SILENCE_MS)
}

/** Listens on a port and returns its URL on this machine. */
export async function listenOnPort(
  server: Server,
  { port = 0, host = '127.0.0.1', tls }: ListenOptions,
): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
  const address = server.address()
  const bound = typeof address === 'object' && address !== null ? address.port : port
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host
  return `http${tls ? 's' : ''}://${name.includes(':') ? `[${name}]` : name}:${bound}`
}

/** Listens on a Unix socket that only its owner may open; replaces the stale socket of a dead process. */
export async function listenOnSocket(path: string, onRequest: RequestListener): Promise<Server> {
  const limits = { headersTimeout: HEADERS_MS, requestTimeout: REQUEST_MS, maxHeaderSize: MAX_HEADER_BYTES }
  const server = createHttpServer(limits, onRequest).setTimeout(SILENCE_MS)
  const bind = (): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once('error', reject)
      // The file must not be open to others even for a moment. Worker threads cannot set the umask.
      const before = isMainThread ? process.umask(0o177) : undefined
      try {
        server.listen(path, () => {
          server.off('error', reject)
          resolve()
        })
      } finally {
        if (before !== undefined) process.umask(before)
      }
    })
  try {
    await bind()
  } catch (error) {
    if (!isInUse(error) || (await isListening(path))) throw error
    await unlink(path)
    await bind()
  }
  await chmod(path, 0o600)
  return server
}

const isInUse = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'

const isListening = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })

/** Accepts no more connections, and closes those that are still open after the grace period. */
export async function closeServer(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  const late = setTimeout(() => server.closeAllConnections(), graceMs)
  await closed
  clearTimeout(late)
}
