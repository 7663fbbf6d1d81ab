import { readBytes } from '@switchboard/protocol'
import { type AgentCall, type AgentResponse, type Endpoint, GatewayError } from '../../gateway.js'
import { createBestEffort } from '../../resilience/best-effort.js'
import { silenceLimitOf } from '../../resilience/deadline.js'
import { createRunUndoable } from '../../resilience/undoable.js'
import { badResponse } from '../rpc/send-json.js'
import type { RpcTransportDeps, Transport } from '../transports.js'
import { awaitTask } from './await-task.js'
import { cancelTask } from './cancel-task.js'
import { modesIn, streamsIn } from './card-facts.js'
import { collectTask } from './collect-task.js'
import { createFindTarget } from './find-target.js'
import { isUnsupported } from './read-error.js'
import { type A2aReplies, type A2aReply, createSendAction, type SendOptions } from './send-action.js'
import { streamParts } from './stream-parts.js'
import type { A2aTarget } from './target.js'
import { runningTaskIn, toResponse } from './to-response.js'
import { contentOf, contentOfBody, type MessageContent, writeSendParams } from './write-message.js'
import type { A2aAction } from './write-request.js'

/** Milliseconds that an aborted call waits for the first reply, because only that names the task to cancel. */
const FIRST_REPLY_MS = 10_000
/** Milliseconds before the deadline at which a task that is still running becomes the response. */
const HANDOVER_MS = 1000

/** The first reply, and the others if it is a stream. */
interface Opened {
  readonly first: A2aReply
  readonly rest?: A2aReplies
}

/**
 * Calls agents that speak A2A 0.3 or 1.0, over JSON-RPC or HTTP+JSON. Closing a connection does not stop an A2A agent, so
 * every message is sent in a way that the agent names its task at once: as a stream if the agent can, and otherwise
 * without waiting, and the task is polled. If the call is aborted, the task is cancelled.
 */
