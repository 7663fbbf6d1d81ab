import type { Deadline } from '../deadline.js'

/** An unbounded queue between a sender and one reader that reports how much is waiting, for backpressure. */
export class FrameQueue<Item> {
  readonly #items: { readonly item: Item; readonly size: number }[] = []
  readonly #onDrain: () => void
  #end: { readonly error?: unknown } | undefined
  #wake: (() => void) | undefined
  #waiting = 0

  constructor(onDrain: () => void = () => {}) {
    this.#onDrain = onDrain
  }

  /** Characters that have not been read yet. */
  get waiting(): number {
    return this.#waiting
  }

  push(item: Item, size: number): void {
    if (this.#end) return
    this.#items.push({ item, size })
    this.#waiting += size
    this.#wake?.()
  }

  /** Ends the queue; an error is thrown to the reader after the items before it. */
  end(error?: unknown): void {
    if (this.#end) return
    this.#end = error === undefined ? {} : { error }
    this.#wake?.()
  }

  /** The next item; undefined at the end. One reader at a time. */
  async next(deadline: Deadline): Promise<Item | undefined> {
    for (;;) {
      deadline.check()
      const first = this.#items.shift()
      if (first) {
        this.#waiting -= first.size
        this.#onDrain()
        return first.item
      }
      if (this.#end) {
        if ('error' in this.#end) throw this.#end.error
        return undefined
      }
      await deadline.race(
        new Promise<void>((resolve) => {
          this.#wake = resolve
        }),
      )
    }
  }
}
