import { readBytes } from '@switchboard/protocol'
import { type AgentCall, type AgentResponse, type Endpoint, GatewayError } from '../../gateway.js'
import { withTimeout } from '../../resilience/with-timeout.js'
import { badResponse } from '../rpc/send-json.js'
import type { RpcTransportDeps, Transport } from '../transports.js'
import { createFindTarget } from './find-target.js'
import { isNothingToCancel, isUnsupported } from './read-error.js'
import { type A2aReply, createSendAction, type SendAction } from './send-action.js'
import { streamParts } from './stream-parts.js'
import type { A2aTarget } from './target.js'
import { toResponse } from './to-response.js'
import { contentOf, type MessageContent, writeSendParams } from './write-message.js'
import type { A2aAction } from './write-request.js'

/** Cancelling a task is best effort and must not hold anything up. */
const CANCEL_TIMEOUT_MS = 5000

/** Calls agents that speak A2A 0.3 or 1.0, over JSON-RPC or HTTP+JSON. */
export function createA2aTransport(deps: RpcTransportDeps): Transport {
  const { sendRequest, monotonic, newId, maxBodyBytes, maxPartBytes, maxResponseValues: maxValues } = deps
  const sendAction = createSendAction({ sendRequest, newId, maxBytes: maxBodyBytes, maxPartBytes, maxValues })
  const findTarget = createFindTarget({ sendRequest, monotonic })

  const sendForReply = async (
    target: A2aTarget,
    action: A2aAction,
    { headers, signal }: Pick<AgentCall, 'headers' | 'signal'>,
  ): Promise<A2aReply> => singleReply(await sendAction(target, action, headers, signal))

  /** Undefined if the agent does not support streaming. */
  const stream = async (
    call: AgentCall,
    endpoint: Endpoint,
    target: A2aTarget,
    content: MessageContent,
  ): Promise<AgentResponse | undefined> => {
    // `cancelTask` lives as long as the stream, so it must not refer to `call`, which has the input.
    const { headers, signal } = call
    const params = writeSendParams(call, content, newId(), target)
    const replies = await sendAction(target, { kind: 'stream', params }, headers, signal)
    const first = 'kind' in replies ? replies : (await replies.next()).value
    if (!first) throw badResponse('its stream is empty')
    // The first reply decides the status; later errors can only be sent in the stream.
    if ('kind' in replies || first.kind === 'failure') {
      if (!('kind' in replies)) await replies.return()
      return first.kind === 'failure' && isUnsupported(first.failure) ? undefined : toResponse(first, endpoint)
    }
    const cancelTask = (task: string): void => {
      const cancelled = withTimeout(CANCEL_TIMEOUT_MS, (timeout) =>
        sendForReply(target, { kind: 'cancel', task }, { headers, signal: timeout }),
      )
      // Nobody waits for the result: the caller has left.
      cancelled.catch(() => {})
    }
    return {
      kind: 'stream',
      status: 200,
      headers: {},
      endpoint,
      parts: streamParts(first, replies, signal, cancelTask),
    }
  }

  return {
    async call(call, endpoint) {
      const target = await findTarget(endpoint, call.signal)
      const content = await readContent(call, maxBodyBytes)
      const streamed = call.wantsStream ? await stream(call, endpoint, target, content) : undefined
      if (streamed) return streamed
      const params = writeSendParams(call, content, newId(), target)
      return toResponse(await sendForReply(target, { kind: 'send', params }, call), endpoint)
    },
    async poll(call, endpoint, { id }) {
      const target = await findTarget(endpoint, call.signal)
      return toResponse(await sendForReply(target, { kind: 'get', task: id }, call), endpoint)
    },
    async cancel(call, endpoint, { id }) {
      const target = await findTarget(endpoint, call.signal)
      const reply = await sendForReply(target, { kind: 'cancel', task: id }, call)
      if (reply.kind === 'failure' && !isNothingToCancel(reply.failure)) {
        throw new GatewayError('bad_response', `the agent did not cancel its task (status ${reply.failure.status})`)
      }
    },
  }
}

/** Rejects a stream in response to a request for a single reply. */
async function singleReply(replies: Awaited<ReturnType<SendAction>>): Promise<A2aReply> {
  if ('kind' in replies) return replies
  await replies.return()
  throw badResponse('it is a stream, which was not requested')
}

async function readContent({ payload }: AgentCall, maxBytes: number): Promise<MessageContent> {
  if (payload.kind === 'json') return contentOf(payload.value)
  const tooLarge = (): GatewayError =>
    new GatewayError('too_large', `the input for this agent may have at most ${maxBytes} bytes: send less, or a URL`)
  const { body } = payload
  const bytes = body instanceof Uint8Array ? body : await readBytes(body, maxBytes, tooLarge)
  return { kind: 'file', bytes: Buffer.from(bytes).toString('base64'), mimeType: payload.contentType }
}
