import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

/** Encrypts secrets for the store. */
export interface Seal {
  /** `about` identifies what the text belongs to; it must be the same for `open`. */
  close(text: string, about: string): string
  /** Undefined if the text was sealed with another secret or another `about`, or was altered. */
  open(sealed: string, about: string): string | undefined
}

const NONCE_BYTES = 12
const TAG_BYTES = 16
/** Prefix that identifies the format, for later formats. */
const VERSION = '1.'

/** Seals with AES-256-GCM and a key derived from the operator's secret. */
export function createSeal(secret: string): Seal {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'switchboard seal 1', 32))
  return {
    close(text, about) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(about))
      const parts = [nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]
      return VERSION + Buffer.concat(parts).toString('base64url')
    },
    open(sealed, about) {
      const bytes = Buffer.from(sealed.slice(VERSION.length), 'base64url')
      if (!sealed.startsWith(VERSION) || bytes.length < NONCE_BYTES + TAG_BYTES) return undefined
      const nonce = bytes.subarray(0, NONCE_BYTES)
      const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
        .setAAD(Buffer.from(about))
        .setAuthTag(bytes.subarray(-TAG_BYTES))
      try {
        return decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
      } catch {
        // The authentication tag does not match; GCM does not say why.
        return undefined
      }
    },
  }
}
