import type { AgentUri } from '@switchboard/agent-uri'
import { isSigned, SigningError, type VerificationKey, verifyDocument } from '@switchboard/protocol'
import { ClientError } from '../errors.js'
import type { Inquiry } from './inquiry.js'
import { findKeys } from './key-source.js'
import type { ResolverOptions } from './options.js'
import type { Descriptor } from './parse-descriptor.js'
import type { VerifiedSigner } from './resolved-agent.js'

/** Stands in `signer.authority` for keys that the caller trusts. */
const CALLER = 'trustedKeys'

/**
 * Verifies the signature of a descriptor: against the DID document where the authority is a DID (AURI §10), else
 * against the keys of the host that it came from. One that is wrong is never passed over; one that cannot be checked,
 * or is missing, is refused only if the caller demands signatures.
 */
export async function verifyDescriptor(
  { did }: AgentUri,
  { document, url }: Descriptor,
  inquiry: Inquiry,
  options: ResolverOptions,
): Promise<VerifiedSigner | undefined> {
  const { requireSignature = false, trustedKeys = [], didMethods = {} } = options
  if (!isSigned(document)) {
    if (requireSignature) throw new ClientError('unsigned', `${url} is not signed`, { url })
    return undefined
  }
  const trusted = await verify(document, trustedKeys).catch(() => undefined)
  if (trusted && requireSignature !== 'did') return { key: trusted, authority: CALLER }

  if (did === undefined && requireSignature === 'did') {
    throw new ClientError('unsigned', `no DID vouches for ${url}`, { url })
  }
  const published = await findKeys(did ?? url, inquiry, didMethods)
  if (!published) {
    if (requireSignature) throw new ClientError('unsigned', `${url} is signed and its host publishes no keys`, { url })
    inquiry.warn(`${url} is signed and its host publishes no keys: the signature was not checked`)
    return undefined
  }
  try {
    return { key: await verify(document, published.keys), authority: published.authority }
  } catch (cause) {
    if (!(cause instanceof SigningError)) throw cause
    const said = `${url} is not signed by a key of ${published.authority}: ${cause.message}`
    // A card may be signed by somebody whose keys are elsewhere: no more is known of it than of an unsigned one.
    const isUnknown = cause.code === 'unknown_key' || cause.code === 'unsupported_algorithm'
    if (did !== undefined || requireSignature || !isUnknown)
      throw new ClientError('bad_signature', said, { url, cause })
    inquiry.warn(said)
    return undefined
  }
}

async function verify(document: Descriptor['document'], keys: readonly VerificationKey[]): Promise<string> {
  return (await verifyDocument(document, keys)).key ?? ''
}
