import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { delegate, didKeyOf } from '@switchboard/protocol'

/** A fresh Ed25519 key, as agents and people sign with. */
export function makeKey(id = 'key-1') {
  const { kty, crv, x, d } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  return { id, jwk: { kty, crv, x, d } }
}

/** Somebody who gives tasks to agents, known by the key itself (did:key). */
export function makePerson() {
  const { jwk } = makeKey()
  const did = didKeyOf(jwk)
  const key = { id: `${did}#${did.slice('did:key:'.length)}`, jwk }
  return {
    did,
    /** Signs that the agent at `url` acts for this person; an option of the client's calls. */
    delegationChain: ({ url }) =>
      delegate({ issuer: did, subject: did, audience: url, key, now: Date.now, newId: randomUUID }),
  }
}
