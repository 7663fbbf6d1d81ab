import { createHash, createPrivateKey, sign } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import {
  BODY_DIGEST,
  MESSAGE_SIGNATURES,
  REQUESTED_SIGNATURE,
  RFC_SIGNATURE,
  SIGNATURE_KEY,
  SIGNED_BODY,
} from '../../test-vectors/call/message-signatures.js'
import { contentDigest, signMessage } from './message-signature.js'

const key = createPrivateKey({ key: SIGNATURE_KEY, format: 'jwk' })

describe('signMessage', () => {
  it.each([RFC_SIGNATURE, ...MESSAGE_SIGNATURES, REQUESTED_SIGNATURE])(
    'AIDIP-9-08 signs $name',
    ({ components, parameters, fields }) => {
      expect(signMessage(components, parameters, (base) => sign(null, base, key))).toEqual(fields)
    },
  )
})

describe('contentDigest', () => {
  it('AIDIP-9-08 writes the digest as a structured field', () => {
    expect(contentDigest(createHash('sha256').update(SIGNED_BODY).digest())).toBe(BODY_DIGEST)
  })
})
