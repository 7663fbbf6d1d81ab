import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { getServers } from 'node:dns'
import { isIP } from 'node:net'
import { DIRECTORY_SERVICE } from '@switchboard/protocol'
import { decode, encode, type Packet, RECURSION_DESIRED } from 'dns-packet'
import { ClientError } from '../errors.js'
import type { Advertisement } from './advertised.js'
import { createServiceRecords, type ServiceQuestion } from './service-records.js'

export interface BrowseDnsOptions {
  /** Milliseconds to wait for each server. */
  readonly timeoutMs: number
  /** DNS servers; default: those of the system. */
  readonly servers?: readonly string[] | undefined
  readonly signal?: AbortSignal | undefined
}

/** First the names of the directories, then where each of them is. */
const ROUNDS = 2
/** Bytes of a response that we accept (EDNS). */
const MAX_UDP_BYTES = 4096
/** Response codes of DNS (RFC 1035 §4.1.1). */
const RCODE_MASK = 0xf
const NO_ERROR = 0
const NAME_ERROR = 3

/**
 * The directories that a domain advertises with ordinary DNS records (RFC 6763). Node's own resolver does not accept the
 * names of services, which may contain spaces.
 */
export async function browseDns(domain: string, options: BrowseDnsOptions): Promise<Advertisement[]> {
  const records = createServiceRecords(`${DIRECTORY_SERVICE}.${domain.replace(/\.$/, '')}`)
  for (let round = 0; round < ROUNDS; round++) {
    const questions = records.questions().filter(({ type }) => type !== 'A' && (type === 'PTR') === (round === 0))
    for (const packet of await Promise.all(questions.map((question) => ask(question, options)))) records.add(packet)
  }
  return records.directories()
}

/** Asks one server after another. That a name does not exist is an answer. */
async function ask(question: ServiceQuestion, options: BrowseDnsOptions): Promise<Packet> {
  const { servers = getServers(), timeoutMs, signal } = options
  let reason = 'there is no DNS server'
  for (const server of servers) {
    try {
      return await askServer(question, readServer(server), timeoutMs, signal)
    } catch (error) {
      signal?.throwIfAborted()
      reason = error instanceof Error ? error.message : String(error)
    }
  }
  throw new ClientError('unreachable', `cannot look up ${question.type} records of ${question.name}: ${reason}`)
}

/** `192.0.2.1`, `192.0.2.1:53`, `2001:db8::1` or `[2001:db8::1]:53`. */
function readServer(text: string): { address: string; port: number } {
  const [, bracketed, port] = /^\[(.+)\](?::(\d+))?$/.exec(text) ?? []
  if (bracketed !== undefined) return { address: bracketed, port: Number(port ?? 53) }
  const [address = '', other] = isIP(text) === 6 ? [text] : text.split(':')
  return { address, port: Number(other ?? 53) }
}

function askServer(
  question: ServiceQuestion,
  { address, port }: { address: string; port: number },
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<Packet> {
  const id = randomInt(0x10000)
  const query = encode({
    type: 'query',
    id,
    flags: RECURSION_DESIRED,
    questions: [question],
    additionals: [
      {
        type: 'OPT',
        name: '.',
        udpPayloadSize: MAX_UDP_BYTES,
        extendedRcode: 0,
        ednsVersion: 0,
        flags: 0,
        flag_do: false,
        options: [],
      },
    ],
  })
  return new Promise((resolve, reject) => {
    const socket = createSocket(isIP(address) === 6 ? 'udp6' : 'udp4')
    const end = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', cancel)
      socket.close()
    }
    const fail = (error: Error): void => {
      end()
      reject(error)
    }
    const cancel = (): void => fail(new Error('cancelled'))
    const timer = setTimeout(() => fail(new Error(`${address} did not respond within ${timeoutMs} ms`)), timeoutMs)
    signal?.addEventListener('abort', cancel)
    socket.on('error', fail)
    socket.on('message', (message) => {
      const packet = readPacket(message)
      // Whatever does not answer our question may come from somebody else.
      if (packet?.type !== 'response' || packet.id !== id) return
      if (packet.questions?.[0]?.name.toLowerCase() !== question.name.toLowerCase()) return
      const code = (packet.flags ?? 0) & RCODE_MASK
      if (code !== NO_ERROR && code !== NAME_ERROR) return fail(new Error(`${address} answered with error ${code}`))
      end()
      resolve(packet)
    })
    // Connected, so that the system drops packets from other addresses and reports a closed port.
    socket.connect(port, address, () => socket.send(query))
  })
}

function readPacket(message: Uint8Array): Packet | undefined {
  try {
    return decode(Buffer.from(message))
  } catch {
    return undefined
  }
}
