import { describe, expect, it } from 'vitest'
import { createSeal } from './seal.js'
import { createSessions } from './sessions.js'

describe('a session of an identity provider', () => {
  it('ends when the operator no longer lets people sign in there', async () => {
    const trusted = new Set(['https://login.example'])
    const sessions = await createSessions({
      seal: createSeal('a secret that is long enough for a test'),
      keys: { find: () => undefined, ofHash: () => undefined },
      signsIn: (issuer) => trusted.has(issuer),
      assertKeysKnown: () => {},
      store: { list: async () => [], put: async () => true, get: async () => undefined, delete: async () => false },
      lifetimeMs: 1000,
      now: () => 0,
    })
    const { cookie } = sessions.startWithClaims({ subject: 'ada', scopes: ['admin'] }, 'https://login.example')
    expect(sessions.read(cookie)).toMatchObject({ holder: { subject: 'ada' } })
    trusted.clear()
    expect(sessions.read(cookie)).toBe('ended')
  })
})
