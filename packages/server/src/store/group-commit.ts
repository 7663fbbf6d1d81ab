import { StoreError } from './store-error.js'

export interface GroupCommit<Item, Result> {
  /** Settles with the item's own result, or rejects with the error of `commit` if the whole batch failed. */
  add(item: Item): Promise<Result>
  /** Rejects further items; resolves when all pending ones are settled. */
  close(): Promise<void>
}

export interface GroupCommitOptions<Item, Result> {
  /** Makes a batch durable; returns one result for each item, in order. */
  commit(batch: Item[]): Promise<PromiseSettledResult<Result>[]>
  /** Concurrent batches. */
  lanes: number
  maxBatch: number
  /** Items with the same key run one after another, in order, and never in the same batch. */
  keyOf?(item: Item): string
}

/** Smaller batches are not split between lanes: the extra fsync would cost more than it gains. */
const MIN_SPLIT = 16

interface Waiting<Item, Result> {
  item: Item
  key: string | undefined
  resolve(result: Result): void
  reject(error: unknown): void
}

/**
 * An fsync costs the same for one write as for a hundred: while a batch commits, the next one is collected. A single
 * write is committed without delay.
 */
export function createGroupCommit<Item, Result>(options: GroupCommitOptions<Item, Result>): GroupCommit<Item, Result> {
  let waiting: Waiting<Item, Result>[] = []
  const busyKeys = new Set<string>()
  let busyLanes = 0
  let scheduled = false
  let closed = false
  let settleClose: (() => void) | undefined

  /** Each free lane gets a fair share; otherwise callers that wait for results before they send more would use only one. */
  const take = (): Waiting<Item, Result>[] => {
    const share = Math.ceil(waiting.length / (options.lanes - busyLanes))
    const size = Math.min(options.maxBatch, Math.max(share, MIN_SPLIT))
    const batch: Waiting<Item, Result>[] = []
    const skipped: Waiting<Item, Result>[] = []
    let examined = 0
    for (const entry of waiting) {
      if (batch.length === size) break
      examined++
      if (entry.key !== undefined && busyKeys.has(entry.key)) {
        skipped.push(entry)
        continue
      }
      if (entry.key !== undefined) busyKeys.add(entry.key)
      batch.push(entry)
    }
    waiting = [...skipped, ...waiting.slice(examined)]
    return batch
  }

  const run = async (batch: Waiting<Item, Result>[]): Promise<void> => {
    try {
      const results = await options.commit(batch.map((entry) => entry.item))
      batch.forEach((entry, i) => {
        const result = results[i]
        if (result?.status === 'fulfilled') entry.resolve(result.value)
        else
          entry.reject(
            result ? result.reason : new StoreError('unavailable', 'the batch returned no result for a write'),
          )
      })
    } catch (error) {
      for (const entry of batch) entry.reject(error)
    }
    for (const { key } of batch) if (key !== undefined) busyKeys.delete(key)
    busyLanes--
    start()
  }

  const start = (): void => {
    scheduled = false
    while (busyLanes < options.lanes && waiting.length > 0) {
      const batch = take()
      if (batch.length === 0) break
      busyLanes++
      void run(batch)
    }
    if (busyLanes === 0 && waiting.length === 0) settleClose?.()
  }

  return {
    add(item) {
      if (closed) return Promise.reject(new StoreError('closed', 'the store is closed'))
      return new Promise((resolve, reject) => {
        waiting.push({ item, key: options.keyOf?.(item), resolve, reject })
        if (scheduled) return
        // In a microtask, so that writes made in the same tick share a batch.
        scheduled = true
        queueMicrotask(start)
      })
    },
    close() {
      closed = true
      return new Promise((resolve) => {
        settleClose = resolve
        start()
      })
    },
  }
}
