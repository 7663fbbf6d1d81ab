import type { CheckedAgent } from '../abuse/abuse-checks.js'
import type { AbuseFinding } from '../abuse/abuse-finding.js'
import { type SearchThread, sharedThread } from './start-search-thread.js'

/** `AbuseChecks` in the search thread: a large document takes many milliseconds. */
export interface ThreadChecks {
  /** @throws {SearchError} if the thread has stopped */
  check(number: number, agent: CheckedAgent): Promise<readonly AbuseFinding[]>
  remove(number: number): void
  /** Called when everything was lost: all agents must be checked again. */
  onLost(listener: () => void): void
  close(): void
}

/** Creates checks that know no agents. Default `thread`: the one that all of the process share. */
export function createThreadChecks(thread: SearchThread = sharedThread()): ThreadChecks {
  const listeners: (() => void)[] = []
  const index = thread.open({
    lost() {
      index.change({ kind: 'openChecks' })
      for (const listener of listeners) listener()
    },
    problem() {},
  })
  index.change({ kind: 'openChecks' })
  return {
    check: async (number, agent) => (await index.request('check', { number, agent })).result,
    remove: (number) => index.change({ kind: 'forget', number }),
    onLost: (listener) => void listeners.push(listener),
    close: index.close,
  }
}
