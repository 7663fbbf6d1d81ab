import { once } from 'node:events'
import type { ServerResponse } from 'node:http'

/** Media types that are sent part by part. */
const STREAMED = /^(text\/event-stream|application\/x-ndjson)/

/** Sends a Fetch API response through Node: with its length, or as a stream with backpressure. */
export async function sendResponse(source: Response, response: ServerResponse): Promise<void> {
  const headers = [...source.headers].flat()
  if (source.body && STREAMED.test(source.headers.get('content-type') ?? '')) {
    response.writeHead(source.status, headers)
    await sendStream(source.body, response)
    return
  }
  const body = source.body ? Buffer.from(await source.arrayBuffer()) : undefined
  const length = body ? ['content-length', String(body.length)] : []
  response.writeHead(source.status, [...headers, ...length]).end(body)
}

async function sendStream(body: ReadableStream<Uint8Array>, response: ServerResponse): Promise<void> {
  // The first part may take a while; the caller gets the status at once.
  response.flushHeaders()
  const reader = body.getReader()
  const gone = new AbortController()
  const leave = (): void => {
    gone.abort()
    reader.cancel().catch(() => {})
  }
  response.once('close', leave)
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done || response.destroyed) break
      if (!response.write(value)) await once(response, 'drain', { signal: gone.signal }).catch(() => {})
    }
    response.end()
  } finally {
    response.off('close', leave)
  }
}
