import { keyOfDidKey, readDidKeys, readKeySet, SigningError, type VerificationKey } from '@switchboard/protocol'
import { ClientError } from '../errors.js'
import { resolveDid } from './did-resolution.js'
import type { DidMethod } from './options.js'
import { readUri } from './read-uri.js'
import type { Resolution } from './resolution.js'
import { originOf } from './uri-path.js'

/** Public keys, and the DID or the URL of the key set that they are from. */
export interface PublishedKeys {
  readonly authority: string
  readonly keys: readonly VerificationKey[]
}

/**
 * The public keys of an identity: from a DID or its document, or from `/.well-known/jwks.json` on the host of an agent
 * URI or a URL (C-64). Undefined if the host publishes none.
 */
export async function findKeys(
  identity: string,
  resolution: Resolution,
  methods: Readonly<Record<string, DidMethod>>,
): Promise<PublishedKeys | undefined> {
  if (identity.startsWith('did:key:')) return { authority: identity, keys: [readDidKey(identity)] }
  if (identity.startsWith('did:')) {
    return { authority: identity, keys: readDidKeys(await resolveDid(identity, resolution, methods)) }
  }
  if (/^agent(\+|:)/i.test(identity)) {
    const uri = readUri(identity)
    return uri.did === undefined
      ? keySetOf(originOf(uri, resolution.policy), resolution)
      : findKeys(uri.did, resolution, methods)
  }
  if (!URL.canParse(identity))
    throw new ClientError('invalid_argument', 'the owner of keys must be a DID, an agent URI or a URL')
  return keySetOf(new URL(identity).origin, resolution)
}

function readDidKey(did: string): VerificationKey {
  try {
    return keyOfDidKey(did)
  } catch (cause) {
    if (!(cause instanceof SigningError)) throw cause
    throw new ClientError('invalid_argument', `the did:key cannot verify signatures: ${cause.message}`, { cause })
  }
}

async function keySetOf(origin: string, resolution: Resolution): Promise<PublishedKeys | undefined> {
  const found = await resolution.fetchObject(`${origin}/.well-known/jwks.json`)
  return found && { authority: found.url, keys: readKeySet(found.document) }
}
