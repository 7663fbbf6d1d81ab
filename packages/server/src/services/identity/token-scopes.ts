import { isObject, readScopes, readWords } from '@switchboard/protocol'

/** A claim that gives scopes. */
export interface ScopeRule {
  /** A claim such as `groups`, or the path to a nested one: `realm_access.roles`, or its parts if they contain dots. */
  readonly claim: string | readonly string[]
  /** Scopes by value of the claim; other values give none. Absent: the values are the scopes. */
  readonly values?: Readonly<Record<string, readonly string[]>>
}

type Claims = Readonly<Record<string, unknown>>

/** The scopes of a token: those of the operator's rules, or by default those of `scope` or `scp`. */
export function scopesOf(claims: Claims, rules: readonly ScopeRule[] | undefined): string[] {
  if (!rules) return readScopes(claims)
  return [...new Set(rules.flatMap((rule) => scopesByRule(claims, rule)))]
}

function scopesByRule(claims: Claims, { claim, values }: ScopeRule): string[] {
  const words = readWords([claim].flat().join('.'), claimAt(claims, claim))
  return values ? words.flatMap((word) => (Object.hasOwn(values, word) ? (values[word] ?? []) : [])) : words
}

/** A claim whose whole name is given wins over a nested one: some issuers have dots in the names of their claims. */
function claimAt(claims: Claims, claim: ScopeRule['claim']): unknown {
  if (typeof claim === 'string' && Object.hasOwn(claims, claim)) return claims[claim]
  const path = typeof claim === 'string' ? claim.split('.') : claim
  return path.reduce<unknown>(
    (value, name) => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined),
    claims,
  )
}
