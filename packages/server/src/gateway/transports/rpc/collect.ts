import type { Readable } from 'node:stream'
import { GatewayError } from '../../call.js'

/** A payload as one piece, for protocols that carry bytes inside JSON. */
export async function collect(body: Uint8Array | Readable, maxBytes: number): Promise<Buffer> {
  if (body instanceof Uint8Array) return Buffer.from(body)
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    const bytes = Buffer.from(chunk)
    size += bytes.byteLength
    if (size > maxBytes) {
      throw new GatewayError('too_large', `what goes to this agent may have ${maxBytes} bytes: send less, or a URL`)
    }
    chunks.push(bytes)
  }
  return Buffer.concat(chunks)
}
