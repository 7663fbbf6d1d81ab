import { IP_FUTURE } from './grammar.js'

const OCTET = '(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])'
const IPV4 = new RegExp(`^${OCTET}(?:\\.${OCTET}){3}$`)
const GROUP = /^[0-9A-F]{1,4}$/i
const GROUPS_IN_ALL = 8

/** Dotted decimal as in RFC 3986: four numbers up to 255 without leading zeros. */
export function isIpv4(text: string): boolean {
  return IPV4.test(text)
}

/** `IPv6address` of RFC 3986, without brackets; zone identifiers are not part of it. */
export function isIpv6(text: string): boolean {
  const [head = '', tail, ...more] = text.split('::')
  if (more.length > 0) return false
  if (tail === undefined) return countGroups(head, true) === GROUPS_IN_ALL
  return countGroups(head, false) + countGroups(tail, true) < GROUPS_IN_ALL
}

export function isIpFuture(text: string): boolean {
  return IP_FUTURE.test(text)
}

/** Number of 16-bit groups in the text, NaN if it is malformed. Only the end may be an IPv4 address. */
function countGroups(text: string, isEnd: boolean): number {
  if (text === '') return 0
  const groups = text.split(':')
  const endsInIpv4 = isEnd && isIpv4(groups.at(-1) ?? '')
  const hexadecimal = endsInIpv4 ? groups.slice(0, -1) : groups
  if (!hexadecimal.every((group) => GROUP.test(group))) return Number.NaN
  return hexadecimal.length + (endsInIpv4 ? 2 : 0)
}
