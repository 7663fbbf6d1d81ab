import { DirectoryError, type JsonObject } from '@switchboard/protocol'
import type { Caller } from '../../policy/caller.js'
import {
  LIMIT_NAMES,
  type LimitName,
  type LimitTarget,
  type LimitValues,
  limitFor,
  limitId,
  type SetLimit,
} from '../../policy/limits.js'
import type { StoredLimit } from '../../store/limit-store.js'
import type { Store } from '../../store/store.js'
import { auditOf } from '../context.js'

/** Subjects whose scopes are remembered; the least recently seen are dropped first. */
const MAX_SUBJECTS = 50_000

/** Limits that administrators set at run time. They are in force at once, and on other replicas within a second. */
export interface Limits {
  list(): readonly StoredLimit[]
  /** Sets all limits of a target, in place of those it had. */
  set(target: LimitTarget, values: LimitValues, caller: Caller): Promise<StoredLimit>
  /** Throws `not_found` if there is no such rule. */
  remove(id: string, caller: Caller): Promise<void>
  reload(): Promise<void>
  /** Remembers the caller's scopes, which rules may be about. */
  meet(caller: Caller): void
  /** A limit of a subject; undefined: no rule sets it. */
  of(subject: string, name: LimitName): SetLimit | undefined
  ofAgent(id: string, name: LimitName): number | undefined
}

export async function createLimits(store: Pick<Store, 'limits'>, now: () => number): Promise<Limits> {
  let all: StoredLimit[] = []
  let rules = new Map<string, LimitValues>()
  let hasScopeRules = false
  const scopes = new Map<string, ReadonlySet<string>>()

  const set = (stored: StoredLimit[]): void => {
    all = stored
    rules = new Map(stored.map(({ id, values }) => [id, toValues(values)]))
    hasScopeRules = stored.some(({ kind }) => kind === 'scope')
  }
  const reload = async (): Promise<void> => set(await store.limits.list())
  await reload()

  return {
    reload,
    list: () => all,
    async set(target, values, caller) {
      const id = limitId(target)
      const at = now()
      const limit: StoredLimit = { id, ...target, values: { ...values }, createdAt: at }
      const known = all.find((stored) => stored.id === id)
      const audit = auditOf(caller, 'limit.set', at, {
        detail: id,
        ...(known && { before: toState(known) }),
        after: toState(limit),
        ...(target.kind === 'agent' && { agent: target.name }),
      })
      await store.limits.put(limit, audit)
      set([...all.filter((stored) => stored.id !== id), limit])
      return limit
    },
    async remove(id, caller) {
      const known = all.find((stored) => stored.id === id)
      const about = { detail: id, ...(known && { before: toState(known) }) }
      const found = await store.limits.delete(id, auditOf(caller, 'limit.remove', now(), about))
      if (!found) throw new DirectoryError('not_found', `there is no limit "${id}"`)
      set(all.filter((stored) => stored.id !== id))
    },
    meet({ subject, scopes: given }) {
      if (!hasScopeRules || subject === undefined) return
      scopes.delete(subject)
      scopes.set(subject, given)
      const [oldest] = scopes.keys()
      if (scopes.size > MAX_SUBJECTS && oldest !== undefined) scopes.delete(oldest)
    },
    of: (subject, name) => (rules.size === 0 ? undefined : limitFor(rules, subject, scopes.get(subject) ?? [], name)),
    ofAgent: (id, name) => rules.get(limitId({ kind: 'agent', name: id }))?.[name],
  }
}

/** The limits that this version knows: a newer one may have stored others. */
const toValues = (values: Readonly<Record<string, number>>): LimitValues =>
  Object.fromEntries(LIMIT_NAMES.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]]])))

const toState = ({ kind, name, values }: StoredLimit): JsonObject => ({ [kind]: name, limits: { ...values } })
