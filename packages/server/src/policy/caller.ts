import type { VettingPolicy } from './vetting.js'

/** The sender of a request, as established by its credentials. */
export interface Caller {
  /** Undefined if the caller is anonymous. */
  readonly subject: string | undefined
  readonly kind: 'anonymous' | 'key' | 'token' | 'certificate'
  readonly scopes: ReadonlySet<string>
  /** Agent names or prefixes ("corp-*") the credential is limited to. */
  readonly names?: readonly string[]
  /** IP address of the client; rate limits use it for anonymous callers. */
  readonly address: string
  readonly requestId: string
  /** Milliseconds; when the credential expires, if it does. */
  readonly credentialEnds?: number
  /** The id of the API key, for the audit log. */
  readonly keyId?: string
  /** Signed in by a cookie, which caches do not take for a credential (RFC 9111 §3.5). */
  readonly bySession?: true
}

/** Who a credential stands for, apart from the request that it came with. */
export type Holder = Omit<Caller, 'address' | 'requestId'>

/** Scopes with a meaning to the directory itself; policies may define more. */
const SCOPES = ['publish', 'discover', 'invoke', 'ct', 'admin']

/** All scopes that a credential can have a use for. */
export const knownScopes = ({ capabilities }: Pick<VettingPolicy, 'capabilities'>): string[] => [
  ...new Set([...SCOPES, ...capabilities.flatMap(({ scope }) => scope ?? [])]),
]

export const isAdmin = (caller: Caller): boolean => caller.scopes.has('admin')

/** `admin` implies every scope. */
export const hasScope = (caller: Caller, scope: string): boolean => caller.scopes.has(scope) || isAdmin(caller)

/** The same caller without credentials, who sees only what is public. */
export const asAnonymous = ({ address, requestId }: Caller): Caller => ({
  subject: undefined,
  kind: 'anonymous',
  scopes: new Set(),
  address,
  requestId,
})

/** The caller's name in the audit log. */
export const actorOf = (caller: Caller): string => caller.subject ?? 'anonymous'

/** The client that limits count; prefixed, because a subject may look like an address. */
export const clientOf = ({ subject, address }: Caller): string =>
  subject === undefined ? `address ${networkOf(address)}` : `subject ${subject}`

/** The subject of a client; undefined if the client is an address. */
export const subjectOfClient = (client: string): string | undefined =>
  client.startsWith('subject ') ? client.slice('subject '.length) : undefined

/** For IPv6 the /64 network is counted: a client can use any of its 2^64 addresses. */
export function networkOf(address: string): string {
  if (!address.includes(':') || address.includes('.')) return address
  const [head = '', tail = ''] = address.split('::')
  const groups = head.split(':').filter((group) => group !== '')
  const missing = address.includes('::')
    ? 8 - groups.length - tail.split(':').filter((group) => group !== '').length
    : 0
  return [...groups, ...Array<string>(missing).fill('0'), ...tail.split(':')].slice(0, 4).join(':')
}

/** Whether a name matches one of the patterns; a pattern that ends in `*` matches by prefix. */
export function matchesNames(names: readonly string[], name: string): boolean {
  return names.some((pattern) => (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern))
}
