import type { DirectoryError, JsonObject } from '@switchboard/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../policy/caller.js'
import type { LimitedAction } from '../policy/rate-limit.js'
import type { Span } from '../telemetry/traces.js'
import type { Parameter } from './schemas/parameter.js'
import type { DescribedResponse } from './schemas/response.js'

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller
    /** The span of the request; undefined if it is not traced. */
    trace: Span | undefined
    /** Agents that were checked one by one to answer the request; many count against the rate limit. */
    visited: number
    /** The limit that the request was counted against. */
    counted: { readonly action: LimitedAction; readonly client: string } | undefined
    /** Set and read by `configOf`. */
    routeConfig: FastifyRequest['routeOptions']['config'] | undefined
  }
  interface FastifyContextConfig {
    route?: Route
    group?: RouteGroup
  }
}

/** The route of a request and its group. Fastify makes an object of all options of a route whenever they are read. */
export function configOf(request: FastifyRequest): FastifyRequest['routeOptions']['config'] {
  request.routeConfig ??= request.routeOptions.config
  return request.routeConfig
}

/** Base paths of AIDIP: revision 01 without and with its number, revision 00 below `/v0` (C-01). */
const AIDIP_BASES = ['', '/v1', '/v0']

/** The routes below every base path of AIDIP; those below `aliases` behave as without a base. */
export const belowAidipBases = (toRoutes: (base: string) => Route[], aliases: readonly string[]): Route[] =>
  AIDIP_BASES.flatMap((base) =>
    toRoutes(base).map((route) =>
      aliases.includes(base) ? { ...route, aliasOf: route.path.slice(base.length) } : route,
    ),
  )

/** The routes of one draft or area, and how they write errors. */
export interface RouteGroup {
  readonly name: string
  /** What the routes are for, in the API reference. */
  readonly summary: string
  /** Media type of error bodies, by the table of C-68. */
  readonly errors: 'application/json' | 'application/problem+json'
  /** Members that the bodies of errors have besides those of all drafts. */
  readonly errorMembers?: (error: DirectoryError) => JsonObject
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
  /** Pages of other origins may not use it, not even those of `cors.origins`. */
  readonly ownPagesOnly?: true
  readonly limit?: LimitedAction
  /** The limit instead if the query has a search text, `q`. */
  readonly limitWithText?: LimitedAction
  /** A page or a file for people: not part of the API, so not in OpenAPI. */
  readonly isPage?: boolean
  /** The path that this one is another name of; OpenAPI describes only that one. */
  readonly aliasOf?: string
  /** Parameters of the query, with a description only if they are any text. */
  readonly query?: Readonly<Record<string, string | Parameter>>
  /** Request headers that change what the route does. */
  readonly headers?: Readonly<Record<string, string | Parameter>>
  /** The schema of the body. */
  readonly body?: JsonObject
  /** Media types of the body; default: `application/json`. */
  readonly bodyTypes?: readonly string[]
  /** Whether the body may be left out. */
  readonly bodyOptional?: true
  /** Bytes; default: the limit for documents (C-76). */
  readonly bodyLimit?: number
  /**
   * Responses by status. A description alone is for those without a body, and for errors in the usual format. OpenAPI adds
   * the errors that all routes have.
   */
  readonly responses: Responses
  readonly handle: (request: FastifyRequest, reply: FastifyReply) => unknown
}

/** A response to a success has a body, unless its status forbids one or it is said to be empty. */
type Responses = Readonly<Record<number, string | DescribedResponse>> & {
  readonly [Status in 200 | 201 | 202 | 207]?: DescribedResponse
}
