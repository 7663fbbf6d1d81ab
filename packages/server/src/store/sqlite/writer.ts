import { join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { createApplyOperation } from './apply-operation.js'
import { openDatabase, type Sqlite, toStoreError } from './database.js'
import type { Answer, Failure, FromWriter, Operation, Reply, ToWriter } from './operations.js'

/** Indexes of ids are written in random places; with SQLite's 2 MiB a write of 50,000 agents was a third slower. */
const CACHE_KIB = 32 * 1024

/** The thread that writes, so that waiting for the disk never holds up the event loop. */
function runWriter(folder: string, file: string, port: NonNullable<typeof parentPort>): void {
  const send = (message: FromWriter): void => port.postMessage(message)
  const failure = (error: unknown): Failure => {
    const { code, message } = toStoreError(error, folder)
    return { code, message }
  }

  let db: Sqlite
  let commit: (batch: string[]) => Reply[]
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
      // So that the next start has no log to read; without waiting for others that do.
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
 * One transaction for the batch. An operation that fails takes the transaction with it, so then each gets one of its
 * own; that is rare, and cheaper than a savepoint for each. A conflict is no failure but an answer.
 */
function createCommit(db: Sqlite, failure: (error: unknown) => Failure): (batch: string[]) => Reply[] {
  const operations = createApplyOperation(db)

  const transact = (batch: Operation[]): { answers: Answer[] } | { refused: unknown } => {
    db.exec('BEGIN IMMEDIATE')
    try {
      operations.begin()
      let answers: Answer[]
      try {
        answers = batch.map(operations.apply)
      } catch (refused) {
        return { refused }
      }
      db.exec('COMMIT')
      return { answers }
    } finally {
      if (db.inTransaction) db.exec('ROLLBACK')
    }
  }

  return (texts) => {
    const batch = texts.map((text): Operation => JSON.parse(text))
    const together = transact(batch)
    if ('answers' in together) return together.answers.map(toReply)
    return batch.map((operation) => {
      const alone = transact([operation])
      return 'answers' in alone ? toReply(alone.answers[0]) : { failed: failure(alone.refused) }
    })
  }
}

const toReply = (answer: Answer | undefined): Reply => ({ answer: JSON.stringify(answer) })

if (!parentPort) throw new Error('writer.js runs as a worker thread only')
runWriter(String(workerData.folder), String(workerData.file), parentPort)
