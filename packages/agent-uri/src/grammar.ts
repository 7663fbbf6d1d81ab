import { AgentUriError } from './error.js'

// RFC 3986 appendix A, as bodies of character classes.
const UNRESERVED = 'A-Za-z0-9\\-._~'
const SUB_DELIMS = "!$&'()*+,;="
const PCHAR = `${UNRESERVED}${SUB_DELIMS}:@`

/**
 * Matches the first character that is neither in the set nor part of a percent-encoding. Searching for the mistake
 * needs no backtracking: it takes linear time on any input, and gives the position.
 */
const outside = (allowed: string) => new RegExp(`[^${allowed}%]|%(?![0-9A-Fa-f]{2})`)

const ILLEGAL = {
  transport: /[^A-Za-z0-9-]/,
  userinfo: outside(`${UNRESERVED}${SUB_DELIMS}:`),
  host: outside(`${UNRESERVED}${SUB_DELIMS}`),
  path: outside(`${PCHAR}/`),
  query: outside(`${PCHAR}/?`),
  fragment: outside(`${PCHAR}/?`),
}

/** `IPvFuture` of RFC 3986, without its brackets. */
export const IP_FUTURE = new RegExp(`^v[0-9A-F]+\\.[${UNRESERVED}${SUB_DELIMS}:]+$`, 'i')

/** Returns the text if all its characters are allowed in that part of a URI, and throws otherwise. */
export function checkCharacters(part: keyof typeof ILLEGAL, text: string, offset: number): string {
  const index = text.search(ILLEGAL[part])
  if (index === -1) return text
  const problem =
    text[index] === '%' && part !== 'transport'
      ? `"%" in the ${part} is not followed by two hexadecimal digits`
      : `${nameCharacter(text, index)} is not allowed in the ${part}`
  throw new AgentUriError(`invalid_${part}`, problem, offset + index)
}

/** Checks a transport (`protocol` in section 4.2): letters, digits and "-". Returns it in lower case. */
export function readTransport(text: string, offset: number): string {
  if (text === '') throw new AgentUriError('invalid_transport', 'the transport after "+" is missing', offset)
  return checkCharacters('transport', text, offset).toLowerCase()
}

function nameCharacter(text: string, index: number): string {
  const code = text.codePointAt(index) ?? 0
  const isVisible = code > 0x20 && code < 0x7f
  return isVisible ? `"${text[index]}"` : `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
}
