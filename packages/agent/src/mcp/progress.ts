import type { JsonValue, TaskProgress } from '@switchboard/protocol'

/** A progress notification of MCP. */
export interface ProgressNotification {
  readonly method: 'notifications/progress'
  readonly params: { progressToken: string | number; progress: number; total?: number; message?: string }
}

/** Reports parts of the output, and what the handler says about its progress, to a client that wants to know. */
export function createProgress(
  progressToken: string | number | undefined,
  notify: (notification: ProgressNotification) => Promise<void>,
) {
  let parts = 0
  let fraction = -1
  let last = Promise.resolve()
  const send = (params: Omit<ProgressNotification['params'], 'progressToken'>): Promise<void> => {
    if (progressToken === undefined) return last
    const notification = { method: 'notifications/progress', params: { progressToken, ...params } } as const
    // A client that has gone away gets no result either.
    last = last.then(() => notify(notification)).catch(() => {})
    return last
  }
  return {
    onPart: (part: JsonValue): Promise<void> =>
      send({ progress: ++parts, message: typeof part === 'string' ? part : JSON.stringify(part) }),
    onProgress: (progress: TaskProgress): void => {
      // Progress must grow, and parts have their own numbers.
      if (parts > 0 || progress.fraction <= fraction) return
      fraction = progress.fraction
      const { message } = progress
      void send({ progress: fraction, total: 1, ...(message !== undefined && { message }) })
    },
    /** Resolves when everything has been sent. */
    sent: (): Promise<void> => last,
  }
}
