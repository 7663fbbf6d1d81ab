import { type ReplyFrame, readReply, type StreamPart } from '@switchboard/protocol'
import { type AgentCall, type AgentResponse, type Endpoint, GatewayError } from '../../gateway.js'
import { readLines } from '../../http/read-stream.js'
import { withCleanup } from '../../http/with-cleanup.js'
import type { Transport } from '../transports.js'
import { openWebSocket, type WebSocketDeps } from './open-websocket.js'
import { bodyOfError, CALL_ID, writeRequest } from './websocket-frames.js'

/** Calls agents over WebSockets, in frames (AURI §8): one socket for each call; closing it cancels the call. */
export function createWebSocketTransport({ dial, limits }: WebSocketDeps): Transport {
  return {
    async call(call, endpoint) {
      if (call.payload.kind !== 'json') throw unsupported('bytes cannot be sent over a WebSocket')
      const opened = await openWebSocket(call, endpoint, { dial, limits })
      if (typeof opened === 'number') return { status: opened, headers: {}, endpoint, kind: 'json', value: null }
      opened.send(writeRequest(call, call.payload.value))
      const lines = readLines(opened.body, call.wantsStream ? limits.maxPartBytes : limits.maxBodyBytes)
      return readAnswer(replies(lines), call, endpoint, opened.body.cancel)
    },
    async poll() {
      throw unsupported('tasks cannot be asked for over a WebSocket')
    },
    async cancel() {
      throw unsupported('tasks cannot be cancelled over a WebSocket')
    },
  }
}

async function readAnswer(
  frames: AsyncGenerator<ReplyFrame, void>,
  call: AgentCall,
  endpoint: Endpoint,
  cancel: () => void,
): Promise<AgentResponse> {
  const told = { status: 200, headers: {}, endpoint }
  const first = await frames.next()
  const frame: ReplyFrame = first.done ? { kind: 'end' } : first.value
  // A bare line may be the whole output: without a request for a stream it is taken as such.
  if (frame.kind === 'part' && (call.wantsStream || !frame.isBare)) {
    return { ...told, kind: 'stream', parts: withCleanup(parts(frame, frames), cancel) }
  }
  await frames.return()
  if (frame.kind === 'error') return { ...told, status: frame.status ?? 500, kind: 'json', value: bodyOfError(frame) }
  if (frame.kind === 'end' && !call.wantsStream && first.done) {
    throw new GatewayError('bad_response', 'the agent closed the socket without an answer', { mayHaveRun: true })
  }
  return {
    ...told,
    kind: 'json',
    value: frame.kind === 'result' ? frame.value : frame.kind === 'part' ? frame.data : null,
  }
}

async function* parts(
  first: Extract<ReplyFrame, { kind: 'part' }>,
  rest: AsyncGenerator<ReplyFrame, void>,
): AsyncGenerator<StreamPart, void> {
  let { isBare } = first
  yield toPart(first)
  for await (const frame of rest) {
    if (frame.kind === 'part') yield toPart(frame)
    else if (frame.kind === 'result') yield { data: frame.value }
    else if (frame.kind === 'error') yield { data: bodyOfError(frame), event: 'error' }
    if (frame.kind !== 'part') return
    isBare = frame.isBare
  }
  // An agent without frames ends its stream by closing; any other has sent no end.
  if (!isBare)
    throw new GatewayError('bad_response', 'the agent closed the socket within its stream', { mayHaveRun: true })
}

const toPart = ({ data, event }: Extract<ReplyFrame, { kind: 'part' }>): StreamPart => ({
  data,
  ...(event !== undefined && { event }),
})

async function* replies(lines: AsyncIterable<StreamPart>): AsyncGenerator<ReplyFrame, void> {
  for await (const { data } of lines) yield readReply(data, (id) => id === CALL_ID).frame
}

const unsupported = (message: string): GatewayError => new GatewayError('not_invocable', message)
