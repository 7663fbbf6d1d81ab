/** A DNS record, in the notation of zone files. */
export interface ZoneRecord {
  /** Absolute: ends with a dot. */
  readonly name: string
  readonly type: 'PTR' | 'SRV' | 'SVCB' | 'TXT'
  readonly data: string
}

/** Bytes of one string of a record. */
export const MAX_STRING_BYTES = 255
const HOST = /^(?=.{1,253}\.?$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?)*\.?$/i

/**
 * A name with a dot at its end, so that it is not completed with the zone's.
 *
 * @throws {TypeError} if it is not a domain name
 */
export function absoluteName(name: string): string {
  if (!HOST.test(name)) throw new TypeError(`"${name}" is not a domain name`)
  return name.endsWith('.') ? name : `${name}.`
}

/**
 * A string of a record in quotes.
 *
 * @throws {TypeError} if it is too long
 */
export function quoteString(text: string): string {
  const bytes = new TextEncoder().encode(text)
  if (bytes.length > MAX_STRING_BYTES) throw new TypeError(`"${text}" is longer than ${MAX_STRING_BYTES} bytes`)
  const escaped = Array.from(bytes, (byte) =>
    byte < 0x20 || byte > 0x7e || byte === 0x22 || byte === 0x5c ? escapeByte(byte) : String.fromCharCode(byte),
  )
  return `"${escaped.join('')}"`
}

/** A byte in the notation that is always allowed. */
export const escapeByte = (byte: number): string => `\\${String(byte).padStart(3, '0')}`
