import { waitForTurn } from '../../turns.js'
import { GatewayError } from '../gateway.js'

/** The body of a response, with back-pressure. It can be read once; leaving the iteration early cancels it. */
export interface ResponseBody extends AsyncIterable<Uint8Array> {
  /** Reads the whole body; throws `too_large` beyond the limit. A promise only if there is something to wait for. */
  collect(maxBytes: number): Uint8Array | Promise<Uint8Array>
  /** Starts the idle timeout, if it was left to the reader. */
  limitSilence?(): void
  /** Discards the rest and closes the connection. */
  cancel(): void
}

/** The side of a body that the connection writes to. */
export interface WritableBody extends ResponseBody {
  push(chunk: Buffer): void
  end(): void
  fail(error: GatewayError): void
}

/** The connection that a body comes from. */
export interface BodySource {
  /** Idle timeout in milliseconds: no data arrived, or none was read. */
  readonly silenceMs: number
  /** The signal of the request ends it in time, so there is no idle timeout unless the reader calls `limitSilence`. */
  readonly isTimed?: boolean
  pause(): void
  resume(): void
  /** Aborts the request; it must then call `fail`. */
  cancel(error: GatewayError): void
}

/** Buffered bytes above which the source is paused. */
const HIGH_WATER_MARK = 64 * 1024

/** A queue between a connection and its reader. */
export const createResponseBody = (source: BodySource): WritableBody => new BodyQueue(source)

/** A class, because every call has one: its functions would take more memory than most responses. */
class BodyQueue implements WritableBody {
  readonly #source: BodySource
  #chunks: Buffer[] = []
  #held = 0
  #isPaused = false
  #end: 'done' | GatewayError | undefined
  #wake: (() => void) | undefined
  #silence: NodeJS.Timeout | undefined

  constructor(source: BodySource) {
    this.#source = source
    if (!source.isTimed) this.limitSilence()
  }

  limitSilence(): void {
    if (this.#end === undefined) this.#silence ??= setTimeout(onSilence, this.#source.silenceMs, this)
  }

  endSilence(): void {
    const message = this.#chunks.length > 0 ? 'the caller stopped reading the response' : 'the agent stopped sending'
    this.#source.cancel(new GatewayError('timeout', message, { mayHaveRun: true }))
  }

  push(chunk: Buffer): void {
    if (this.#end !== undefined) return
    this.#chunks.push(chunk)
    this.#held += chunk.length
    this.#silence?.refresh()
    if (this.#held > HIGH_WATER_MARK && !this.#isPaused) {
      this.#isPaused = true
      this.#source.pause()
    }
    this.#wake?.()
  }

  end(): void {
    this.#settle('done')
  }

  fail(error: GatewayError): void {
    this.#drop()
    this.#settle(error)
  }

  cancel(): void {
    this.#drop()
    if (this.#end === undefined)
      this.#source.cancel(new GatewayError('cancelled', 'the rest of the response is not needed'))
  }

  collect(maxBytes: number): Uint8Array | Promise<Uint8Array> {
    // Most responses are short, and have arrived with their headers.
    const isHere = this.#end === 'done' && this.#held <= maxBytes
    return isHere && !waitForTurn() ? (this.#take() ?? Buffer.alloc(0)) : this.#collectLater(maxBytes)
  }

  async #collectLater(maxBytes: number): Promise<Uint8Array> {
    const pieces: Buffer[] = []
    let size = 0
    for (;;) {
      const piece = this.#take()
      if (piece) {
        size += piece.length
        if (size > maxBytes) {
          this.cancel()
          throw tooLarge(maxBytes)
        }
        pieces.push(piece)
      } else if (this.#end === undefined) await this.#change()
      else if (this.#end === 'done') break
      else throw this.#end
    }
    // Its reader parses it.
    const turn = waitForTurn()
    if (turn) await turn
    const [first] = pieces
    return first && pieces.length === 1 ? first : Buffer.concat(pieces, size)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const piece = this.#take()
        if (piece) {
          // Its reader parses it, checks it and sends it on.
          const turn = waitForTurn()
          if (turn) await turn
          yield piece
        } else if (this.#end === undefined) await this.#change()
        else if (this.#end === 'done') return
        else throw this.#end
      }
    } finally {
      this.cancel()
    }
  }

  /** Everything that is buffered, as one chunk: many small ones are more expensive to read. */
  #take(): Buffer | undefined {
    const [first] = this.#chunks
    if (!first) return undefined
    const piece = this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks, this.#held)
    this.#drop()
    if (this.#end !== undefined) return piece
    this.#silence?.refresh()
    if (this.#isPaused) {
      this.#isPaused = false
      this.#source.resume()
    }
    return piece
  }

  /** Waits until there is data, or the end. */
  async #change(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    this.#wake = undefined
  }

  #drop(): void {
    this.#chunks = []
    this.#held = 0
  }

  #settle(result: 'done' | GatewayError): void {
    this.#end ??= result
    clearTimeout(this.#silence)
    this.#wake?.()
  }
}

const onSilence = (body: BodyQueue): void => body.endSilence()

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
