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

/** Milliseconds that the process has to exit when it is closed; then it is killed. */
const CLOSE_MS = 1000
/** How often a process is checked before it counts as frozen; one late check, of a busy parent, is not enough. */
const CHECKS = 4

/** A child process with a loaded model. */
export interface ModelProcess {
  embed(texts: readonly string[]): Promise<readonly Float32Array[]>
  /** Lets the process finish the current text and exit; kills it if it does not. */
  close(): Promise<void>
}

export interface ModelProcessOptions {
  /** Called when the process has exited for any reason, before pending requests are rejected. */
  readonly onExit: () => void
  /** Called when the process has been started, with its id; what it throws is ignored. */
  readonly onSpawn?: (pid: number) => void
  /** Milliseconds without a response, while there are requests, after which the process is killed. */
  readonly frozenMs: number
  /** The same while the model is being loaded. */
  readonly loadMs: number
  /** Kills the process if it is aborted before the model is loaded. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Starts a child process and waits until it has loaded the model in the folder; rejects with `model_unavailable`.
 *
 * It is a process, not a worker thread: onnxruntime-node can be loaded in one thread only, cannot be loaded again after
 * that thread has ended, and aborts the whole process if the thread ends while a model runs. A crash of the native code
 * also stays contained, and a process that is frozen can be killed.
 */
export async function startModelProcess(folder: string, options: ModelProcessOptions): Promise<ModelProcess> {
  const { onExit, onSpawn, frozenMs, loadMs, signal } = options
  const child = fork(PROGRAM, [folder], {
    execArgv: [],
    serialization: 'advanced', // sends vectors as bytes instead of JSON
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  try {
    if (child.pid !== undefined) onSpawn?.(child.pid)
  } catch {
    // It works without.
  }
  const pending: { resolve(response: EmbedResponse): void; reject(error: Error): void }[] = []
  let exitError: EmbeddingError | undefined
  let killedFor: string | undefined
  let timer: NodeJS.Timeout | undefined

  const kill = (reason: string): void => {
    killedFor ??= reason
    child.kill('SIGKILL') // it ignores other signals
  }

  const exited = new Promise<void>((resolve) => {
    const handleExit = (reason: string): void => {
      if (exitError) return
      clearTimeout(timer)
      const code = killedFor === undefined ? 'failed' : 'timeout'
      exitError = new EmbeddingError(code, `the model process for ${folder} has stopped: ${killedFor ?? reason}`)
      onExit()
      for (const { reject } of pending.splice(0)) reject(exitError)
      resolve()
    }
    let channelError = ''
    child.once('exit', (code, exitSignal) => handleExit(`${exitSignal ?? `exit code ${code}`}${channelError}`))
    child.on('error', (error) => {
      channelError = `, ${reasonOf(error)}`
      child.kill('SIGKILL') // it may still be running without a working channel
      if (child.pid === undefined) handleExit(reasonOf(error)) // it was never started, so there is no exit event
    })
  })

  /** Kills the process after `CHECKS` checks without a response; runs while there are requests. */
  const watch = (ms: number, checks = 1): void => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      if (checks === CHECKS) kill(`no response within ${ms} ms`)
      else watch(ms, checks + 1)
    }, ms / CHECKS)
  }
  child.on('message', (message) => {
    clearTimeout(timer)
    pending.shift()?.resolve(parseResponse(message))
    if (pending.length > 0) watch(frozenMs)
  })

  /** Waits for the response to the latest request; responses come in order. */
  async function nextResponse(timeoutMs: number): Promise<readonly Float32Array[]> {
    if (exitError) throw exitError
    if (pending.length === 0) watch(timeoutMs)
    const response = await new Promise<EmbedResponse>((resolve, reject) => pending.push({ resolve, reject }))
    if (typeof response === 'string') throw new EmbeddingError('failed', response)
    return response
  }

  const abort = (): void => kill('it was closed')
  if (signal?.aborted) abort()
  signal?.addEventListener('abort', abort)
  try {
    await nextResponse(loadMs)
  } catch (error) {
    if (child.connected) child.disconnect()
    await exited
    throw new EmbeddingError('model_unavailable', reasonOf(error), { cause: error })
  } finally {
    signal?.removeEventListener('abort', abort)
  }
  return {
    async embed(texts: EmbedRequest) {
      if (exitError) throw exitError
      if (!child.connected) throw new EmbeddingError('failed', `the model process for ${folder} is stopping`)
      child.send(texts)
      return nextResponse(frozenMs)
    },
    async close() {
      if (child.connected) child.disconnect()
      const late = setTimeout(() => kill('it did not exit when it was closed'), CLOSE_MS)
      await exited
      clearTimeout(late)
    },
  }
}
