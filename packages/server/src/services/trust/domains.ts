import { randomBytes } from 'node:crypto'
import { asString, DirectoryError, invalid, type JsonObject } from '@switchboard/protocol'
import { type Caller, hasScope } from '../../policy/caller.js'
import {
  afterCheck,
  type DomainClaim,
  domainOf,
  endOfClaim,
  newClaim,
  type ProofMethod,
  showProof,
} from '../../policy/domain-proof.js'
import { originOfId } from '../../policy/id-origin.js'
import type { AuditEntry } from '../../store/store.js'
import type { TrustEntry, TrustStore } from '../../store/trust-store.js'
import { auditOf } from '../context.js'
import type { CheckDomain } from './check-domain.js'
import type { CheckLease } from './check-lease.js'

/** Domains that publishers have proven to control, or are about to. A proof is valid for the agents of its owner. */
export interface Domains {
  list(owner: string): readonly DomainClaim[]
  /** Claims a domain for the caller; if it is claimed already, checks it now. */
  claim(name: string, caller: Caller): Promise<{ claim: DomainClaim; created: boolean }>
  withdraw(name: string, caller: Caller): Promise<void>
  /** What `verification` shows of the domain that the agent's id names; undefined if it is not proven. */
  proofOf(agent: { id: string; owner: string }): JsonObject | undefined
  /** The domain that an id names. */
  nameOf(id: string): string | undefined
  reload(): Promise<void>
  /** Checks the domains that are due, unless another replica does. */
  checkDue(signal?: AbortSignal): Promise<void>
}

export interface DomainsOptions {
  readonly store: TrustStore
  readonly check: CheckDomain
  readonly lease: CheckLease
  readonly now: () => number
  /** For development: domains on this machine, without TLS. */
  readonly httpLoopback: boolean
  /** The proof of a domain has changed for agents of this owner. */
  readonly onChange: (owner: string, name: string) => void
}

/** Domains that one owner may claim: each costs regular checks. */
const MAX_CLAIMS = 100
/** Milliseconds between two checks that a publisher requests. */
const MIN_RECHECK_MS = 3000

interface StoredClaim {
  readonly claim: DomainClaim
  readonly version: number
}

