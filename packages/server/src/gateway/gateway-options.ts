/** What the operator may set; times in milliseconds, sizes in bytes. */
export interface GatewayOptions {
  /**
   * Addresses that are called though they are not public: ranges (`10.0.0.0/8`), host names (`agents.corp.example`,
   * `*.corp.example`) and origins (`http://10.0.0.5:9000`), the last as written, without TLS too.
   */
  readonly allow: readonly string[]
  /** Development: this machine may be called, by plain HTTP too (CONTRACT). */
  readonly allowLoopback: boolean
  /** Folders whose sockets may be called (C-81). */
  readonly socketFolders: readonly string[]
  /** Whom agents' certificates are vouched for by, besides the usual authorities, and who the gateway is (C-96). PEM. */
  readonly tls: { readonly ca?: string; readonly cert?: string; readonly key?: string }
  /** Name lookup, connection and TLS handshake. */
  readonly connectMs: number
  /** From the request to the first byte of the answer; the whole call's limit may be shorter. */
  readonly firstByteMs: number
  /** Whole exchange of `fetch`; a call brings its own limit. A stream must have begun by then. */
  readonly timeoutMs: number
  /** In a stream: how long nothing may come, or nothing be taken. */
  readonly silenceMs: number
  /** How long a stream may go on at all. */
  readonly streamMs: number
  readonly maxHeaderBytes: number
  readonly maxBodyBytes: number
  /** One event or line of a stream. */
  readonly maxPartBytes: number
  /** Calls under way; beyond it they are refused at once, so that those under way end in time. */
  readonly maxCalls: number
  readonly maxCallsPerAgent: number
  /** Attempts after the first on the same way, where it is safe. */
  readonly retries: number
  /** Retries for each call made, over all agents: an outage is not made worse by asking twice as often. */
  readonly retryShare: number
}

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
  maxCalls: 2048,
  maxCallsPerAgent: 256,
  retries: 2,
  retryShare: 0.1,
}
