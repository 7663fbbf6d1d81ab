import { describe, expect, it } from 'vitest'
import {
  BODY_DIGEST,
  MESSAGE_SIGNATURES,
  SIGNATURE_KEY,
  SIGNED_BODY,
} from '../../../protocol/test-vectors/call/message-signatures.js'
import { createMessageSigner } from './message-signer.js'

describe('createMessageSigner', () => {
  it.each(MESSAGE_SIGNATURES)('AURI-10-01 signs $name', ({ components, parameters, fields }) => {
    const signer = createMessageSigner({ id: parameters.keyId, jwk: SIGNATURE_KEY }, () => parameters.created * 1000)
    expect(signer.sign(components.slice(0, -1), SIGNED_BODY)).toEqual({ 'content-digest': BODY_DIGEST, ...fields })
  })

  it('rejects a key id that a header field cannot contain', () => {
    expect(() => createMessageSigner({ id: 'schlüssel', jwk: SIGNATURE_KEY }, () => 0)).toThrow(/printable ASCII/)
  })
})
