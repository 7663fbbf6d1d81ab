/** How texts are to be embedded. */
export interface EmbedOptions {
  /** Nobody waits for the vectors: they may take longer, so that others take less. Default: false. */
  readonly background?: boolean
}

/**
 * Turns texts into unit vectors whose dot product measures how similar the texts are in meaning.
 *
 * Implement this interface to use another model, for example a remote service.
 */
export interface Embedder {
  /** Identifies the model and its settings. Vectors of different ids are never compared. */
  readonly id: string
  /** Length of the vectors; a multiple of 128. */
  readonly dimensions: number
  /** How many requests for documents it can use at the same time. Default: 1. */
  readonly concurrency?: number
  /** Returns one vector for each text, in order. May reject; search then uses words only. */
  embed(texts: readonly string[], options?: EmbedOptions): Promise<Float32Array[]>
  close(): Promise<void>
}
