/** What strangers, and programs gone wrong, may cost this computer. */
export const LIMITS = {
  /** Bytes of a request's body: inputs of calls, descriptors. */
  bodyBytes: 1024 * 1024,
  /** Bytes of all headers; chains of delegation are long. */
  headerBytes: 32 * 1024,
  /** Milliseconds until a request must have come whole. */
  requestMs: 30_000,
  /** Milliseconds that an agent may stay silent, before its answer and within it. */
  silenceMs: 120_000,
  /** Milliseconds that a page waits for the person to decide. */
  consentMs: 120_000,
  /** Milliseconds for which an origin that was refused is not asked about again. */
  refusalMs: 600_000,
  /** The same for one whose page left before the person had decided. */
  leavingMs: 5000,
  connections: 256,
  agents: 1000,
  consents: 1000,
  /** Browsers of one person that hold a token of the same origin. */
  tokensPerOrigin: 8,
  /** Questions that wait for the person; one for each origin. */
  questions: 8,
  callsPerOrigin: 16,
  /** Deferred calls of pages that are remembered. */
  tasks: 1000,
  /** Bytes of the log, twice: the file and the one before it. */
  logBytes: 1024 * 1024,
} as const
