import { readBytes } from '@switchboard/protocol'
import { GatewayError } from '../../gateway.js'
import type { Ask } from './ask.js'

/** Sends requests through a guarded `fetch`, for code outside the gateway. */
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
          // Fails if the connection has broken already.
          response.body?.cancel().catch(() => {})
        },
        collect: (maxBytes) =>
          readBytes(
            chunksOf(response),
            maxBytes,
            () => new GatewayError('too_large', `the answer is larger than ${maxBytes} bytes`),
          ),
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
