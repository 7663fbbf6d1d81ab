/** Settings of the operator; times in milliseconds, sizes in bytes. */
export interface GatewayOptions {
  /**
   * Non-public addresses that may be called: ranges (`10.0.0.0/8`), host names (`agents.corp.example`,
   * `*.corp.example`) and origins (`http://10.0.0.5:9000`). An `http` origin may be called without TLS.
   */
  readonly allow: readonly string[]
  /** For development: allow loopback addresses, also over plain HTTP (CONTRACT). */
  readonly allowLoopback: boolean
  /** Folders whose Unix sockets may be called (C-81). */
  readonly socketFolders: readonly string[]
  /** PEM: extra CA certificates to trust when calling agents, and the gateway's client certificate and key (C-96). */
  readonly tls: { readonly ca?: string; readonly cert?: string; readonly key?: string }
  /** DNS lookup, connection and TLS handshake together. */
  readonly connectMs: number
  /** From the request to the response headers; the timeout of the call may be shorter. */
  readonly firstByteMs: number
  /** Timeout of `fetch`; calls have their own. A stream only has to start by then. */
  readonly timeoutMs: number
  /** Idle timeout of a response body: no data arrived, or none was read. */
  readonly silenceMs: number
  /** Maximum duration of a stream. */
  readonly streamMs: number
  readonly maxHeaderBytes: number
  readonly maxBodyBytes: number
  /** One event or line of a stream. */
  readonly maxPartBytes: number
  /** JSON values in a response, or in one event or line of a stream: each takes far more memory than its text. */
  readonly maxResponseValues: number
  /** Concurrent calls, in total, to each agent and of each caller. */
  readonly maxCalls: number
  readonly maxCallsPerAgent: number
  readonly maxCallsPerCaller: number
  /** How long a call waits if the gateway or the agent is full. */
  readonly queueMs: number
  /** Retries of a call after the first attempt, where repeating is safe. */
  readonly retries: number
  /** Retry budget: retries allowed per call, over all agents, so that an outage does not multiply the load. */
  readonly retryShare: number
}

/** Defaults of all gateway settings. */
export const DEFAULT_GATEWAY_OPTIONS: GatewayOptions = {
  allow: [],
  allowLoopback: false,
  socketFolders: [],
  tls: {},
  connectMs: 5000,
  firstByteMs: 120_000,
  timeoutMs: 30_000,
  silenceMs: 120_000,
  streamMs: 3_600_000,
  maxHeaderBytes: 16 * 1024,
  maxBodyBytes: 10 * 1024 * 1024,
  maxPartBytes: 1024 * 1024,
  maxResponseValues: 100_000,
  maxCalls: 2048,
  maxCallsPerAgent: 256,
  maxCallsPerCaller: 128,
  queueMs: 1000,
  retries: 2,
  retryShare: 0.1,
}
