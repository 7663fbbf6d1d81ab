interface Entry<T> {
  readonly value: T
  readonly size: number
  readonly expiresAt: number
}

export interface ExpiringMapOptions<T> {
  /** Milliseconds of the monotonic clock. */
  readonly monotonic: () => number
  /** Maximum number of entries. */
  readonly max: number
  /** False for entries that must stay until they expire. */
  readonly isEvictable?: (value: T) => boolean
  /** How much of `maxSize` an entry takes. Default: nothing. */
  readonly sizeOf?: (value: T) => number
  readonly maxSize?: number
}

/** A map whose entries expire; when it is full, the oldest are evicted. */
export class ExpiringMap<T> {
  readonly #entries = new Map<string, Entry<T>>()
  readonly #options: Required<ExpiringMapOptions<T>>
  #size = 0

  constructor(options: ExpiringMapOptions<T>) {
    this.#options = { isEvictable: () => true, sizeOf: () => 0, maxSize: Number.POSITIVE_INFINITY, ...options }
  }

  get(key: string): T | undefined {
    const entry = this.#entries.get(key)
    if (entry && entry.expiresAt > this.#options.monotonic()) return entry.value
    this.delete(key)
    return undefined
  }

  /** False if nothing can be evicted to make room; the previous entry of the key is deleted in any case. */
  set(key: string, value: T, lifetimeMs: number): boolean {
    const { monotonic, max, maxSize, sizeOf } = this.#options
    this.delete(key)
    const size = sizeOf(value)
    if (size > maxSize) return false
    while (this.#entries.size >= max || this.#size + size > maxSize) if (!this.#evict()) return false
    this.#entries.set(key, { value, size, expiresAt: monotonic() + lifetimeMs })
    this.#size += size
    return true
  }

  delete(key: string): void {
    this.#size -= this.#entries.get(key)?.size ?? 0
    this.#entries.delete(key)
  }

  *values(): Generator<T> {
    const time = this.#options.monotonic()
    for (const { value, expiresAt } of this.#entries.values()) if (expiresAt > time) yield value
  }

  #evict(): boolean {
    const { monotonic, isEvictable } = this.#options
    const time = monotonic()
    let oldest: string | undefined
    for (const [key, { value, expiresAt }] of this.#entries) {
      if (expiresAt <= time) {
        this.delete(key)
        return true
      }
      if (oldest === undefined && isEvictable(value)) oldest = key
    }
    if (oldest === undefined) return false
    this.delete(oldest)
    return true
  }
}
