import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import { isObject } from '../json.js'
import { decodeUtf8, readBytes } from './body.js'
import { createTokenBuckets } from './token-buckets.js'

/** Milliseconds to fetch a key set. */
const TIMEOUT_MS = 5000
/** Bytes of a key set; real ones have a few kilobytes. */
const MAX_BYTES = 1_048_576
/** Milliseconds after which the keys are fetched again, so that a key which the issuer withdraws is rejected. */
const FRESH_MS = 600_000
/** Milliseconds for which old keys are used while the issuer cannot be reached. */
const MAX_AGE_MS = 3_600_000
/** Fetches: a few at once, so that a new key is known immediately, then one every 3 s, however many tokens ask for one. */
const FETCHES = { capacity: 5, refillMs: 15_000, maxKeys: 1 }

export interface RemoteKeySetOptions {
  readonly url: string
  readonly fetch: typeof fetch
  /** Milliseconds of a clock that is never set, to measure intervals. */
  readonly monotonic: () => number
}

/** The keys of an issuer cannot be fetched, and none are known that are recent enough. */
export class KeysUnavailableError extends Error {
  override readonly name = 'KeysUnavailableError'
}

/**
 * The keys at a URL. They are fetched for the first token, again after ten minutes, and at once for a token that names an
 * unknown key: the issuer may have rotated its keys. Concurrent tokens share a fetch, tokens of known keys never wait for
 * one, and made-up key ids cause no more than a fetch every few seconds. While the URL is unreachable, known keys are
 * used for up to an hour.
 */
export function createRemoteKeySet({ url, fetch, monotonic }: RemoteKeySetOptions): JWTVerifyGetKey {
  let known: { readonly find: JWTVerifyGetKey; readonly at: number } | undefined
  let failing = false
  let pending: Promise<JWTVerifyGetKey> | undefined
  const fetches = createTokenBuckets({ ...FETCHES, monotonic })

  const load = async (): Promise<JWTVerifyGetKey> => {
    try {
      const find = createLocalJWKSet(await fetchKeySet(url, fetch))
      known = { find, at: monotonic() }
      failing = false
      return find
    } catch (error) {
      failing = true
      throw error
    } finally {
      pending = undefined
    }
  }
  /** Undefined if there were too many fetches. */
  const reload = (): Promise<JWTVerifyGetKey> | undefined => {
    if (!pending && fetches.take(url) === undefined) pending = load()
    return pending
  }

  const current = async (): Promise<JWTVerifyGetKey> => {
    const usable = known && monotonic() - known.at < MAX_AGE_MS ? known : undefined
    if (usable && monotonic() - usable.at < FRESH_MS) return usable.find
    const reloading = reload()
    if (usable && (failing || !reloading)) {
      // The next token tries again: this one must not wait for an issuer that is down.
      reloading?.catch(() => undefined)
      return usable.find
    }
    try {
      if (reloading) return await reloading
    } catch (error) {
      if (usable) return usable.find
      throw new KeysUnavailableError('the key set cannot be fetched', { cause: error })
    }
    throw new KeysUnavailableError('the key set could not be fetched, and was tried too often')
  }

  return async (header, token) => {
    const find = await current()
    try {
      return await find(header, token)
    } catch (error) {
      const newer = error instanceof errors.JWKSNoMatchingKey ? await reload()?.catch(() => undefined) : undefined
      if (!newer) throw error
      return newer(header, token)
    }
  }
}

async function fetchKeySet(url: string, fetch: RemoteKeySetOptions['fetch']): Promise<JSONWebKeySet> {
  const response = await fetch(url, {
    headers: { accept: 'application/jwk-set+json, application/json' },
    redirect: 'error', // only this URL is the operator's choice
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  if (response.status !== 200) {
    await response.body?.cancel()
    throw new Error(`the key set has status ${response.status}`)
  }
  const tooLarge = (): Error => new Error(`the key set has more than ${MAX_BYTES} bytes`)
  const bytes = response.body ? await readBytes(readChunks(response.body), MAX_BYTES, tooLarge) : new Uint8Array()
  const document: unknown = JSON.parse(decodeUtf8(bytes) ?? '')
  if (!isKeySet(document)) throw new Error('the key set is not a JSON Web Key Set')
  return document
}

/** Chunks of a stream; not every browser can iterate over one. */
async function* readChunks(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel()
  }
}

const isKeySet = (value: unknown): value is JSONWebKeySet =>
  isObject(value) && Array.isArray(value.keys) && value.keys.every(isObject)
