import { realpath, stat } from 'node:fs/promises'
import { connect } from 'node:net'
import { basename, dirname, join, normalize, sep } from 'node:path'
import { Agent } from 'undici'
import { GatewayError } from '../gateway.js'
import type { GatewayOptions } from '../gateway-options.js'
import type { HttpTarget } from '../transports/http-transport.js'

/** HTTP over sockets of this machine. */
export interface UnixSockets {
  /** Connects to nothing but targets made here. */
  readonly dispatcher: Agent
  /** Reads `unix:/run/agent.sock`, with `:/path` after it for a path of HTTP; throws if the socket may not be called. */
  target(endpoint: string): Promise<HttpTarget>
}

/** Sockets in the folders that the operator listed may be called (C-81), wherever a link in them leads. */
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
      let answer: typeof callback | undefined = callback
      const fail = (error: GatewayError): void => {
        socket.destroy()
        clearTimeout(timer)
        answer?.(error, null)
        answer = undefined
      }
      const timer = setTimeout(() => fail(new GatewayError('timeout', 'the socket did not connect')), connectMs)
      socket.once('error', (cause) =>
        fail(new GatewayError('unreachable', 'nobody listens at the socket of the agent', { cause })),
      )
      socket.once('connect', () => {
        clearTimeout(timer)
        answer?.(null, socket)
        answer = undefined
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
        // Whether there is such a file is nobody's business.
        throw blocked('the socket lies in no folder whose sockets may be called')
      }
      const found = await stat(socket).catch(() => undefined)
      if (!found?.isSocket()) throw new GatewayError('unreachable', 'there is no socket at the path of the agent')
      const url = new URL(`http://${Buffer.from(socket).toString('hex')}${SUFFIX}${rest}`)
      return { url, host: 'localhost' }
    },
  }
}

/** The path is kept in the host of the URL, by which connections are pooled; only this room's dispatcher reads it. */
const SUFFIX = '.unix'

/** Where the path leads; a socket that is not there now counts by its folder. Undefined: nowhere. */
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
