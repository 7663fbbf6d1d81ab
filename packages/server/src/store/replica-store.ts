/** What the replicas of a directory tell each other through the store, so that they hold limits together. */
export interface ReplicaStore {
  /**
   * Publishes what a replica does, and after that reads what the others do: of two replicas that exchange at the same time, at
   * least one learns about the other. Counts as a sign of life.
   */
  exchange(report: ReplicaReport): Promise<ReplicaNews>
  /**
   * Claims work for a replica, for a time after which it counts as failed. Returns the keys that no other replica has claimed.
   */
  claim(id: string, keys: readonly string[], forMs: number): Promise<string[]>
  /** Forgets a replica that stops. */
  leave(id: string): Promise<void>
}

export interface ReplicaReport {
  /** Identifies the process. */
  readonly id: string
  /** Calls in progress, by what they count for. Replaces what the replica published before. */
  readonly calls: Readonly<Record<string, number>>
  /** At most one entry for each key. */
  readonly spending: readonly BucketSpending[]
}

/** What a replica takes from a token bucket that all replicas share. */
export interface BucketSpending {
  readonly key: string
  /** Tokens of the full bucket; a bucket that is not known yet is full. */
  readonly capacity: number
  /** Milliseconds in which the empty bucket fills up. */
  readonly refillMs: number
  /** Tokens that were taken already, even if there are not as many: up to one bucket of debt. */
  readonly spent: number
  /** Tokens to take if there are as many, else as many whole ones as there are. */
  readonly wanted: number
}

export interface ReplicaNews {
  /** Calls in progress of each other replica that is alive. */
  readonly others: readonly Readonly<Record<string, number>>[]
  /** The buckets of the report. */
  readonly buckets: readonly BucketState[]
}

export interface BucketState {
  readonly key: string
  /** Tokens that are left, less than 0 for a debt. */
  readonly tokens: number
  /** How many of the wanted tokens were taken. */
  readonly granted: number
}

/** Milliseconds after which a replica that gave no sign of life counts as stopped. */
export const REPLICA_ALIVE_MS = 5000
