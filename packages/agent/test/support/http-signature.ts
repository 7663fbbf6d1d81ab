import { createHash, createPublicKey, type JsonWebKey, verify } from 'node:crypto'

interface Signed {
  readonly status: number
  readonly headers: { get(name: string): string | null }
  readonly text: string
}

/** Whether a message has a valid signature that covers its body (RFC 9421, RFC 9530) and the given components. */
export function verifyMessage(
  message: Signed,
  key: JsonWebKey | undefined,
  derived: Readonly<Record<string, string>>,
): boolean {
  const { headers, text } = message
  const digest = `sha-256=:${createHash('sha256').update(text).digest('base64')}:`
  if (!key || headers.get('content-digest') !== digest) return false
  const parameters = (headers.get('signature-input') ?? '').replace(/^sig1=/, '')
  const names = Array.from(parameters.matchAll(/"([^"]+)"(?=[ )])/g), ([, name = '']) => name)
  const lines = names.map((name) => `"${name}": ${derived[name] ?? headers.get(name)}`)
  const base = [...lines, `"@signature-params": ${parameters}`].join('\n')
  const signature = /^sig1=:(.+):$/.exec(headers.get('signature') ?? '')?.[1] ?? ''
  return verify(null, Buffer.from(base), createPublicKey({ key, format: 'jwk' }), Buffer.from(signature, 'base64'))
}

export const verifyResponse = (response: Signed, key: JsonWebKey | undefined): boolean =>
  verifyMessage(response, key, { '@status': String(response.status) })
