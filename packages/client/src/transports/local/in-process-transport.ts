import type { JsonValue, StreamPart } from '@switchboard/protocol'
import { ClientError } from '../../errors.js'
import type { Call, Transport } from '../call.js'
import { createDeadline, type Deadline } from '../deadline.js'
import type { LocalAgent } from './local-registry.js'

/** Calls a function in this process with the same limits and stream semantics as any other agent. */
export function createInProcessTransport(agent: LocalAgent): Transport {
  const run = async (call: Call, deadline: Deadline): Promise<JsonValue | AsyncIterable<JsonValue>> => {
    const { operation, identifiers, input } = call
    const context = { ...identifiers, ...(operation !== undefined && { operation }), signal: deadline.signal }
    return deadline.race(translatingErrors(async () => agent(input, context)))
  }
  return {
    async invoke(call) {
      const deadline = createDeadline(call.limits.timeoutMs, `the call of ${call.uri}`, call.signal)
      try {
        const result = await run(call, deadline)
        if (isStream(result))
          throw new ClientError('bad_response', `${call.uri} responded with a stream: use streamAgent`)
        const { sessionId, taskId } = call.identifiers
        const ids = { ...(sessionId !== undefined && { sessionId }), ...(taskId !== undefined && { taskId }) }
        return { output: result, contentType: 'application/json', status: 200, trusted: false, ...ids, warnings: [] }
      } finally {
        deadline.clear()
      }
    },
    async *stream(call) {
      const deadline = createDeadline(call.limits.timeoutMs, `the stream of ${call.uri}`, call.signal)
      try {
        const result = await run(call, deadline)
        if (isStream(result)) yield* readParts(result, call, deadline)
        else yield { data: result }
      } finally {
        deadline.clear()
      }
    },
  }
}

async function* readParts(
  parts: AsyncIterable<JsonValue>,
  call: Call,
  deadline: Deadline,
): AsyncGenerator<StreamPart, void, undefined> {
  const iterator = parts[Symbol.asyncIterator]()
  let isDone = false
  try {
    for (;;) {
      deadline.extend(call.limits.silenceMs)
      const next = await deadline.race(translatingErrors(() => iterator.next()))
      isDone = next.done === true
      if (next.done) return
      deadline.pause()
      yield { data: next.value }
    }
  } finally {
    if (!isDone) void iterator.return?.().catch(() => {})
  }
}

const isStream = (result: JsonValue | AsyncIterable<JsonValue>): result is AsyncIterable<JsonValue> =>
  typeof result === 'object' && result !== null && Symbol.asyncIterator in result

/** Turns errors of the agent's function into ClientErrors. */
async function translatingErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ClientError) throw error
    throw new ClientError('remote_error', `the local agent failed: ${String(error)}`, { cause: error })
  }
}
