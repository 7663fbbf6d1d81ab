import { once } from 'node:events'
import type { ServerResponse } from 'node:http'

/** Types whose parts are to be on their way as they come. */
const STREAMED = /^(text\/event-stream|application\/x-ndjson)/

/** Sends an answer of the web through Node: whole with its length, or as fast as the caller reads. */
export async function sendResponse(answer: Response, response: ServerResponse): Promise<void> {
  const headers = [...answer.headers].flat()
  if (answer.body && STREAMED.test(answer.headers.get('content-type') ?? '')) {
    response.writeHead(answer.status, headers)
    await sendStream(answer.body, response)
    return
  }
  const body = answer.body ? Buffer.from(await answer.arrayBuffer()) : undefined
  const length = body ? ['content-length', String(body.length)] : []
  response.writeHead(answer.status, [...headers, ...length]).end(body)
}

async function sendStream(body: ReadableStream<Uint8Array>, response: ServerResponse): Promise<void> {
  // The caller learns that there is an answer, though no part of it may have come yet.
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
