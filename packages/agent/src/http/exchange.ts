/** What the server knows about a request beyond the request itself. */
export interface Place {
  /** Path that the agent is served below, such as `/planner`. Default: none. */
  readonly basePath?: string
  /** Public URL of the agent, without a trailing slash. Default: the origin of the request. */
  readonly baseUrl?: string
  /** Subject of a client certificate that the TLS layer has verified. */
  readonly certificate?: string
  /** Address of the caller, for rate limits of anonymous callers. */
  readonly address?: string
}

/** One request, with what the routes need. */
export interface Exchange {
  readonly request: Request
  readonly url: URL
  /** Public URL of the agent. */
  readonly base: string
  /** Decoded path segments below the agent. */
  readonly path: readonly string[]
  readonly requestId: string
  readonly place: Place
}
