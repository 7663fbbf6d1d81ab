import { hash, randomBytes } from 'node:crypto'
import { DirectoryError } from '@switchboard/protocol'
import type { Caller } from '../../policy/caller.js'
import type { AuditEntry, Store, StoredKey } from '../../store/store.js'
import { auditOf } from '../context.js'

/** The administrator's own key has a fixed id, so that it can be reset. */
export const ADMIN_KEY_ID = 'admin'

/** API keys: made, listed and revoked by administrators; known only by their hashes. */
export interface Keys {
  /** The key that this secret belongs to, if it is in force. */
  find(secret: string): StoredKey | undefined
  list(): readonly StoredKey[]
  create(wish: KeyWish, caller: Caller): Promise<{ key: StoredKey; secret: string }>
  /** In force at once. */
  revoke(id: string, caller: Caller): Promise<void>
  reload(): Promise<void>
}

export interface KeyWish {
  readonly subject: string
  readonly scopes: readonly string[]
  readonly names?: readonly string[]
  /** Seconds. */
  readonly expiresIn?: number
}

/** Secrets are random and long, so a plain hash is as good as a slow one. */
export const hashSecret = (secret: string): string => hash('sha256', secret)

export const newSecret = (): string => `sb_${randomBytes(24).toString('base64url')}`

export async function createKeys(store: Store, now: () => number): Promise<Keys> {
  let byHash = new Map<string, StoredKey>()

  const reload = async (): Promise<void> => {
    byHash = new Map((await store.keys()).map((key) => [key.hash, key]))
  }
  await reload()

  return {
    reload,
    find(secret) {
      const key = byHash.get(hashSecret(secret))
      return key && (key.expiresAt ?? Number.POSITIVE_INFINITY) > now() ? key : undefined
    },
    list: () => [...byHash.values()].sort((a, b) => a.createdAt - b.createdAt),
    async create({ subject, scopes, names, expiresIn }, caller) {
      const secret = newSecret()
      const at = now()
      const key: StoredKey = {
        id: randomBytes(9).toString('base64url'),
        hash: hashSecret(secret),
        subject,
        scopes: [...scopes],
        createdAt: at,
        ...(names && { names: [...names] }),
        ...(expiresIn !== undefined && { expiresAt: at + expiresIn * 1000 }),
      }
      await store.putKey(key, auditOf(caller, 'key.create', at, { detail: `${key.id} for ${subject}` }))
      byHash.set(key.hash, key)
      return { key, secret }
    },
    async revoke(id, caller) {
      const found = await store.deleteKey(id, auditOf(caller, 'key.revoke', now(), { detail: id }))
      if (!found) throw new DirectoryError('not_found', `there is no key "${id}"`)
      for (const [hash, key] of byHash) if (key.id === id) byHash.delete(hash)
    },
  }
}

/** Makes sure that there is an administrator's key; returns the secret if it was made here and must be shown. */
export async function ensureAdminKey(store: Store, given: string | undefined, at: number): Promise<string | undefined> {
  if (given !== undefined) {
    const known = (await store.keys()).find(({ id }) => id === ADMIN_KEY_ID)
    if (known?.hash !== hashSecret(given)) await store.putKey(adminKey(given, at), adminAudit('key.set-admin', at))
    return undefined
  }
  const secret = newSecret()
  const made = await store.putKey(adminKey(secret, at), adminAudit('key.set-admin', at), true)
  return made ? secret : undefined
}

/** A new administrator's key in place of the old one, for whoever can write the data. */
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

const adminAudit = (action: string, at: number): AuditEntry => ({ at, actor: 'switchboard', action, outcome: 'ok' })
