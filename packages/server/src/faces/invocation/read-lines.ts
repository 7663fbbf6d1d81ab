import { DirectoryError } from '@switchboard/protocol'
import type { WebSocket } from 'ws'

/** Lines that wait to be taken; beyond it the caller has to wait. */
const MAX_WAITING = 64

/**
 * The lines that come over a socket, to its end. A line may come in several messages, and a message may hold several; one
 * that is JSON by itself at the start of a line needs no line end. Whoever stops reading has the rest thrown away.
 */
export async function* readLines(socket: WebSocket, maxLength: number): AsyncGenerator<string, void> {
  const split = createSplitter(maxLength)
  const waiting: string[] = []
  let failure: unknown
  let isOver = false
  let wake = (): void => {}
  const onMessage = (data: WebSocket.RawData): void => {
    try {
      waiting.push(...split(data.toString()))
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

function createSplitter(maxLength: number): (message: string) => string[] {
  let pieces: string[] = []
  let length = 0
  return (message) => {
    const isWhole = length === 0 && isJson(message)
    const [first = '', ...more] = (isWhole ? `${message}\n` : message).split('\n')
    if (first !== '') pieces.push(first)
    length += first.length
    if (length > maxLength)
      throw new DirectoryError('payload_too_large', `the input is larger than ${maxLength} characters`)
    const last = more.pop()
    if (last === undefined) return []
    const lines = [pieces.join(''), ...more]
    pieces = last === '' ? [] : [last]
    length = last.length
    return lines.filter((line) => line.trim() !== '')
  }
}

function isJson(text: string): boolean {
  if (text.includes('\n')) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
