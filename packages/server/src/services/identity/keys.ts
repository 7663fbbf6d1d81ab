import { hash, randomBytes } from 'node:crypto'
import { assertValid, DirectoryError, type Issue, subjectProblem } from '@switchboard/protocol'
import { type Caller, type Holder, knownScopes } from '../../policy/caller.js'
import type { VettingPolicy } from '../../policy/vetting.js'
import type { AuditEntry, Store, StoredKey } from '../../store/store.js'
import { auditOf } from '../context.js'
import { stateOfKey } from '../operations/audit-state.js'

/** The administrator's key has a fixed id, so that it can be reset. */
const ADMIN_KEY_ID = 'admin'

/** API keys, created, listed and revoked by administrators. Only hashes of the secrets are stored. */
export interface Keys {
  /** The key with this secret, unless it has expired. */
  find(secret: string): StoredKey | undefined
  /** The key with this hash of its secret, unless it has expired. */
  ofHash(hash: string): StoredKey | undefined
  list(): readonly StoredKey[]
  create(values: NewKey, caller: Caller): Promise<{ key: StoredKey; secret: string }>
  /** Takes effect immediately. */
  revoke(id: string, caller: Caller): Promise<void>
  reload(): Promise<void>
  /** Calls the listener with each subject that has lost its last key, also if another replica revoked it. */
  onLastRevoked(listener: (subject: string) => void): void
}

export interface NewKey {
  readonly subject: string
  readonly scopes: readonly string[]
  readonly names?: readonly string[]
  /** Lifetime in seconds. Default: unlimited. */
  readonly expiresIn?: number
}

/** Throws an error that names the members of a new key that cannot be accepted. */
export function assertNewKey({ subject, scopes }: NewKey, policy: Pick<VettingPolicy, 'capabilities'>): void {
  const known = knownScopes(policy)
  const unknown = scopes.find((scope) => !known.includes(scope))
  const problem = subjectProblem(subject)
  const issues: Issue[] = []
  if (problem !== undefined) issues.push({ at: '/subject', message: problem })
  if (unknown !== undefined)
    issues.push({ at: '/scopes', message: `has an unknown scope "${unknown}": use ${known.join(', ')}` })
  assertValid(issues)
}

/** Secrets are long and random, so a fast hash is as safe as a slow one. */
const hashSecret = (secret: string): string => hash('sha256', secret)

/** The secrets of generated keys start with this. */
export const KEY_PREFIX = 'sb_'

const newSecret = (): string => `${KEY_PREFIX}${randomBytes(24).toString('base64url')}`

export async function createKeys(store: Store, now: () => number): Promise<Keys> {
  let byHash = new Map<string, StoredKey>()

  const listeners: ((subject: string) => void)[] = []

  const set = (keys: readonly StoredKey[]): void => {
    const before = byHash
    byHash = new Map(keys.map((key) => [key.hash, key]))
    const holders = new Set(keys.map(({ subject }) => subject))
    const gone = new Set([...before.values()].flatMap(({ subject }) => (holders.has(subject) ? [] : [subject])))
    for (const subject of gone) for (const listener of listeners) listener(subject)
  }
  const reload = async (): Promise<void> => set(await store.keys())
  await reload()

  const ofHash = (hash: string): StoredKey | undefined => {
    const key = byHash.get(hash)
    return key && (key.expiresAt ?? Number.POSITIVE_INFINITY) > now() ? key : undefined
  }

  return {
    reload,
    onLastRevoked: (listener) => void listeners.push(listener),
    find: (secret) => ofHash(hashSecret(secret)),
    ofHash,
    list: () => [...byHash.values()].sort((a, b) => a.createdAt - b.createdAt),
    async create({ subject, scopes, names, expiresIn }, caller) {
      const secret = newSecret()
      const at = now()
      const key: StoredKey = {
        // Not base64url: an id that starts with a hyphen looks like a flag on the command line.
        id: randomBytes(9).toString('hex'),
        hash: hashSecret(secret),
        subject,
        scopes: [...scopes],
        createdAt: at,
        ...(names && { names: [...names] }),
        ...(expiresIn !== undefined && { expiresAt: at + expiresIn * 1000 }),
      }
      const about = { detail: `${key.id} for ${subject}`, after: stateOfKey(key) }
      await store.putKey(key, auditOf(caller, 'key.create', at, about))
      byHash.set(key.hash, key)
      return { key, secret }
    },
    async revoke(id, caller) {
      const known = [...byHash.values()].find((key) => key.id === id)
      const about = { detail: id, ...(known && { before: stateOfKey(known) }) }
      const found = await store.deleteKey(id, auditOf(caller, 'key.revoke', now(), about))
      if (!found) throw new DirectoryError('not_found', `there is no key "${id}"`)
      set([...byHash.values()].filter((key) => key.id !== id))
    },
  }
}

/** The subject of a key, with the rights that it has at the moment. */
export function holderOfKey(key: StoredKey): Holder {
  const known = holders.get(key)
  if (known) return known
  const { id, subject, scopes, names, expiresAt } = key
  const holder: Holder = {
    subject,
    kind: 'key',
    keyId: id,
    scopes: new Set(scopes),
    ...(names && { names }),
    ...(expiresAt !== undefined && { credentialEnds: expiresAt }),
  }
  holders.set(key, holder)
  return holder
}

/** By key: a stored key never changes, and every request has one. */
const holders = new WeakMap<StoredKey, Holder>()

/** Makes sure that there is an administrator's key; returns its secret if it was generated, to be shown once. */
export async function ensureAdminKey(store: Store, given: string | undefined, at: number): Promise<string | undefined> {
  if (given !== undefined) {
    const known = (await store.keys()).find(({ id }) => id === ADMIN_KEY_ID)
    if (known?.hash !== hashSecret(given)) await store.putKey(adminKey(given, at), adminAudit('key.set-admin', at))
    return undefined
  }
  const secret = newSecret()
  const isNew = await store.putKey(adminKey(secret, at), adminAudit('key.set-admin', at), true)
  return isNew ? secret : undefined
}

/** Replaces the administrator's key; returns the new secret. */
export async function resetAdminKey(store: Store, at: number): Promise<string> {
  const secret = newSecret()
  await store.putKey(adminKey(secret, at), adminAudit('key.reset-admin', at))
  return secret
}

const adminKey = (secret: string, at: number): StoredKey => ({
  id: ADMIN_KEY_ID,
  hash: hashSecret(secret),
  subject: 'admin',
  scopes: ['admin'],
  createdAt: at,
})

/** The key is that of the administrator before and after; only its secret changes. */
const adminAudit = (action: string, at: number): AuditEntry => ({
  at,
  actor: 'switchboard',
  action,
  outcome: 'ok',
  after: { id: ADMIN_KEY_ID, subject: 'admin', scopes: ['admin'] },
})
