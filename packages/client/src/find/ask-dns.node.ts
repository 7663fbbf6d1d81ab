import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { getServers } from 'node:dns'
import { isIP } from 'node:net'
import { SVCB_TYPE } from '@switchboard/protocol'
import { decode, encode, type Packet, RECURSION_DESIRED } from 'dns-packet'
import { ClientError } from '../errors.js'

export interface AskDnsOptions {
  /** Milliseconds to wait for each server. */
  readonly timeoutMs: number
  /** DNS servers; default: those of the system. */
  readonly servers?: readonly string[] | undefined
  readonly signal?: AbortSignal | undefined
}

export interface DnsQuestion {
  readonly name: string
  readonly type: 'PTR' | 'SRV' | 'SVCB' | 'TXT' | 'A'
}

/** Bytes of a response that we accept (EDNS). */
const MAX_UDP_BYTES = 4096
/** Bytes of a message before its first question. */
const HEADER_BYTES = 12
/** Response codes of DNS (RFC 1035 §4.1.1). */
const RCODE_MASK = 0xf
const NO_ERROR = 0
const NAME_ERROR = 3

/** Asks one server after another. That a name does not exist is an answer. */
export async function askDns(question: DnsQuestion, options: AskDnsOptions): Promise<Packet> {
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
  question: DnsQuestion,
  { address, port }: { address: string; port: number },
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<Packet> {
  const id = randomInt(0x10000)
  const query = encodeQuery(id, question)
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

function encodeQuery(id: number, { name, type }: DnsQuestion): Buffer {
  const query = encode({
    type: 'query',
    id,
    flags: RECURSION_DESIRED,
    questions: [{ name, type: type === 'SVCB' ? 'NULL' : type }],
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
  // dns-packet has no name for this type. After the labels of the question, each with its length, and a zero comes the type.
  if (type === 'SVCB') query.writeUInt16BE(SVCB_TYPE, query.indexOf(0, HEADER_BYTES) + 1)
  return query
}
