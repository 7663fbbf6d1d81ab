import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { DirectoryError, type JsonObject } from '@switchboard/protocol'
import type { Caller } from '../../policy/caller.js'
import type { AuditEntry, Store, StoredSigningKey } from '../../store/store.js'
import { auditOf } from '../context.js'
import { type Component, contentDigest, type SignatureFields, signMessage } from './message-signature.js'
import type { Seal } from './seal.js'

/** What the receiver may ask of a signature. */
export interface SignatureWish {
  readonly label?: string
  readonly nonce?: string
  readonly tag?: string
}

/** The directory's own signatures (C-64): with the newest of its keys; its public keys are for everybody. */
export interface Signing {
  /** Undefined where the operator has given no secret to keep private keys by. */
  sign(components: readonly Component[], wish?: SignatureWish): SignatureFields | undefined
  /** Headers by which the receiver of a request from here knows whose it is and that it is whole. */
  signRequest(request: { method: string; url: string; contentType: string; body: string }): Record<string, string>
  /** JSON Web Keys: the one in use, and those that were in use lately. */
  publicKeys(): JsonObject[]
  /** Signs with a new key from now on. */
  rotate(caller: Caller): Promise<JsonObject>
  reload(): Promise<void>
}

export interface SigningOptions {
  readonly store: Store
  readonly seal: Seal | undefined
  readonly now: () => number
  readonly onError: (error: unknown) => void
}

const DAY_MS = 86_400_000
/** A key is replaced at this age. */
const LONGEST_USE_MS = 90 * DAY_MS
/** A key that is no longer used is published for so long: what it signed may still be on its way or in a cache. */
const PUBLISHED_AFTER_MS = 7 * DAY_MS
const LABEL = 'sig1'

export async function createSigning({ store, seal, now, onError }: SigningOptions): Promise<Signing> {
  /** Oldest first. */
  let keys: StoredSigningKey[] = []
  let current: { id: string; createdAt: number; key: KeyObject } | undefined
  let rotating = false

  const set = (stored: StoredSigningKey[]): void => {
    keys = stored
    const newest = stored.at(-1)
    const pem = newest && seal?.open(newest.secret, aboutOf(newest.id))
    // One that was kept by another secret cannot be used, and those before it are on their way out.
    current = newest && pem !== undefined ? { ...newest, key: createPrivateKey(pem) } : undefined
  }
  const reload = async (): Promise<void> => set(await store.secrets.signingKeys())

  const addKey = async (audit: AuditEntry): Promise<StoredSigningKey> => {
    if (!seal) {
      throw new DirectoryError(
        'conflict',
        'this directory has no secret to encrypt keys with: its operator must set SWITCHBOARD_SECRET',
      )
    }
    const key = newKey(seal, now())
    await store.secrets.putSigningKey(key, { ...audit, detail: key.id })
    const outdated = keys.filter((old) => !isPublished(old))
    for (const { id } of outdated) {
      await store.secrets.deleteSigningKey(id, { ...audit, action: 'signing-key.delete', detail: id })
    }
    set([...keys.filter((old) => !outdated.includes(old)), key])
    return key
  }

  /** A key is in use until the next one is made. */
  const isPublished = (key: StoredSigningKey): boolean => {
    const next = keys[keys.indexOf(key) + 1]
    return !next || next.createdAt + PUBLISHED_AFTER_MS > now()
  }

  const rotateOld = (createdAt: number): void => {
    if (rotating || createdAt + LONGEST_USE_MS > now()) return
    rotating = true
    addKey(ownAudit(now()))
      .catch(onError)
      .finally(() => {
        rotating = false
      })
  }

  const sign: Signing['sign'] = (components, { label = LABEL, ...wish } = {}) => {
    if (!current) return undefined
    rotateOld(current.createdAt)
    const created = Math.floor(now() / 1000)
    return signMessage(components, { label, created, keyId: current.id, ...wish }, current.key)
  }

  await reload()
  if (seal && !current) await addKey(ownAudit(now()))

  return {
    reload,
    sign,
    signRequest({ method, url, contentType, body }) {
      const digest = contentDigest(body)
      const fields = sign([
        { name: '@method', value: method },
        { name: '@target-uri', value: url },
        { name: 'content-type', value: contentType },
        { name: 'content-digest', value: digest },
      ])
      return { 'content-type': contentType, 'content-digest': digest, ...fields }
    },
    publicKeys: () => keys.filter(isPublished).map(({ publicKey }): JsonObject => JSON.parse(publicKey)),
    async rotate(caller) {
      const { publicKey } = await addKey(auditOf(caller, 'signing-key.create', now()))
      return JSON.parse(publicKey)
    },
  }
}

const aboutOf = (id: string): string => `signing key ${id}`

const ownAudit = (at: number): AuditEntry => ({ at, actor: 'switchboard', action: 'signing-key.create', outcome: 'ok' })

/** An Ed25519 key, named by its thumbprint (RFC 7638). */
function newKey(seal: Seal, createdAt: number): StoredSigningKey {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const { crv, kty, x } = publicKey.export({ format: 'jwk' })
  const id = createHash('sha256').update(JSON.stringify({ crv, kty, x })).digest('base64url')
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  return {
    id,
    publicKey: JSON.stringify({ kty, crv, x, kid: id, use: 'sig', alg: 'EdDSA' }),
    secret: seal.close(pem, aboutOf(id)),
    createdAt,
  }
}
