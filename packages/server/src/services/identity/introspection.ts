import { hash } from 'node:crypto'
import { createTokenBuckets, DirectoryError } from '@switchboard/protocol'
import { sendOAuthRequest } from './oauth-request.js'

/** How to ask an issuer whether a token is still valid (RFC 7662). */
export interface IntrospectionOptions {
  readonly url: string
  /** This directory's credentials at the issuer. */
  readonly clientId: string
  readonly clientSecret: string
  /** False: tokens that do not name their issuer are not sent to this one. Default: true. */
  readonly opaque?: boolean
  /** True: JWTs are introspected too, so that revoked ones are rejected. Default: false. */
  readonly jwts?: boolean
  /** Seconds for which a response is used; a token may be accepted that long after it was revoked. Default: 30. */
  readonly cacheSeconds?: number
}

/**
 * What the issuer says about an active token; undefined if the token is not active. `client` is the network that the
 * token came from: it may try only a few unknown tokens.
 */
export type Introspect = (token: string, client: string) => Promise<IntrospectedClaims | undefined>
export type IntrospectedClaims = Readonly<Record<string, unknown>>

export interface IntrospectDeps {
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Milliseconds of a clock that is never set, to measure intervals. */
  readonly monotonic: () => number
  readonly fetch?: typeof fetch
}

const LIMITS = { timeoutMs: 3000, maxBytes: 16_384 }
const CACHE_SECONDS = 30
/** Seconds for which a rejected token is not sent again: a replica of the issuer may not know a new token yet. */
const REJECTED_SECONDS = 5
/** Tokens remembered, accepted and rejected ones apart: made-up tokens must not displace valid ones. */
const MAX_CACHED = 2000
/** Requests at once, in total and for one client, so that made-up tokens cannot flood the issuer; then 503. */
const MAX_REQUESTS = 64
const MAX_REQUESTS_PER_CLIENT = 32
/** Rejected tokens of one client: 30, and one more every 2 s; then 429. */
const GUESSES = { capacity: 30, refillMs: 60_000, maxKeys: 10_000 }
/** Until a client may try another token. */
const GUESS_SECONDS = GUESSES.refillMs / GUESSES.capacity / 1000
const RETRY_SECONDS = 5

/** Asks the issuer about tokens, and remembers the responses for a short time. Without a response, it fails with 503. */
export function createIntrospect(
  options: IntrospectionOptions,
  { now, monotonic, fetch = globalThis.fetch }: IntrospectDeps,
): Introspect {
  const { cacheSeconds = CACHE_SECONDS } = options
  const accepted = createRecent<IntrospectedClaims>(monotonic)
  const rejected = createRecent<true>(monotonic)
  const pending = new Map<
    string,
    { readonly client: string; readonly claims: Promise<IntrospectedClaims | undefined> }
  >()
  const guesses = createTokenBuckets({ ...GUESSES, monotonic })

  const ask = async (id: string, token: string, client: string): Promise<IntrospectedClaims | undefined> => {
    const claims = await request(options, token, fetch)
    if (!claims) {
      guesses.take(client)
      rejected.set(id, true, REJECTED_SECONDS * 1000)
      return undefined
    }
    const validMs = typeof claims.exp === 'number' ? claims.exp * 1000 - now() : Number.POSITIVE_INFINITY
    accepted.set(id, claims, Math.min(cacheSeconds * 1000, validMs))
    return claims
  }

  const assertMayAsk = (client: string): void => {
    if (guesses.levelOf(client).tokens === 0) {
      const message = `too many invalid tokens came from your address: try again in ${GUESS_SECONDS} s`
      throw new DirectoryError('rate_limited', message, { retryAfter: GUESS_SECONDS })
    }
    const own = [...pending.values()].filter((one) => one.client === client).length
    if (pending.size >= MAX_REQUESTS || own >= MAX_REQUESTS_PER_CLIENT)
      throw unavailable('too many tokens are being checked')
  }

  return async (token, client) => {
    const id = hash('sha256', token)
    const known = accepted.get(id)
    if (known || rejected.get(id)) return known
    const asked = pending.get(id)
    if (asked) return asked.claims
    assertMayAsk(client)
    const claims = ask(id, token, client).finally(() => pending.delete(id))
    pending.set(id, { client, claims })
    return claims
  }
}

async function request(
  { url, clientId, clientSecret }: IntrospectionOptions,
  token: string,
  fetch: typeof globalThis.fetch,
): Promise<IntrospectedClaims | undefined> {
  const form = { token, token_type_hint: 'access_token' }
  const client = { id: clientId, secret: clientSecret }
  try {
    const { status, body } = await sendOAuthRequest({ url, form, client, ...LIMITS }, fetch)
    if (status !== 200) throw new Error(`the introspection endpoint returned status ${status}`)
    if (typeof body.active !== 'boolean') throw new Error('the response has no member "active"')
    return body.active ? body : undefined
  } catch (error) {
    throw unavailable('the issuer does not say whether it is valid', error)
  }
}

const unavailable = (reason: string, cause?: unknown): DirectoryError =>
  new DirectoryError('unavailable', `the token cannot be checked: ${reason}; try again later`, {
    cause,
    retryAfter: RETRY_SECONDS,
  })

/** Values that expire; the oldest are dropped first. */
function createRecent<Value>(monotonic: () => number) {
  const values = new Map<string, { readonly value: Value; readonly until: number }>()
  return {
    get(id: string): Value | undefined {
      const found = values.get(id)
      if (!found || found.until > monotonic()) return found?.value
      values.delete(id)
      return undefined
    },
    set(id: string, value: Value, ms: number): void {
      values.delete(id)
      values.set(id, { value, until: monotonic() + ms })
      const [oldest] = values.keys()
      if (values.size > MAX_CACHED && oldest !== undefined) values.delete(oldest)
    },
  }
}
