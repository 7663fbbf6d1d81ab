import {
  didWebUrl,
  isObject,
  type JsonObject,
  keyOfDidKey,
  parseJson,
  readDidKeys,
  readKeySet,
  type VerificationKey,
} from '@switchboard/protocol'
import { createSwrCache } from '../../gateway/resilience/swr-cache.js'
import { type FetchLimits, fetchText } from './fetch-text.js'

/** The keys of a signer: a `did:key`, a `did:web`, or the URL of a key set (C-64, C-87). Rejects if they cannot be read. */
export type SignerKeys = (signer: string) => Promise<readonly VerificationKey[]>

export interface SignerKeysOptions {
  /** Guarded against internal addresses. */
  readonly fetch: typeof fetch
  readonly monotonic: () => number
  /** For development: signers on this machine are read without TLS. */
  readonly httpLoopback: boolean
}

const LIMITS: FetchLimits = { timeoutMs: 3000, maxBytes: 64 * 1024 }
/** Milliseconds; `limit` in signers. A revoked key may be trusted for `freshMs`; a repaired key set waits for `failedMs`. */
const CACHE = { freshMs: 300_000, usableMs: 300_000, failedMs: 5000, limit: 1000 }

export function createSignerKeys({ fetch, monotonic, httpLoopback }: SignerKeysOptions): SignerKeys {
  const cache = createSwrCache<readonly VerificationKey[]>({ ...CACHE, monotonic })

  const readObject = async (url: string): Promise<JsonObject> => {
    const document = parseJson(await fetchText(fetch, new URL(url), LIMITS))
    return isObject(document) ? document : {}
  }

  const read = async (signer: string): Promise<readonly VerificationKey[]> => {
    if (!signer.startsWith('did:')) return readKeySet(await readObject(signer))
    const document = await readObject(didWebUrl(signer, { httpLoopback }))
    // A document that was copied from another DID does not speak for this one.
    return document.id === signer ? readDidKeys(document) : []
  }

  return async (signer) => {
    if (signer.startsWith('did:key:')) return [keyOfDidKey(signer)]
    return cache.get(signer, () => read(signer))
  }
}
