import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** Forwards connections to a port, like the address of a database that moves to another server. */
export interface TcpProxy {
  readonly port: number
  /** Leads new connections elsewhere, and closes those that are open. */
  retarget(port: number): void
  close(): void
}

export async function startTcpProxy(target: number): Promise<TcpProxy> {
  let to = target
  const open = new Set<Socket>()
  const cut = (): void => {
    for (const socket of open) socket.destroy()
  }
  const server = createServer((client) => {
    const upstream = connect(to, '127.0.0.1')
    const ends: [Socket, Socket][] = [
      [client, upstream],
      [upstream, client],
    ]
    for (const [from, into] of ends) {
      open.add(from)
      from.setNoDelay(true)
      from.pipe(into)
      from.on('error', () => from.destroy())
      from.on('close', () => {
        open.delete(from)
        into.destroy()
      })
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    port: address.port,
    retarget(port) {
      to = port
      cut()
    },
    close() {
      server.close()
      cut()
    },
  }
}
