import { join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { type AppliedOperation, createApplyOperation } from './apply-operation.js'
import { BUSY_TIMEOUT, isBusy, openDatabase, type Sqlite, toStoreError } from './database.js'
import type {
  Failure,
  FromWriter,
  OperationMessage,
  OperationResult,
  Reply,
  ToWriter,
  WriterData,
} from './operations.js'

/** Ids are inserted in random order; with SQLite's default of 2 MiB, writing 50,000 agents was a third slower. */
const CACHE_KIB = 32 * 1024

/** Milliseconds between attempts to write while another process writes. */
const BUSY_RETRY_MS = 5

/** The writer thread: waiting for the disk does not block the event loop of the server. */
function runWriter({ folder, file, hurry }: WriterData, port: NonNullable<typeof parentPort>): void {
  const send = (message: FromWriter): void => port.postMessage(message)
  const failure = (error: unknown): Failure => {
    const { code, message } = toStoreError(error, folder)
    return { code, message }
  }

  let db: Sqlite
  let commit: (batch: OperationMessage[]) => Reply[]
  try {
    db = openDatabase(join(folder, file))
    db.exec(`PRAGMA cache_size = -${CACHE_KIB}`)
    // `begin` waits instead: a thread inside SQLite would keep the process from exiting.
    db.exec('PRAGMA busy_timeout = 0')
    commit = createCommit(db, failure, () => Atomics.load(hurry, 0) !== 0)
  } catch (error) {
    send({ failed: failure(error) })
    return
  }

  port.on('message', (message: ToWriter) => {
    if ('close' in message) {
      // Leaves no log for the next start to read, unless another connection still reads it.
      try {
        db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      } catch {
        // The disk is full or fails: the next start reads the log.
      }
      db.close()
      port.close()
      return
    }
    try {
      send({ replies: commit(message.batch) })
    } catch (error) {
      send({ failed: failure(error) })
    }
  })
  send({ ready: true })
}

/**
 * Runs a batch in one transaction. If an operation fails, the transaction is rolled back and each operation gets its
 * own; that is rare, and cheaper than savepoints. A conflict is a result, not a failure.
 */
function createCommit(
  db: Sqlite,
  failure: (error: unknown) => Failure,
  isHurried: () => boolean,
): (batch: OperationMessage[]) => Reply[] {
  const operations = createApplyOperation(db)

  /** Waits while another process writes. */
  const begin = (): void => {
    for (const end = performance.now() + BUSY_TIMEOUT; ; sleepSync(BUSY_RETRY_MS)) {
      try {
        db.exec('BEGIN IMMEDIATE')
        return
      } catch (error) {
        if (!isBusy(error) || isHurried() || performance.now() >= end) throw error
      }
    }
  }

  const transact = (batch: AppliedOperation[]): { results: OperationResult[] } | { error: unknown } => {
    begin()
    try {
      operations.begin()
      let results: OperationResult[]
      try {
        results = batch.map(operations.apply)
      } catch (error) {
        return { error }
      }
      db.exec('COMMIT')
      return { results }
    } finally {
      if (db.inTransaction) db.exec('ROLLBACK')
    }
  }

  return (messages) => {
    const batch = messages.map(
      ({ operation, document }): AppliedOperation => ({ operation: JSON.parse(operation), document }),
    )
    const together = transact(batch)
    if ('results' in together) return together.results.map(toReply)
    return batch.map((applied) => {
      const alone = transact([applied])
      return 'results' in alone ? toReply(alone.results[0]) : { failed: failure(alone.error) }
    })
  }
}

const sleepSync = (ms: number): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)), 0, 0, ms)
}

const toReply = (result: OperationResult | undefined): Reply => ({ result: JSON.stringify(result) })

if (!parentPort) throw new Error('writer.js runs as a worker thread only')
runWriter(workerData, parentPort)
