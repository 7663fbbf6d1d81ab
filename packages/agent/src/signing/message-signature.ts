import { createHash, createPrivateKey, type KeyObject, sign } from 'node:crypto'
import type { JsonObject, SigningKey } from '@switchboard/protocol'
import { AgentError } from '../errors.js'

/** A part of a message that a signature covers: a field in lower case, or a derived one such as `@status` (RFC 9421 §2). */
export interface Component {
  readonly name: string
  readonly value: string
}

/** Signs HTTP messages of this agent (RFC 9421), so that receivers know whose they are and that they are whole (C-64). */
export interface MessageSigner {
  sign(components: readonly Component[], body: string): Record<string, string>
}

export function createMessageSigner({ id, jwk }: SigningKey, now: () => number): MessageSigner {
  const key = createPrivateKey({ key: { ...jwk }, format: 'jwk' })
  const algorithm = algorithmOf(key)
  return {
    sign(components, body) {
      const digest = `sha-256=:${createHash('sha256').update(body).digest('base64')}:`
      const covered = [...components, { name: 'content-digest', value: digest }]
      const names = covered.map(({ name }) => `"${name}"`).join(' ')
      const parameters = `(${names});created=${Math.floor(now() / 1000)};keyid=${quoted(id)};alg="${algorithm.name}"`
      const lines = covered.map(({ name, value }) => `"${name}": ${value}`)
      const base = Buffer.from([...lines, `"@signature-params": ${parameters}`].join('\n'))
      const signature = sign(algorithm.hash, base, { key, ...algorithm.options }).toString('base64')
      return {
        'content-digest': digest,
        'signature-input': `sig1=${parameters}`,
        signature: `sig1=:${signature}:`,
      }
    },
  }
}

/** The registered names of what these keys can do (RFC 9421 §3.3). */
function algorithmOf(key: KeyObject): { name: string; hash: string | null; options: { dsaEncoding?: 'ieee-p1363' } } {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key
  if (type === 'ed25519') return { name: 'ed25519', hash: null, options: {} }
  if (type === 'ec' && details?.namedCurve === 'prime256v1') {
    return { name: 'ecdsa-p256-sha256', hash: 'sha256', options: { dsaEncoding: 'ieee-p1363' } }
  }
  if (type === 'rsa') return { name: 'rsa-v1_5-sha256', hash: 'sha256', options: {} }
  throw new AgentError('invalid_definition', 'an agent signs with an Ed25519, P-256 or RSA key')
}

/** A structured field's string (RFC 8941 §3.3.3). */
const quoted = (text: string): string => `"${text.replaceAll(/["\\]/g, '\\$&')}"`

const PUBLIC_MEMBERS = ['kty', 'crv', 'x', 'y', 'n', 'e', 'alg']

/** The public half of a key, as others find it in the agent's key set. */
export function publicKeyOf({ id, jwk }: SigningKey): JsonObject {
  const members = Object.entries(jwk).filter(([name]) => PUBLIC_MEMBERS.includes(name))
  return { ...Object.fromEntries(members), kid: id, use: 'sig' }
}
