/** The parts of a search by text, in the order in which they run. */
export type SearchStage = 'embedding' | 'candidates' | 'ranking' | 'rendering'

/** How long one call to an agent took, and how it ended. */
export interface CallTiming {
  /** The protocol of the endpoint that responded, else of the preferred one. */
  readonly protocol: string
  /** `ok`, `client_error` or `agent_error` by the status of the agent's response, else the code of the GatewayError. */
  readonly outcome: string
  /** Milliseconds that the call waited for a slot. */
  readonly queueMs: number
  /** Milliseconds from connecting to the end of the response, or to the start of a stream; all attempts together. */
  readonly agentMs: number
}

/**
 * What the rooms report about their work. Labels have few values: never ids, subjects, addresses or texts. All times are
 * milliseconds.
 */
export interface Metrics {
  /**
   * @param route template of the path; undefined if no route matches
   * @param action the rate limit that the request counts against, if any
   */
  request(method: string, route: string | undefined, status: number, ms: number, action?: RequestAction): void
  /** An error response, by its code. */
  error(code: string): void
  searchStage(stage: SearchStage, ms: number): void
  /** A search without the embedding model, because it did not respond in time. */
  searchFallback(): void
  /** A search whose results were known from an earlier one. */
  searchRepeated(): void
  agentCall(timing: CallTiming): void
  /** The directory's own work on a call: everything but the queue and the agent. */
  callProcessing(protocol: string, ms: number): void
  storeOperation(operation: string, ms: number, isOk: boolean): void
  /** Adds values that are read when the metrics are. */
  gauges(readers: Partial<Record<GaugeName, () => number | undefined>>): void
}

/** Requests by the rate limit that they count against. */
export type RequestAction = 'search' | 'register' | 'lookup' | 'invoke'

/** What the history has durations of: requests, and the agents' part of calls. */
export type TimedAction = RequestAction | 'agent'

/** Milliseconds. */
export interface Percentiles {
  readonly p50: number
  readonly p95: number
  readonly p99: number
}

/** What happened in one step of the history; what did not happen is left out. */
export interface HistoryPoint {
  /** When the step began, RFC 3339. */
  readonly at: string
  /** Requests that the rate limit did not refuse, and calls to agents. */
  readonly counts: Partial<Record<TimedAction, number>>
  readonly latency_ms: Partial<Record<TimedAction, Percentiles>>
  /** Calls to agents by outcome, as in `CallTiming`. */
  readonly calls: Readonly<Record<string, number>>
  /** Error responses by code. */
  readonly errors: Readonly<Record<string, number>>
}

/** The last day in memory, in steps of a minute; it begins with the process. */
export interface History {
  /** Milliseconds since 1970. */
  readonly startedAt: number
  request(action: RequestAction, status: number, ms: number): void
  call(outcome: string, agentMs: number): void
  error(code: string): void
  /**
   * Oldest first, up to now.
   *
   * @param since milliseconds since 1970
   */
  read(since: number, stepMinutes: number): HistoryPoint[]
}

/** Memory in bytes. */
export interface ProcessState {
  readonly node: string
  readonly uptimeSeconds: number
  readonly memory: {
    readonly rss: number
    readonly heapUsed: number
    readonly heapTotal: number
    readonly external: number
  }
  /** How much later than planned the event loop runs; undefined until it has been measured for a moment. */
  readonly eventLoopDelayMs: { readonly p50: number; readonly p99: number; readonly max: number } | undefined
}

/** A value that is read when the metrics are; those that have a name in common differ in a label. */
export interface GaugeDefinition {
  readonly name: string
  readonly help: string
  readonly label?: readonly [name: string, value: string]
}

const QUEUE = { name: 'switchboard_queue_length', help: 'Work that is waiting, by queue' }
const PENDING = {
  name: 'switchboard_index_pending_agents',
  help: 'Agents that are not in this index yet, so that searches miss them there',
}
const BYTES = { name: 'switchboard_index_bytes', help: 'Memory of the search index, by part' }

const PEERS = {
  name: 'switchboard_peers',
  help: 'Directories that this one reads from, by whether the last attempt succeeded',
}

export const GAUGES = {
  ready: { name: 'switchboard_ready', help: '1 if the directory accepts requests, as /health/ready says' },
  connections: { name: 'switchboard_http_connections', help: 'Open connections of clients' },
  agents: { name: 'switchboard_index_agents', help: 'Agents in memory' },
  revision: { name: 'switchboard_catalog_revision', help: 'Revision of the agents in memory' },
  pendingWords: { ...PENDING, label: ['index', 'words'] },
  pendingVectors: { ...PENDING, label: ['index', 'vectors'] },
  wordBytes: { ...BYTES, label: ['part', 'words'] },
  vectorBytes: { ...BYTES, label: ['part', 'vectors'] },
  embeddingQueue: { ...QUEUE, label: ['queue', 'embedding'] },
  callQueue: { ...QUEUE, label: ['queue', 'calls'] },
  taskQueue: { ...QUEUE, label: ['queue', 'tasks'] },
  writeQueue: { ...QUEUE, label: ['queue', 'writes'] },
  calls: { name: 'switchboard_gateway_calls', help: 'Calls and streams to agents in progress' },
  feedLag: {
    name: 'switchboard_feed_lag_seconds',
    help: 'Age of the last complete reading of the change feed: what other replicas wrote since then is not visible here',
  },
  degraded: {
    name: 'switchboard_degraded_seconds',
    help: 'For how long writes have failed, or what is served has been stale; 0 if all is well, as /health/ready says',
  },
  peers: { ...PEERS, label: ['state', 'ok'] },
  failingPeers: { ...PEERS, label: ['state', 'failing'] },
} as const satisfies Record<string, GaugeDefinition>

export type GaugeName = keyof typeof GAUGES
