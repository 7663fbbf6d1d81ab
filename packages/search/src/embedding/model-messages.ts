// What crosses between an embedder and the process that runs its model.

/** The texts to embed; each question is answered, in their order. */
export type Question = readonly string[]

/** One vector a text, or why there are none. The first answer, to no question, says that the model is loaded. */
export type Answer = readonly Float32Array[] | string

/** Parses what the process received. */
export function toQuestion(message: unknown): Question {
  if (!Array.isArray(message)) throw new TypeError('a question is a list of texts')
  return message.map(String)
}

/** Parses what came back; does not throw, since nobody would catch it. */
export function toAnswer(message: unknown): Answer {
  if (!Array.isArray(message)) return String(message)
  const vectors = message.filter((vector) => vector instanceof Float32Array)
  if (vectors.length < message.length) return 'it did not answer with vectors'
  return vectors.map((vector) => vector.slice()) // they lie in the buffer of the channel and would keep all of it alive
}
