import { type AgentRecord, DirectoryError, type Issue, invalid, isLoopbackHost, schemeOf } from '@switchboard/protocol'
import { type Caller, hasScope, isAdmin } from './caller.js'

/** Who may claim which capabilities, and which URI schemes endpoints may use (CONTRACT: `policy`). */
export interface VettingPolicy {
  readonly capabilities: readonly {
    readonly name?: string
    readonly type?: string
    readonly subjects?: readonly string[]
    readonly scope?: string
  }[]
  /** Allowed schemes of endpoints; one that ends in `*` matches by prefix. */
  readonly schemes: readonly string[]
}

/** Rejects endpoints without encryption, and schemes that the operator does not allow (C-73). */
export function assertEndpoints(record: AgentRecord, policy: VettingPolicy, production: boolean): void {
  const places = [
    ...record.bindings.map(({ endpoint }) => ({ at: memberOfEndpoint(record, endpoint), endpoint })),
    ...record.operations.flatMap(({ endpoint }, i) =>
      endpoint ? [{ at: `/operations/${i}/endpoint`, endpoint }] : [],
    ),
  ]
  const issues = places.flatMap(({ at, endpoint }) => {
    const message = endpointProblem(endpoint, policy, production)
    return message === undefined ? [] : [{ at, message } satisfies Issue]
  })
  if (issues.length > 0) throw invalid(issues)
}

function memberOfEndpoint({ document, bindings }: AgentRecord, endpoint: string): string {
  const member = ['endpoint', 'base', 'url'].find((name) => document[name] === endpoint)
  return member ? `/${member}` : `/bindings/${bindings.findIndex((binding) => binding.endpoint === endpoint)}/endpoint`
}

function endpointProblem(endpoint: string, policy: VettingPolicy, production: boolean): string | undefined {
  if (!/^[a-z][a-z0-9+.-]*:/i.test(endpoint)) return undefined // a relative reference
  const scheme = schemeOf(endpoint)
  if (scheme === 'http' || scheme === 'ws') {
    const loopback = URL.canParse(endpoint) && isLoopbackHost(new URL(endpoint).hostname)
    if (loopback && !production) return undefined
    return `must be encrypted: use ${scheme}s:// (${scheme}:// is allowed only in development, for agents on this machine)`
  }
  const allowed = policy.schemes.some((word) =>
    word.endsWith('*') ? scheme.startsWith(word.slice(0, -1)) : scheme === word,
  )
  return allowed ? undefined : `has the scheme "${scheme}", which this directory does not allow`
}

/** Rejects capability names and types that the operator has reserved for others (AD §7.3). */
export function assertClaims(record: AgentRecord, caller: Caller, policy: VettingPolicy): void {
  if (isAdmin(caller)) return
  for (const rule of policy.capabilities) {
    const claimed = record.capabilities.find(
      ({ name, type }) =>
        (rule.name === undefined || rule.name === name) && (rule.type === undefined || rule.type === type),
    )
    if (!claimed) continue
    const entitled =
      (rule.subjects?.includes(caller.subject ?? '') ?? false) ||
      (rule.scope !== undefined && hasScope(caller, rule.scope))
    if (!entitled)
      throw new DirectoryError(
        'forbidden',
        `the capability "${claimed.name}" is reserved: this caller may not claim it`,
      )
  }
}
