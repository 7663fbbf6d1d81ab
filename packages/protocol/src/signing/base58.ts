import { SigningError } from './signing-error.js'

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** Longer texts hold no key of ours; decoding takes quadratic time. */
const MAX_LENGTH = 128

/** Bytes of a base58btc text. */
export function decodeBase58(text: string): Uint8Array<ArrayBuffer> {
  if (text.length > MAX_LENGTH) throw new SigningError('malformed', 'a base58 text too long for a key')
  let value = 0n
  for (const character of text) {
    const digit = ALPHABET.indexOf(character)
    if (digit === -1) throw new SigningError('malformed', 'a character that base58 does not have')
    value = value * 58n + BigInt(digit)
  }
  const bytes: number[] = []
  for (; value > 0n; value >>= 8n) bytes.unshift(Number(value & 0xffn))
  const zeros = /^1*/.exec(text)?.[0].length ?? 0
  return Uint8Array.from([...new Array<number>(zeros).fill(0), ...bytes])
}

/** Text of some bytes in base58btc. */
export function encodeBase58(bytes: Uint8Array): string {
  let value = bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n)
  let text = ''
  for (; value > 0n; value /= 58n) text = ALPHABET.charAt(Number(value % 58n)) + text
  const leading = bytes.findIndex((byte) => byte !== 0)
  return '1'.repeat(leading === -1 ? bytes.length : leading) + text
}
