import type { JsonObject, JsonValue, Strictness } from '@switchboard/protocol'
import { describe, expect, it } from 'vitest'
import { DEFAULTS } from '../../config/settings.js'
import { withPeerDefaults } from '../../policy/federation.js'
import { createAcceptCopy } from './accept-copy.js'

const NOW = Date.parse('2026-05-08T00:00:00Z')
const SELF = 'https://self.example'
const HOUR = 3_600_000
const inHours = (hours: number): string => new Date(NOW + hours * HOUR).toISOString()

const strictness: Strictness = {}
const accept = createAcceptCopy({
  context: {
    policy: {
      ...DEFAULTS.policy,
      strictness,
      names: [{ names: ['reserved*'], subjects: ['somebody'] }],
      requireDomainProof: true,
    },
    production: true,
    domains: { nameOf: (id: string) => (id.startsWith('https://') ? new URL(id).host : undefined) } as never,
    now: () => NOW,
  },
  // The origin's signature is valid if it says so.
  verifyOrigin: async ({ signature }) =>
    JSON.stringify(signature)?.includes('valid') ? { jws: 'valid', kid: 'k' } : undefined,
  baseUrl: () => SELF,
  ownKeys: () => ['own-key'],
})
const peer = { ...withPeerDefaults({ name: 'p', url: 'https://peer.example' }), source: 'config' as const }

const record = (changes: Record<string, JsonValue> = {}): JsonObject => ({
  id: 'a',
  format: 'aidip',
  document: {
    name: 'A',
    description: 'An agent.',
    capabilities: ['x'],
    endpoint: 'https://agents.example.net/a',
    inputs: {},
    outputs: {},
  },
  origin_service: 'https://peer.example',
  received_at: inHours(-1),
  ...changes,
})
const SIGNED = {
  origin_service: 'https://origin.example',
  signature: { jws: 'valid', kid: 'k' },
  valid_until: inHours(24),
}
const take = async (changes: Record<string, JsonValue> = {}, path: string[] = ['https://peer.example']) =>
  accept(peer, { record: record(changes), path }, undefined)

describe('what a peer says about an agent', () => {
  it('is kept with the peer as origin, whatever it claims without a signature', async () => {
    const accepted = await take({
      origin_service: 'https://bank.example',
      gateway: 'https://bank.example/agents/a/invoke',
    })
    expect(accepted).toMatchObject({
      copy: { origin: { service: 'https://peer.example', authority: 'peer.example', path: ['https://peer.example'] } },
    })
    expect('copy' in accepted && [accepted.copy.origin.signature, accepted.copy.origin.gateway]).toEqual([
      undefined,
      undefined,
    ])
    expect(await take({ origin_service: 'https://bank.example' }, ['https://bank.example', peer.url])).toMatchObject({
      refused: expect.stringContaining('without a valid signature'),
    })
  })

  it('is kept with another origin if that has signed it, and no longer than the signature is valid', async () => {
    const path = ['https://origin.example', peer.url]
    expect(await take({ ...SIGNED, expires_at: inHours(48) }, path)).toMatchObject({
      copy: {
        expiresAt: NOW + 24 * HOUR,
        origin: { service: 'https://origin.example', signature: { kid: 'k' }, path },
      },
    })
    const { valid_until: _end, ...endless } = SIGNED
    expect(await take(endless, path)).toEqual({ refused: 'it has expired' })
    expect(await take({ ...SIGNED, valid_until: inHours(-1) }, path)).toEqual({ refused: 'it has expired' })
  })

  it('is dropped if it is our own', async () => {
    expect(await take({ origin_service: SELF })).toEqual({ ours: true })
    expect(await take(SIGNED, ['https://origin.example', SELF, peer.url])).toEqual({ ours: true })
    expect(await take({ signature: { jws: 'x', kid: 'own-key' } })).toEqual({ ours: true })
  })

  it.each([
    ['no id', { id: 7 }],
    ['an invalid id', { id: '..' }],
    ['an unknown format', { format: 'xml' }],
    ['no document', { document: 'x' }],
    ['an invalid document', { document: { name: 'A' } }],
    ['a document that is too large', { document: { ...Object(record().document), notes: 'x'.repeat(300_000) } }],
    ['an endpoint without encryption', { document: { ...Object(record().document), endpoint: 'http://10.0.0.1/' } }],
    ['a reserved name', { id: 'reserved-1' }],
    ['the domain of another host', { id: 'https://bank.example/agent' }],
    ['an end in the past', { expires_at: inHours(-1) }],
    ['an end that is no time', { expires_at: 'never' }],
  ])('is refused with %s', async (_what, changes: Record<string, JsonValue>) => {
    expect(await take(changes)).toMatchObject({ refused: expect.any(String) })
  })

  it('is refused with a path that is too long or not one of URLs', async () => {
    expect(await take(SIGNED, Array<string>(9).fill('https://x.example'))).toHaveProperty('refused')
    expect(await take(SIGNED, ['https://x.example/\nSet-Cookie: a'])).toHaveProperty('refused')
  })
})
