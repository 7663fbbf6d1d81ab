import { readFileSync, unwatchFile, watchFile } from 'node:fs'
import { createServer, type Server } from 'node:https'
import type { TLSSocket } from 'node:tls'
import type { FastifyServerFactory } from 'fastify'
import type { TlsConfig } from '../config/settings.js'

/** Milliseconds between checks whether the file with the revoked certificates has changed. */
const POLL_MS = 2000

export interface TlsServerOptions extends TlsConfig {
  readonly onReload: () => void
  /** The new list cannot be used; the one before stays in force. */
  readonly onReloadError: (error: unknown) => void
}

/** HTTPS. With a client CA, client certificates are requested, and required only if the operator says so. */
export function createTlsServerFactory(options: TlsServerOptions): FastifyServerFactory {
  const { clientCa, clientCrl, clientRequired } = options
  const client = clientCa === undefined ? {} : { requestCert: true, rejectUnauthorized: clientRequired }
  return (handler) => {
    const server = createServer({ ...secureContextOf(options), ...client }, handler)
    if (clientCrl !== undefined) followCrl(server, clientCrl, options)
    return server
  }
}

const secureContextOf = ({ cert, key, clientCa, clientCrl }: TlsConfig) => ({
  cert,
  key,
  minVersion: 'TLSv1.2' as const,
  ...(clientCa !== undefined && { ca: clientCa }),
  ...(clientCrl !== undefined && { crl: readFileSync(clientCrl, 'utf8') }),
})

/**
 * Applies a changed list of revoked certificates. Certificates are checked when a connection is opened, so connections
 * with a certificate that are older than the list are closed: idle ones at once, others after the next response.
 */
function followCrl(server: Server, path: string, options: TlsServerOptions): void {
  const open = new Set<TLSSocket>()
  const outdated = new WeakSet<object>()
  server.on('secureConnection', (socket) => {
    if (!socket.authorized) return
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  server.prependListener('request', ({ socket }, response) => {
    if (outdated.has(socket)) response.setHeader('connection', 'close')
  })
  const reload = (): void => {
    try {
      server.setSecureContext(secureContextOf(options))
    } catch (error) {
      options.onReloadError(error)
      return
    }
    for (const socket of open) outdated.add(socket)
    server.closeIdleConnections()
    options.onReload()
  }
  watchFile(path, { interval: POLL_MS, persistent: false }, reload)
  server.once('close', () => unwatchFile(path, reload))
}
