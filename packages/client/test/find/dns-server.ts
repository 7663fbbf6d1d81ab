import { createSocket } from 'node:dgram'
import { once } from 'node:events'
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
