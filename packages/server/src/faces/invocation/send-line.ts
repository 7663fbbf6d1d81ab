import type { JsonValue } from '@switchboard/protocol'
import type { WebSocket } from 'ws'
import type { InvocationResult } from '../../services/calls/response/invocation-result.js'
import { bytesToJson } from '../../services/calls/response/to-result.js'

/** Bytes waiting to be sent at which the agent has to wait for a slow caller. */
const HIGH_WATER = 65_536
/** Milliseconds after which a caller that reads nothing is considered gone. */
const STALLED_MS = 60_000

/** Sends a line, waiting for a slow caller; terminates the socket if it stops reading. */
export async function sendLine(socket: WebSocket, line: string): Promise<void> {
  if (socket.readyState !== socket.OPEN) return
  // The callback also runs if the socket closes before the line is sent.
  const sent = new Promise<void>((resolve) => socket.send(line, () => resolve()))
  if (socket.bufferedAmount <= HIGH_WATER) return
  const stalled = setTimeout(() => socket.terminate(), STALLED_MS)
  await sent
  clearTimeout(stalled)
}

/** Responds to pings, unless the caller does not read the pongs. */
export function respondToPings(socket: WebSocket): void {
  socket.on('ping', (data) => {
    if (socket.bufferedAmount < HIGH_WATER) socket.pong(data)
  })
}

/** The output of a call that is not a stream, as JSON. */
export async function jsonOf(result: Exclude<InvocationResult, { kind: 'stream' }>): Promise<JsonValue> {
  switch (result.kind) {
    case 'json':
      return result.value
    case 'task': {
      const { id, status, pollInterval } = result.task
      return { taskId: id, status, pollInterval }
    }
    case 'bytes':
      return bytesToJson(result)
  }
}
