/** The class of an IP address; only `public` addresses are reachable on the open Internet. */
export type AddressClass =
  | 'public'
  | 'private'
  | 'loopback'
  | 'link-local'
  /** Behind a carrier's NAT (RFC 6598). */
  | 'shared'
  /** Metadata services of clouds, which hand out credentials. */
  | 'metadata'
  | 'multicast'
  /** Documentation, benchmarks, tunnels, future use: no server has such an address. */
  | 'reserved'

/** An address as a number of 32 or 128 bits. */
export interface IpAddress {
  readonly bits: 32 | 128
  readonly value: bigint
}

/** The addresses that share the first `prefix` bits. */
export interface AddressRange extends IpAddress {
  readonly prefix: number
}

/** Whether a host name or literal means this machine: plain HTTP to it does not cross a network (C-73). */
export function isLoopbackHost(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[|\]$/g, '')
  return name === 'localhost' || name.endsWith('.localhost') || name === '::1' || /^127(\.\d{1,3}){3}$/.test(name)
}

/**
 * Parses an address in every notation that a connection would accept: IPv6 with or without brackets, zone or dotted
 * end, and IPv4 in fewer parts, octal or hexadecimal (`0x7f.1`, `2130706433`). `undefined` if it is not an address.
 */
export function parseIpAddress(text: string): IpAddress | undefined {
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text
  return bare.includes(':') ? parseIpv6(bare.replace(/%.*$/, '')) : parseIpv4(bare)
}

/** Parses `10.0.0.0/8`, `fd00::/8` or a single address; `undefined` if it is neither. */
export function parseAddressRange(text: string): AddressRange | undefined {
  const [host = '', length, ...more] = text.split('/')
  const address = parseIpAddress(host)
  if (!address || more.length > 0 || (length !== undefined && !/^\d{1,3}$/.test(length))) return undefined
  const prefix = length === undefined ? address.bits : Number(length)
  return prefix <= address.bits ? { ...address, prefix } : undefined
}

export function isInRange(address: IpAddress, range: AddressRange): boolean {
  const rest = BigInt(range.bits - range.prefix)
  return address.bits === range.bits && address.value >> rest === range.value >> rest
}

/** The class of an address; an IPv6 address that embeds an IPv4 address has the class of the embedded one. */
export function classifyAddress(address: IpAddress): AddressClass {
  const inner = embeddedIpv4(address)
  if (inner) return classifyAddress(inner)
  const known = SPECIAL.find(([range]) => isInRange(address, range))
  if (known) return known[1]
  // Of IPv6, only 2000::/3 has been assigned.
  return address.bits === 32 || isInRange(address, GLOBAL_UNICAST) ? 'public' : 'reserved'
}

