import type { JsonObject } from '@switchboard/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../policy/caller.js'
import type { LimitedAction } from '../policy/rate-limit.js'
import type { Span } from '../telemetry/traces.js'

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller
    /** The span of the request; undefined if it is not traced. */
    trace: Span | undefined
    /** Agents that were checked one by one to answer the request; many count against the rate limit. */
    visited: number
    /** The limit that the request was counted against. */
    counted: { readonly action: LimitedAction; readonly client: string } | undefined
  }
  interface FastifyContextConfig {
    route?: Route
    group?: RouteGroup
  }
}

/** Base paths of AIDIP: revision 01 without and with its number, revision 00 below `/v0` (C-01). */
export const AIDIP_BASES = ['', '/v1', '/v0']

/** The routes of one draft or area, and how they write errors. */
export interface RouteGroup {
  readonly name: string
  /** Media type of error bodies, by the table of C-68. */
  readonly errors: 'application/json' | 'application/problem+json'
  /** No response may be stored by caches or browsers. */
  readonly noStore?: boolean
  readonly routes: readonly Route[]
}

/** One route: everything needed to serve it, protect it and describe it in OpenAPI. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly summary: string
  /**
   * `open`: everyone; `discover`: everyone who is allowed to discover agents; `caller`: needs credentials;
   * `admin`: needs the `admin` scope; `metrics`: programs on this machine, the metrics token, and administrators.
   */
  readonly access: 'open' | 'discover' | 'caller' | 'admin' | 'metrics'
  readonly limit?: LimitedAction
  readonly query?: Readonly<Record<string, string>>
  readonly body?: JsonObject
  /** Bytes; default: the limit for documents (C-76). */
  readonly bodyLimit?: number
  /** Descriptions by status. */
  readonly responses: Readonly<Record<number, string>>
  readonly handle: (request: FastifyRequest, reply: FastifyReply) => unknown
}
