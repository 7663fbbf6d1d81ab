/** Bounds on what web pages and faulty programs can make the runtime spend. */
export const LIMITS = {
  /** Maximum bytes of a request body: a call's input or a descriptor. */
  bodyBytes: 1024 * 1024,
  /** Maximum bytes of all headers together; delegation chains are long. */
  headerBytes: 32 * 1024,
  /** Timeout in ms for receiving a complete request. */
  requestMs: 30_000,
  /** Idle timeout in ms of an agent, before its response and between chunks of it. */
  silenceMs: 120_000,
  /** Time in ms that the user has to answer a consent request. */
  consentMs: 120_000,
  /** Time in ms after a refusal during which requests of the same origin are refused without asking. */
  refusalMs: 600_000,
  /** The same after a page that left before the user had answered. */
  leavingMs: 5000,
  connections: 256,
  agents: 1000,
  consents: 1000,
  /** Tokens per origin: one for each browser of the user. */
  tokensPerOrigin: 8,
  /** Open consent requests, at most one per origin. */
  consentRequests: 8,
  /** Concurrent calls per origin. */
  callsPerOrigin: 16,
  /** Deferred calls of pages whose origin is remembered. */
  tasks: 1000,
  /** Maximum bytes of the log file; one older file of the same size is kept. */
  logBytes: 1024 * 1024,
} as const
