/** Where and from whom a request came, as far as the request itself cannot say. */
export interface Place {
  /** Path below which the agent lies, such as `/planner`; none unless told. */
  readonly basePath?: string
  /** Address of the agent to the world, without a slash at the end; the request's own origin unless told. */
  readonly baseUrl?: string
  /** Subject of a client certificate that the TLS layer has verified. */
  readonly certificate?: string
  /** Whom limits count for where a caller has no name. */
  readonly address?: string
}

/** One request, with what the routes need to know of it. */
export interface Exchange {
  readonly request: Request
  readonly url: URL
  /** Of the agent to the world. */
  readonly base: string
  /** Below the agent, in decoded segments; empty for the agent itself. */
  readonly path: readonly string[]
  readonly requestId: string
  readonly place: Place
}
