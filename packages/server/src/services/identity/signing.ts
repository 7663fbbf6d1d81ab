import { createHash, createPrivateKey, sign as ed25519, generateKeyPairSync, type KeyObject } from 'node:crypto'
import {
  contentDigest,
  DirectoryError,
  type JsonObject,
  type SignatureFields,
  type SignedComponent,
  type SigningKey,
  signCard,
  signDocument,
  signMessage,
} from '@switchboard/protocol'
import type { Caller } from '../../policy/caller.js'
import type { StoredSigningKey } from '../../store/secret-store.js'
import type { AuditEntry, Store } from '../../store/store.js'
import { auditOf } from '../context.js'
import type { Seal } from './seal.js'

/** Parameters of a signature that its receiver may choose (RFC 9421 §5). */
export interface SignatureRequest {
  readonly label?: string
  readonly nonce?: string
  readonly tag?: string
}

/** The directory's signatures (C-64), made with its newest key; the public keys are published. */
export interface Signing {
  /** Undefined if the operator has set no secret to encrypt private keys with. */
  sign(components: readonly SignedComponent[], requested?: SignatureRequest): SignatureFields | undefined
  /** Headers that let the receiver of a request check that it comes from this directory and is intact. */
  signRequest(request: { method: string; url: string; contentType: string; body: string }): Record<string, string>
  /** Signs a document, so that others can pass it on (C-64). Undefined if the operator has set no secret. */
  signDocument(document: JsonObject): Promise<JsonObject> | undefined
  /** Signs an A2A card, see `signCard`. Undefined if the operator has set no secret. */
  signCard(card: JsonObject, keySet: string): Promise<JsonObject> | undefined
  /** The id of the key that signs now. */
  readonly keyId: string | undefined
  /** JSON Web Keys: the current one, and those that were replaced recently. */
  publicKeys(): JsonObject[]
  /** Replaces the current key; returns the new public key. */
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
/** Age at which a key is replaced. */
const MAX_KEY_AGE_MS = 90 * DAY_MS
/** How long a replaced key stays published: messages it signed may still be in transit or in a cache. */
const PUBLISHED_AFTER_MS = 7 * DAY_MS

export async function createSigning({ store, seal, now, onError }: SigningOptions): Promise<Signing> {
  /** Oldest first. */
  let keys: StoredSigningKey[] = []
  let current: { id: string; createdAt: number; key: KeyObject } | undefined
  let rotating = false

  const set = (stored: StoredSigningKey[]): void => {
    keys = stored
    const newest = stored.at(-1)
    const pem = newest && seal?.open(newest.secret, aboutOf(newest.id))
    // A key encrypted with another secret is unusable; older keys are not used any more.
    current = newest && pem !== undefined ? { ...newest, key: createPrivateKey(pem) } : undefined
  }
  const reload = async (): Promise<void> => set(await store.secrets.signingKeys())

  const addKey = async (audit: AuditEntry): Promise<StoredSigningKey> => {
    if (!seal) {
      throw new DirectoryError(
        'conflict',
        'this directory cannot encrypt its keys: the operator must set SWITCHBOARD_SECRET',
      )
    }
    const key = newKey(seal, now())
    const replaced = keys.at(-1)
    const states = { after: { id: key.id }, ...(replaced && { before: { id: replaced.id } }) }
    await store.secrets.putSigningKey(key, { ...audit, detail: key.id, ...states })
    const outdated = keys.filter((old) => !isPublished(old))
    for (const { id } of outdated) {
      await store.secrets.deleteSigningKey(id, {
        ...audit,
        action: 'signing-key.delete',
        detail: id,
        before: { id },
      })
    }
    set([...keys.filter((old) => !outdated.includes(old)), key])
    return key
  }

  /** A key is in use until the next one is created. */
  const isPublished = (key: StoredSigningKey): boolean => {
    const next = keys[keys.indexOf(key) + 1]
    return !next || next.createdAt + PUBLISHED_AFTER_MS > now()
  }

  const rotateOld = (createdAt: number): void => {
    if (rotating || createdAt + MAX_KEY_AGE_MS > now()) return
    rotating = true
    addKey(ownAudit(now()))
      .catch(onError)
      .finally(() => {
        rotating = false
      })
  }

  const sign: Signing['sign'] = (components, requested = {}) => {
    if (!current) return undefined
    rotateOld(current.createdAt)
    const created = Math.floor(now() / 1000)
    const { id: keyId, key } = current
    const parameters = { ...requested, created, keyId, algorithm: 'ed25519' }
    return signMessage(components, parameters, (base) => ed25519(null, base, key))
  }

  const documentKey = (): SigningKey | undefined => {
    if (!current) return undefined
    rotateOld(current.createdAt)
    return { id: current.id, jwk: current.key.export({ format: 'jwk' }) }
  }

  await reload()
  if (seal && !current) await addKey(ownAudit(now()))

  return {
    reload,
    sign,
    signRequest({ method, url, contentType, body }) {
      const digest = digestOf(body)
      const fields = sign([
        { name: '@method', value: method },
        { name: '@target-uri', value: url },
        { name: 'content-type', value: contentType },
        { name: 'content-digest', value: digest },
      ])
      return { 'content-type': contentType, 'content-digest': digest, ...fields }
    },
    signDocument(document) {
      const key = documentKey()
      return key && signDocument(document, key)
    },
    signCard(card, keySet) {
      const key = documentKey()
      return key && signCard(card, key, keySet)
    },
    get keyId() {
      return current?.id
    },
    publicKeys: () => keys.filter(isPublished).map(({ publicKey }): JsonObject => JSON.parse(publicKey)),
    async rotate(caller) {
      const { publicKey } = await addKey(auditOf(caller, 'signing-key.create', now()))
      return JSON.parse(publicKey)
    },
  }
}

/** The Content-Digest field of a body. */
export const digestOf = (body: string | Uint8Array): string => contentDigest(createHash('sha256').update(body).digest())

const aboutOf = (id: string): string => `signing key ${id}`

const ownAudit = (at: number): AuditEntry => ({ at, actor: 'switchboard', action: 'signing-key.create', outcome: 'ok' })

/** A new Ed25519 key; its id is its thumbprint (RFC 7638). */
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
