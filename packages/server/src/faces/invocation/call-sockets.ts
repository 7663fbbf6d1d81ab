import {
  DirectoryError,
  eachPart,
  isRequestFrame,
  NDJSON,
  parseJson,
  readCallerFrame,
  type StreamPart,
} from '@switchboard/protocol'
import type { FastifyRequest } from 'fastify'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Input } from '../../services/calls/request/invocation.js'
import type { InvocationResult } from '../../services/calls/response/invocation-result.js'
import type { CallFrame } from './call-frame.js'
import { heartbeats, SILENCE } from './heartbeats.js'
import { readLines, type SocketLines } from './read-lines.js'
import { jsonOf, respondToPings, sendLine } from './send-line.js'
import { createFrameCalls, type FrameCalls } from './serve-frames.js'
import type { Upgrade } from './upgrades.js'
import { errorLine, HEARTBEAT_MS } from './write-parts.js'

/** Milliseconds within which the first line must arrive. */
const INPUT_MS = 30_000
/** RFC 6455 §7.4.1. */
const DONE = 1000
const GOING_AWAY = 1001
const REFUSED = 1008
const FAILED = 1011

/** Serves calls over WebSockets, as lines of JSON; closing a socket cancels its calls (C-59, AURI §8). */
export interface CallSockets {
  /** Completes the handshake and serves the calls of the socket. */
  accept(upgrade: Upgrade, request: FastifyRequest, calls: SocketCalls): void
  /** Accepts no more calls, and closes each socket as soon as it has none. */
  close(): void
  /** Terminates the sockets that are still open. */
  terminate(): void
}

/** Makes the calls of one socket. */
export interface SocketCalls {
  /** The only call of a socket whose first line is a bare input. */
  one(input: Input, signal: AbortSignal): Promise<InvocationResult>
  /** One of the calls of a socket whose first line is a frame. */
  ofFrame(frame: CallFrame, signal: AbortSignal): Promise<InvocationResult>
}

/** Limits of one input. */
export interface InputLimits {
  readonly maxInputBytes: number
  readonly maxInputValues: number
}

export function createCallSockets(limits: InputLimits, heartbeatMs = HEARTBEAT_MS): CallSockets {
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: limits.maxInputBytes,
    perMessageDeflate: false, // a small compressed message could expand to a large one
    autoPong: false, // pongs to a client that does not read would pile up
  })
  /** Sockets with a call in progress. */
  const busy = new WeakSet<WebSocket>()
  let isClosing = false
  return {
    accept({ message, head, release }, { log }, calls) {
      release()
      server.handleUpgrade(message, message.socket, head, (socket) => {
        const onCalls = (count: number): unknown => (count > 0 ? busy.add(socket) : busy.delete(socket))
        respondToPings(socket)
        socket.on('error', (error) => log.info({ err: error }, 'a socket failed'))
        serve(socket, calls, { ...limits, heartbeatMs, isClosing: () => isClosing, onCalls }).catch(
          (error: unknown) => {
            log.error({ err: error }, 'a call over a socket failed')
            socket.terminate()
          },
        )
      })
    },
    close() {
      isClosing = true
      for (const socket of server.clients) if (!busy.has(socket)) socket.close(GOING_AWAY)
    },
    terminate() {
      for (const socket of server.clients) socket.terminate()
    },
  }
}

interface ServeOptions extends InputLimits {
  readonly heartbeatMs: number
  readonly isClosing: () => boolean
  readonly onCalls: (count: number) => void
}

async function serve(socket: WebSocket, calls: SocketCalls, options: ServeOptions): Promise<void> {
  const controller = new AbortController()
  socket.on('close', () => controller.abort())
  const lines = readLines(socket, options.maxInputBytes)
  const frames = createFrameCalls(socket, { ...options, call: calls.ofFrame })
  try {
    const first = await beginFirst(socket, lines, frames, calls, { ...options, signal: controller.signal })
    if (first === 'frames') await frames.serve(lines)
    else if (first) {
      await sendParts(socket, first, options.heartbeatMs)
      socket.close(DONE)
    }
  } catch (error) {
    if (controller.signal.aborted) return
    await sendLine(socket, NDJSON.error(errorLine(error)))
    const isKnown = error instanceof DirectoryError
    const code = options.isClosing() ? GOING_AWAY : isKnown && error.status < 500 ? REFUSED : FAILED
    socket.close(code, isKnown ? error.code : 'internal_error')
    if (!isKnown) throw error
  } finally {
    lines.stop()
    frames.stop()
  }
}

/**
 * Reads the first line. A frame begins its call; a bare input is the only call, and this returns its result. It is a
 * function of its own because what a function has read, such as the input, is kept until the function ends.
 */
async function beginFirst(
  socket: WebSocket,
  lines: SocketLines,
  frames: FrameCalls,
  calls: SocketCalls,
  { maxInputValues: maxValues, signal, onCalls }: ServeOptions & { readonly signal: AbortSignal },
): Promise<'frames' | InvocationResult | undefined> {
  const late = setTimeout(() => socket.close(REFUSED, 'no input in time'), INPUT_MS)
  const text = await lines.next().finally(() => clearTimeout(late))
  if (text === undefined || socket.readyState !== socket.OPEN) return undefined
  const value = parseJson(text, { maxValues })
  const frame = isRequestFrame(value) ? readCallerFrame(value) : undefined
  if (frame?.kind === 'request') {
    await frames.begin(frame)
    return 'frames'
  }
  // Nothing may follow a bare input.
  lines.stop()
  onCalls(1)
  return calls.one({ kind: 'json', value }, signal)
}

async function sendParts(socket: WebSocket, result: InvocationResult, heartbeatMs: number): Promise<void> {
  for await (const part of heartbeats(partsOf(result), heartbeatMs)) {
    if (part === SILENCE) socket.ping()
    else await sendLine(socket, NDJSON.part(part))
  }
}

/** The output of a call as parts. */
async function* partsOf(result: InvocationResult): AsyncGenerator<StreamPart> {
  if (result.kind === 'stream') yield* eachPart(result.batches)
  else yield { data: await jsonOf(result) }
}
