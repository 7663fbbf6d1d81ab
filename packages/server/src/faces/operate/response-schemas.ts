import type { JsonObject } from '@switchboard/protocol'
import { LIMIT_NAMES } from '../../policy/limits.js'
import { HEALTH_STATES } from '../../services/operations/agent-health.js'
import { amount, count, counts, flag, list, object, text, time } from '../schemas/parts.js'

export const overviewSchema = object({
  version: text,
  started_at: time,
  replicas: count,
  store: object(
    {
      kind: { enum: ['sqlite', 'postgres'] },
      state: { enum: ['ok', 'unreachable', 'read_only'] },
      since: time,
      reason: text,
      stale_since: time,
    },
    'since',
    'reason',
    'stale_since',
  ),
  agents: object(
    { total: count, by_status: counts, by_visibility: counts, copies: count, unsafe: count, quarantined: count },
    'quarantined',
  ),
  index: object({
    agents: count,
    pending_words: count,
    pending_vectors: count,
    word_bytes: count,
    vector_bytes: count,
  }),
  feed: object({ revision: count, lag_seconds: amount, peers_ok: count, peers_failing: count }),
  queues: object({ writes: count, embedding: count, calls: count, tasks: count }),
  connections: count,
  calls_in_progress: count,
  process: object(
    {
      node: text,
      uptime_seconds: count,
      memory: object({ rss: count, heap_used: count, heap_total: count, external: count }),
      event_loop_delay_ms: object({ p50: amount, p99: amount, max: amount }),
    },
    'event_loop_delay_ms',
  ),
  at: time,
})

const percentiles = object({ p50: amount, p95: amount, p99: amount })
const ofActions = (schema: JsonObject): JsonObject => ({
  type: 'object',
  properties: { search: schema, register: schema, lookup: schema, invoke: schema, agent: schema },
  additionalProperties: false,
})

export const historySchema = object({
  started_at: time,
  step_seconds: count,
  points: list(
    object({ at: time, counts: ofActions(count), latency_ms: ofActions(percentiles), calls: counts, errors: counts }),
  ),
})

export const refusedSchema = object({
  since: time,
  refused: list(
    object(
      { limit: { enum: [...LIMIT_NAMES] }, subject: text, address: text, agent: text, times: count, last_at: time },
      'subject',
      'address',
      'agent',
    ),
  ),
  others: count,
})

export const healthSchema = object(
  {
    checked: flag,
    counts: object(Object.fromEntries(HEALTH_STATES.map((state) => [state, count]))),
    agents: list(
      object(
        {
          id: text,
          owner: text,
          status: text,
          state: { enum: [...HEALTH_STATES] },
          since: time,
          checked_at: time,
          failures: count,
          reason: text,
          calls: amount,
          success_rate: amount,
          latency_ms: amount,
        },
        'since',
        'checked_at',
        'failures',
        'reason',
        'calls',
        'success_rate',
        'latency_ms',
      ),
    ),
    next: text,
  },
  'next',
)

export const settingsSchema = object({
  settings: list(
    object(
      {
        key: text,
        value: {},
        default: {},
        is_secret: flag,
        source: { enum: ['flag', 'environment', 'file', 'program', 'default'] },
        set_by: text,
        description: text,
      },
      'set_by',
      'description',
    ),
  ),
})
