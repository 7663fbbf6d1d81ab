import { buffer } from 'node:stream/consumers'
import type { JsonValue } from '@switchboard/protocol'
import type { WebSocket } from 'ws'
import type { Invoked } from '../../services/calls/request/invocation.js'

/** Bytes that wait to be sent; a caller who reads slower makes the agent wait. */
const HIGH_WATER = 65_536
/** Milliseconds after which a caller who takes nothing is taken for gone. */
const STALLED_MS = 60_000

/** Waits where the caller does not keep up, so that nothing piles up here; gives up one who has stopped to read. */
export async function sendLine(socket: WebSocket, line: string): Promise<void> {
  if (socket.readyState !== socket.OPEN) return
  // Called when it is on its way, and also when the socket has closed instead.
  const sent = new Promise<void>((resolve) => socket.send(line, () => resolve()))
  if (socket.bufferedAmount <= HIGH_WATER) return
  const stalled = setTimeout(() => socket.terminate(), STALLED_MS)
  await sent
  clearTimeout(stalled)
}

/** Signs of life are answered as long as their answers are read. */
export function answerPings(socket: WebSocket): void {
  socket.on('ping', (data) => {
    if (socket.bufferedAmount < HIGH_WATER) socket.pong(data)
  })
}

/** What comes of a call that is no stream, as JSON. */
export async function jsonOf(invoked: Exclude<Invoked, { kind: 'stream' }>): Promise<JsonValue> {
  switch (invoked.kind) {
    case 'json':
      return invoked.value
    case 'task': {
      const { id, status, pollInterval } = invoked.task
      return { taskId: id, status, pollInterval }
    }
    case 'bytes': {
      const data = (await buffer(invoked.body)).toString('base64')
      return { contentType: invoked.contentType, contentEncoding: 'base64', data }
    }
  }
}
