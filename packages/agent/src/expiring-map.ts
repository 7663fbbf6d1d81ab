interface Entry<T> {
  readonly value: T
  readonly size: number
  readonly expiresAt: number
}

export interface ExpiringMapOptions<T> {
  readonly now: () => number
  /** Entries at once. */
  readonly max: number
  /** False for what must stay while it has not expired. */
  readonly mayGo?: (value: T) => boolean
  /** What an entry takes of `maxSize`; nothing unless told. */
  readonly sizeOf?: (value: T) => number
  readonly maxSize?: number
}

/** A map that forgets: what has expired, and what was set longest ago where there is no more room. */
export class ExpiringMap<T> {
  readonly #entries = new Map<string, Entry<T>>()
  readonly #options: Required<ExpiringMapOptions<T>>
  #size = 0

  constructor(options: ExpiringMapOptions<T>) {
    this.#options = { mayGo: () => true, sizeOf: () => 0, maxSize: Number.POSITIVE_INFINITY, ...options }
  }

  get(key: string): T | undefined {
    const entry = this.#entries.get(key)
    if (entry && entry.expiresAt > this.#options.now()) return entry.value
    this.delete(key)
    return undefined
  }

  /** False if there is no room, because nothing may go; what was there under the key is gone then, too. */
  set(key: string, value: T, lifetimeMs: number): boolean {
    const { now, max, maxSize, sizeOf } = this.#options
    this.delete(key)
    const size = sizeOf(value)
    if (size > maxSize) return false
    while (this.#entries.size >= max || this.#size + size > maxSize) if (!this.#makeRoom()) return false
    this.#entries.set(key, { value, size, expiresAt: now() + lifetimeMs })
    this.#size += size
    return true
  }

  delete(key: string): void {
    this.#size -= this.#entries.get(key)?.size ?? 0
    this.#entries.delete(key)
  }

  *values(): Generator<T> {
    const now = this.#options.now()
    for (const { value, expiresAt } of this.#entries.values()) if (expiresAt > now) yield value
  }

  #makeRoom(): boolean {
    const { now, mayGo } = this.#options
    const time = now()
    let oldest: string | undefined
    for (const [key, { value, expiresAt }] of this.#entries) {
      if (expiresAt <= time) {
        this.delete(key)
        return true
      }
      if (oldest === undefined && mayGo(value)) oldest = key
    }
    if (oldest === undefined) return false
    this.delete(oldest)
    return true
  }
}
