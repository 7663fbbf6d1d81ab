// Messages between an embedder and the child process that runs its model.

/** The texts to embed. Responses come in the order of requests. */
export type EmbedRequest = readonly string[]

/** One vector for each text, or the reason for a failure. A first response, without a request, reports the model loaded. */
export type EmbedResponse = readonly Float32Array[] | string

/** Parses a message that the child process received. */
export function parseRequest(message: unknown): EmbedRequest {
  if (!Array.isArray(message)) throw new TypeError('a request must be a list of texts')
  return message.map(String)
}

/** Parses a message from the child process. Does not throw, since an event handler calls it. */
export function parseResponse(message: unknown): EmbedResponse {
  if (!Array.isArray(message)) return String(message)
  const vectors = message.filter((vector) => vector instanceof Float32Array)
  if (vectors.length < message.length) return 'the model process did not respond with vectors'
  return vectors.map((vector) => vector.slice()) // a view would keep the whole message buffer alive
}
