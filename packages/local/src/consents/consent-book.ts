import { createHash } from 'node:crypto'
import { LIMITS } from '../limits.js'
import { LocalError } from '../local-error.js'
import { type Consent, covers, matches, type Right, type RightFilter } from './consent.js'
import type { ConsentFile, ConsentState } from './consent-file.js'

export interface ConsentBookDeps {
  readonly file: ConsentFile
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** A secret that cannot be guessed. */
  readonly newToken: () => string
}

/** Who may do what; changes are in force at once, and remembered. */
export interface ConsentBook {
  list(): readonly Consent[]
  isAllowed(right: Right): boolean
  allow(right: Right): Promise<void>
  /** Takes back all consents that match, and tells which. An origin without any loses its tokens. */
  revoke(filter: RightFilter): Promise<readonly Consent[]>
  hasToken(origin: string): boolean
  isToken(origin: string, token: string): boolean
  /** A new token; the origin's oldest one ends where there are too many. */
  issueToken(origin: string): Promise<string>
}

export async function openConsentBook({ file, now, newToken }: ConsentBookDeps): Promise<ConsentBook> {
  let state = await file.load()
  const change = async (next: ConsentState): Promise<void> => {
    state = next
    await file.save(next)
  }
  const time = (): string => new Date(now()).toISOString()
  return {
    list: () => state.consents,
    isAllowed: (right) => state.consents.some((consent) => covers(consent, right)),
    async allow({ origin, agent, capability }) {
      if (state.consents.some((consent) => matches(consent, { origin, agent, capability }))) return
      if (state.consents.length >= LIMITS.consents) {
        throw new LocalError('rate_limited', `no more than ${LIMITS.consents} consents are kept: revoke some`)
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
    isToken(wanted, token) {
      const hash = hashOf(token)
      return state.tokens.some((issued) => issued.origin === wanted && issued.hash === hash)
    },
    async issueToken(wanted) {
      const token = newToken()
      const own = state.tokens.filter(({ origin }) => origin === wanted)
      const tooOld = own.slice(0, Math.max(0, own.length - LIMITS.tokensPerOrigin + 1))
      const kept = state.tokens.filter((issued) => !tooOld.includes(issued))
      await change({ ...state, tokens: [...kept, { origin: wanted, hash: hashOf(token), issuedAt: time() }] })
      return token
    },
  }
}

/** Tokens are random and long, so a plain hash hides them. */
const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex')