export function createA2aTransport(deps: RpcTransportDeps): Transport {
  const { sendRequest, monotonic, newId, maxBodyBytes: maxBytes, maxPartBytes, maxResponseValues: maxValues } = deps
  const limits = { maxBytes, maxValues }
  const sendAction = createSendAction({ sendRequest, newId, ...limits })
  const findTarget = createFindTarget({ sendRequest, monotonic })
  const runUndoable = createRunUndoable({ monotonic })
  const bestEffort = createBestEffort()

  const sendForReply = async (target: A2aTarget, action: A2aAction, options: SendOptions): Promise<A2aReply> =>
    singleReply(await sendAction(target, action, options))

  /** Cancels a task of a caller who has left. What it returns may live as long as a stream, so it has no reference to the call. */
  const createCancel =
    (target: A2aTarget, headers: AgentCall['headers']) =>
    (task: string): void =>
      bestEffort((signal) => cancelTask((action) => sendForReply(target, action, { headers, signal }), task))

  /** Sends a message and reads the first reply. If the call is aborted before, the task is cancelled when it is known. */
  const open = (call: AgentCall, target: A2aTarget, action: A2aAction, maxPartBytes = maxBytes): Promise<Opened> => {
    const { headers } = call
    const cancel = createCancel(target, headers)
    const silenceMs = silenceLimitOf(call)
    return runUndoable<Opened>(call.signal, {
      graceMs: () => FIRST_REPLY_MS,
      async work(signal, onSent) {
        const opened = await sendAction(target, action, { headers, signal, silenceMs, onSent, maxPartBytes })
        if (action.kind !== 'stream' || opened.kind !== 'replies') return { first: singleReply(opened) }
        const { value: first } = await opened.next()
        if (!first) throw badResponse('its stream is empty')
        // The first reply decides the status; later errors can only be sent in the stream.
        if (first.kind === 'event') return { first, rest: opened }
        opened.close()
        return { first }
      },
      undo({ first }) {
        const task = runningTaskIn(first)
        if (task !== undefined) cancel(task)
      },
    })
  }

  /** Reads a stream to its end for a caller who waits for the whole result. */
  const collect = async ({ first, rest }: Required<Opened>, cancel: (task: string) => void): Promise<A2aReply> => {
    try {
      return await collectTask(first, rest, limits)
    } catch (error) {
      rest.close()
      const task = runningTaskIn(first)
      if (task !== undefined) cancel(task)
      throw error
    }
  }

  /** Polls a task for a caller who waits; one that takes too long is left to be polled later. */
  const waitFor = async (call: AgentCall, target: A2aTarget, started: A2aReply): Promise<A2aReply> => {
    const task = runningTaskIn(started)
    if (task === undefined) return started
    const { headers, signal, timeoutMs } = call
    const poll = (): Promise<A2aReply> => sendForReply(target, { kind: 'get', task }, { headers, signal })
    const waitMs = Math.max(timeoutMs / 2, timeoutMs - HANDOVER_MS)
    let isLost = true
    try {
      const reply = await awaitTask(started, poll, { waitMs, signal, monotonic })
      isLost = reply.kind === 'failure'
      return reply
    } finally {
      if (isLost) createCancel(target, headers)(task)
    }
  }

  /** Undefined if the agent does not support streaming. */
  const stream = async (
    call: AgentCall,
    endpoint: Endpoint,
    target: A2aTarget,
    content: MessageContent,
  ): Promise<AgentResponse | undefined> => {
    const { headers, signal, wantsStream, accept } = call
    const params = writeSendParams(call, content, newId(), target)
    const { first, rest } = await open(call, target, { kind: 'stream', params }, wantsStream ? maxPartBytes : maxBytes)
    if (first.kind === 'failure' && isUnsupported(first.failure)) return undefined
    if (!rest) return toResponse(first, endpoint, accept)
    const cancel = createCancel(target, headers)
    if (!wantsStream) return toResponse(await collect({ first, rest }, cancel), endpoint, accept)
    return { kind: 'stream', status: 200, headers: {}, endpoint, batches: streamParts(first, rest, signal, cancel) }
  }

  return {
    async call(call, endpoint) {
      const target = await findTarget(endpoint, call.signal)
      const content = await readContent(call, target, maxBytes)
      const { wantsStream, prefersTask = false, streams = target.card && streamsIn(target.card) } = call
      const streamed =
        wantsStream || (streams && !prefersTask) ? await stream(call, endpoint, target, content) : undefined
      if (streamed) return streamed
      const params = writeSendParams(call, content, newId(), target)
      const { first } = await open(call, target, { kind: 'send', params })
      return toResponse(prefersTask ? first : await waitFor(call, target, first), endpoint, call.accept)
    },
    async poll(call, endpoint, { id }) {
      const target = await findTarget(endpoint, call.signal)
      return toResponse(await sendForReply(target, { kind: 'get', task: id }, call), endpoint)
    },
    async cancel(call, endpoint, { id }) {
      const target = await findTarget(endpoint, call.signal)
      await cancelTask((action) => sendForReply(target, action, call), id)
    },
  }
}

/** Rejects a stream in response to a request for a single reply. */
function singleReply(reply: A2aReply | A2aReplies): A2aReply {
  if (reply.kind !== 'replies') return reply
  reply.close()
  throw badResponse('it is a stream, which was not requested')
}

async function readContent(call: AgentCall, { card }: A2aTarget, maxBytes: number): Promise<MessageContent> {
  const { payload, operation, inputTypes = card ? modesIn(card, operation, 'input') : [] } = call
  if (payload.kind === 'json') return contentOf(payload.value, inputTypes)
  const tooLarge = (): GatewayError =>
    new GatewayError('too_large', `the input for this agent may have at most ${maxBytes} bytes: send less, or a URL`)
  const { body, contentType } = payload
  const bytes = body instanceof Uint8Array ? body : await readBytes(body, maxBytes, tooLarge)
  return contentOfBody(bytes, contentType, inputTypes)
}
