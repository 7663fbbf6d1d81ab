import { GatewayError } from '../../call.js'
import type { Ask } from './ask.js'

/** Asks through a guarded `fetch`, for those outside the gateway who have no more of it than that. */
export function askOverFetch(fetch: typeof globalThis.fetch): Ask {
  return async ({ url, method, headers, body, signal }) => {
    const sent = typeof body === 'string' ? { body } : {}
    const response = await fetch(url, { method, headers, signal, redirect: 'manual', ...sent })
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: {
        [Symbol.asyncIterator]: () => chunksOf(response),
        cancel() {
          // It may have broken off already; there is nothing left to be told about it.
          response.body?.cancel().catch(() => {})
        },
        async collect(maxBytes) {
          const chunks: Uint8Array[] = []
          let size = 0
          for await (const chunk of chunksOf(response)) {
            size += chunk.byteLength
            if (size > maxBytes) throw new GatewayError('too_large', `the answer is larger than ${maxBytes} bytes`)
            chunks.push(chunk)
          }
          return Buffer.concat(chunks, size)
        },
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
