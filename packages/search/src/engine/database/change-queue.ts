import { setTimeout as pause } from 'node:timers/promises'
import { SearchError } from '../search-error.js'
import type { ModelVectors, TextRow, TextTables } from './text-tables.js'

/** Changes of one kind that are written at once, and their vectors: those take the most time. */
const MAX_BATCH = 64
const MAX_VECTORS = 1000
/** Milliseconds until changes that could not be written are tried again. */
const RETRY_MS = 1000

export type TableChange =
  | { readonly kind: 'put'; readonly number: number; readonly row: TextRow }
  | { readonly kind: 'remove'; readonly number: number }
  | { readonly kind: 'setDimensions'; readonly dimensions: number; readonly model: string | undefined }
  | { readonly kind: 'putVectors'; readonly number: number; readonly vectors: ModelVectors }
  | { readonly kind: 'removeVectors'; readonly number: number }

/** Writes changes to the tables, in their order. */
export interface ChangeQueue {
  add(change: TableChange): void
  /** Resolves when all changes until now are written; rejects if the database fails meanwhile. */
  settled(): Promise<void>
  /** Finishes the batch that is being written. What is left is put again after the next start. */
  close(): Promise<void>
}

export interface ChangeQueueOptions {
  readonly tables: TextTables
  /** These rows are stored now. */
  readonly onPut: (rows: readonly TextRow[]) => Promise<void>
  /** A change that the database refuses. */
  readonly onProblem: (message: string) => void
}

export function createChangeQueue({ tables, onPut, onProblem }: ChangeQueueOptions): ChangeQueue {
  const waiting: TableChange[] = []
  let [added, written] = [0, 0]
  /** Halved after a failure: a batch may have taken too long. */
  let mostChanges = MAX_BATCH
  let running: Promise<void> | undefined
  let isClosed = false
  const waiters: { after: number; resolve(): void; reject(error: unknown): void }[] = []

  const apply = async (batch: readonly TableChange[]): Promise<void> => {
    const last = new Map(batch.map((change) => ['number' in change ? change.number : -1, change]))
    const changes = [...last.values()]
    const numbers = [...last.keys()]
    switch (changes[0]?.kind) {
      case 'put': {
        const rows = changes.flatMap((change) => (change.kind === 'put' ? change.row : []))
        await tables.put(rows)
        await onPut(rows)
        break
      }
      case 'remove':
        await tables.remove(numbers)
        break
      case 'setDimensions':
        for (const change of changes)
          if (change.kind === 'setDimensions') await tables.setDimensions(change.dimensions, change.model)
        break
      case 'putVectors':
        await tables.putVectors(changes.flatMap((change) => (change.kind === 'putVectors' ? change.vectors : [])))
        break
      case 'removeVectors':
        await tables.removeVectors(numbers)
        break
    }
  }

  /** One by one, if the database refuses one of them. */
  const applySafely = async (batch: readonly TableChange[]): Promise<void> => {
    try {
      await apply(batch)
    } catch (error) {
      if (!isInvalid(error)) throw error
      if (batch.length > 1) for (const change of batch) await applySafely([change])
      else onProblem(`${batch[0]?.kind}: ${String(error)}`)
    }
  }

  const settle = (): void => {
    while (waiters[0] && waiters[0].after <= written) waiters.shift()?.resolve()
  }

  const run = async (): Promise<void> => {
    while (waiting.length > 0 && !isClosed) {
      const batch = nextBatch(waiting, mostChanges)
      try {
        await applySafely(batch)
        waiting.splice(0, batch.length)
        written += batch.length
        mostChanges = MAX_BATCH
        settle()
      } catch (error) {
        mostChanges = Math.max(1, Math.floor(batch.length / 2))
        for (const { reject } of waiters.splice(0)) reject(error)
        if (isClosed) return
        await pause(RETRY_MS, undefined, { ref: false })
      }
    }
    running = undefined
  }

  return {
    add(change) {
      waiting.push(change)
      added++
      running ??= run()
    },
    settled: () =>
      written === added
        ? Promise.resolve()
        : new Promise((resolve, reject) => waiters.push({ after: added, resolve, reject })),
    async close() {
      isClosed = true
      await running
      for (const { reject } of waiters.splice(0)) reject(new SearchError('unavailable', 'the text index is closed'))
    },
  }
}

/** The first changes of one kind. */
function nextBatch(waiting: readonly TableChange[], most: number): readonly TableChange[] {
  const kind = waiting[0]?.kind
  let vectors = 0
  const end = waiting.findIndex((change, i) => {
    vectors += vectorsOf(change)
    return i > 0 && (change.kind !== kind || i === most || vectors > MAX_VECTORS)
  })
  return waiting.slice(0, end < 0 ? waiting.length : end)
}

function vectorsOf(change: TableChange): number {
  if (change.kind === 'put') return change.row.vectors.length
  return change.kind === 'putVectors' ? change.vectors.codes.length : 0
}

const isInvalid = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'invalid'
