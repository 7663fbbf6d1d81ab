import type { Ask } from './ask.js'

/** What a transport needs that speaks another protocol than plain HTTP with JSON. */
export interface TranslatorDeps {
  readonly ask: Ask
  readonly now: () => number
  readonly newId: () => string
  /** Bytes of a whole answer, and of one event of a stream. */
  readonly maxBodyBytes: number
  readonly maxPartBytes: number
}
