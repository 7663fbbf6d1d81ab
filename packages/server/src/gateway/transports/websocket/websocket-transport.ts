import {
  eachPart,
  type PartBatches,
  type ReplyFrame,
  readReply,
  type StreamPart,
  writeFrame,
} from '@switchboard/protocol'
import { type AgentCall, type AgentResponse, type Endpoint, GatewayError } from '../../gateway.js'
import { observeStream } from '../../http/observe-stream.js'
import { readLineParts } from '../../http/read-stream.js'
import type { Transport } from '../transports.js'
import { openWebSocket, type WebSocketDeps } from './open-websocket.js'
import { bodyOfError, CALL_ID, writeRequest } from './websocket-frames.js'

const CANCEL = writeFrame({ id: CALL_ID, cancel: true })

/**
 * Calls agents over WebSockets, in frames (AURI §8): one socket per call. An aborted call is cancelled by a frame and by
 * closing the socket; frames have no means to read or cancel a task later, so none is asked for.
 */
export function createWebSocketTransport({ dial, limits }: WebSocketDeps): Transport {
  return {
    async call(call, endpoint) {
      if (call.payload.kind !== 'json') throw unsupported('only JSON can be sent over a WebSocket')
      const opened = await openWebSocket(call, endpoint, { dial, limits }, CANCEL)
      if (typeof opened === 'number') return { status: opened, headers: {}, endpoint, kind: 'json', value: null }
      opened.send(writeRequest(call, call.payload.value))
      const maxPartBytes = call.wantsStream ? limits.maxPartBytes : limits.maxBodyBytes
      const lines = readLineParts(opened.body, { ...limits, maxPartBytes })
      return readResponse(replies(lines), call, endpoint, opened.leave)
    },
    async poll() {
      throw unsupported('tasks cannot be polled over a WebSocket')
    },
    async cancel() {
      throw unsupported('tasks cannot be cancelled over a WebSocket')
    },
  }
}

async function readResponse(
  frames: AsyncGenerator<ReplyFrame, void>,
  call: AgentCall,
  endpoint: Endpoint,
  cancel: () => void,
): Promise<AgentResponse> {
  const base = { status: 200, headers: {}, endpoint }
  const first = await frames.next()
  const frame: ReplyFrame = first.done ? { kind: 'end' } : first.value
  // A bare line may be the whole output: if no stream was requested, it is.
  if (frame.kind === 'part' && (call.wantsStream || !frame.isBare)) {
    return { ...base, kind: 'stream', batches: observeStream(batches(frame, frames), { onCancel: cancel }) }
  }
  await frames.return()
  if (frame.kind === 'error') return { ...base, status: frame.status ?? 500, kind: 'json', value: bodyOfError(frame) }
  if (frame.kind === 'end' && !call.wantsStream && first.done) {
    throw new GatewayError('bad_response', 'the agent closed the WebSocket without a response', { mayHaveRun: true })
  }
  return {
    ...base,
    kind: 'json',
    value: frame.kind === 'result' ? frame.value : frame.kind === 'part' ? frame.data : null,
  }
}

async function* batches(
  first: Extract<ReplyFrame, { kind: 'part' }>,
  rest: AsyncGenerator<ReplyFrame, void>,
): AsyncGenerator<readonly StreamPart[], void> {
  let { isBare } = first
  yield [toPart(first)]
  for await (const frame of rest) {
    if (frame.kind === 'part') yield [toPart(frame)]
    else if (frame.kind === 'result') yield [{ data: frame.value }]
    else if (frame.kind === 'error') yield [{ data: bodyOfError(frame), event: 'error' }]
    if (frame.kind !== 'part') return
    isBare = frame.isBare
  }
  // An agent that sends bare lines ends its stream by closing; with frames, the end frame is missing.
  if (!isBare) {
    throw new GatewayError('bad_response', 'the agent closed the WebSocket during its stream', { mayHaveRun: true })
  }
}

const toPart = ({ data, event }: Extract<ReplyFrame, { kind: 'part' }>): StreamPart => ({
  data,
  ...(event !== undefined && { event }),
})

async function* replies(lines: PartBatches): AsyncGenerator<ReplyFrame, void> {
  for await (const { data } of eachPart(lines)) yield readReply(data, (id) => id === CALL_ID).frame
}

const unsupported = (message: string): GatewayError => new GatewayError('not_invocable', message)
