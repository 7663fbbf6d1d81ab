import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { EmbeddingError, reasonOf } from './embedding-error.js'
import { type EmbedRequest, type EmbedResponse, parseResponse } from './model-messages.js'

/**
 * Node runs JavaScript only: tests import this file from src, but start the built process. vitest builds first
 * (scripts/vitest-build.mjs).
 */
const PROGRAM = fileURLToPath(
  new URL(
    import.meta.url.endsWith('.ts') ? '../../dist/embedding/model-process.js' : './model-process.js',
    import.meta.url,
  ),
)

/** A child process with a loaded model. */
export interface ModelProcess {
  embed(texts: readonly string[]): Promise<readonly Float32Array[]>
  /** Lets the process finish the current text and exit. */
  close(): Promise<void>
}

/**
 * Starts a child process and waits until it has loaded the model in the folder; rejects with `model_unavailable`.
 *
 * It is a process, not a worker thread: onnxruntime-node can be loaded in one thread only, cannot be loaded again after
 * that thread has ended, and aborts the whole process if the thread ends while a model runs. A crash of the native code
 * also stays contained.
 *
 * @param onExit called when the process has exited for any reason, before pending requests are rejected
 */
export async function startModelProcess(folder: string, onExit: () => void): Promise<ModelProcess> {
  const child = fork(PROGRAM, [folder], {
    execArgv: [],
    serialization: 'advanced', // sends vectors as bytes instead of JSON
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const pending: { resolve(response: EmbedResponse): void; reject(error: Error): void }[] = []
  let exitError: Error | undefined

  const exited = new Promise<void>((resolve) => {
    const handleExit = (reason: string): void => {
      if (exitError) return
      exitError = new Error(`the model process for ${folder} has stopped: ${reason}`)
      onExit()
      for (const { reject } of pending.splice(0)) reject(exitError)
      resolve()
    }
    let channelError = ''
    child.once('exit', (code, signal) => handleExit(`${signal ?? `exit code ${code}`}${channelError}`))
    child.on('error', (error) => {
      channelError = `, ${reasonOf(error)}`
      child.kill('SIGKILL') // it ignores other signals, and may still be running without a working channel
      if (child.pid === undefined) handleExit(reasonOf(error)) // it was never started, so there is no exit event
    })
  })
  child.on('message', (message) => pending.shift()?.resolve(parseResponse(message)))

  /** Waits for the response to the latest request; responses come in order. */
  async function nextResponse(): Promise<readonly Float32Array[]> {
    if (exitError) throw exitError
    const response = await new Promise<EmbedResponse>((resolve, reject) => pending.push({ resolve, reject }))
    if (typeof response === 'string') throw new Error(response)
    return response
  }

  try {
    await nextResponse()
  } catch (error) {
    if (child.connected) child.disconnect()
    await exited
    throw new EmbeddingError('model_unavailable', reasonOf(error), { cause: error })
  }
  return {
    async embed(texts: EmbedRequest) {
      try {
        if (!exitError) child.send(texts)
        return await nextResponse()
      } catch (error) {
        throw new EmbeddingError('failed', reasonOf(error), { cause: error })
      }
    },
    async close() {
      if (child.connected) child.disconnect()
      await exited
    },
  }
}
