import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'

/** A server on a free port of this computer. */
export interface Served {
  /** Without a trailing slash. */
  readonly url: string
  close(): Promise<void>
}

/** Bytes of a request body: these agents read short texts. */
const MAX_BODY = 256 * 1024

/** Serves a function of the Fetch API over plain HTTP on loopback, for agents that are not made with the kit. */
export async function serve(respond: (request: Request) => Promise<Response> | Response): Promise<Served> {
  const server = createServer((message, outgoing) => {
    const answer = async (): Promise<void> => {
      const response = await readRequest(message).then(respond, () => new Response('body too large', { status: 413 }))
      outgoing.writeHead(response.status, Object.fromEntries(response.headers))
      outgoing.end(Buffer.from(await response.arrayBuffer()))
    }
    answer().catch(() => outgoing.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

async function readRequest(message: IncomingMessage): Promise<Request> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of message) {
    size += chunk.length
    if (size > MAX_BODY) throw new RangeError('the body is too large')
    chunks.push(chunk)
  }
  const headers = new Headers()
  for (const [name, value] of Object.entries(message.headers)) headers.set(name, [value].flat().join(', '))
  return new Request(`http://${message.headers.host}${message.url}`, {
    method: message.method ?? 'GET',
    headers,
    ...(size > 0 && { body: Buffer.concat(chunks) }),
  })
}
