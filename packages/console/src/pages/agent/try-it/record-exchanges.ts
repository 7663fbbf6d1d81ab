/** One request and its response, as far as it has arrived. */
export interface Exchange {
  readonly id: number
  readonly method: string
  readonly url: string
  readonly requestHeaders: readonly Header[]
  readonly requestBody: string
  /** Undefined until the response begins. */
  readonly status?: number
  readonly responseHeaders: readonly Header[]
  readonly responseBody: string
  /** Whether more was sent or received than is kept here. */
  readonly isCut: boolean
}

type Header = readonly [name: string, value: string]

/** Characters that are kept of each body. */
const MAX_BODY = 65_536
/** Headers that authenticate somebody; the session and its token are added later and never get here. */
const SECRETS: ReadonlySet<string> = new Set([
  'authorization',
  'x-api-key',
  'x-agent-api-key',
  'x-agent-authorization',
  'x-csrf-token',
  'cookie',
  'set-cookie',
])
export const HIDDEN = '••••••'

let lastId = 0

/** A `fetch` that tells about every exchange when it begins and whenever more of it has arrived. */
export function recordExchanges(send: typeof fetch, onChange: (exchange: Exchange) => void): typeof fetch {
  return async (input, init) => {
    const requestBody = typeof init?.body === 'string' ? init.body : ''
    let exchange: Exchange = {
      id: ++lastId,
      method: init?.method ?? 'GET',
      url: String(input),
      requestHeaders: toHeaders(new Headers(init?.headers)),
      requestBody: requestBody.slice(0, MAX_BODY),
      responseHeaders: [],
      responseBody: '',
      isCut: requestBody.length > MAX_BODY,
    }
    const update = (more: Partial<Exchange>): void => {
      exchange = { ...exchange, ...more }
      onChange(exchange)
    }
    update({})
    const response = await send(input, init)
    const { status, statusText, headers, body } = response
    update({ status, responseHeaders: toHeaders(headers) })
    if (!body) return response
    const decoder = new TextDecoder()
    const copied = body.pipeThrough(
      new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
        transform(chunk, controller) {
          controller.enqueue(chunk)
          const text = exchange.responseBody + decoder.decode(chunk, { stream: true })
          if (exchange.responseBody.length < MAX_BODY) update({ responseBody: text.slice(0, MAX_BODY) })
          if (text.length > MAX_BODY && !exchange.isCut) update({ isCut: true })
        },
      }),
    )
    return new Response(copied, { status, statusText, headers })
  }
}

const toHeaders = (headers: Headers): Header[] =>
  [...headers].map(([name, value]) => [name, SECRETS.has(name.toLowerCase()) ? HIDDEN : value])
