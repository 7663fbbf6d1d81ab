import { GatewayError } from '../../gateway.js'
import { reasonOf } from '../../http/send-request.js'

/** Gives work of our own a signal that ends it after that many milliseconds. */
export async function withTimeLimit<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const timer = setTimeout(() => {
    controller.abort(new GatewayError('timeout', `the agent did not answer within ${ms} ms`, { mayHaveRun: true }))
  }, ms)
  try {
    return await work(controller.signal)
  } finally {
    clearTimeout(timer)
  }
}

/** The result of work that others wait for too, unless the signal ends this wait; the work itself goes on. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop = (): void => {}
  const ended = new Promise<never>((_, reject) => {
    stop = () => reject(reasonOf(signal, false))
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([work, ended])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
