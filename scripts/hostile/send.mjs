import { Agent, request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { platform } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'

/** Milliseconds of silence after which a request is given up. */
const GIVE_UP_MS = 30_000
/** Milliseconds that slow readers and writers take. */
const SLOW_MS = 3000
/** Milliseconds after which some callers leave. */
const EARLY_MS = 30
const SOCKET_MS = 400

/** Callers have different addresses on loopback, as they would in the real world; only Linux has them all. */
const ADDRESSES = Array.from({ length: 64 }, (_, i) => (platform() === 'linux' ? `127.0.1.${i + 1}` : undefined))
const agents = ADDRESSES.map(
  (localAddress) => new Agent({ keepAlive: true, maxSockets: 4, ...(localAddress && { localAddress }) }),
)

/**
 * @typedef {object} Result
 * @property {number} [status] undefined: no response
 * @property {string} [error]
 * @property {number} ms for request and response together
 * @property {{ from: number, to: number }} [silence] the longest time without a byte; undefined if the client was slow
 */

/**
 * Sends requests to a directory.
 * @param {string} url
 * @param {Record<string, string>} keys of the callers, by name
 */
export function createSend(url, keys) {
  const { hostname, port } = new URL(url)
  const headersOf = ({ n, caller, headers, body }) => ({
    'x-request-id': `hostile-${n}`,
    ...(keys[caller] && { authorization: `Bearer ${keys[caller]}` }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...headers,
  })

  const plain = (request, leaveAfterMs) =>
    new Promise((resolve) => {
      const { n, method, path, body } = request
      const bytes = body === undefined ? undefined : Buffer.from(body)
      const outgoing = httpRequest({
        hostname,
        port,
        method,
        path,
        agent: agents[n % agents.length],
        headers: { ...headersOf(request), ...(bytes && { 'content-length': bytes.length }) },
      })
      const started = performance.now()
      let silence = { from: started, to: started }
      let last = started
      let timer
      const onSilence = () => {
        finish(leaveAfterMs ? {} : { error: `nothing for ${GIVE_UP_MS} ms` })
        outgoing.destroy()
      }
      const progress = () => {
        const now = performance.now()
        if (now - last > silence.to - silence.from) silence = { from: last, to: now }
        last = now
        clearTimeout(timer)
        timer = setTimeout(onSilence, leaveAfterMs ?? GIVE_UP_MS)
      }
      const finish = (result) => {
        progress()
        clearTimeout(timer)
        resolve({ ms: last - started, ...(!leaveAfterMs && { silence }), ...result })
      }
      progress()
      outgoing.on('finish', progress)
      outgoing.on('response', (response) => {
        const { statusCode: status } = response
        response.on('data', progress)
        response.on('end', () => finish({ status }))
        response.on('error', (error) => finish({ status, error: error.message }))
      })
      outgoing.on('error', (error) => finish({ error: error.code ?? error.message }))
      outgoing.end(bytes)
    })

  /** Requests much, and does not read it. */
  const slowReader = (request) =>
    new Promise((resolve) => {
      const socket = connect({ host: hostname, port: Number(port) })
      socket.on('error', () => {})
      socket.pause()
      socket.write(`GET ${request.path} HTTP/1.1\r\nhost: x\r\nx-request-id: hostile-${request.n}\r\n\r\n`.repeat(3))
      setTimeout(() => {
        socket.destroy()
        resolve({ ms: 0 })
      }, SLOW_MS)
    })

  /** Sends a body so slowly that the client is what takes the time. */
  const slowWriter = async (request) => {
    const outgoing = httpRequest({
      hostname,
      port,
      method: request.method,
      path: request.path,
      headers: headersOf(request),
      agent: false,
    })
    let status
    outgoing.on('response', (response) => {
      status = response.statusCode
      response.resume()
    })
    outgoing.on('error', () => {})
    const end = performance.now() + SLOW_MS
    for (let at = 0; at < request.body.length && performance.now() < end && !outgoing.destroyed; at += 300) {
      outgoing.write(request.body.slice(at, at + 300))
      await sleep(200)
    }
    outgoing.destroy()
    return { status, ms: 0 }
  }

  const socket = (request) =>
    new Promise((resolve) => {
      const { authorization, 'x-request-id': id } = headersOf(request)
      const client = new WebSocket(`ws://${hostname}:${port}${request.path}`, {
        headers: { 'x-request-id': id, ...(authorization && { authorization }) },
      })
      client.on('error', () => {})
      client.on('open', () => client.send(request.body))
      setTimeout(() => {
        client.terminate()
        resolve({ ms: 0 })
      }, SOCKET_MS)
    })

  /** @returns {Promise<Result>} */
  return (request) => {
    if (request.manner === 'slow reader') return slowReader(request)
    if (request.manner === 'slow writer') return slowWriter(request)
    if (request.manner === 'socket') return socket(request)
    return plain(request, request.manner === 'leaves early' ? EARLY_MS : undefined)
  }
}

/** Closes the connections that are kept open. */
export function closeConnections() {
  for (const agent of agents) agent.destroy()
}
