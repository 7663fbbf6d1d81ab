import { randomBytes } from 'node:crypto'
import { asString, asStrings, DirectoryError, isObject, type JsonObject } from '@switchboard/protocol'
import type { Caller, Holder } from '../../policy/caller.js'
import type { TrustStore } from '../../store/trust-store.js'
import { auditOf } from '../context.js'
import { holderOfKey, type Keys } from './keys.js'
import type { Seal } from './seal.js'
import { holderOfClaims, type TokenClaims } from './token-claims.js'

/** Someone who is signed in with a browser. */
export interface Session {
  readonly id: string
  /** Proves that a page of this directory sent a request: other pages cannot read it. */
  readonly csrf: string
  /** Milliseconds since 1970. */
  readonly expiresAt: number
  readonly holder: Holder
}

/** A session, and the value of the cookie that stands for it. */
export interface StartedSession {
  readonly session: Session
  readonly cookie: string
}

/**
 * Sessions of browsers. The cookie itself says whose session it is, encrypted and authenticated, so that every replica can read
 * it, also after a restart. Only sessions that were ended early are stored.
 */
export interface Sessions {
  /** Throws `unauthorized` if the key is not valid. */
  startWithKey(secret: string): StartedSession
  /** For someone whom an identity provider has identified. */
  startWithClaims(claims: Pick<TokenClaims, 'subject' | 'scopes' | 'names'>, issuer: string): StartedSession
  /** `ended`: also if the key of the session is no longer valid. Undefined if the cookie was not written here. */
  read(cookie: string): Session | 'ended' | undefined
  /** Ends a session on all replicas: a copy of its cookie is worth nothing from then on. */
  end(session: Session, caller: Caller): Promise<void>
  reload(): Promise<void>
}

export interface SessionsOptions {
  readonly seal: Seal
  readonly keys: Pick<Keys, 'find' | 'ofHash'>
  /** Whether people may still sign in with this issuer: sessions end with the operator's trust in it. */
  readonly signsIn: (issuer: string) => boolean
  /** Throws if keys may have been revoked, or sessions ended, without this process knowing it. */
  readonly assertKeysKnown: () => void
  readonly store: TrustStore
  readonly lifetimeMs: number
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** Tells the content of cookies from other sealed texts. */
const ABOUT = 'session'
/** Characters: browsers ignore cookies above 4096 bytes, with name and attributes. */
const MAX_COOKIE_LENGTH = 3800
/** By how many milliseconds the clocks of replicas may differ, and a transaction may take. */
const OVERLAP_MS = 60_000

const randomText = (): string => randomBytes(16).toString('base64url')

export async function createSessions(options: SessionsOptions): Promise<Sessions> {
  const { seal, keys, signsIn, assertKeysKnown, store, lifetimeMs, now } = options
  /** When sessions would have expired that were ended before, by their ids. */
  const ended = new Map<string, number>()
  let readAt = 0

  const reload = async (): Promise<void> => {
    const at = now()
    const found = await store.list('session', Math.max(0, Math.min(readAt, at) - OVERLAP_MS))
    readAt = at
    for (const [id, expiresAt] of ended) if (expiresAt <= at) ended.delete(id)
    for (const { key, expiresAt = at + lifetimeMs } of found) if (expiresAt > at) ended.set(key, expiresAt)
  }
  await reload()

  const start = (content: JsonObject, holder: Holder): StartedSession => {
    const expiresAt = Math.min(now() + lifetimeMs, holder.credentialEnds ?? Number.POSITIVE_INFINITY)
    const session = { id: randomText(), csrf: randomText(), expiresAt }
    const cookie = seal.close(JSON.stringify({ ...session, ...content }), ABOUT)
    if (cookie.length > MAX_COOKIE_LENGTH)
      throw new DirectoryError(
        'forbidden',
        'your account has more scopes than fit into a cookie: the operator can choose the claims that give scopes in issuers[].scopes',
      )
    return { cookie, session: { ...session, holder: inSession(holder, expiresAt) } }
  }

  /** Who holds the session now: what a key allows may have changed since. */
  const holderOf = (content: JsonObject): Holder | undefined => {
    const hash = asString(content.key)
    if (hash !== undefined) {
      const key = keys.ofHash(hash)
      return key && holderOfKey(key)
    }
    const { issuer, subject, scopes, names } = content
    if (typeof subject !== 'string' || typeof issuer !== 'string' || !signsIn(issuer)) return undefined
    return holderOfClaims({
      subject,
      scopes: asStrings(scopes),
      ...(names !== undefined && { names: asStrings(names) }),
    })
  }

  return {
    reload,
    startWithKey(secret) {
      assertKeysKnown()
      const key = keys.find(secret)
      if (!key) throw new DirectoryError('unauthorized', 'the API key is invalid, expired or revoked')
      // Not by its id: the administrator's key keeps its id when it is reset.
      return start({ key: key.hash }, holderOfKey(key))
    },
    startWithClaims({ subject, scopes, names }, issuer) {
      const content = { issuer, subject, scopes: [...scopes], ...(names && { names: [...names] }) }
      return start(content, holderOfClaims(content))
    },
    read(cookie) {
      if (cookie.length > MAX_COOKIE_LENGTH) return undefined
      const text = seal.open(cookie, ABOUT)
      if (text === undefined) return undefined
      assertKeysKnown()
      const content: unknown = JSON.parse(text)
      if (!isObject(content)) return undefined
      const { id, csrf, expiresAt } = content
      if (typeof id !== 'string' || typeof csrf !== 'string' || typeof expiresAt !== 'number') return undefined
      const holder = expiresAt > now() && !ended.has(id) ? holderOf(content) : undefined
      return holder ? { id, csrf, expiresAt, holder: inSession(holder, expiresAt) } : 'ended'
    },
    async end({ id, expiresAt }, caller) {
      ended.set(id, expiresAt)
      const entry = { kind: 'session', key: id, version: 0, value: {}, at: now(), expiresAt } as const
      await store.put(entry, auditOf(caller, 'session.end', now()))
    },
  }
}

const inSession = (holder: Holder, expiresAt: number): Holder => ({
  ...holder,
  bySession: true,
  credentialEnds: expiresAt,
})
