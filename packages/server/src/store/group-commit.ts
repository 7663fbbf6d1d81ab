import { StoreError } from './store-error.js'

export interface GroupCommit<Item, Result> {
  /** Settles as the item's own part of its batch did; with the error of `commit` if the whole batch failed. */
  add(item: Item): Promise<Result>
  /** Takes no more items, and resolves when those taken are settled. */
  close(): Promise<void>
}

export interface GroupCommitOptions<Item, Result> {
  /** Makes a batch durable; one result for each item, in their order. */
  commit(batch: Item[]): Promise<PromiseSettledResult<Result>[]>
  /** Batches under way at once. */
  lanes: number
  maxBatch: number
  /** Items of one key run one after another, in the order they came, and never in one batch. */
  keyOf?(item: Item): string
}

/** A batch smaller than this is not split between lanes: it would cost more in fsyncs than it wins. */
const WORTH_SPLITTING = 16

interface Waiting<Item, Result> {
  item: Item
  key: string | undefined
  resolve(result: Result): void
  reject(error: unknown): void
}

/**
 * An fsync costs the same for one write as for a hundred: while a batch commits, the next one gathers. Nothing waits
 * for company; a lone write goes at once.
 */
export function createGroupCommit<Item, Result>(options: GroupCommitOptions<Item, Result>): GroupCommit<Item, Result> {
  let waiting: Waiting<Item, Result>[] = []
  const busyKeys = new Set<string>()
  let busyLanes = 0
  let scheduled = false
  let closed = false
  let settleClose: (() => void) | undefined

  /** A fair share for each lane that is free: callers that wait for each other's answers would else use only one. */
  const take = (): Waiting<Item, Result>[] => {
    const share = Math.ceil(waiting.length / (options.lanes - busyLanes))
    const size = Math.min(options.maxBatch, Math.max(share, WORTH_SPLITTING))
    const batch: Waiting<Item, Result>[] = []
    const passedOver: Waiting<Item, Result>[] = []
    let looked = 0
    for (const entry of waiting) {
      if (batch.length === size) break
      looked++
      if (entry.key !== undefined && busyKeys.has(entry.key)) {
        passedOver.push(entry)
        continue
      }
      if (entry.key !== undefined) busyKeys.add(entry.key)
      batch.push(entry)
    }
    waiting = [...passedOver, ...waiting.slice(looked)]
    return batch
  }

  const run = async (batch: Waiting<Item, Result>[]): Promise<void> => {
    try {
      const results = await options.commit(batch.map((entry) => entry.item))
      batch.forEach((entry, i) => {
        const result = results[i]
        if (result?.status === 'fulfilled') entry.resolve(result.value)
        else entry.reject(result ? result.reason : new StoreError('unavailable', 'a write got no answer'))
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
        // After the caller's turn, so that writes made in one go share a batch.
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
