/** The trace context of W3C, as headers: `traceparent` and `tracestate`. */
export type TraceHeaders = Readonly<Record<string, string | string[] | undefined>>

/** Values of span attributes; never texts of queries, inputs or outputs. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>

export interface SpanStart {
  readonly name: string
  /** `server`: serves a request; `client`: waits for a remote service; `internal`: neither. */
  readonly kind: 'server' | 'client' | 'internal'
  /** A span of this process, or headers from elsewhere. Without a valid one, a new trace begins. */
  readonly parent: Span | TraceHeaders | undefined
  readonly attributes?: SpanAttributes
}

/** One unit of work in a trace. */
export interface Span {
  /** Sent to a service, they make its spans children of this one. */
  readonly headers: Readonly<Record<string, string>>
  set(attributes: SpanAttributes): void
  /** @param error what kind of error ended it, with few possible values; undefined: none */
  end(error?: string): void
}

/** Records spans. The rooms have one only if somebody receives the spans, so that they cost nothing otherwise. */
export interface Traces {
  start(span: SpanStart): Span
}
