import { readBytes } from '@switchboard/protocol'
import { toAbortSignal } from '../../cancellation.js'
import { tooLarge } from './response-body.js'
import type { SendRequest } from './send-request.js'

/**
 * A `SendRequest` over the gateway's guarded `fetch`, for code outside the gateway.
 *
 * @param redirect `manual`: a redirect is returned, for callers that check where it leads; default: it is an error
 */
export function sendOverFetch(fetch: typeof globalThis.fetch, redirect: 'error' | 'manual' = 'error'): SendRequest {
  return async ({ url, method, headers, body, signal }) => {
    if (body !== undefined && typeof body !== 'string') throw new TypeError('only text can be sent over fetch')
    const response = await fetch(url, {
      method,
      headers,
      signal: toAbortSignal(signal),
      redirect,
      ...(body && { body }),
    })
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: {
        [Symbol.asyncIterator]: () => chunksOf(response),
        cancel() {
          // Rejects if the connection is already broken.
          response.body?.cancel().catch(() => {})
        },
        collect: (maxBytes) => readBytes(chunksOf(response), maxBytes, () => tooLarge(maxBytes)),
      },
    }
  }
}

async function* chunksOf({ body }: Response): AsyncGenerator<Uint8Array, void> {
  const reader = body?.getReader()
  if (!reader) return
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value
  } finally {
    await reader.cancel().catch(() => {})
  }
}
