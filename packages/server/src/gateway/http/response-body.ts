import { readBytes } from '@switchboard/protocol'
import { waitForTurn } from '../../turns.js'
import { GatewayError } from '../gateway.js'

/** The body of a response, with back-pressure. It can be read once; leaving the iteration early cancels it. */
export interface ResponseBody extends AsyncIterable<Uint8Array> {
  /** Reads the whole body; throws `too_large` beyond the limit. */
  collect(maxBytes: number): Promise<Uint8Array>
  /** Discards the rest and closes the connection. */
  cancel(): void
}

/** The side of a body that the connection writes to. */
export interface WritableBody extends ResponseBody {
  push(chunk: Buffer): void
  end(): void
  fail(error: GatewayError): void
}

interface Source {
  /** Idle timeout in milliseconds: no data arrived, or none was read. */
  readonly silenceMs: number
  pause(): void
  resume(): void
  /** Aborts the request; it must then call `fail`. */
  cancel(error: GatewayError): void
}

/** Buffered bytes above which the source is paused. */
const HIGH_WATER_MARK = 64 * 1024

/** A queue between a connection and its reader. */
export function createResponseBody({ silenceMs, pause, resume, cancel }: Source): WritableBody {
  let chunks: Buffer[] = []
  let held = 0
  let isPaused = false
  let end: 'done' | GatewayError | undefined
  let wake: (() => void) | undefined

  const onSilence = (): void => {
    const message = chunks.length > 0 ? 'the caller stopped reading the response' : 'the agent stopped sending'
    cancel(new GatewayError('timeout', message, { mayHaveRun: true }))
  }
  const silence = setTimeout(onSilence, silenceMs)

  const settle = (result: 'done' | GatewayError): void => {
    end ??= result
    clearTimeout(silence)
    wake?.()
  }

  /** Everything that is buffered, as one chunk: many small ones are more expensive to read. */
  const take = (): Buffer | undefined => {
    const [first] = chunks
    if (!first) return undefined
    const piece = chunks.length === 1 ? first : Buffer.concat(chunks, held)
    chunks = []
    held = 0
    if (end === undefined) silence.refresh()
    if (isPaused && end === undefined) {
      isPaused = false
      resume()
    }
    return piece
  }

  const next = async (): Promise<Buffer | undefined> => {
    for (;;) {
      const piece = take()
      // Its reader parses it, checks it and sends it on.
      if (piece) {
        const turn = waitForTurn()
        if (turn) await turn
        return piece
      }
      if (end === 'done') return undefined
      if (end) throw end
      await new Promise<void>((resolve) => {
        wake = resolve
      })
      wake = undefined
    }
  }

  const stop = (): void => {
    chunks = []
    held = 0
    if (end === undefined) cancel(new GatewayError('cancelled', 'the rest of the response is not needed'))
  }

  const body: WritableBody = {
    push(chunk) {
      if (end !== undefined) return
      chunks.push(chunk)
      held += chunk.length
      silence.refresh()
      if (held > HIGH_WATER_MARK && !isPaused) {
        isPaused = true
        pause()
      }
      wake?.()
    },
    end: () => settle('done'),
    fail(error) {
      chunks = []
      held = 0
      settle(error)
    },
    cancel: stop,
    collect: (maxBytes) => readBytes(body, maxBytes, () => tooLarge(maxBytes)),
    async *[Symbol.asyncIterator]() {
      try {
        for (let piece = await next(); piece; piece = await next()) yield piece
      } finally {
        stop()
      }
    },
  }
  return body
}

/** The chunks of a body; throws `too_large` as soon as there are more bytes than allowed. */
export async function* limitBytes(body: ResponseBody, maxBytes: number): AsyncGenerator<Uint8Array, void> {
  let size = 0
  for await (const piece of body) {
    size += piece.length
    if (size > maxBytes) throw tooLarge(maxBytes)
    yield piece
  }
}

/** The error for a response over the limit. */
export const tooLarge = (maxBytes: number): GatewayError =>
  new GatewayError('too_large', `the response is larger than ${maxBytes} bytes`, {
    mayHaveRun: true,
    allowed: `${maxBytes} bytes`,
  })
