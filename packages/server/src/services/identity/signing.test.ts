import { createPrivateKey } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import {
  BODY_DIGEST,
  MESSAGE_SIGNATURES,
  REQUESTED_SIGNATURE,
  SIGNATURE_KEY,
  SIGNED_BODY,
} from '../../../../protocol/test-vectors/call/message-signatures.js'
import { openSqliteStore } from '../../store/sqlite/open-sqlite-store.js'
import { createSeal } from './seal.js'
import { createSigning, digestOf } from './signing.js'

const folder = mkdtempSync(join(tmpdir(), 'switchboard-signing-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('createSigning', () => {
  it.each([...MESSAGE_SIGNATURES, REQUESTED_SIGNATURE])(
    'AIDIP-9-08 signs $name',
    async ({ name, components, parameters, fields }) => {
      const { keyId, created, label, nonce, tag } = parameters
      const store = await openSqliteStore(join(folder, name.replaceAll(/\W/g, '-')))
      const seal = createSeal('a secret for this test')
      const pem = createPrivateKey({ key: SIGNATURE_KEY, format: 'jwk' }).export({ type: 'pkcs8', format: 'pem' })
      const now = created * 1000
      await store.secrets.putSigningKey(
        { id: keyId, publicKey: '{}', secret: seal.close(String(pem), `signing key ${keyId}`), createdAt: now },
        { at: now, actor: 'test', action: 'signing-key.create', outcome: 'ok' },
      )
      const onError = (error: unknown): never => {
        throw error
      }
      const signing = await createSigning({ store, seal, now: () => now, onError })
      const requested = { ...(label && { label }), ...(nonce && { nonce }), ...(tag && { tag }) }
      expect(signing.sign(components, requested)).toEqual(fields)
      await store.close()
    },
  )
})

describe('digestOf', () => {
  it('AIDIP-9-08 returns the Content-Digest of a body', () => {
    expect(digestOf(SIGNED_BODY)).toBe(BODY_DIGEST)
  })
})
