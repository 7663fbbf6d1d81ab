import { createHash } from 'node:crypto'
import { LIMITS } from '../limits.js'
import { LocalError } from '../local-error.js'
import { type Consent, covers, matches, type Permission, type PermissionFilter } from './consent.js'
import type { ConsentFile, ConsentState } from './consent-file.js'

export interface ConsentStoreDeps {
  readonly file: ConsentFile
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** An unguessable secret. */
  readonly newToken: () => string
}

/** The consents and tokens of all origins. Changes take effect at once and are saved. */
export interface ConsentStore {
  list(): readonly Consent[]
  isAllowed(permission: Permission): boolean
  allow(permission: Permission): Promise<void>
  /** Revokes and returns all consents that match. An origin without consents loses its tokens. */
  revoke(filter: PermissionFilter): Promise<readonly Consent[]>
  hasToken(origin: string): boolean
  isValidToken(origin: string, token: string): boolean
  /** Issues a token. Invalidates the origin's oldest one if it has too many. */
  issueToken(origin: string): Promise<string>
}

/** Loads the consents; fails if the file is damaged. */
export async function openConsentStore({ file, now, newToken }: ConsentStoreDeps): Promise<ConsentStore> {
  let state = await file.load()
  const change = async (next: ConsentState): Promise<void> => {
    state = next
    await file.save(next)
  }
  const time = (): string => new Date(now()).toISOString()
  return {
    list: () => state.consents,
    isAllowed: (permission) => state.consents.some((consent) => covers(consent, permission)),
    async allow({ origin, agent, capability }) {
      if (state.consents.some((consent) => matches(consent, { origin, agent, capability }))) return
      if (state.consents.length >= LIMITS.consents) {
        throw new LocalError('rate_limited', `there are ${LIMITS.consents} consents already: revoke some`)
      }
      await change({ ...state, consents: [...state.consents, { origin, agent, capability, allowedAt: time() }] })
    },
    async revoke(filter) {
      const revoked = state.consents.filter((consent) => matches(consent, filter))
      if (revoked.length === 0) return revoked
      const consents = state.consents.filter((consent) => !revoked.includes(consent))
      const origins = new Set(consents.map(({ origin }) => origin))
      await change({ consents, tokens: state.tokens.filter(({ origin }) => origins.has(origin)) })
      return revoked
    },
    hasToken: (wanted) => state.tokens.some(({ origin }) => origin === wanted),
    isValidToken(wanted, token) {
      const hash = hashOf(token)
      return state.tokens.some((issued) => issued.origin === wanted && issued.hash === hash)
    },
    async issueToken(wanted) {
      const token = newToken()
      const own = state.tokens.filter(({ origin }) => origin === wanted)
      const evicted = own.slice(0, Math.max(0, own.length - LIMITS.tokensPerOrigin + 1))
      const kept = state.tokens.filter((issued) => !evicted.includes(issued))
      await change({ ...state, tokens: [...kept, { origin: wanted, hash: hashOf(token), issuedAt: time() }] })
      return token
    },
  }
}

/** A plain hash is enough: tokens are long and random. */
const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex')
