import type { JsonValue } from '../../json.js'

const DAYS_OF_MONTH = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
const TIME = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:z|([+-])(\d\d):(\d\d))$/i
const DURATION = /^P(?!$)(?:(\d+Y)?(\d+M)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+S)?)?|\d+W)$/
const ATOM = /^[^\s"(),.:;<>@[\\\]]+$/
const QUOTED_STRING = /^"(?:[^"\\]|\\.)*"$/
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/
/** RFC 3986 appendix B: scheme, authority, path, query, fragment. */
const URI_PARTS = /^(?:([^:/?#]+):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s
const URI_AUTHORITY = /^(?:[^@[\]]*@)?(?:\[[0-9a-f:.]+\]|\[v[0-9a-f]+\.[^[\]]+\]|[^:@[\]]*)(?::\d*)?$/i
const URI_CHARACTERS = /^(?:[\w\-.~:/?@!$&'()*+,;=]|%[0-9a-f]{2})*$/i
const URI_TEMPLATE =
  /^(?:[^\0-\x20"'<>%\\^`{|}]|%[0-9a-f]{2}|\{[+#./;?&=,!@|]?(?:[\w.]|%[0-9a-f]{2})+(?::[1-9]\d{0,3}|\*)?(?:,(?:[\w.]|%[0-9a-f]{2})+(?::[1-9]\d{0,3}|\*)?)*\})*$/i
const POINTER = /^(?:\/(?:[^~/]|~[01])*)*$/
const RELATIVE_POINTER = /^(?:0|[1-9]\d*)(?:#|(?:\/(?:[^~/]|~[01])*)*)$/
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i
const BASE64 = /^(?:[a-z0-9+/]{4})*(?:[a-z0-9+/]{2}==|[a-z0-9+/]{3}=)?$/i

/** A format, and the message for values that do not have it. */
export interface Format {
  readonly message: string
  test(value: JsonValue): boolean
}

/** A format of strings; values of other types always fit, as JSON Schema requires. */
export const stringFormat = (test: (text: string) => boolean, message: string): Format => ({
  message,
  test: (value) => typeof value !== 'string' || test(value),
})

/** Each takes time linear in the length of the text. */
const OF_STRINGS: Readonly<Record<string, (text: string) => boolean>> = {
  date: isDate,
  time: isTime,
  'date-time': (text) => isDate(text.slice(0, 10)) && /^[t ]$/i.test(text.charAt(10)) && isTime(text.slice(11)),
  duration: (text) => DURATION.test(text),
  email: (text) => isAscii(text) && isEmail(text),
  'idn-email': isEmail,
  hostname: isHostname,
  ipv4: (text) => IPV4.test(text),
  ipv6: isIpv6,
  // People send unencoded letters in URIs, and every HTTP client encodes them.
  uri: isIri,
  'uri-reference': isIriReference,
  iri: isIri,
  'iri-reference': isIriReference,
  'uri-template': (text) => URI_TEMPLATE.test(text),
  url: (text) => /^(https?|ftp):\/\//i.test(text) && URL.canParse(text),
  uuid: (text) => UUID.test(text),
  regex: isRegex,
  'json-pointer': (text) => POINTER.test(text),
  'relative-json-pointer': (text) => RELATIVE_POINTER.test(text),
  byte: (text) => BASE64.test(text),
}

const OF_NUMBERS: Readonly<Record<string, (value: number) => boolean>> = {
  int32: (value) => Number.isInteger(value) && value >= -(2 ** 31) && value < 2 ** 31,
  int64: (value) => Number.isInteger(value),
}

/** The formats that are checked in publishers' schemas. All others are annotations: any value fits. */
export const FORMATS: ReadonlyMap<string, Format> = new Map([
  ...Object.entries(OF_STRINGS).map(([name, test]) => [name, stringFormat(test, described(name))] as const),
  ...Object.entries(OF_NUMBERS).map(([name, test]): [string, Format] => [
    name,
    { message: described(name), test: (value) => typeof value !== 'number' || test(value) },
  ]),
])

function described(name: string): string {
  return `must be ${/^[aeio]/.test(name) ? 'an' : 'a'} ${name}`
}

function isDate(text: string): boolean {
  const [, year = 0, month = 0, day = 0] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text)?.map(Number) ?? []
  const isLeapYear = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  return day >= 1 && day <= (month === 2 && !isLeapYear ? 28 : (DAYS_OF_MONTH[month - 1] ?? 0))
}

function isTime(text: string): boolean {
  const match = TIME.exec(text)
  if (match === null) return false
  const [hour = 0, minute = 0, second = 0] = match.slice(1, 4).map(Number)
  const [offsetHour = 0, offsetMinute = 0] = match.slice(5).map((digits) => Number(digits ?? 0))
  if (hour > 23 || minute > 59 || second > 60 || offsetHour > 23 || offsetMinute > 59) return false
  if (second < 60) return true
  // Leap seconds are inserted at 23:59:60 UTC.
  const offset = (offsetHour * 60 + offsetMinute) * (match[4] === '-' ? -1 : 1)
  return (hour * 60 + minute - offset + 1440) % 1440 === 1439
}

function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@')
  const local = text.slice(0, at)
  const domain = text.slice(at + 1)
  if (at < 1) return false
  const isLocal = QUOTED_STRING.test(local) || local.split('.').every((atom) => ATOM.test(atom))
  const literal = /^\[(?:IPv6:(.+)|(.+))\]$/.exec(domain)
  if (literal) return isLocal && (literal[1] ? isIpv6(literal[1]) : IPV4.test(literal[2] ?? ''))
  return isLocal && isHostname(withAsciiLetters(domain))
}

function isHostname(text: string): boolean {
  return (
    text.length <= 254 &&
    text
      .replace(/\.$/, '')
      .split('.')
      .every((label) => LABEL.test(label))
  )
}

function isIpv6(text: string): boolean {
  return text.length <= 45 && /^[0-9a-f:.]+$/i.test(text) && URL.canParse(`http://[${text}]`)
}

function isIri(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:/i.test(text) && isIriReference(text)
}

function isIriReference(text: string): boolean {
  const [, scheme = '', authority = '', ...others] = URI_PARTS.exec(withAsciiLetters(text)) ?? []
  const authorityCharacters = authority.replace(/[[\]]/g, '')
  return (
    /^(?:[a-z][a-z0-9+.-]*)?$/i.test(scheme) &&
    URI_AUTHORITY.test(authority) &&
    [authorityCharacters, ...others].every((part) => URI_CHARACTERS.test(part ?? ''))
  )
}

function isRegex(text: string): boolean {
  try {
    new RegExp(text)
    // Anchors of Python and .NET, which JavaScript reads as letters.
    return !/(?<!\\)(?:\\\\)*\\[AZz]/.test(text)
  } catch {
    return false
  }
}

const isAscii = (text: string): boolean => withAsciiLetters(text) === text

/** Internationalized forms differ from the ASCII ones only in the letters that they allow. */
const withAsciiLetters = (text: string): string => text.replace(/[\u0080-\u{10ffff}]/gu, 'a')
