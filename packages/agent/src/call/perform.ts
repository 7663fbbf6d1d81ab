import { isObject, type JsonValue, type PublisherSchemas, toJsonSchema } from '@switchboard/protocol'
import type { Capability } from '../capability.js'
import { AgentError, toAgentError } from '../errors.js'
import type { Runtime } from '../runtime.js'
import { parseWith } from '../schema/read-schema.js'
import type { Admit, AdmittedCall } from './admit.js'
import type { NoteEnd } from './audit.js'
import type { Call, Outcome, Value } from './call.js'
import type { HandlerContext } from './handler-context.js'
import type { OnwardCalls } from './onward-calls.js'
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
  readonly note: NoteEnd
  readonly onError: (error: unknown) => void
  readonly onward: OnwardCalls
  readonly checkOutput: 'warn' | 'strict' | 'off'
  /** Handlers at work at once; beyond it callers are told to come again. */
  readonly maxCalls: number
}

/** Makes calls: the same steps for each, whichever way it came. */
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
    const startedAt = runtime.now()
    if (running >= deps.maxCalls) {
      const busy = new AgentError('unavailable', 'the agent is busy', { retryAfter: 1 })
      deps.note(admitted, startedAt, busy)
      throw busy
    }
    const limit = createTimeLimit(
      capability.timeoutMs ?? (capability.deferred ? DEFERRED_TIMEOUT_MS : TIMEOUT_MS),
      call.signal,
    )
    const sessionId = call.sessionId ?? (capability.memoryEnabled ? runtime.newId() : undefined)
    const session = sessionId === undefined ? undefined : sessions.open(sessionId, caller.client)
    const said: Said = { metadata: {}, location: undefined, trace: [] }
    const context: HandlerContext = {
      signal: limit.signal,
      capability: capability.name,
      version: call.version,
      requestId: call.requestId,
      caller,
      ...(session && { session }),
      ...(call.taskId !== undefined && { taskId: call.taskId }),
      ...(admitted.delegation && { delegation: admitted.delegation }),
      report: (metadata) => Object.assign(said.metadata, metadata),
      created: (location) => {
        said.location = location
      },
      ...deps.onward.within(admitted, limit.signal, (uri) => said.trace.push(uri)),
    }
    running++
    let isFinished = false
    const finish = (error?: unknown): void => {
      if (isFinished) return
      isFinished = true
      running--
      limit.clear()
      deps.note(admitted, startedAt, error)
    }
    try {
      const result = await limit.race(Promise.resolve(invoke(() => capability.perform(admitted.input, context))))
      if (!isParts(result)) return await toValue(admitted, result, said, startedAt, session?.id, finish)
      const parts = readParts(result, limit)
      if (call.wantsStream) {
        const first = await parts.next()
        const rest = restOf(first, parts, limit, finish)
        // For callers who leave before they read: a generator that was never begun cleans nothing up.
        limit.signal.addEventListener('abort', () => {
          finish(limit.reason)
          parts.return(undefined).catch(() => {})
        })
        return { kind: 'parts', parts: rest, ...(session && { sessionId: session.id }) }
      }
      return await toValue(admitted, await collectParts(parts), said, startedAt, session?.id, finish)
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
    { metadata, location, trace }: Said,
    startedAt: number,
    sessionId: string | undefined,
    finish: () => void,
  ): Promise<Value> => {
    const { capability } = call
    const { value, issues } = await checkOutput(capability, result)
    if (issues.length > 0) {
      const said = issues.map(({ at, message }) => `${at || 'the output'} ${message}`).join('; ')
      const error = new AgentError(
        'internal_error',
        `the output of ${capability.name} does not fit its schema: ${said}`,
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
        timeTaken: runtime.now() - startedAt,
        ...(hops.length > 0 && { taskTrace: hops }),
        ...metadata,
      },
      ...(location !== undefined && { location }),
      ...(sessionId !== undefined && { sessionId }),
    }
  }

  return { admit: deps.admit, run }
}

/** What a handler says beside its answer. */
interface Said {
  readonly metadata: Record<string, JsonValue>
  location: string | undefined
  /** Agents that were called onward. */
  readonly trace: string[]
}

/** A handler that throws before it returns a promise fails like any other. */
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

/** The output with what is to be said of it, where it is an object that may hold more (AIDIP §5.2). */
export function withMetadata({ value, metadata }: Value, schema: Call['capability']['output']): JsonValue {
  const hasNews = Object.keys(metadata).some((name) => name !== 'status' && name !== 'timeTaken')
  if (!hasNews || !isObject(value) || Object.hasOwn(value, 'metadata')) return value
  return toJsonSchema(schema).additionalProperties === false ? value : { ...value, metadata }
}
