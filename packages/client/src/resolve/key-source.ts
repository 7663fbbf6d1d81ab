import { keyOfDidKey, readDidKeys, readKeySet, SigningError, type VerificationKey } from '@switchboard/protocol'
import { ClientError } from '../errors.js'
import { resolveDid } from './did-resolution.js'
import type { Inquiry } from './inquiry.js'
import type { DidMethod } from './options.js'
import { readUri } from './read-uri.js'
import { originOf } from './uri-path.js'

/** Public keys of a party, and what vouches for them: a DID, or the URL of a key set. */
export interface PublishedKeys {
  readonly authority: string
  readonly keys: readonly VerificationKey[]
}

/**
 * The keys of whoever is named: a `did:key` is one, other DIDs have them in their document, and an agent URI or a web
 * address in `/.well-known/jwks.json` of its host (C-64). Undefined if the host publishes none.
 */
export async function findKeys(
  identity: string,
  inquiry: Inquiry,
  methods: Readonly<Record<string, DidMethod>>,
): Promise<PublishedKeys | undefined> {
  if (identity.startsWith('did:key:')) return { authority: identity, keys: [readDidKey(identity)] }
  if (identity.startsWith('did:')) {
    return { authority: identity, keys: readDidKeys(await resolveDid(identity, inquiry, methods)) }
  }
  if (/^agent(\+|:)/i.test(identity)) {
    const uri = readUri(identity)
    return uri.did === undefined
      ? keySetOf(originOf(uri, inquiry.policy), inquiry)
      : findKeys(uri.did, inquiry, methods)
  }
  if (!URL.canParse(identity)) throw new ClientError('invalid_argument', 'keys belong to a DID, an agent URI or a URL')
  return keySetOf(new URL(identity).origin, inquiry)
}

function readDidKey(did: string): VerificationKey {
  try {
    return keyOfDidKey(did)
  } catch (cause) {
    if (!(cause instanceof SigningError)) throw cause
    throw new ClientError('invalid_argument', `not a did:key that can sign: ${cause.message}`, { cause })
  }
}

async function keySetOf(origin: string, inquiry: Inquiry): Promise<PublishedKeys | undefined> {
  const found = await inquiry.askObject(`${origin}/.well-known/jwks.json`)
  return found && { authority: found.url, keys: readKeySet(found.document) }
}
