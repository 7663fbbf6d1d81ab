import { randomBytes } from 'node:crypto'
import { DirectoryError, invalid } from '@switchboard/protocol'

/** Milliseconds that a request waits until this replica has caught up. */
const MAX_WAIT_MS = 2000
/** Seconds after which it is worth trying again. */
const RETRY_AFTER = 1
/** Replicas whose states are remembered; the longest known are dropped first. */
const MAX_REPLICAS = 1000

/**
 * Names states of the directory, so that a client can require of one replica what it has written to or read from another
 * (docs/adr/0019).
 */
export interface Revisions {
  /** The state of this replica now. */
  current(): string
  /**
   * Makes sure that this replica has at least the state that `revision` names. Returns a promise only if it has to wait; rejects
   * with `unavailable` if that takes too long.
   */
  reach(revision: string): Promise<void> | undefined
}

export interface RevisionsOptions {
  readonly monotonic: () => number
  /** Applies everything that was committed before the call. */
  readonly catchUp: () => Promise<void>
}

/**
 * A revision is a replica and its time, nothing else: it must not reveal that something changed that the client may not see.
 * What a replica has shown at a time was committed before. So whoever reads the change log after it was told that time has at
 * least the same state.
 */
export function createRevisions({ monotonic, catchUp }: RevisionsOptions): Revisions {
  const self = randomBytes(6).toString('base64url')
  let last = 0
  /** The latest times of other replicas whose state this one has. */
  const reached = new Map<string, number>()

  const waitFor = async (replica: string, time: number): Promise<void> => {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(behind()), MAX_WAIT_MS)
    })
    try {
      await Promise.race([
        catchUp().catch((error: unknown) => {
          throw behind(error)
        }),
        late,
      ])
    } finally {
      clearTimeout(timer)
    }
    const known = reached.get(replica) ?? 0
    reached.delete(replica)
    reached.set(replica, Math.max(known, time))
    const [oldest] = reached.keys()
    if (reached.size > MAX_REPLICAS && oldest !== undefined) reached.delete(oldest)
  }

  return {
    current() {
      // Microseconds; always later than the one before, so that no later state has the same name.
      last = Math.max(last + 1, Math.floor(monotonic() * 1000))
      return `${self}.${last.toString(36)}`
    },
    reach(revision) {
      const [, replica, time] = /^([\w-]{8})\.([0-9a-z]{1,10})$/.exec(revision) ?? []
      if (replica === undefined || time === undefined)
        throw invalid([{ at: 'Min-Revision', message: 'must be the value of an X-Directory-Revision header' }])
      const wanted = Number.parseInt(time, 36)
      if (replica === self || wanted <= (reached.get(replica) ?? 0)) return undefined
      return waitFor(replica, wanted)
    },
  }
}

const behind = (cause?: unknown): DirectoryError =>
  new DirectoryError(
    'unavailable',
    'this replica has not caught up with your Min-Revision yet: repeat the request, or leave out the header',
    { retryAfter: RETRY_AFTER, cause },
  )
