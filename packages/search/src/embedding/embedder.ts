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
  /** Returns one vector for each text, in order. May reject; search then uses words only. */
  embed(texts: readonly string[]): Promise<Float32Array[]>
  close(): Promise<void>
}
