import { Worker } from 'node:worker_threads'
import { createGroupCommit } from '../group-commit.js'
import { reasonOf, StoreError } from '../store-error.js'
import type { FromWriter, OperationMessage, Operations, Reply, ToWriter } from './operations.js'

/** Operations in one transaction: enough to share an fsync, few enough that the last does not wait long. */
const MAX_BATCH = 512

/** The next batch is sent while one is being written, so that the thread never waits for this one. */
const LANES = 2

/** Milliseconds that a write waits for another process's lock after the store was closed. */
const CLOSE_WAIT_MS = 500

/**
 * A thread runs JavaScript only: tests import this file from src, but start the built thread. vitest builds first
 * (scripts/vitest-build.mjs).
 */
const WRITER = new URL(
  import.meta.url.endsWith('.ts') ? '../../../dist/store/sqlite/writer.js' : './writer.js',
  import.meta.url,
)

export interface Writer {
  /** Resolves when the operation is durable. */
  run<Kind extends keyof Operations>(
    kind: Kind,
    params: Operations[Kind]['params'],
    document?: string,
  ): Promise<Operations[Kind]['result']>
  /** Finishes pending operations, then ends the thread. */
  close(): Promise<void>
}

/** Starts the thread that writes to `file` in `folder`; rejects if it cannot open the file. */
export async function startWriter(folder: string, file: string): Promise<Writer> {
  // Flags of the embedding program, such as --input-type, must not apply to the worker.
  const hurry = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  const worker = new Worker(WRITER, { workerData: { folder, file, hurry }, execArgv: [] })
  const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  let dead: StoreError | undefined
  const pending: { resolve(message: FromWriter): void; reject(error: StoreError): void }[] = []

  const die = (reason: string): void => {
    dead ??= new StoreError('unavailable', `the writer thread of the store in ${folder} has stopped: ${reason}`)
    for (const { reject } of pending.splice(0)) reject(dead)
  }
  worker.on('message', (message: FromWriter) => pending.shift()?.resolve(message))
  worker.on('messageerror', (error) => die(reasonOf(error)))
  worker.on('error', (error) => die(reasonOf(error)))
  worker.on('exit', (code) => die(`exit code ${code}`))

  /** The thread replies to each message once, in order. */
  const nextReply = async (): Promise<FromWriter> => {
    if (dead) throw dead
    const message = await new Promise<FromWriter>((resolve, reject) => {
      pending.push({ resolve, reject })
    })
    if ('failed' in message) throw new StoreError(message.failed.code, message.failed.message)
    return message
  }
  const send = (message: ToWriter): void => worker.postMessage(message)

  const group = createGroupCommit<OperationMessage, string>({
    lanes: LANES,
    maxBatch: MAX_BATCH,
    async commit(batch) {
      send({ batch })
      const message = await nextReply()
      return 'replies' in message ? message.replies.map(toResult) : []
    },
  })

  try {
    await nextReply()
  } catch (error) {
    await exited
    throw error
  }
  return {
    async run(kind, params, document) {
      const operation = JSON.stringify({ kind, ...params })
      return JSON.parse(await group.add({ operation, ...(document !== undefined && { document }) }))
    },
    async close() {
      const timer = setTimeout(() => Atomics.store(hurry, 0, 1), CLOSE_WAIT_MS)
      await group.close()
      clearTimeout(timer)
      if (!dead) send({ close: true })
      await exited
    },
  }
}

const toResult = (reply: Reply): PromiseSettledResult<string> =>
  'result' in reply
    ? { status: 'fulfilled', value: reply.result }
    : { status: 'rejected', reason: new StoreError(reply.failed.code, reply.failed.message) }
