import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { delegate, didKeyOf, type SigningKey } from '@switchboard/protocol'

/** A new Ed25519 key, for an agent or a person to sign with. */
export function makeKey(id = 'key-1'): SigningKey {
  const { crv = '', x = '', d = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  return { id, jwk: { kty: 'OKP', crv, x, d } }
}

/** Signs that the agent at `url` acts for somebody. */
export type SignDelegation = (hop: { readonly url: string }) => Promise<string>

/** Somebody who gives tasks to agents and is known by their key alone (did:key). */
export function makePerson(): { readonly did: string; readonly delegationChain: SignDelegation } {
  const { jwk } = makeKey()
  const did = didKeyOf(jwk)
  const key = { id: `${did}#${did.slice('did:key:'.length)}`, jwk }
  return {
    did,
    delegationChain: ({ url }) =>
      delegate({ issuer: did, subject: did, audience: url, key, now: Date.now, newId: randomUUID }),
  }
}
