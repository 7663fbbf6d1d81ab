import { isObject, type JsonValue, type PublisherSchemas, toJsonSchema, toProgress } from '@switchboard/protocol'
import type { Capability } from '../capability.js'
import { AgentError, toAgentError } from '../errors.js'
import type { Runtime } from '../runtime.js'
import { parseWith } from '../schema/read-schema.js'
import type { Admit, AdmittedCall } from './admit.js'
import type { RecordCall } from './audit.js'
import type { Call, Outcome, Value } from './call.js'
import type { HandlerContext } from './handler-context.js'
import type { OutgoingCalls } from './outgoing-calls.js'
import {
  collectParts,
  createTimeLimit,
  fromInnerCall,
  isParts,
  readParts,
  type TimeLimit,
  toJson,
} from './run-handler.js'
import type { Sessions } from './sessions.js'

export interface PerformerDeps {
  readonly runtime: Runtime
  readonly schemas: PublisherSchemas
  readonly sessions: Sessions
  readonly admit: Admit
  readonly recordCall: RecordCall
  readonly onError: (error: unknown) => void
  readonly outgoing: OutgoingCalls
  readonly checkOutput: 'warn' | 'strict' | 'off'
  /** Maximum number of concurrent handlers; further calls get a 503. */
  readonly maxCalls: number
}

/** Runs calls, in the same steps for every protocol. */
export interface Performer {
  readonly admit: Admit
  run(admitted: AdmittedCall): Promise<Outcome>
}

const TIMEOUT_MS = 60_000
const DEFERRED_TIMEOUT_MS = 3_600_000

export function createPerformer(deps: PerformerDeps): Performer {
  const { runtime, schemas, sessions } = deps
  let running = 0

  const run = async (admitted: AdmittedCall): Promise<Outcome> => {
    const { call } = admitted
    const { capability, caller } = call
    const startedAt = runtime.monotonic()
    if (running >= deps.maxCalls) {
      const busy = new AgentError('unavailable', 'the agent is busy: try again later', { retryAfter: 1 })
      deps.recordCall(admitted, startedAt, busy)
      throw busy
    }
    const limit = createTimeLimit(
      capability.timeoutMs ?? (capability.deferred ? DEFERRED_TIMEOUT_MS : TIMEOUT_MS),
      call.signal,
    )
    const sessionId = call.sessionId ?? (capability.memoryEnabled ? runtime.newId() : undefined)
    const session = sessionId === undefined ? undefined : sessions.open(sessionId, caller.client)
    const report: HandlerReport = { metadata: {}, location: undefined, trace: [] }
    const context: HandlerContext = {
      signal: limit.signal,
      capability: capability.name,
      version: call.version,
      requestId: call.requestId,
      caller,
      ...(session && { session }),
      ...(call.taskId !== undefined && { taskId: call.taskId }),
      ...(admitted.delegation && { delegation: admitted.delegation }),
      report: (metadata) => Object.assign(report.metadata, metadata),
      progress: (fraction, message) => call.onProgress?.(toProgress(fraction, message)),
      created: (location) => {
        report.location = location
      },
      ...deps.outgoing.within(admitted, limit.signal, (uri) => report.trace.push(uri)),
    }
    running++
    let isFinished = false
    const finish = (error?: unknown): void => {
      if (isFinished) return
      isFinished = true
      running--
      limit.clear()
      deps.recordCall(admitted, startedAt, error)
    }
    try {
      const result = await limit.race(Promise.resolve(invoke(() => capability.perform(admitted.input, context))))
      if (!isParts(result)) return await toValue(admitted, result, report, startedAt, session?.id, finish)
      const parts = readParts(result, limit)
      if (call.wantsStream) {
        const first = await parts.next()
        const rest = restOf(first, parts, limit, finish)
        // For callers that disconnect before they read: a generator that never started does not run its finally block.
        limit.signal.addEventListener('abort', () => {
          finish(limit.reason)
          parts.return(undefined).catch(() => {})
        })
        return { kind: 'parts', parts: rest, ...(session && { sessionId: session.id }) }
      }
      return await toValue(admitted, await collectParts(parts), report, startedAt, session?.id, finish)
    } catch (error) {
      const cause = fromInnerCall(error)
      finish(cause)
      throw toAgentError(cause)
    }
  }

  const checkOutput = async ({ standard, output }: Capability, result: unknown) => {
    if (deps.checkOutput === 'off') return { value: toJson(result), issues: [] }
    if (standard.output) {
      const parsed = await parseWith(standard.output, result)
      return { value: toJson(parsed.value), issues: parsed.issues }
    }
    const value = toJson(result)
    return { value, issues: schemas.check(output, value) }
  }

  const toValue = async (
    { call }: AdmittedCall,
    result: unknown,
    { metadata, location, trace }: HandlerReport,
    startedAt: number,
    sessionId: string | undefined,
    finish: () => void,
  ): Promise<Value> => {
    const { capability } = call
    const { value, issues } = await checkOutput(capability, result)
    if (issues.length > 0) {
      const problems = issues.map(({ at, message }) => `${at || 'the output'} ${message}`).join('; ')
      const error = new AgentError(
        'internal_error',
        `the output of ${capability.name} does not match its schema: ${problems}`,
      )
      if (deps.checkOutput === 'strict') throw error
      deps.onError(error)
    }
    finish()
    const hops = trace.map((agent) => ({ agent }))
    return {
      kind: 'value',
      value,
      isValid: issues.length === 0,
      metadata: {
        status: 'completed',
        timeTaken: Math.round(runtime.monotonic() - startedAt),
        ...(hops.length > 0 && { taskTrace: hops }),
        ...metadata,
      },
      ...(location !== undefined && { location }),
      ...(sessionId !== undefined && { sessionId }),
    }
  }

  return { admit: deps.admit, run }
}

/** What a handler reports besides its result. */
interface HandlerReport {
  readonly metadata: Record<string, JsonValue>
  location: string | undefined
  /** Other agents that the handler called. */
  readonly trace: string[]
}

/** Turns an error that a handler throws synchronously into a rejection. */
async function invoke<T>(work: () => T): Promise<Awaited<T>> {
  return await work()
}

async function* restOf(
  first: IteratorResult<JsonValue, JsonValue | undefined>,
  parts: AsyncGenerator<JsonValue, JsonValue | undefined, undefined>,
  limit: TimeLimit,
  finish: (error?: unknown) => void,
): AsyncGenerator<JsonValue, void, undefined> {
  let failure: unknown
  try {
    if (first.done) return
    yield first.value
    yield* parts
  } catch (error) {
    failure = fromInnerCall(error)
    throw toAgentError(failure)
  } finally {
    finish(failure ?? (limit.signal.aborted ? limit.reason : undefined))
  }
}

/** Adds the metadata to the output, if that is an object whose schema allows more members (AIDIP §5.2). */
export function withMetadata({ value, metadata }: Value, schema: Call['capability']['output']): JsonValue {
  const hasDetails = Object.keys(metadata).some((name) => name !== 'status' && name !== 'timeTaken')
  if (!hasDetails || !isObject(value) || Object.hasOwn(value, 'metadata')) return value
  return toJsonSchema(schema).additionalProperties === false ? value : { ...value, metadata }
}
