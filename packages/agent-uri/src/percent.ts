const TRIPLET = /%[0-9A-F]{2}/gi
const UNRESERVED = /[A-Za-z0-9\-._~]/

/** Normal form of RFC 3986, section 6.2.2: upper-case hexadecimal digits, unreserved characters decoded. */
export function normalizePercent(text: string): string {
  return text.replace(TRIPLET, (triplet) => {
    const character = octet(triplet)
    return UNRESERVED.test(character) ? character : triplet.toUpperCase()
  })
}

/** Decodes each percent-encoding to one character with that code, once: "%253A" gives "%3A". */
export function decodeOctets(text: string): string {
  return text.replace(TRIPLET, octet)
}

const octet = (triplet: string) => String.fromCharCode(Number.parseInt(triplet.slice(1), 16))

// The well-formed sequences of UTF-8, RFC 3629 section 4, written as percent-encodings.
const X = '[0-9A-F]'
const TAIL = `%[89AB]${X}`
const UTF8 = [
  `%[0-7]${X}`,
  `%(?:C[2-9A-F]|D${X})${TAIL}`,
  `%E0%[AB]${X}${TAIL}`,
  `%ED%[89]${X}${TAIL}`,
  `%E[1-9ABCEF]${TAIL}${TAIL}`,
  `%F0%[9AB]${X}${TAIL}${TAIL}`,
  `%F[1-3]${TAIL}${TAIL}${TAIL}`,
  `%F4%8${X}${TAIL}${TAIL}`,
].join('|')
const SEQUENCE = new RegExp(`(${UTF8})|%${X}${X}`, 'gi')
const REPLACEMENT = '%EF%BF%BD'

/** Decodes text. Octets that are not UTF-8 become U+FFFD, as in web forms: a URI may contain any percent-encoding. */
export function decodeText(text: string): string {
  return decodeUtf8(text) ?? decodeURIComponent(replaceInvalidUtf8(text))
}

/** The decoded text; `undefined` if not valid UTF-8. */
export function decodeUtf8(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

function replaceInvalidUtf8(text: string): string {
  return text.replace(SEQUENCE, (_octets, sequence: string | undefined) => sequence ?? REPLACEMENT)
}
