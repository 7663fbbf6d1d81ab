import type { JsonWebKey } from 'node:crypto'
import { createHash, createPublicKey, verify } from 'node:crypto'

/** A message as received; header names in lower case. */
export interface SignedMessage {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** For a response. */
  readonly status?: number
  /** The request, or the request of this response: method and absolute URL. */
  readonly request: { readonly method: string; readonly url: string }
}

export interface Verified {
  readonly label: string
  /** Component identifiers as written: `"@status"`, `"@path";req` … */
  readonly covered: readonly string[]
  readonly parameters: Readonly<Record<string, string | number>>
}

/**
 * Verifies a message according to RFC 9421 §3.2 and RFC 9530, independently of the code that signed it; throws if
 * anything does not match.
 */
export function verifyMessage(message: SignedMessage, keys: readonly JsonWebKey[]): Verified {
  const { headers, body } = message
  const digest = createHash('sha256').update(body).digest('base64')
  if (headers['content-digest'] !== `sha-256=:${digest}:`) throw new Error('the digest does not match the body')

  const [, label = '', input = ''] = /^([a-z*][a-z0-9_.*-]*)=(\(.*)$/.exec(headers['signature-input'] ?? '') ?? []
  const [, list = '', rest = ''] = /^\(([^)]*)\)(.*)$/.exec(input) ?? []
  const covered = list.split(' ')
  const parameters = Object.fromEntries(
    [...rest.matchAll(/;([a-z]+)=(?:"([^"]*)"|(\d+))/g)].map(([, name, text, number]) => [
      name,
      text ?? Number(number),
    ]),
  )
  const lines = covered.map((identifier) => `${identifier}: ${componentOf(identifier, message)}`)
  const base = [...lines, `"@signature-params": ${input}`].join('\n')

  const signature = new RegExp(`^${label}=:([A-Za-z0-9+/=]+):$`).exec(headers.signature ?? '')?.[1]
  if (signature === undefined) throw new Error('there is no signature')
  const key = keys.find(({ kid }) => kid === parameters.keyid)
  if (!key) throw new Error('the key is not published')
  const publicKey = createPublicKey({ key, format: 'jwk' })
  if (!verify(null, Buffer.from(base), publicKey, Buffer.from(signature, 'base64'))) throw new Error('does not verify')
  return { label, covered, parameters }
}

function componentOf(identifier: string, { headers, status, request }: SignedMessage): string {
  const { pathname, search } = new URL(request.url)
  switch (identifier) {
    case '"@status"':
      return String(status)
    case '"@method"':
    case '"@method";req':
      return request.method
    case '"@target-uri"':
      return request.url
    case '"@path";req':
      return pathname
    case '"@query";req':
      return search === '' ? '?' : search
  }
  const value = headers[identifier.slice(1, -1)]
  if (value === undefined) throw new Error(`${identifier} is covered but missing`)
  return value
}
