import { readBytes } from '@switchboard/protocol'
import { GatewayError } from '../gateway.js'

/** The body of an answer: bytes come as fast as they are taken, and no faster. */
export interface ResponseBody extends AsyncIterable<Buffer> {
  /** All of it, or `too_large`. */
  collect(maxBytes: number): Promise<Uint8Array>
  /** No more is wanted. */
  cancel(): void
  push(chunk: Buffer): void
  end(): void
  fail(error: GatewayError): void
}

interface Source {
  /** Milliseconds that nothing may come, or nothing be taken. */
  readonly silenceMs: number
  pause(): void
  resume(): void
  /** Ends the exchange, which then fails this body. */
  cancel(error: GatewayError): void
}

/** Bytes held for a reader that is slower than the agent. */
const HIGH_WATER = 64 * 1024

/** A queue between a connection and a reader. It is read once. */
export function createResponseBody({ silenceMs, pause, resume, cancel }: Source): ResponseBody {
  let chunks: Buffer[] = []
  let held = 0
  let isPaused = false
  let end: 'done' | GatewayError | undefined
  let wake: (() => void) | undefined

  const onSilence = (): void => {
    const whose = chunks.length > 0 ? 'nobody took the answer' : 'the agent fell silent within its answer'
    cancel(new GatewayError('timeout', whose, { mayHaveRun: true }))
  }
  const silence = setTimeout(onSilence, silenceMs)

  const settle = (how: 'done' | GatewayError): void => {
    end ??= how
    clearTimeout(silence)
    wake?.()
  }

  /** What has come, as one piece: many small ones would cost the reader more than they are worth. */
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
      if (piece) return piece
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
    if (end === undefined) cancel(new GatewayError('cancelled', 'the rest of the answer was not wanted'))
  }

  const body: ResponseBody = {
    push(chunk) {
      if (end !== undefined) return
      chunks.push(chunk)
      held += chunk.length
      silence.refresh()
      if (held > HIGH_WATER && !isPaused) {
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

/** The body up to the limit; the rest of a larger one is not waited for. */
export async function* limitBytes(body: ResponseBody, maxBytes: number): AsyncGenerator<Buffer, void> {
  let size = 0
  for await (const piece of body) {
    size += piece.length
    if (size > maxBytes) throw tooLarge(maxBytes)
    yield piece
  }
}

const tooLarge = (maxBytes: number): GatewayError =>
  new GatewayError('too_large', `the answer is larger than ${maxBytes} bytes`, { mayHaveRun: true })
