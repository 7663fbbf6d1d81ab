import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** An HTTP server on this machine that counts the requests it receives. */
export interface Bystander {
  readonly url: string
  requests(): number
  close(): Promise<void>
}

export async function startBystander(): Promise<Bystander> {
  let requests = 0
  const server = createServer((_request, response) => {
    requests++
    response.end('{}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests: () => requests,
    async close() {
      server.close()
      await once(server, 'close')
    },
  }
}
