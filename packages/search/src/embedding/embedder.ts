/** Turns texts into vectors of length 1 whose dot product says how alike their meanings are. */
export interface Embedder {
  /** Names model and settings; vectors of different ids are never compared. */
  readonly id: string
  readonly dimensions: number
  /** One vector a text, in order. Runs off the main thread or elsewhere; may reject, and search then goes by words. */
  embed(texts: readonly string[]): Promise<Float32Array[]>
  close(): Promise<void>
}
