import { Agent, createServer, type IncomingMessage, type ServerResponse, request as sendRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/** Milliseconds between the checks of the load balancer. */
const CHECK_MS = 50

export interface Balancer {
  readonly url: string
  add(url: string): void
  remove(url: string): void
  isReady(url: string): boolean
  close(): Promise<void>
}

/** A load balancer that serves its ready backends in turn, over connections that it keeps. It repeats nothing. */
export async function startBalancer(): Promise<Balancer> {
  const agent = new Agent({ keepAlive: true })
  const backends = new Map<string, boolean>()
  let turn = 0

  const check = async (): Promise<void> => {
    for (const url of backends.keys()) {
      const isReady = await fetch(`${url}/health/ready`).then(
        ({ ok }) => ok,
        () => false,
      )
      if (backends.has(url)) backends.set(url, isReady)
    }
  }
  const forward = (request: IncomingMessage, response: ServerResponse): void => {
    const ready = [...backends].flatMap(([url, isReady]) => (isReady ? [url] : []))
    const url = ready[turn++ % ready.length]
    if (url === undefined) return void response.writeHead(502).end('no backend is ready')
    const { method = '', headers } = request
    const passed = sendRequest(url + request.url, { method, headers, agent }, (answer) => {
      // These are about the connection to the backend.
      const { connection: _connection, 'keep-alive': _keepAlive, ...passedOn } = answer.headers
      response.writeHead(answer.statusCode ?? 502, passedOn)
      answer.pipe(response)
    })
    passed.on('error', (error) => response.writeHead(502).end(`${url}: ${error.message}`))
    request.pipe(passed)
  }
  // A connection that is closed while a client sends its next request would be a failure of the balancer.
  const server = createServer({ keepAliveTimeout: 0 }, forward).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  let isClosed = false
  const checking = (async () => {
    while (!isClosed) {
      await check()
      await pause(CHECK_MS)
    }
  })()
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    add: (url) => void backends.set(url, false),
    remove: (url) => void backends.delete(url),
    isReady: (url) => backends.get(url) === true,
    async close() {
      isClosed = true
      await checking
      agent.destroy()
      server.closeAllConnections()
      server.close()
    },
  }
}
