import type { JsonObject } from '@switchboard/protocol'
import { LRUCache } from 'lru-cache'

/** The task of an answer that is streamed. */
export interface StreamedTask {
  /** The only caller that can read and cancel it. */
  readonly owner: string
  /** The task as it is now, as A2A 1.0 writes it. */
  document: JsonObject
  /** Stops the call; undefined if it has ended. */
  cancel: (() => void) | undefined
}

/**
 * The tasks of streamed answers, which live in the process that streams them: their callers have the connection to it. Once
 * a stream has ended, its task can be read for a while.
 */
export interface StreamedTasks {
  add(id: string, task: StreamedTask): void
  end(id: string): void
  get(id: string, owner: string): StreamedTask | undefined
}

/** Milliseconds for which an ended task is kept, and characters of all of them. */
const KEPT_MS = 600_000
const KEPT_SIZE = 16 << 20

export function createStreamedTasks(): StreamedTasks {
  // No more than there are calls in progress, which the gateway limits.
  const running = new Map<string, StreamedTask>()
  const ended = new LRUCache<string, StreamedTask>({
    ttl: KEPT_MS,
    maxSize: KEPT_SIZE,
    maxEntrySize: KEPT_SIZE / 16,
    sizeCalculation: ({ document }) => JSON.stringify(document).length,
  })
  return {
    add(id, task) {
      running.set(id, task)
    },
    end(id) {
      const task = running.get(id)
      running.delete(id)
      if (task) ended.set(id, Object.assign(task, { cancel: undefined }))
    },
    get(id, owner) {
      const task = running.get(id) ?? ended.get(id)
      return task?.owner === owner ? task : undefined
    },
  }
}
