import { connect as connectPlain, isIP, type LookupFunction, type Socket } from 'node:net'
import { connect as connectTls, createSecureContext, rootCertificates } from 'node:tls'
import { Agent } from 'undici'
import { GatewayError } from '../gateway.js'
import type { GatewayOptions } from '../gateway-options.js'
import type { AddressGuard } from './address-guard.js'

/** Opens a connection to the host of a URL, if the address guard allows it. */
export type Dial = (url: URL) => Promise<Socket>

/** Milliseconds before the next address of a host is tried in parallel (Happy Eyeballs, RFC 8305). */
const NEXT_ADDRESS_MS = 250

/** Creates connections over TCP and TLS. */
export function createDial(guard: AddressGuard, { connectMs, tls }: Pick<GatewayOptions, 'connectMs' | 'tls'>): Dial {
  const { ca, ...identity } = tls
  const secureContext = createSecureContext({
    ...identity,
    ...(ca !== undefined && { ca: [...rootCertificates, ca] }),
    minVersion: 'TLSv1.2',
  })

  return (url) =>
    new Promise((resolve, reject) => {
      let socket: Socket | undefined
      let isOver = false
      const fail = (error: GatewayError): void => {
        isOver = true
        clearTimeout(timer)
        socket?.destroy()
        reject(error)
      }
      const timer = setTimeout(
        () =>
          fail(
            new GatewayError('timeout', `no connection to ${url.hostname} within ${connectMs} ms`, {
              isUnconnected: true,
            }),
          ),
        connectMs,
      )

      const open = (addresses: readonly string[]): void => {
        const host = url.hostname.replace(/^\[|\]$/g, '')
        const secure = url.protocol === 'https:' || url.protocol === 'wss:'
        const target = {
          host,
          port: url.port === '' ? (secure ? 443 : 80) : Number(url.port),
          // TLS needs the host name, but the connection must go to an address that the guard has checked.
          lookup: lookupOf(addresses),
          autoSelectFamily: addresses.length > 1,
          autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_MS,
        }
        const opened = secure
          ? connectTls({
              ...target,
              secureContext,
              // SNI takes names only, no IP addresses.
              ...(isIP(host) === 0 && { servername: host }),
              ALPNProtocols: ['http/1.1'],
            })
          : connectPlain(target)
        socket = opened
        opened.setNoDelay(true)
        opened.once('error', (cause) =>
          fail(new GatewayError('unreachable', `cannot connect to ${host}`, { isUnconnected: true, cause })),
        )
        opened.once(secure ? 'secureConnect' : 'connect', () => {
          clearTimeout(timer)
          resolve(opened)
        })
      }

      guard.check(url).then(
        (addresses) => {
          if (!isOver) open(addresses)
        },
        (cause: unknown) =>
          fail(
            cause instanceof GatewayError
              ? cause
              : new GatewayError('unreachable', `cannot resolve ${url.hostname}`, { isUnconnected: true, cause }),
          ),
      )
    })
}

/** A pool of connections to agents: `dial` opens new ones, so the address guard checks every address. */
export function createConnectionPool(dial: Dial, { maxHeaderBytes }: Pick<GatewayOptions, 'maxHeaderBytes'>): Agent {
  return new Agent({
    maxHeaderSize: maxHeaderBytes,
    // `sendRequest` has its own timeouts, which are exact to the millisecond.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: ({ protocol, hostname, host }, callback) => {
      dial(new URL(`${protocol}//${host ?? hostname}`)).then(
        (socket) => callback(null, socket),
        (error: Error) => callback(error, null),
      )
    },
  })
}

/** A DNS lookup with a fixed result. */
function lookupOf(addresses: readonly string[]): LookupFunction {
  const list = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_host, options, callback) => {
    const [first] = list
    if (options.all) callback(null, list)
    else if (first) callback(null, first.address, first.family)
  }
}
