import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import type { FastifyInstance } from 'fastify'

export interface Listening {
  readonly url: string
  /** Accepts no more connections on the further addresses. */
  close(): void
}

/**
 * Listens on all addresses of the host. Fastify would do the same for `localhost`, but with a server of its own for each
 * address, whose connections the limits would not know. Here the first server handles those of all addresses.
 */
export async function listenOn(
  app: FastifyInstance,
  { host, port }: { host: string; port: number },
  addressesOf: (name: string) => Promise<readonly string[]> = resolveAll,
): Promise<Listening> {
  const [first = host, ...rest] = host === 'localhost' ? await addressesOf(host) : [host]
  const url = await app.listen({ host: first, port })
  const address = app.server.address()
  const others: Server[] = []
  for (const other of rest) {
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
      app.server.emit('connection', socket),
    )
    try {
      server.listen({ host: other, port: typeof address === 'object' ? address?.port : port })
      await once(server, 'listening')
      others.push(server)
    } catch (error) {
      // A machine may name an address that it does not have, such as ::1 without IPv6.
      app.log.warn({ err: error, address: other }, 'could not listen on a further address of localhost')
    }
  }
  return {
    url,
    close() {
      for (const server of others) server.close()
    },
  }
}

const resolveAll = async (name: string): Promise<string[]> => [
  ...new Set((await lookup(name, { all: true })).map(({ address }) => address)),
]
