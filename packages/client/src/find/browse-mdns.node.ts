import { networkInterfaces } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { DIRECTORY_SERVICE } from '@switchboard/protocol'
import multicastDns, { type MulticastDNS } from 'multicast-dns'
import { ClientError } from '../errors.js'
import type { Advertisement } from './advertised.js'
import { createServiceRecords } from './service-records.js'

const MAX_INTERFACES = 16
/** Share of the time after which each question is asked: packets may be lost. */
const ASK_AT = [0, 0.15, 0.5]

export interface BrowseMdnsOptions {
  /** Milliseconds to listen. */
  readonly timeoutMs: number
  /** IPv4 addresses of the network interfaces to use; default: all. */
  readonly interfaces?: readonly string[] | undefined
  readonly signal?: AbortSignal | undefined
}

/** The directories that advertise themselves on the local network by multicast DNS (RFC 6762). */
export async function browseMdns({ timeoutMs, interfaces, signal }: BrowseMdnsOptions): Promise<Advertisement[]> {
  const records = createServiceRecords(`${DIRECTORY_SERVICE}.local`)
  const sockets: MulticastDNS[] = []
  const problems = new Set<string>()
  try {
    for (const address of (interfaces ?? localAddresses()).slice(0, MAX_INTERFACES)) {
      // Bound to one address, Linux would not deliver multicast packets.
      const socket = multicastDns({ interface: address, bind: '0.0.0.0' })
      sockets.push(socket)
      socket.on('response', records.add)
      // Errors without a code are about packets of others that cannot be read.
      for (const event of ['error', 'warning'] as const)
        socket.on(event, (error: Error) => 'code' in error && problems.add(error.message))
    }
    let passed = 0
    for (const share of ASK_AT) {
      await sleep((share - passed) * timeoutMs, undefined, { ...(signal && { signal }) })
      passed = share
      const questions = records.questions()
      for (const socket of sockets) socket.query({ questions }, (error) => error && problems.add(error.message))
    }
    await sleep((1 - passed) * timeoutMs, undefined, { ...(signal && { signal }) })
  } finally {
    for (const socket of sockets) socket.destroy()
  }
  const found = records.directories()
  if (found.length === 0 && problems.size >= sockets.length)
    throw new ClientError('unreachable', `multicast DNS is not available: ${[...problems].join('; ') || 'no network'}`)
  return found
}

const localAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((list) =>
    (list ?? []).flatMap(({ family, address }) => (family === 'IPv4' ? [address] : [])),
  )
