import { join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { type AppliedOperation, createApplyOperation } from './apply-operation.js'
import { openDatabase, type Sqlite, toStoreError } from './database.js'
import type { Failure, FromWriter, OperationMessage, OperationResult, Reply, ToWriter } from './operations.js'

/** Ids are inserted in random order; with SQLite's default of 2 MiB, writing 50,000 agents was a third slower. */
const CACHE_KIB = 32 * 1024

/** The writer thread: waiting for the disk does not block the event loop of the server. */
function runWriter(folder: string, file: string, port: NonNullable<typeof parentPort>): void {
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
    commit = createCommit(db, failure)
  } catch (error) {
    send({ failed: failure(error) })
    return
  }

  port.on('message', (message: ToWriter) => {
    if ('close' in message) {
      // Leaves no log for the next start to read, unless another connection still reads it.
      db.exec('PRAGMA busy_timeout = 0')
      db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
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
function createCommit(db: Sqlite, failure: (error: unknown) => Failure): (batch: OperationMessage[]) => Reply[] {
  const operations = createApplyOperation(db)

  const transact = (batch: AppliedOperation[]): { results: OperationResult[] } | { error: unknown } => {
    db.exec('BEGIN IMMEDIATE')
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

const toReply = (result: OperationResult | undefined): Reply => ({ result: JSON.stringify(result) })

if (!parentPort) throw new Error('writer.js runs as a worker thread only')
runWriter(String(workerData.folder), String(workerData.file), parentPort)
