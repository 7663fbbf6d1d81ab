import { createMessageLines, DirectoryError } from '@switchboard/protocol'
import type { WebSocket } from 'ws'
import { waitForTurn } from '../../turns.js'

/** Unread lines at which the socket is paused; it is also paused if they have more characters than one line may have. */
const MAX_WAITING = 64

/** The lines that arrive over a socket. It keeps no line that has been read: inputs are large, and calls are long. */
export interface SocketLines {
  /** The next line; undefined once the socket has closed. Throws if a line is too long. */
  next(): Promise<string | undefined>
  /** Discards all further lines. */
  stop(): void
}

export function readLines(socket: WebSocket, maxLength: number): SocketLines {
  const messageLines = createMessageLines(maxLength, () => {
    throw new DirectoryError('payload_too_large', `the input is larger than ${maxLength} characters`)
  })
  const waiting: string[] = []
  let waitingLength = 0
  let failure: unknown
  let isOver = false
  let wake = (): void => {}
  const onMessage = (data: WebSocket.RawData): void => {
    try {
      for (const line of messageLines.push(data.toString())) {
        waiting.push(line)
        waitingLength += line.length
      }
    } catch (error) {
      failure = error
    }
    if (waiting.length >= MAX_WAITING || waitingLength > maxLength || failure) socket.pause()
    wake()
  }
  const onClose = (): void => {
    isOver = true
    wake()
  }
  const take = (): string | undefined => {
    const line = waiting.shift()
    waitingLength -= line?.length ?? 0
    return line
  }
  socket.on('message', onMessage)
  socket.once('close', onClose)
  return {
    async next() {
      while (waiting.length === 0) {
        if (failure) throw failure
        if (isOver) return undefined
        socket.resume()
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      const turn = waitForTurn()
      if (turn) await turn
      return take()
    },
    stop() {
      isOver = true
      socket.off('message', onMessage)
      socket.off('close', onClose)
      socket.resume()
    },
  }
}
