import { realpath, stat } from 'node:fs/promises'
import { connect } from 'node:net'
import { basename, dirname, join, normalize, sep } from 'node:path'
import { Agent } from 'undici'
import { GatewayError } from '../gateway.js'
import type { GatewayOptions } from '../gateway-options.js'

/** HTTP over Unix domain sockets. */
export interface UnixSockets {
  /** Connects only to URLs returned by `target`. */
  readonly dispatcher: Agent
  /** Parses `unix:/run/agent.sock`, optionally with `:/path` for HTTP; throws if the socket may not be called. */
  target(endpoint: string): Promise<{ readonly url: URL; readonly host: string }>
}

/** Allows only sockets in the folders that the operator listed, after following symbolic links (C-81). */
export function createUnixSockets({
  socketFolders,
  connectMs,
  maxHeaderBytes,
}: Pick<GatewayOptions, 'socketFolders' | 'connectMs' | 'maxHeaderBytes'>): UnixSockets {
  const dispatcher = new Agent({
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: ({ hostname }, callback) => {
      const socket = connect({ path: Buffer.from(hostname.slice(0, -SUFFIX.length), 'hex').toString() })
      let done: typeof callback | undefined = callback
      const fail = (error: GatewayError): void => {
        socket.destroy()
        clearTimeout(timer)
        done?.(error, null)
        done = undefined
      }
      const timer = setTimeout(
        () =>
          fail(
            new GatewayError('timeout', `no connection to the socket within ${connectMs} ms`, { isUnconnected: true }),
          ),
        connectMs,
      )
      socket.once('error', (cause) =>
        fail(
          new GatewayError('unreachable', 'cannot connect to the socket of the agent', { isUnconnected: true, cause }),
        ),
      )
      socket.once('connect', () => {
        clearTimeout(timer)
        done?.(null, socket)
        done = undefined
      })
    },
  })

  return {
    dispatcher,
    async target(endpoint) {
      const [, path = '', rest = '/'] = /^unix:(\/[^:]*)(?::(\/.*))?$/s.exec(endpoint) ?? []
      if (path === '' || path.includes('\0')) throw blocked('the path of the socket must be absolute')
      const socket = await realSocket(path)
      const folders = await Promise.all(socketFolders.map((folder) => realpath(folder).catch(() => undefined)))
      const isListed = folders.some((folder) => folder !== undefined && socket?.startsWith(join(folder, sep)))
      if (socket === undefined || !isListed) {
        // The same error whether the file exists or not, so that callers cannot probe for files.
        throw blocked('the socket is not in an allowed folder')
      }
      const found = await stat(socket).catch(() => undefined)
      if (!found?.isSocket())
        throw new GatewayError('unreachable', 'there is no socket at this path', { isUnconnected: true })
      const url = new URL(`http://${Buffer.from(socket).toString('hex')}${SUFFIX}${rest}`)
      return { url, host: 'localhost' }
    },
  }
}

/** The host of the URL is the socket path in hexadecimal and this suffix, because connections are pooled by host. */
const SUFFIX = '.unix'

/** Follows symbolic links; a missing socket is located by its folder. Undefined if the folder is missing too. */
async function realSocket(path: string): Promise<string | undefined> {
  const plain = normalize(path)
  return realpath(plain).catch(() =>
    realpath(dirname(plain)).then(
      (folder) => join(folder, basename(plain)),
      () => undefined,
    ),
  )
}

const blocked = (message: string): GatewayError => new GatewayError('blocked', message)
