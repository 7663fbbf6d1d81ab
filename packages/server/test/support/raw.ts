import { connect } from 'node:net'
import type { TestResponse } from './directory.js'

export interface RawRequest {
  readonly method?: string
  /** The request target exactly as sent; fetch would normalise it. */
  readonly target: string
  readonly headers?: Record<string, string>
  readonly body?: string | Uint8Array
}

/** Sends one HTTP/1.1 request exactly as given, over its own socket. */
export function sendRaw(
  url: string,
  { method = 'GET', target, headers = {}, body }: RawRequest,
): Promise<TestResponse> {
  const payload = body === undefined ? Buffer.alloc(0) : Buffer.from(body)
  const fields = {
    host: new URL(url).host,
    connection: 'close',
    ...(body !== undefined && { 'content-length': String(payload.length), 'content-type': 'application/json' }),
    ...headers,
  }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`)
  const head = Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`, 'latin1')
  return sendBytes(url, Buffer.concat([head, payload]))
}

/** Sends bytes, whether HTTP or not, and reads the response until the server closes the connection. */
export function sendBytes(url: string, bytes: Uint8Array): Promise<TestResponse> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const socket = connect(Number(port), hostname, () => socket.write(bytes))
    socket.setTimeout(10_000, () => socket.destroy(new Error('no answer within 10 s')))
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.on('error', reject)
    socket.on('close', () => resolve(toAnswer(Buffer.concat(chunks))))
  })
}

function toAnswer(bytes: Buffer): TestResponse {
  const end = bytes.indexOf('\r\n\r\n')
  const [start = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n')
  const headers = new Headers(
    lines.map((line): [string, string] => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]),
  )
  const body = bytes.subarray(end + 4)
  const text = (headers.get('transfer-encoding') === 'chunked' ? unchunk(body) : body).toString()
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    json = undefined
  }
  return { status: Number(start.split(' ')[1]), headers, text, json }
}

function unchunk(body: Buffer): Buffer {
  const parts: Buffer[] = []
  for (let at = 0; ; ) {
    const end = body.indexOf('\r\n', at)
    const size = Number.parseInt(body.subarray(at, end).toString('latin1'), 16)
    if (!(size > 0)) return Buffer.concat(parts)
    parts.push(body.subarray(end + 2, end + 2 + size))
    at = end + 2 + size + 2
  }
}
