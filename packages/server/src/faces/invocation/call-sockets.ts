import { buffer } from 'node:stream/consumers'
import { DirectoryError, parseJson } from '@switchboard/protocol'
import type { FastifyRequest } from 'fastify'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Input, Invoked, StreamPart } from '../../services/invoke/invocation.js'
import { heartbeats, SILENCE } from './heartbeats.js'
import type { Upgrade } from './upgrades.js'
import { errorOf, HEARTBEAT_MS, LINES } from './write-parts.js'

/** Milliseconds until the input must have come. */
const INPUT_MS = 30_000
/** Milliseconds that calls under way get when the server stops. */
const DRAIN_MS = 5000
/** Bytes that wait to be sent; a caller who reads slower makes the agent wait. */
const HIGH_WATER = 65_536
/** RFC 6455 §7.4.1. */
const DONE = 1000
const GOING_AWAY = 1001
const REFUSED = 1008
const FAILED = 1011

/** Calls over WebSockets: one a socket, lines of JSON both ways; closing it cancels the call (C-59, AURI §8). */
export interface CallSockets {
  /** Goes on as a WebSocket, reads the input from it and makes the call. */
  accept(upgrade: Upgrade, request: FastifyRequest, call: Call): void
  /** Takes no more calls, and ends those that do not end by themselves. */
  close(): void
}

type Call = (input: Input, signal: AbortSignal) => Promise<Invoked>

export function createCallSockets(maxInputBytes: number, heartbeatMs = HEARTBEAT_MS): CallSockets {
  // Compressed, a small message could become a large one.
  const server = new WebSocketServer({ noServer: true, maxPayload: maxInputBytes, perMessageDeflate: false })
  /** Sockets with a call under way. */
  const busy = new WeakSet<WebSocket>()
  return {
    accept({ message, head, release }, { log }, call) {
      release()
      server.handleUpgrade(message, message.socket, head, (socket) => {
        socket.on('error', (error) => log.info({ err: error }, 'a socket failed'))
        serve(socket, call, { maxInputBytes, heartbeatMs, onCall: () => busy.add(socket) }).catch((error: unknown) => {
          log.error({ err: error }, 'a call over a socket failed')
          socket.terminate()
        })
      })
    },
    close() {
      for (const socket of server.clients) if (!busy.has(socket)) socket.close(GOING_AWAY)
      setTimeout(() => {
        for (const socket of server.clients) socket.terminate()
      }, DRAIN_MS).unref()
    },
  }
}

interface ServeOptions {
  readonly maxInputBytes: number
  readonly heartbeatMs: number
  readonly onCall: () => void
}

async function serve(socket: WebSocket, call: Call, options: ServeOptions): Promise<void> {
  const { maxInputBytes, heartbeatMs, onCall } = options
  const controller = new AbortController()
  socket.on('close', () => controller.abort())
  try {
    const text = await readLine(socket, maxInputBytes)
    if (text === undefined) return
    onCall()
    const input: Input = { kind: 'json', value: parseJson(text) }
    const parts = partsOf(await call(input, controller.signal))
    for await (const part of heartbeats(parts, heartbeatMs)) {
      if (part === SILENCE) socket.ping()
      else await send(socket, LINES.part(part))
    }
    socket.close(DONE)
  } catch (error) {
    if (controller.signal.aborted) return
    await send(socket, LINES.error(errorOf(error)))
    const isRefusal = error instanceof DirectoryError && error.status < 500
    socket.close(isRefusal ? REFUSED : FAILED, error instanceof DirectoryError ? error.code : 'internal_error')
    if (!(error instanceof DirectoryError)) throw error
  }
}

/**
 * The first line, which may come in several messages; a first message that is JSON by itself needs no line end.
 * Undefined: the caller went away.
 */
async function readLine(socket: WebSocket, maxBytes: number): Promise<string | undefined> {
  const pieces: string[] = []
  let size = 0
  const late = setTimeout(() => socket.close(REFUSED, 'no input came'), INPUT_MS)
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('close', () => resolve())
      socket.on('message', (data) => {
        const piece = data.toString()
        size += piece.length
        if (size > maxBytes)
          reject(new DirectoryError('payload_too_large', `the input is larger than ${maxBytes} bytes`))
        else if (pieces.push(piece) === 1 ? isWhole(piece) : piece.includes('\n')) resolve()
      })
    })
  } finally {
    clearTimeout(late)
    // What comes after the input has no meaning.
    socket.removeAllListeners('message')
  }
  return socket.readyState === socket.OPEN ? pieces.join('').split('\n')[0] : undefined
}

function isWhole(text: string): boolean {
  if (text.includes('\n')) return true
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Whatever comes of a call, as lines. */
async function* partsOf(invoked: Invoked): AsyncGenerator<StreamPart> {
  switch (invoked.kind) {
    case 'stream':
      yield* invoked.parts
      return
    case 'json':
      yield { data: invoked.value }
      return
    case 'task': {
      const { id, status, pollInterval } = invoked.task
      yield { data: { taskId: id, status, pollInterval } }
      return
    }
    case 'bytes': {
      const data = (await buffer(invoked.body)).toString('base64')
      yield { data: { contentType: invoked.contentType, contentEncoding: 'base64', data } }
    }
  }
}

/** Waits where the caller does not keep up, so that nothing piles up here. */
async function send(socket: WebSocket, text: string): Promise<void> {
  if (socket.readyState !== socket.OPEN) return
  // Called when it is on its way, and also when the socket has closed instead.
  const sent = new Promise<void>((resolve) => socket.send(text, () => resolve()))
  if (socket.bufferedAmount > HIGH_WATER) await sent
}
