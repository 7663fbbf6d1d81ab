/** Who sends a request, as far as credentials prove it. */
export interface Caller {
  /** Undefined: nobody in particular. */
  readonly subject: string | undefined
  readonly kind: 'anonymous' | 'key' | 'token' | 'certificate'
  readonly scopes: ReadonlySet<string>
  /** Agent names or prefixes ("corp-*") the credential is limited to. */
  readonly names?: readonly string[]
  /** Where the request came from, for limits of those who have no subject. */
  readonly address: string
  readonly requestId: string
  /** Milliseconds; when the credential ends, if it says so. */
  readonly credentialEnds?: number
}

/** Scopes that the directory itself understands; a policy may name more. */
export const SCOPES = ['publish', 'discover', 'invoke', 'ct', 'admin'] as const

export const isAdmin = (caller: Caller): boolean => caller.scopes.has('admin')

/** `admin` implies every scope. */
export const hasScope = (caller: Caller, scope: string): boolean => caller.scopes.has(scope) || isAdmin(caller)

/** The caller without what it could show of itself: one who sees what anybody may see. */
export const asStranger = ({ address, requestId }: Caller): Caller => ({
  subject: undefined,
  kind: 'anonymous',
  scopes: new Set(),
  address,
  requestId,
})

/** How a caller is named in the audit. */
export const actorOf = (caller: Caller): string => caller.subject ?? 'anonymous'

/** Whether a name is one of the names, or begins like one that ends in a star. */
export function matchesNames(names: readonly string[], name: string): boolean {
  return names.some((pattern) => (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern))
}
