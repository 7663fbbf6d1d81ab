/** A vector that was found, and whose it is. */
export interface VectorHit {
  /** The agent's number. */
  readonly number: number
  /** Which of the agent's vectors: 0 is its description, others are examples and operations. */
  readonly part: number
  /** Cosine, -1 to 1. */
  readonly similarity: number
}

/** All vectors of a directory, several for each agent, none of them averaged. */
export interface VectorIndex {
  readonly size: number
  /** Replaces all vectors of the agent. */
  put(number: number, vectors: readonly Float32Array[]): void
  remove(number: number): void
  /**
   * The most similar vectors, best first. `accept` is a hard filter: the result is exactly what filtering all vectors
   * and then taking the best would give, whatever its selectivity. `candidates`: if only a few agents can be meant,
   * their numbers, so that only those are looked at.
   */
  search(
    query: Float32Array,
    limit: number,
    filter?: { accept?: (number: number) => boolean; candidates?: Iterable<number> },
  ): VectorHit[]
}