/** The address as text; an IPv4-mapped address is written as IPv4, as a connection would use it. */
export function formatIpAddress(address: IpAddress): string {
  const mapped = address.bits === 128 && isInRange(address, MAPPED) ? embeddedIpv4(address) : undefined
  if (address.bits === 32 || mapped) {
    const value = Number((mapped ?? address).value)
    return [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.')
  }
  const groups = Array.from({ length: 8 }, (_, i) => Number((address.value >> BigInt(16 * (7 - i))) & 0xffffn))
  return groups.map((group) => group.toString(16)).join(':')
}

/** As `inet_aton` and the URL standard: one to four parts, the last one fills the remaining bits. */
function parseIpv4(text: string): IpAddress | undefined {
  const parts = text.replace(/\.$/, '').split('.')
  if (parts.length > 4) return undefined
  const numbers = parts.map(parseIpv4Part)
  let value = 0n
  for (const [i, part] of numbers.entries()) {
    const isLast = i === numbers.length - 1
    const room = isLast ? BigInt(8 * (5 - numbers.length)) : 8n
    if (part === undefined || part >= 1n << room) return undefined
    value = (value << room) | part
  }
  return { bits: 32, value }
}

function parseIpv4Part(text: string): bigint | undefined {
  // No part is longer.
  if (text.length > 40) return undefined
  if (/^0x[0-9a-f]*$/i.test(text)) return text.length === 2 ? 0n : BigInt(text)
  if (/^0[0-7]+$/.test(text)) return BigInt(`0o${text}`)
  return /^(0|[1-9]\d*)$/.test(text) ? BigInt(text) : undefined
}

function parseIpv6(text: string): IpAddress | undefined {
  if (text.length > 45) return undefined
  const [head = '', tail, ...more] = text.split('::')
  if (more.length > 0) return undefined
  const first = parseGroups(head, tail === undefined)
  const last = tail === undefined ? [] : parseGroups(tail, true)
  if (!first || !last) return undefined
  const missing = 8 - first.length - last.length
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined
  const groups = [...first, ...Array<bigint>(missing).fill(0n), ...last]
  return { bits: 128, value: groups.reduce((value, group) => (value << 16n) | group, 0n) }
}

/** The 16-bit groups of one side of `::`; only the end of an address may be dotted. */
function parseGroups(text: string, isEnd: boolean): bigint[] | undefined {
  if (text === '') return []
  const groups: bigint[] = []
  const parts = text.split(':')
  for (const [i, part] of parts.entries()) {
    if (/^[0-9a-f]{1,4}$/i.test(part)) groups.push(BigInt(`0x${part}`))
    else if (isEnd && i === parts.length - 1 && /^\d{1,3}(\.\d{1,3}){3}$/.test(part)) {
      const dotted = parseIpv4(part)
      if (!dotted) return undefined
      groups.push(dotted.value >> 16n, dotted.value & 0xffffn)
    } else return undefined
  }
  return groups
}

function embeddedIpv4(address: IpAddress): IpAddress | undefined {
  if (address.bits === 32 || !EMBEDDING.some((range) => isInRange(address, range))) return undefined
  return { bits: 32, value: address.value & 0xffff_ffffn }
}

function range(text: string): AddressRange {
  const parsed = parseAddressRange(text)
  if (!parsed) throw new TypeError(`${text} is not a range of addresses`)
  return parsed
}

const MAPPED = range('::ffff:0:0/96')
/** IPv4 in IPv6 that reaches the IPv4 host: mapped (RFC 4291), translated (RFC 2765) and NAT64 (RFC 6052). */
const EMBEDDING = [MAPPED, range('::ffff:0:0:0/96'), range('64:ff9b::/96')]
const GLOBAL_UNICAST = range('2000::/3')

const ranges = (kind: AddressClass, ...texts: string[]): [AddressRange, AddressClass][] =>
  texts.map((text) => [range(text), kind])

/** The IANA special-purpose registries. The metadata services of clouds come first, as most lie in other ranges. */
const SPECIAL: readonly [AddressRange, AddressClass][] = [
  // AWS, GCP, Azure (also the wire server), ECS, EKS, Alibaba, Oracle.
  ...ranges('metadata', '169.254.169.254', '169.254.170.2', '169.254.170.23', '168.63.129.16', '100.100.100.200'),
  ...ranges('metadata', '192.0.0.192', 'fd00:ec2::254', 'fd00:ec2::23', 'fd20:ce::254'),
  ...ranges('loopback', '127.0.0.0/8', '::1'),
  ...ranges('private', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7', 'fec0::/10', '64:ff9b:1::/48'),
  ...ranges('link-local', '169.254.0.0/16', 'fe80::/10'),
  ...ranges('shared', '100.64.0.0/10'),
  ...ranges('multicast', '224.0.0.0/4', 'ff00::/8'),
  ...ranges('reserved', '0.0.0.0/8', '192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '198.18.0.0/15'),
  ...ranges('reserved', '198.51.100.0/24', '203.0.113.0/24', '240.0.0.0/4'),
  // Teredo, ORCHID and other protocol assignments; documentation; 6to4, which leads to any IPv4 address.
  ...ranges('reserved', '2001::/23', '2001:db8::/32', '3fff::/20', '2002::/16'),
]
