import { createHash } from 'node:crypto'
import { isLoopbackHost } from '@switchboard/protocol'
import type { ProofMethod } from '../../policy/domain-proof.js'
import { type FetchLimits, fetchText } from './fetch-text.js'

/** Where a publisher proves that it controls a domain: at a URL, or in DNS. One is enough. */
export interface Challenge {
  readonly http: { readonly url: string; readonly content: string }
  readonly dns: { readonly name: string; readonly type: 'TXT'; readonly value: string }
}

/** Looks for the token at both places; undefined if it is at neither. */
export type CheckDomain = (name: string, token: string) => Promise<ProofMethod | undefined>

export interface CheckDomainOptions {
  /** Guarded against internal addresses. */
  readonly fetch: typeof fetch
  readonly resolveText: (name: string) => Promise<readonly string[]>
}

const LIMITS: FetchLimits = { timeoutMs: 5000, maxBytes: 1024 }

/** The path does not contain the token: a page that repeats its path must not pass for a proof. */
export function challengeOf(name: string, token: string): Challenge {
  const { hostname, host } = new URL(`https://${name}`)
  const id = createHash('sha256').update(token).digest('base64url').slice(0, 16)
  const scheme = isLoopbackHost(hostname) ? 'http' : 'https'
  return {
    http: { url: `${scheme}://${host}/.well-known/switchboard-challenge/${id}`, content: token },
    dns: { name: `_switchboard-challenge.${hostname}`, type: 'TXT', value: token },
  }
}

export function createCheckDomain({ fetch, resolveText }: CheckDomainOptions): CheckDomain {
  return async (name, token) => {
    const { http, dns } = challengeOf(name, token)
    const [page, records] = await Promise.allSettled([
      fetchText(fetch, new URL(http.url), LIMITS),
      resolveText(dns.name),
    ])
    if (page.status === 'fulfilled' && page.value.trim() === token) return 'http'
    if (records.status === 'fulfilled' && records.value.includes(token)) return 'dns'
    return undefined
  }
}
