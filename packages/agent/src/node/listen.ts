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
  /** 0 picks a free one, which is the default. */
  readonly port?: number
  /** 127.0.0.1 unless told. */
  readonly host?: string
  readonly tls?: TlsOptions
  /** Path of a Unix socket, for callers of the same user only. Without a port or host, nothing else is listened on. */
  readonly socket?: string
  /** TLS ends at a proxy in front of this agent, which alone can reach it and which sets X-Forwarded-For. */
  readonly behindProxy?: boolean
}

/** Milliseconds until the headers of a request, and the whole of it, must have come. */
const HEADERS_MS = 20_000
const REQUEST_MS = 120_000
/** Milliseconds without a byte either way: whoever does not read what it asked for holds no handler for ever. */
const SILENCE_MS = LONGEST_WAIT_MS + 10_000
/** Chains of delegation are long. */
const MAX_HEADER_BYTES = 32 * 1024

/** A server that does not listen yet. Plain HTTP to others than this machine is refused, unless a proxy speaks TLS. */
export function createNodeServer(options: ListenOptions, onRequest: RequestListener): Server {
  const { tls, host = '127.0.0.1', behindProxy = false } = options
  if (!tls && !behindProxy && !isLoopbackHost(host)) {
    throw new AgentError(
      'invalid_definition',
      `plain HTTP on ${host} can be read by others: give tls, or behindProxy if a proxy ends TLS`,
    )
  }
  const limits = { headersTimeout: HEADERS_MS, requestTimeout: REQUEST_MS, maxHeaderSize: MAX_HEADER_BYTES }
  if (!tls) return createHttpServer(limits, onRequest).setTimeout(SILENCE_MS)
  const { cert, key, clientCa: ca, clientRequired = false } = tls
  if (clientRequired && ca === undefined) {
    throw new AgentError('invalid_definition', 'tls.clientRequired needs tls.clientCa, to verify certificates with')
  }
  const asked = ca === undefined ? {} : { ca, requestCert: true, rejectUnauthorized: clientRequired }
  return createHttpsServer({ ...limits, cert, key, ...asked }, onRequest).setTimeout(SILENCE_MS)
}

/** Listens on a port; the URL by which it is reached on this machine. */
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

/** Listens on a Unix socket that only its owner may open; one that a dead process left behind is replaced. */
export async function listenOnSocket(path: string, onRequest: RequestListener): Promise<Server> {
  const limits = { headersTimeout: HEADERS_MS, requestTimeout: REQUEST_MS, maxHeaderSize: MAX_HEADER_BYTES }
  const server = createHttpServer(limits, onRequest).setTimeout(SILENCE_MS)
  const bind = (): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once('error', reject)
      // Nobody else gets in between the making of the file and the change of its mode; threads cannot do that.
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
    if (!isInUse(error) || (await answers(path))) throw error
    await unlink(path)
    await bind()
  }
  await chmod(path, 0o600)
  return server
}

const isInUse = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'

const answers = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })

/** Takes no more connections, and ends those that do not end by themselves. */
export async function closeServer(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  const late = setTimeout(() => server.closeAllConnections(), graceMs)
  await closed
  clearTimeout(late)
}
