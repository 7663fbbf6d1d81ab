import { createMessageLines, DirectoryError } from '@switchboard/protocol'
import type { WebSocket } from 'ws'

/** Unread lines at which the socket is paused. */
const MAX_WAITING = 64

/** The lines that arrive over a socket until it closes. After the reader leaves, the rest is discarded. */
export async function* readLines(socket: WebSocket, maxLength: number): AsyncGenerator<string, void> {
  const messageLines = createMessageLines(maxLength, () => {
    throw new DirectoryError('payload_too_large', `the input is larger than ${maxLength} characters`)
  })
  const waiting: string[] = []
  let failure: unknown
  let isOver = false
  let wake = (): void => {}
  const onMessage = (data: WebSocket.RawData): void => {
    try {
      for (const line of messageLines.push(data.toString())) waiting.push(line)
    } catch (error) {
      failure = error
    }
    if (waiting.length >= MAX_WAITING || failure) socket.pause()
    wake()
  }
  const onClose = (): void => {
    isOver = true
    wake()
  }
  socket.on('message', onMessage)
  socket.once('close', onClose)
  try {
    for (;;) {
      const line = waiting.shift()
      if (line !== undefined) yield line
      else if (failure) throw failure
      else if (isOver) return
      else {
        socket.resume()
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    }
  } finally {
    socket.off('message', onMessage)
    socket.off('close', onClose)
    socket.resume()
  }
}