export async function createDomains(options: DomainsOptions): Promise<Domains> {
  const { store, check, lease, now, httpLoopback, onChange } = options
  const claims = await readClaims(store)

  const set = (key: string, stored: StoredClaim | undefined): void => {
    const before = claims.get(key)
    if (stored) claims.set(key, stored)
    else claims.delete(key)
    const { claim } = stored ?? before ?? {}
    if (claim && stampOf(before) !== stampOf(stored)) onChange(claim.owner, claim.name)
  }

  const reload = async (): Promise<void> => {
    const stored = await readClaims(store)
    for (const key of new Set([...claims.keys(), ...stored.keys()])) set(key, stored.get(key))
  }

  /** False if another process has changed the claim meanwhile. */
  const save = async (key: string, version: number, claim: DomainClaim, caller?: Caller): Promise<boolean> => {
    const end = endOfClaim(claim)
    const entry = {
      kind: 'domain',
      key,
      version,
      value: toValue(claim),
      at: now(),
      ...(end !== undefined && { expiresAt: end }),
    } as const
    const before = version === 0 ? undefined : claims.get(key)?.claim
    const action = before ? (claim.proof && !before.proof ? 'domain.prove' : 'domain.check') : 'domain.claim'
    const about = { detail: claim.name, ...(before && { before: stateOf(before) }), after: stateOf(claim) }
    const audit: AuditEntry = caller
      ? auditOf(caller, action, now(), about)
      : { at: now(), actor: 'switchboard', action, outcome: 'ok', ...about }
    if (!(await store.put(entry, audit))) return false
    set(key, { claim, version: version + 1 })
    return true
  }

  const checkNow = async (
    key: string,
    { claim, version }: StoredClaim,
    { caller, signal }: { caller?: Caller; signal?: AbortSignal | undefined },
  ): Promise<DomainClaim> => {
    const found: ProofMethod | undefined = await check(claim.name, claim.token)
    if (signal?.aborted) return claim
    const checked = afterCheck(claim, found, now())
    if (await save(key, version, checked, caller)) return checked
    await reload()
    return claims.get(key)?.claim ?? claim
  }

  const list = (owner: string): DomainClaim[] =>
    [...claims.values()].flatMap(({ claim }) => (claim.owner === owner && !isOver(claim, now()) ? [claim] : []))

  const nameOf = (id: string): string | undefined => originOfId(id, httpLoopback)?.host

  return {
    list,
    nameOf,
    async claim(text, caller) {
      const name = domainOf(text, httpLoopback)
      if (name === undefined)
        throw invalid([
          { at: '/domain', message: 'must be a host name, such as "example.com", without a scheme or path' },
        ])
      if (!hasScope(caller, 'publish'))
        throw new DirectoryError('forbidden', 'claiming a domain needs the publish scope')
      const owner = ownerOf(caller)
      const key = keyOf(owner, name)
      for (;;) {
        const known = claims.get(key)
        if (known && !isOver(known.claim, now())) {
          const { claim } = known
          const isRecent = now() - (claim.checkedAt ?? 0) < MIN_RECHECK_MS
          return { claim: isRecent ? claim : await checkNow(key, known, { caller }), created: false }
        }
        if (list(owner).length >= MAX_CLAIMS)
          throw new DirectoryError(
            'forbidden',
            `you may claim ${MAX_CLAIMS} domains: withdraw one that you no longer need`,
          )
        const claim = newClaim(owner, name, randomBytes(24).toString('base64url'), now())
        if (await save(key, known?.version ?? 0, claim, caller)) return { claim, created: true }
        // Another process was faster, or has pruned a claim that was over.
        await reload()
      }
    },
    async withdraw(text, caller) {
      const name = domainOf(text, httpLoopback) ?? text
      const key = keyOf(ownerOf(caller), name)
      for (;;) {
        const known = claims.get(key)
        if (!known) throw new DirectoryError('not_found', `you have not claimed the domain "${name}"`)
        const about = { detail: name, before: stateOf(known.claim) }
        const audit = auditOf(caller, 'domain.withdraw', now(), about)
        if (await store.delete({ kind: 'domain', key, version: known.version }, audit)) return set(key, undefined)
        await reload()
      }
    },
    proofOf({ id, owner }) {
      const name = nameOf(id)
      const stored = name === undefined ? undefined : claims.get(keyOf(owner, name))
      return stored && showProof(stored.claim)
    },
    reload,
    async checkDue(signal) {
      const due = [...claims].filter(([, { claim }]) => claim.nextCheckAt <= now() && !isOver(claim, now()))
      for (const [key, stored] of due) {
        if (signal?.aborted || !(await lease.hold())) return
        await checkNow(key, stored, { signal })
      }
    },
  }
}

const readClaims = async (store: TrustStore): Promise<Map<string, StoredClaim>> =>
  new Map((await store.list('domain')).map((entry) => [entry.key, toClaim(entry)]))

/** What the audit log keeps of a claim; not the token. */
const stateOf = ({ proof }: DomainClaim): JsonObject => ({
  state: proof ? 'proven' : 'pending',
  ...(proof && { method: proof.method }),
})

const keyOf = (owner: string, name: string): string => JSON.stringify([owner, name])

const isOver = (claim: DomainClaim, now: number): boolean => (endOfClaim(claim) ?? Number.POSITIVE_INFINITY) <= now

/** What can change in the views of agents. */
const stampOf = (stored: StoredClaim | undefined): string => JSON.stringify((stored && showProof(stored.claim)) ?? null)

function ownerOf({ subject }: Caller): string {
  if (subject === undefined) throw new DirectoryError('unauthorized', 'claiming a domain needs credentials')
  return subject
}

function toValue({ owner, name, token, since, proof, checkedAt, failures, nextCheckAt }: DomainClaim): JsonObject {
  return {
    ...{ owner, name, token, since, failures, nextCheckAt },
    ...(proof && { method: proof.method, provenAt: proof.at }),
    ...(checkedAt !== undefined && { checkedAt }),
  }
}

function toClaim({ value, version }: TrustEntry): StoredClaim {
  const { method, provenAt, checkedAt } = value
  const claim: DomainClaim = {
    owner: asString(value.owner) ?? '',
    name: asString(value.name) ?? '',
    token: asString(value.token) ?? '',
    since: Number(value.since),
    failures: Number(value.failures),
    nextCheckAt: Number(value.nextCheckAt),
    ...((method === 'http' || method === 'dns') && { proof: { method, at: Number(provenAt) } }),
    ...(checkedAt !== undefined && { checkedAt: Number(checkedAt) }),
  }
  return { claim, version }
}
