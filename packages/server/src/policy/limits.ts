/** Limits that an operator can set at run time; without a rule, the config's apply. */
export const LIMIT_NAMES = [
  'search_per_minute',
  'register_per_minute',
  'lookup_per_minute',
  'invoke_per_minute',
  'concurrent_calls',
  'calls_per_day',
  'open_tasks',
  'task_bytes',
  'agents',
  'bytes',
] as const

export type LimitName = (typeof LIMIT_NAMES)[number]

/** Limits that an agent can have: on the calls of all callers together. */
export const AGENT_LIMIT_NAMES = ['concurrent_calls', 'calls_per_day'] as const satisfies readonly LimitName[]

export type LimitValues = { readonly [Name in LimitName]?: number }

/** The subject, scope or agent that a rule applies to. */
export interface LimitTarget {
  readonly kind: 'subject' | 'scope' | 'agent'
  readonly name: string
}

/** The id of the rule for a target; there is one rule for each. */
export const limitId = ({ kind, name }: LimitTarget): string => `${kind}:${name}`

/** A limit, and the rule that sets it. */
export interface SetLimit {
  readonly value: number
  readonly rule: string
}

/**
 * The limit of a subject: that of its own rule, else the highest of the rules for its scopes. Undefined: the config's
 * limit applies.
 */
export function limitFor(
  rules: ReadonlyMap<string, LimitValues>,
  subject: string,
  scopes: Iterable<string>,
  name: LimitName,
): SetLimit | undefined {
  const limitOf = (target: LimitTarget): SetLimit[] => {
    const rule = limitId(target)
    const value = rules.get(rule)?.[name]
    return value === undefined ? [] : [{ value, rule }]
  }
  const [own] = limitOf({ kind: 'subject', name: subject })
  if (own) return own
  const byScope = [...scopes].flatMap((scope) => limitOf({ kind: 'scope', name: scope }))
  return byScope.sort((a, b) => b.value - a.value)[0]
}
