import type { FastifyReply, FastifyRequest } from 'fastify'
import { actorOf } from '../policy/caller.js'
import type { Metrics } from '../telemetry/metrics.js'
import type { Traces } from '../telemetry/traces.js'
import { upgradeOf } from './invocation/upgrades.js'
import { pathOf } from './read-request.js'
import { configOf } from './route-group.js'

export interface ObserveOptions {
  readonly metrics: Pick<Metrics, 'request'>
  /** Undefined: requests are not traced. */
  readonly traces: Traces | undefined
  /** One log line for each request. */
  readonly accessLog: boolean
}

/** Observes a request until its response has ended or its client has left. */
export type ObserveRequest = (request: FastifyRequest, reply: FastifyReply) => void

/** Of requests whose client has left before the response began, as nginx logs them. */
const CLIENT_LEFT = 499
const SWITCHING_PROTOCOLS = 101

export function createObserveRequest({ metrics, traces, accessLog }: ObserveOptions): ObserveRequest {
  return (request, reply) => {
    const { raw } = reply
    const { method } = request
    const { url: route } = configOf(request)
    const started = performance.now()
    if (traces && isTraced(route)) request.trace = startSpan(traces, request)
    let hasEnded = false

    const end = (status: number): void => {
      if (hasEnded) return
      hasEnded = true
      const ms = performance.now() - started
      metrics.request(method, route, status, ms, request.counted?.action)
      request.trace?.set({ 'http.response.status_code': status })
      request.trace?.end(status >= 500 ? String(status) : undefined)
      // The query is not logged: it may contain personal data (PROF §15).
      request.log.debug({ method, path: pathOf(request), status, ms }, 'request completed')
      if (accessLog) {
        const caller = actorOf(request.caller)
        request.log.info({ caller, method, route, status, ms: Math.round(ms * 10) / 10 }, 'access')
      }
    }

    // `on` is cheaper than `once`, and only the first event counts.
    raw.on('finish', () => end(reply.statusCode))
    if (upgradeOf(request.raw)) request.raw.socket.on('close', () => end(SWITCHING_PROTOCOLS))
    else raw.on('close', () => end(raw.headersSent ? reply.statusCode : CLIENT_LEFT))
  }
}

/** Health checks and the reading of metrics would only bury other traces. */
const isTraced = (route: string | undefined): boolean => route !== '/metrics' && !route?.startsWith('/health/')

/** Attributes of the conventions for HTTP servers, without path and query: they may contain personal data. */
const startSpan = (traces: Traces, { method, routeOptions, headers, protocol }: FastifyRequest) =>
  traces.start({
    name: routeOptions.url === undefined ? method : `${method} ${routeOptions.url}`,
    kind: 'server',
    parent: headers,
    attributes: { 'http.request.method': method, 'http.route': routeOptions.url, 'url.scheme': protocol },
  })
