import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { SVC_KEYS, type ZoneRecord } from '@switchboard/protocol'
import { type Answer, decode, encode } from 'dns-packet'

/** A DNS server on this machine; it knows these records and no others. */
export interface DnsServer {
  /** For the resolver: `127.0.0.1:port`. */
  readonly address: string
  records: Answer[]
  /** A response code for every request, such as 2 (server failure). */
  failure?: number
  close(): Promise<void>
}

export async function startDnsServer(records: Answer[] = []): Promise<DnsServer> {
  const socket = createSocket('udp4')
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  socket.on('message', (message, { port, address }) => {
    const { id, questions = [] } = decode(message)
    const known = server.records.filter(({ name }) => questions.some((question) => same(question.name, name)))
    const answers = known.filter(({ type }) => questions.some((question) => question.type === type))
    // RCODE 3: the name does not exist.
    const flags = 0x8400 | (server.failure ?? (known.length === 0 ? 3 : 0))
    const packet = encode({ type: 'response', flags, ...(id !== undefined && { id }), questions, answers })
    socket.send(packet, port, address)
  })
  const server: DnsServer = {
    address: `127.0.0.1:${socket.address().port}`,
    records,
    async close() {
      socket.close()
      await once(socket, 'close')
    },
  }
  return server
}

const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

export interface SvcParams {
  readonly mandatory?: readonly number[]
  readonly alpn?: readonly string[]
  readonly port?: number
  readonly cap?: string
}

/** An SVCB record; an empty target is the root, which stands for the name itself. */
export function svcbAnswer(name: string, priority: number, target: string, params: SvcParams = {}): Answer {
  const { mandatory, alpn, port, cap } = params
  const values: [number, Buffer][] = [
    ...(mandatory ? [[SVC_KEYS.mandatory, numbers(...mandatory)] satisfies [number, Buffer]] : []),
    ...(alpn ? [[SVC_KEYS.alpn, strings(alpn)] satisfies [number, Buffer]] : []),
    ...(port === undefined ? [] : [[SVC_KEYS.port, numbers(port)] satisfies [number, Buffer]]),
    ...(cap === undefined ? [] : [[SVC_KEYS.cap, Buffer.from(cap)] satisfies [number, Buffer]]),
  ]
  const labels = target.split('.').filter(Boolean)
  const data = [
    numbers(priority),
    strings([...labels, '']),
    ...values.flatMap(([key, value]) => [numbers(key, value.length), value]),
  ]
  const answer: Answer = { type: 'NULL', name, ttl: 60, data: Buffer.concat(data) }
  // The library has no name for the type.
  Reflect.set(answer, 'type', 'UNKNOWN_64')
  return answer
}

/** The SVCB records of a zone file. */
export const zoneAnswers = (records: readonly ZoneRecord[]): Answer[] =>
  records.flatMap(({ name, type, data }) => {
    const [, priority, target = '', alpn, port] = /^(\d+) (\S+)\.(?: alpn="([^"]*)" port=(\d+))?$/.exec(data) ?? []
    if (type !== 'SVCB') return []
    const params = alpn === undefined ? {} : { alpn: alpn.split(','), port: Number(port) }
    return [svcbAnswer(name.replace(/\.$/, ''), Number(priority), target, params)]
  })

const numbers = (...values: number[]): Buffer => Buffer.from(values.flatMap((value) => [value >> 8, value & 0xff]))

/** Strings with their lengths. */
const strings = (texts: readonly string[]): Buffer =>
  Buffer.concat(texts.map((text) => Buffer.from([text.length, ...Buffer.from(text)])))
