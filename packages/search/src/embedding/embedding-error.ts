/**
 * - `model_unavailable`: the model, or the library that runs it, cannot be loaded here
 * - `overloaded`: too many texts are waiting
 * - `failed`: the model ran and gave no vectors, or stopped; a later call may succeed
 * - `closed`: the embedder was closed
 */
export type EmbeddingErrorCode = 'model_unavailable' | 'overloaded' | 'failed' | 'closed'

/** What an embedder rejects with. Callers look at the code and go on by words; the message is for the operator. */
export class EmbeddingError extends Error {
  readonly code: EmbeddingErrorCode

  constructor(code: EmbeddingErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'EmbeddingError'
    this.code = code
  }
}

/** The first line of what an error says. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.split('\n')[0] || 'no reason given'
}
