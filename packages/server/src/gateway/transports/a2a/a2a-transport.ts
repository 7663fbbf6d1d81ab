import { readBytes } from '@switchboard/protocol'
import { type AgentCall, type AgentResponse, type Endpoint, GatewayError } from '../../gateway.js'
import { badAnswer } from '../rpc/ask.js'
import { withTimeLimit } from '../rpc/time-limit.js'
import type { TranslatorDeps } from '../rpc/translator.js'
import type { Transport } from '../transports.js'
import { type A2aReply, type Converse, createConverse } from './converse.js'
import { createFindTarget } from './find-target.js'
import { isOver, isUnsupported } from './read-error.js'
import { streamParts } from './stream-parts.js'
import type { A2aTarget } from './target.js'
import { answerOf } from './write-answer.js'
import { contentOf, type MessageContent, writeSendParams } from './write-message.js'
import type { A2aAction } from './write-request.js'

/** Telling an agent to stop is a courtesy: nobody waits longer than this for it. */
const CANCEL_TIMEOUT_MS = 5000

/** Calls agents of A2A 0.3 and 1.0, over JSON-RPC and HTTP+JSON, as if they were plain ones. */
export function createA2aTransport({ ask, now, newId, maxBodyBytes, maxPartBytes }: TranslatorDeps): Transport {
  const converse = createConverse({ ask, newId, maxBytes: maxBodyBytes, maxPartBytes })
  const findTarget = createFindTarget({ ask, now })

  const askOnce = async (
    target: A2aTarget,
    action: A2aAction,
    { headers, signal }: Pick<AgentCall, 'headers' | 'signal'>,
  ): Promise<A2aReply> => whole(await converse(target, action, headers, signal))

  /** Undefined if the agent does not stream. */
  const stream = async (
    call: AgentCall,
    endpoint: Endpoint,
    target: A2aTarget,
    content: MessageContent,
  ): Promise<AgentResponse | undefined> => {
    const params = writeSendParams(call, content, newId(), target)
    const replies = await converse(target, { kind: 'stream', params }, call.headers, call.signal)
    const first = 'kind' in replies ? replies : (await replies.next()).value
    if (!first) throw badAnswer('its stream is empty')
    // The first reply decides the status; after it, errors can only be told in the stream.
    if ('kind' in replies || first.kind === 'failure') {
      if (!('kind' in replies)) await replies.return()
      return first.kind === 'failure' && isUnsupported(first.failure) ? undefined : answerOf(first, endpoint)
    }
    const cancelTask = (task: string): void => {
      const cancelled = withTimeLimit(CANCEL_TIMEOUT_MS, (signal) =>
        askOnce(target, { kind: 'cancel', task }, { headers: call.headers, signal }),
      )
      // An agent that does not hear of it works in vain, but nobody is left to be told.
      cancelled.catch(() => {})
    }
    return {
      kind: 'stream',
      status: 200,
      headers: {},
      endpoint,
      parts: streamParts(first, replies, call.signal, cancelTask),
    }
  }

  return {
    async call(call, endpoint) {
      const target = await findTarget(endpoint, call.signal)
      const content = await readContent(call, maxBodyBytes)
      const streamed = call.wantsStream ? await stream(call, endpoint, target, content) : undefined
      if (streamed) return streamed
      const params = writeSendParams(call, content, newId(), target)
      return answerOf(await askOnce(target, { kind: 'send', params }, call), endpoint)
    },
    async poll(call, endpoint, { id }) {
      const target = await findTarget(endpoint, call.signal)
      return answerOf(await askOnce(target, { kind: 'get', task: id }, call), endpoint)
    },
    async cancel(call, endpoint, { id }) {
      const target = await findTarget(endpoint, call.signal)
      const reply = await askOnce(target, { kind: 'cancel', task: id }, call)
      if (reply.kind === 'failure' && !isOver(reply.failure)) {
        throw new GatewayError('bad_response', `the agent did not cancel its task (status ${reply.failure.status})`)
      }
    },
  }
}

/** Only a question that asks for a stream may be answered by one. */
async function whole(replies: Awaited<ReturnType<Converse>>): Promise<A2aReply> {
  if ('kind' in replies) return replies
  await replies.return()
  throw badAnswer('it streams what was to be answered whole')
}

async function readContent({ payload }: AgentCall, maxBytes: number): Promise<MessageContent> {
  if (payload.kind === 'json') return contentOf(payload.value)
  const tooLarge = (): GatewayError =>
    new GatewayError('too_large', `the input for this agent may have ${maxBytes} bytes: send less, or a URL`)
  const { body } = payload
  const bytes = body instanceof Uint8Array ? body : await readBytes(body, maxBytes, tooLarge)
  return { kind: 'file', bytes: Buffer.from(bytes).toString('base64'), mimeType: payload.contentType }
}
