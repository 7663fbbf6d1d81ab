import { generateKeyPairSync } from 'node:crypto'
import { createSeenTokens, delegate, type SigningKey } from '@switchboard/protocol'
import { describe, expect, it } from 'vitest'
import type { Call } from '../call/call.js'
import { readCapabilities } from '../capability.js'
import { createVerifyChain } from './verify-chain.js'

const BASE = 'https://a.example'
const now = (): number => Date.now()

const { privateKey } = generateKeyPairSync('ed25519')
const { crv = '', x = '', d = '' } = privateKey.export({ format: 'jwk' })
const key: SigningKey = { id: 'k', jwk: { kty: 'OKP', crv, x, d } }

const verify = createVerifyChain({
  required: false,
  identities: ['did:web:a.example'],
  keysOf: async () => [{ id: 'k', jwk: { kty: 'OKP', crv, x } }],
  seen: createSeenTokens({ now }),
  now,
})

const [capability] = readCapabilities([{ name: 'pass', handler: () => null }], {
  version: '1.0.0',
  description: '',
  tags: [],
}).values()

function callWith(delegationChain: string): Call {
  if (!capability) throw new Error('there is a capability')
  return {
    capability,
    version: '1.0.0',
    input: {},
    base: BASE,
    delegationChain,
    caller: { subject: undefined, scopes: new Set(), scheme: 'none', client: 'test' },
    requestId: 'r',
    wantsStream: false,
    signal: new AbortController().signal,
  }
}

/** A chain in which each of these actors delegates to the next. */
async function chainOf(...names: readonly string[]): Promise<string> {
  let chain = ''
  for (const [i, audience] of names.slice(1).entries()) {
    const issuer = names[i] ?? ''
    chain = await delegate({ chain, issuer, subject: 'ann', audience, key, now, newId: () => crypto.randomUUID() })
  }
  return chain
}

describe('a delegation chain', () => {
  it.each([BASE, `${BASE}/pass`, `${BASE}/v1.0.0`, `${BASE}/v1.0.0/pass`, `${BASE}/invoke`, 'did:web:a.example'])(
    'may have the audience %s',
    async (name) => {
      expect(await verify(callWith(await chainOf('https://p.example', name)))).toMatchObject({ subject: 'ann' })
    },
  )

  it.each(['https://a.example.evil', 'https://a.example/other', 'http://a.example'])(
    'may not have the audience %s',
    async (name) => {
      const chain = await chainOf('https://p.example', name)
      await expect(verify(callWith(chain))).rejects.toMatchObject({ members: { reason: 'wrong_audience' } })
    },
  )

  it('AURI-10-11 is rejected if it returns to the same agent under another name', async () => {
    const chain = await chainOf('https://p.example', BASE, 'https://b.example', `${BASE}/pass`)
    await expect(verify(callWith(chain))).rejects.toMatchObject({ members: { reason: 'loop' } })
  })
})
