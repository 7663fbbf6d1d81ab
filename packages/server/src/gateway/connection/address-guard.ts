import { networkInterfaces } from 'node:os'
import {
  type AddressClass,
  type AddressRange,
  classifyAddress,
  formatIpAddress,
  type IpAddress,
  isInRange,
  isLoopbackHost,
  parseAddressRange,
  parseIpAddress,
} from '@switchboard/protocol'
import { GatewayError } from '../gateway.js'
import type { ResolveName } from './resolve-name.js'

export interface GuardDeps {
  readonly allow: readonly string[]
  readonly allowLoopback: boolean
  /** URLs of this gateway itself, local and public. */
  readonly self: () => readonly string[]
  readonly resolve: ResolveName
}

export interface AddressGuard {
  /**
   * The addresses of the host of a URL, all of which may be called; the connection must go to one of them. Throws
   * GatewayError: `blocked`, `loop`, or `unreachable` if the name has no address.
   */
  check(url: URL): Promise<readonly string[]>
  /** The same checks without resolving the name, to reject a URL that will be called later. */
  checkUnresolved(url: URL): void
}

const PORTS: Readonly<Record<string, { port: number; secure: boolean } | undefined>> = {
  'https:': { port: 443, secure: true },
  'wss:': { port: 443, secure: true },
  'http:': { port: 80, secure: false },
  'ws:': { port: 80, secure: false },
}

/**
 * Decides where the gateway may connect to. It resolves names itself and returns the addresses that it checked, so that
 * a second DNS lookup cannot lead elsewhere (DNS rebinding).
 */
export function createAddressGuard({ allow, allowLoopback, self, resolve }: GuardDeps): AddressGuard {
  const allowed = readAllowed(allow)

  const isAllowed = (address: IpAddress, kind: AddressClass, isAllowedName: boolean): boolean => {
    if (kind === 'public') return true
    if (kind === 'loopback' && allowLoopback) return true
    // Metadata services hand out credentials: a name or a range is not enough, the exact address must be listed.
    const ranges = kind === 'metadata' ? allowed.ranges.filter(({ prefix, bits }) => prefix === bits) : allowed.ranges
    return (isAllowedName && kind !== 'metadata') || ranges.some((range) => isInRange(address, range))
  }

  /** Parses a URL and throws if it can be rejected without resolving its host. */
  const parse = (url: URL): Target => {
    const known = PORTS[url.protocol]
    if (!known) throw blocked(`the scheme ${url.protocol} is not supported`)
    if (url.username !== '' || url.password !== '') throw blocked('the URL must not contain a user name or password')
    const port = url.port === '' ? known.port : Number(url.port)
    const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
    const ownUrls = self().map((text) => new URL(text))
    if (ownUrls.some((own) => own.hostname.replace(/\.$/, '') === host && portOf(own) === port)) throw loop(host)

    const isAllowedOrigin = allowed.origins.has(`${known.secure ? 'https' : 'http'}://${host}:${port}`)
    const isAllowedName = isAllowedOrigin || allowed.isName(host)
    if (!known.secure && !isAllowedOrigin && !allowLoopback) throw unencrypted(host)
    return { host, port, secure: known.secure, ownUrls, isAllowedOrigin, isAllowedName }
  }

  const checkAddresses = (addresses: readonly IpAddress[], target: Target): void => {
    const { host, port, secure, ownUrls, isAllowedOrigin, isAllowedName } = target
    for (const address of addresses) {
      if (ownUrls.some((own) => portOf(own) === port && isBoundTo(own, address))) throw loop(host)
      const kind = classifyAddress(address)
      if (isAllowedOrigin) continue
      if (!isAllowed(address, kind, isAllowedName)) throw blocked(`${host} resolves to a ${kind} address`)
      if (!secure && kind !== 'loopback') throw unencrypted(host)
    }
  }

  return {
    async check(url) {
      const target = parse(url)
      const addresses = literalAddresses(target.host) ?? (await resolveAddresses(target, resolve))
      checkAddresses(addresses, target)
      return addresses.map(formatIpAddress)
    },
    checkUnresolved(url) {
      const target = parse(url)
      checkAddresses(literalAddresses(target.host) ?? [], target)
    },
  }
}

