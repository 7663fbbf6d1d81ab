/**
 * - `model_unavailable`: the model, or the library that runs it, cannot be loaded
 * - `overloaded`: too many texts are queued
 * - `failed`: the model returned no vectors, or its process stopped; a later call may succeed
 * - `timeout`: the model did not respond in time; a later call may succeed
 * - `closed`: the embedder was closed
 */
export type EmbeddingErrorCode = 'model_unavailable' | 'overloaded' | 'failed' | 'timeout' | 'closed'

/** The error that embedders reject with. Check the `code`; the message is for the operator. */
export class EmbeddingError extends Error {
  readonly code: EmbeddingErrorCode

  constructor(code: EmbeddingErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'EmbeddingError'
    this.code = code
  }
}

/** The first line of an error's message. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.split('\n')[0] || 'no reason given'
}
