import { SigningError, didWebUrl as toUrl } from '@switchboard/protocol'
import { ClientError } from '../errors.js'
import type { AddressPolicy } from './address-policy.js'

/**
 * The URL of a `did:web` document: `/.well-known/did.json` for `did:web:host`, `/a/b/did.json` for `did:web:host:a:b`.
 * A port follows the host as `%3A8443` (C-87).
 *
 * @throws {ClientError} `invalid_uri`
 */
export function didWebUrl(did: string, policy: AddressPolicy = {}): string {
  try {
    return toUrl(did, policy)
  } catch (cause) {
    throw cause instanceof SigningError ? new ClientError('invalid_uri', cause.message, { cause }) : cause
  }
}