/** What is known about a URL before its host is resolved. */
interface Target {
  /** Without brackets and without a trailing dot. */
  readonly host: string
  readonly port: number
  readonly secure: boolean
  readonly ownUrls: readonly URL[]
  /** The operator allowed exactly this origin. */
  readonly isAllowedOrigin: boolean
  /** The operator allowed this host name. */
  readonly isAllowedName: boolean
}

/** The addresses of an IP literal or of a loopback name, which need no DNS lookup. */
function literalAddresses(host: string): IpAddress[] | undefined {
  const literal = parseIpAddress(host)
  if (literal) return [literal]
  // RFC 6761: `localhost` and its subdomains always mean the loopback addresses.
  return isLoopbackHost(host) ? ['127.0.0.1', '::1'].flatMap((text) => parseIpAddress(text) ?? []) : undefined
}

async function resolveAddresses({ host, isAllowedName }: Target, resolve: ResolveName): Promise<IpAddress[]> {
  const addresses = (await resolve(host, { isTrusted: isAllowedName })).flatMap((text) => parseIpAddress(text) ?? [])
  if (addresses.length === 0) throw new GatewayError('unreachable', `${host} has no address`, { isUnconnected: true })
  return addresses
}

interface Allowed {
  readonly ranges: readonly AddressRange[]
  readonly origins: ReadonlySet<string>
  isName(host: string): boolean
}

function readAllowed(entries: readonly string[]): Allowed {
  const ranges: AddressRange[] = []
  const origins = new Set<string>()
  const names = new Set<string>()
  for (const entry of entries) {
    const range = parseAddressRange(entry)
    if (range) ranges.push(range)
    else if (/^https?:\/\//i.test(entry) && URL.canParse(entry)) {
      const url = new URL(entry)
      origins.add(`${url.protocol}//${url.hostname.replace(/^\[|\]$/g, '')}:${portOf(url)}`)
    } else if (/^(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*$/i.test(entry)) names.add(entry.toLowerCase())
    else throw new TypeError(`gateway: ${entry} is not an address range, host name or origin`)
  }
  return {
    ranges,
    origins,
    isName(host) {
      if (names.has(host)) return true
      for (let dot = host.indexOf('.'); dot !== -1; dot = host.indexOf('.', dot + 1)) {
        if (names.has(`*${host.slice(dot)}`)) return true
      }
      return false
    },
  }
}

const portOf = (url: URL): number => (url.port === '' ? (PORTS[url.protocol]?.port ?? 0) : Number(url.port))

/** Whether a server that listens at this URL is reached at the address; `0.0.0.0` and `::` mean all local addresses. */
function isBoundTo(own: URL, address: IpAddress): boolean {
  const text = formatIpAddress(address)
  const host = own.hostname.replace(/^\[|\]$/g, '')
  if (host === '0.0.0.0' || host === '::') {
    const local = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
    return classifyAddress(address) === 'loopback' || local.some((item) => sameAddress(item.address, text))
  }
  return isLoopbackHost(host) && parseIpAddress(host) === undefined
    ? classifyAddress(address) === 'loopback'
    : sameAddress(host, text)
}

function sameAddress(a: string, b: string): boolean {
  const [x, y] = [parseIpAddress(a), parseIpAddress(b)]
  return x !== undefined && y !== undefined && formatIpAddress(x) === formatIpAddress(y)
}

const blocked = (message: string): GatewayError => new GatewayError('blocked', message)
const unencrypted = (host: string): GatewayError => blocked(`${host} must be called over TLS (https or wss)`)
const loop = (host: string): GatewayError => new GatewayError('loop', `${host} is this gateway itself`)
