import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { EmbeddingError, reasonOf } from './embedding-error.js'
import { type Answer, type Question, toAnswer } from './model-messages.js'

/**
 * Node runs JavaScript. When tests import the source through vitest, import.meta.url is that of
 * src/embedding/start-model-process.ts; the process then runs the built file, so tests run after `tsc -b`.
 */
const PROGRAM = fileURLToPath(
  new URL(
    import.meta.url.endsWith('.ts') ? '../../dist/embedding/model-process.js' : './model-process.js',
    import.meta.url,
  ),
)

/** A process with a model in it. */
export interface ModelProcess {
  embed(texts: readonly string[]): Promise<readonly Float32Array[]>
  /** Lets it finish the text that it is at, and end. */
  close(): Promise<void>
}

/**
 * Starts a process and waits until it has loaded the model in the folder; rejects with `model_unavailable`.
 *
 * A process and not a thread: onnxruntime-node can be loaded in one thread only, cannot be loaded again when that has
 * ended, and aborts everything if that is ended while a model runs. And if the native code fails, so does only this.
 *
 * @param onEnd called when it has ended, for whatever reason, and before what it was at is rejected
 */
export async function startModelProcess(folder: string, onEnd: () => void): Promise<ModelProcess> {
  const child = fork(PROGRAM, [folder], {
    execArgv: [],
    serialization: 'advanced', // vectors cross as bytes, not as digits
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const pending: { resolve(answer: Answer): void; reject(error: Error): void }[] = []
  let stopped: Error | undefined

  const ended = new Promise<void>((resolve) => {
    const end = (reason: string): void => {
      if (stopped) return
      stopped = new Error(`the process of the model in ${folder} has stopped: ${reason}`)
      onEnd()
      for (const { reject } of pending.splice(0)) reject(stopped)
      resolve()
    }
    let trouble = ''
    child.once('exit', (code, signal) => end(`${signal ?? `exit code ${code}`}${trouble}`))
    child.on('error', (error) => {
      trouble = `, ${reasonOf(error)}`
      child.kill('SIGKILL') // it does not heed others; it may run still, and not be reached
      if (child.pid === undefined) end(reasonOf(error)) // never started, so it will not exit either
    })
  })
  child.on('message', (message) => pending.shift()?.resolve(toAnswer(message)))

  /** The process answers each question, in their order. */
  async function answered(): Promise<readonly Float32Array[]> {
    if (stopped) throw stopped
    const answer = await new Promise<Answer>((resolve, reject) => pending.push({ resolve, reject }))
    if (typeof answer === 'string') throw new Error(answer)
    return answer
  }

  try {
    await answered()
  } catch (error) {
    if (child.connected) child.disconnect()
    await ended
    throw new EmbeddingError('model_unavailable', reasonOf(error), { cause: error })
  }
  return {
    async embed(texts: Question) {
      try {
        if (!stopped) child.send(texts)
        return await answered()
      } catch (error) {
        throw new EmbeddingError('failed', reasonOf(error), { cause: error })
      }
    },
    async close() {
      if (child.connected) child.disconnect()
      await ended
    },
  }
}
