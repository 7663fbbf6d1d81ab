import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ReceivedSpan {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  /** 1: internal, 2: server, 3: client. */
  readonly kind: number
  /** 2: error. */
  readonly status: number | undefined
  readonly attributes: Readonly<Record<string, unknown>>
  readonly service: unknown
  readonly schemaUrl: string | undefined
}

/** Receives spans as a collector does: OTLP over HTTP, in JSON. */
export interface OtlpReceiver {
  readonly url: string
  readonly spans: ReceivedSpan[]
  /** What it received, unparsed. */
  text(): string
  /** Requests so far. */
  readonly requests: number
  /** Headers of the last request. */
  headers(): Readonly<Record<string, unknown>>
  /** Status of its responses. */
  status: number
  close(): Promise<void>
}

export async function startOtlpReceiver(port = 0): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = []
  let received = ''
  let lastHeaders = {}
  let requests = 0
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    lastHeaders = request.headers
    requests++
    if (receiver.status === 200 && request.url === '/v1/traces') {
      received += body
      spans.push(...spansOf(JSON.parse(body)))
    }
    response.writeHead(receiver.status, { 'content-type': 'application/json' }).end('{}')
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const receiver: OtlpReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    text: () => received,
    get requests() {
      return requests
    },
    headers: () => lastHeaders,
    status: 200,
    async close() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
  return receiver
}

interface Attribute {
  key: string
  value: Record<string, unknown>
}
interface OtlpSpan extends Omit<ReceivedSpan, 'status' | 'attributes'> {
  status: { code?: number }
  attributes: Attribute[]
}
interface OtlpRequest {
  resourceSpans: {
    resource: { attributes: Attribute[] }
    scopeSpans: { schemaUrl?: string; spans: OtlpSpan[] }[]
  }[]
}

const spansOf = ({ resourceSpans }: OtlpRequest): ReceivedSpan[] =>
  resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ schemaUrl, spans }) =>
      spans.map((span) => ({
        ...span,
        status: span.status.code,
        attributes: valuesOf(span.attributes),
        service: valuesOf(resource.attributes)['service.name'],
        schemaUrl,
      })),
    ),
  )

const valuesOf = (attributes: Attribute[]): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
