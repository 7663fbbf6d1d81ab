import type { StreamPart } from '@switchboard/protocol'
import type { CallInput, Output, Reply } from '../transports/call.js'
import { createCaller } from './create-caller.js'
import type { InvokeOptions } from './options.js'

/**
 * Calls an agent by its URI: resolves it, sends the input and waits for the response, deferred ones too. For many calls,
 * use `createCaller`, which shares connections.
 *
 * @typeParam T the output that you expect; see `Reply`
 * @throws {ClientError} branch on its `code`
 *
 * @example
 * const uri = 'agent://translator.example/translate'
 * const reply = await invokeAgent<{ translation: string }>(uri, { text: 'Bonjour', to: 'zh' })
 * reply.output.translation // '你好'
 */
export async function invokeAgent<T = Output>(
  uri: string,
  input?: CallInput,
  options: InvokeOptions = {},
): Promise<Reply<T>> {
  const caller = createCaller(options)
  try {
    return await caller.invoke<T>(uri, input, options)
  } finally {
    await caller.close()
  }
}

/**
 * Calls an agent and yields the parts of its response as they arrive; an agent that does not stream yields one. Leaving
 * the loop cancels the call.
 *
 * @example
 * for await (const { data } of streamAgent('agent://chat.example/talk', { text: 'Hello' })) console.log(data)
 */
export async function* streamAgent(
  uri: string,
  input?: CallInput,
  options: InvokeOptions = {},
): AsyncGenerator<StreamPart, void, undefined> {
  const caller = createCaller(options)
  try {
    yield* caller.stream(uri, input, options)
  } finally {
    await caller.close()
  }
}
