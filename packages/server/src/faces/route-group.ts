import type { JsonObject } from '@switchboard/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../policy/caller.js'
import type { LimitedAction } from '../policy/rate-limit.js'

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller
  }
  interface FastifyContextConfig {
    route?: Route
    group?: RouteGroup
  }
}

/** One draft's way into the directory: its paths and how it writes errors. */
export interface RouteGroup {
  readonly name: string
  /** Media type of error bodies, by the table of C-68. */
  readonly errors: 'application/json' | 'application/problem+json'
  readonly routes: readonly Route[]
}

/** One operation: enough to serve it, to guard it and to describe it in OpenAPI. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly summary: string
  /** `open`: anybody, always; `discover`: anybody the operator lets discover; `caller`: credentials; `admin`: that scope. */
  readonly access: 'open' | 'discover' | 'caller' | 'admin'
  readonly limit?: LimitedAction
  readonly query?: Readonly<Record<string, string>>
  readonly body?: JsonObject
  /** Bytes; undefined: a document's limit (C-76). */
  readonly bodyLimit?: number
  /** Status → what it means. */
  readonly answers: Readonly<Record<number, string>>
  readonly handle: (request: FastifyRequest, reply: FastifyReply) => unknown
}
