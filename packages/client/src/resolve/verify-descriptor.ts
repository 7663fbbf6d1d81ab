import type { AgentUri } from '@switchboard/agent-uri'
import { isSigned, SigningError, type VerificationKey, verifyDocument } from '@switchboard/protocol'
import { ClientError } from '../errors.js'
import { findKeys } from './key-source.js'
import type { ResolverOptions } from './options.js'
import type { Descriptor } from './parse-descriptor.js'
import type { Resolution } from './resolution.js'
import type { VerifiedSigner } from './resolved-agent.js'

/** The `authority` of keys that the caller trusts. */
const CALLER = 'trustedKeys'

/**
 * Verifies the signature of a descriptor with the keys of the DID in the URI (AURI §10), else of the descriptor's host.
 * A wrong signature is always an error. A missing signature, or one whose key is unknown, is an error only with
 * `requireSignature`.
 */
export async function verifyDescriptor(
  { did }: AgentUri,
  { document, url }: Descriptor,
  resolution: Resolution,
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
    throw new ClientError(
      'unsigned',
      `${url} is not signed with a key of a DID: use an agent URI with a DID, or requireSignature: true`,
      { url },
    )
  }
  const published = await findKeys(did ?? url, resolution, didMethods)
  if (!published) {
    if (requireSignature) throw new ClientError('unsigned', `${url} is signed, but its host publishes no keys`, { url })
    resolution.warn(`${url} is signed, but its host publishes no keys: the signature was not checked`)
    return undefined
  }
  try {
    return { key: await verify(document, published.keys), authority: published.authority }
  } catch (cause) {
    if (!(cause instanceof SigningError)) throw cause
    const message = `${url} is not signed by a key of ${published.authority}: ${cause.message}`
    // The signer's keys may be published elsewhere: treat the document as unsigned.
    const isUnknown = cause.code === 'unknown_key' || cause.code === 'unsupported_algorithm'
    if (did !== undefined || requireSignature || !isUnknown)
      throw new ClientError('bad_signature', message, { url, cause })
    resolution.warn(message)
    return undefined
  }
}

async function verify(document: Descriptor['document'], keys: readonly VerificationKey[]): Promise<string> {
  return (await verifyDocument(document, keys)).key ?? ''
}
