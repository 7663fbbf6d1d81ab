import type { JsonValue, StreamPart } from '@switchboard/protocol'
import { ClientError } from '../../errors.js'
import type { Call, Transport } from '../call.js'
import { createDeadline, type Deadline } from '../deadline.js'
import type { LocalAgent } from './local-registry.js'

/** Calls a function of this process as any other agent: with limits, and as a stream or whole. */
export function createProcessTransport(agent: LocalAgent): Transport {
  const run = async (call: Call, deadline: Deadline): Promise<JsonValue | AsyncIterable<JsonValue>> => {
    const { operation, identifiers, input } = call
    const context = { ...identifiers, ...(operation !== undefined && { operation }), signal: deadline.signal }
    return deadline.race(guarded(async () => agent(input, context)))
  }
  return {
    async invoke(call) {
      const deadline = createDeadline(call.limits.timeoutMs, `the call of ${call.uri}`, call.signal)
      try {
        const answer = await run(call, deadline)
        if (isParts(answer)) throw new ClientError('bad_response', `${call.uri} answers with a stream: use streamAgent`)
        const { sessionId, taskId } = call.identifiers
        const ids = { ...(sessionId !== undefined && { sessionId }), ...(taskId !== undefined && { taskId }) }
        return { output: answer, contentType: 'application/json', status: 200, trusted: false, ...ids, warnings: [] }
      } finally {
        deadline.clear()
      }
    },
    async *stream(call) {
      const deadline = createDeadline(call.limits.timeoutMs, `the stream of ${call.uri}`, call.signal)
      try {
        const answer = await run(call, deadline)
        if (isParts(answer)) yield* readParts(answer, call, deadline)
        else yield { data: answer }
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
      const next = await deadline.race(guarded(() => iterator.next()))
      isDone = next.done === true
      if (next.done) return
      deadline.pause()
      yield { data: next.value }
    }
  } finally {
    if (!isDone) void iterator.return?.().catch(() => {})
  }
}

const isParts = (answer: JsonValue | AsyncIterable<JsonValue>): answer is AsyncIterable<JsonValue> =>
  typeof answer === 'object' && answer !== null && Symbol.asyncIterator in answer

/** What the function throws is the agent's error, unless it is one of ours already. */
async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ClientError) throw error
    throw new ClientError('remote_error', `the local agent failed: ${String(error)}`, { cause: error })
  }
}
