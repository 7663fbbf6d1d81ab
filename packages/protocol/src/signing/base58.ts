import { SigningError } from './signing-error.js'

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** Longer than any supported key; decoding takes quadratic time. */
const MAX_LENGTH = 128

/** Decodes base58btc. */
export function decodeBase58(text: string): Uint8Array<ArrayBuffer> {
  if (text.length > MAX_LENGTH) throw new SigningError('malformed', 'the base58 text is too long for a key')
  let value = 0n
  for (const character of text) {
    const digit = ALPHABET.indexOf(character)
    if (digit === -1) throw new SigningError('malformed', 'the text contains a character that is not base58')
    value = value * 58n + BigInt(digit)
  }
  const bytes: number[] = []
  for (; value > 0n; value >>= 8n) bytes.unshift(Number(value & 0xffn))
  const zeros = /^1*/.exec(text)?.[0].length ?? 0
  return Uint8Array.from([...new Array<number>(zeros).fill(0), ...bytes])
}

/** Encodes base58btc. */
export function encodeBase58(bytes: Uint8Array): string {
  let value = bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n)
  let text = ''
  for (; value > 0n; value /= 58n) text = ALPHABET.charAt(Number(value % 58n)) + text
  const leading = bytes.findIndex((byte) => byte !== 0)
  return '1'.repeat(leading === -1 ? bytes.length : leading) + text
}
