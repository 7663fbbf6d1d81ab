import {
  didWebUrl,
  isObject,
  type JsonObject,
  keyOfDidKey,
  parseJsonBody,
  readDidKeys,
  readKeySet,
  SigningError,
  type VerificationKey,
} from '@switchboard/protocol'
import { ExpiringMap } from '../expiring-map.js'
import { type AddressRules, guardedRequest } from '../guarded-request.js'

/** Bytes of a key set or a DID document. */
const MAX_BYTES = 256 * 1024
/** Milliseconds that keys are cached; a revoked key may be trusted for this long. */
const RETENTION_MS = 300_000
const MAX_ISSUERS = 1000

/**
 * Finds the keys of the issuer that signed a hop: a `did:key` is the key itself, a `did:web` lists them in its document,
 * an agent URI or web address in `/.well-known/jwks.json` of its host (C-64).
 */
export function createIssuerKeys(monotonic: () => number, rules: AddressRules) {
  const known = new ExpiringMap<readonly VerificationKey[]>({ monotonic, max: MAX_ISSUERS })

  const fetchKeys = async (issuer: string): Promise<readonly VerificationKey[]> => {
    if (issuer.startsWith('did:web:'))
      return readDidKeys(await readObject(didWebUrl(issuer, { httpLoopback: rules.allowPrivate }), rules))
    const url = issuer.replace(/^agent(\+https)?:/i, 'https:')
    if (!/^https?:/i.test(url) || !URL.canParse(url)) throw unknown(issuer)
    return readKeySet(await readObject(`${new URL(url).origin}/.well-known/jwks.json`, rules))
  }

  return async (issuer: string): Promise<readonly VerificationKey[]> => {
    if (issuer.startsWith('did:key:')) return [keyOfDidKey(issuer)]
    const kept = known.get(issuer)
    if (kept) return kept
    const keys = await fetchKeys(issuer).catch((cause) => {
      throw unknown(issuer, cause)
    })
    known.set(issuer, keys, RETENTION_MS)
    return keys
  }
}

async function readObject(url: string, rules: AddressRules): Promise<JsonObject> {
  const { status, body } = await guardedRequest({ method: 'GET', url, maxBytes: MAX_BYTES }, rules)
  const document = status === 200 ? parseJsonBody(body) : undefined
  if (isObject(document)) return document
  throw unknown(url)
}

const unknown = (issuer: string, cause?: unknown): SigningError =>
  new SigningError('unknown_key', `found no keys for ${issuer.slice(0, 200)}`, cause)
