import type { IncomingMessage } from 'node:http'
import { AgentError } from '../errors.js'

/** The host of request URLs; the Host header is not trusted. */
const NOWHERE = 'http://agent.invalid'

/** Converts a Node request to a Fetch API request, whose body is read on demand. */
export function toRequest(message: IncomingMessage, signal: AbortSignal): Request {
  const { method = 'GET', url = '/' } = message
  const target = url.startsWith('/') ? `${NOWHERE}${url}` : ''
  if (!URL.canParse(target)) throw new AgentError('invalid_input', 'the request has no path')
  const headers = new Headers()
  for (const [name, values] of Object.entries(message.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value)
  }
  const hasBody = method !== 'GET' && method !== 'HEAD'
  return new Request(target, { method, headers, signal, ...(hasBody && { body: bodyOf(message), duplex: 'half' }) })
}

function bodyOf(message: IncomingMessage): ReadableStream<Uint8Array> {
  const chunks = message.iterator({ destroyOnReturn: false })
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await chunks.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel() {
        // The rest is discarded, so that the response can still be sent.
        message.resume()
      },
    },
    { highWaterMark: 0 },
  )
}
