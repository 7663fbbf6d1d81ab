import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { createHistogram } from './histogram.js'
import { createHistory } from './history.js'
import { GAUGES, type GaugeDefinition, type GaugeName, type History, type Metrics } from './metrics.js'

/** Metrics that can be read in the text format of Prometheus. */
export interface ReadableMetrics extends Metrics {
  /** Media type of `read`. */
  readonly contentType: string
  read(): Promise<string>
  /** The current values of the gauges that have a reader. */
  values(): GaugeValues
  readonly history: Pick<History, 'read' | 'startedAt'>
}

export type GaugeValues = { readonly [Name in GaugeName]?: number }

/** Upper bounds of the buckets, in seconds. */
const REQUEST_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]
const STAGE_BUCKETS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1]
const AGENT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]

/** Label of requests for paths that no route has: the paths themselves could be any number. */
const UNMATCHED = 'unmatched'

/** Creates the metrics of one directory. */
export function createMetrics(version: string, now: () => number = Date.now): ReadableMetrics {
  const history = createHistory(now)
  const registry = new Registry()
  const registers = [registry]
  const requests = createHistogram({
    name: 'switchboard_http_request_duration_seconds',
    help: 'Time from the headers of a request to the end of its response, streams included',
    labels: ['method', 'route', 'status'],
    buckets: REQUEST_BUCKETS,
  })
  const errors = new Counter({
    name: 'switchboard_http_errors_total',
    help: 'Error responses, by error code',
    labelNames: ['code'],
    registers,
  })
  const stages = createHistogram({
    name: 'switchboard_search_stage_duration_seconds',
    help: 'Time of each stage of a search by text',
    labels: ['stage'],
    buckets: STAGE_BUCKETS,
  })
  const fallbacks = new Counter({
    name: 'switchboard_search_fallbacks_total',
    help: 'Searches without the embedding model, because it did not respond in time',
    registers,
  })
  const repeated = new Counter({
    name: 'switchboard_search_repeated_total',
    help: 'Searches by text whose results were known from an earlier one',
    registers,
  })
  const agentCalls = createHistogram({
    name: 'switchboard_agent_call_duration_seconds',
    help: "The agent's part of a call: connecting, sending and waiting for its response, or for the start of a stream",
    labels: ['protocol', 'outcome'],
    buckets: AGENT_BUCKETS,
  })
  const callQueue = createHistogram({
    name: 'switchboard_gateway_queue_duration_seconds',
    help: 'Time that calls waited because the agent or the gateway had no free slot',
    buckets: STAGE_BUCKETS,
  })
  const callProcessing = createHistogram({
    name: 'switchboard_gateway_processing_duration_seconds',
    help: "The directory's own part of a call: checks, credentials, idempotency and audit, without queue and agent",
    labels: ['protocol'],
    buckets: STAGE_BUCKETS,
  })
  const storeOperations = createHistogram({
    name: 'switchboard_store_operation_duration_seconds',
    help: 'Time of operations of the store; of writes, until they are durable',
    labels: ['operation', 'outcome'],
    buckets: REQUEST_BUCKETS,
  })
  new Gauge({ name: 'switchboard_build_info', help: 'The release', labelNames: ['version'], registers }).set(
    { version },
    1,
  )
  const histograms = [requests, stages, agentCalls, callQueue, callProcessing, storeOperations]
  const readers = new Map<string, () => number | undefined>()
  registerGauges(registry, readers)

  return {
    request(method, route = UNMATCHED, status, ms, action) {
      if (action !== undefined) history.request(action, status, ms)
      requests.observe(ms, method, route, STATUS_CLASSES[Math.floor(status / 100)] ?? 'other')
    },
    error(code) {
      errors.inc({ code })
      history.error(code)
    },
    searchStage: (stage, ms) => stages.observe(ms, stage),
    searchFallback: () => fallbacks.inc(),
    searchRepeated: () => repeated.inc(),
    agentCall({ protocol, outcome, queueMs, agentMs }) {
      agentCalls.observe(agentMs, protocol, outcome)
      callQueue.observe(queueMs)
      history.call(outcome, agentMs)
    },
    callProcessing: (protocol, ms) => callProcessing.observe(ms, protocol),
    storeOperation: (operation, ms, isOk) => storeOperations.observe(ms, operation, isOk ? 'ok' : 'error'),
    gauges(added) {
      for (const [name, reader] of Object.entries(added)) readers.set(name, reader)
    },
    values: () =>
      Object.fromEntries(
        Array.from(readers, ([name, read]): [string, number | undefined] => [name, read()]).filter(
          ([, value]) => value !== undefined,
        ),
      ),
    history,
    contentType: registry.contentType,
    async read() {
      const texts = [await registry.metrics(), ...histograms.map((each) => each.write())]
      return [...texts, await processMetrics().metrics()].join('\n')
    },
  }
}

/** By the first digit of the status. */
const STATUS_CLASSES = ['other', '1xx', '2xx', '3xx', '4xx', '5xx']

type GaugeReaders = ReadonlyMap<string, () => number | undefined>

/** One gauge for each name; its values are those of the definitions with this name that have a reader. */
function registerGauges(registry: Registry, readers: GaugeReaders): void {
  const definitions: [string, GaugeDefinition][] = Object.entries(GAUGES)
  for (const name of new Set(definitions.map(([, each]) => each.name))) {
    const values = definitions.filter(([, each]) => each.name === name)
    const [[, { help, label }] = ['', { help: '' }]] = values
    new Gauge({
      name,
      help,
      labelNames: label ? [label[0]] : [],
      registers: [registry],
      collect() {
        for (const [key, definition] of values) {
          const value = readers.get(key)?.()
          if (value === undefined) continue
          this.set(definition.label ? { [definition.label[0]]: definition.label[1] } : {}, value)
        }
      },
    })
  }
}

let processRegistry: Registry | undefined

/**
 * Metrics of the process and its event loop, shared by all directories of the process. Created when they are first read,
 * so that nothing is observed for operators who never read them.
 */
function processMetrics(): Registry {
  if (processRegistry) return processRegistry
  processRegistry = new Registry()
  collectDefaultMetrics({ register: processRegistry })
  return processRegistry
}
