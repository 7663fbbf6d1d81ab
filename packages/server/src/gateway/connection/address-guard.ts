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
  /** URLs at which this gateway itself is reached: what it listens on, and its public one. */
  readonly self: () => readonly string[]
  readonly resolve: ResolveName
}

export interface AddressGuard {
  /**
   * The addresses of a URL's host, each of them fit to be called; the connection must go to one of these. Throws
   * GatewayError: `blocked`, `loop`, or `unreachable` if the name has no address.
   */
  check(url: URL): Promise<readonly string[]>
  /** The same as far as the URL itself tells, which is much for a literal address: for those who are called later. */
  checkPlain(url: URL): void
}

const PORTS: Readonly<Record<string, { port: number; secure: boolean } | undefined>> = {
  'https:': { port: 443, secure: true },
  'wss:': { port: 443, secure: true },
  'http:': { port: 80, secure: false },
  'ws:': { port: 80, secure: false },
}

/**
 * Decides where the gateway may connect to. It resolves names itself and hands on the addresses that it judged, so that
 * a second answer of the same name leads nowhere else.
 */
export function createAddressGuard({ allow, allowLoopback, self, resolve }: GuardDeps): AddressGuard {
  const allowed = readAllowed(allow)

  const isFit = (address: IpAddress, kind: AddressClass, isNamed: boolean): boolean => {
    if (kind === 'public') return true
    if (kind === 'loopback' && allowLoopback) return true
    // Secrets of the machine: a name or a wide range is not enough, the address itself must be written.
    const ranges = kind === 'metadata' ? allowed.ranges.filter(({ prefix, bits }) => prefix === bits) : allowed.ranges
    return (isNamed && kind !== 'metadata') || ranges.some((range) => isInRange(address, range))
  }

  /** What the URL itself says of where it leads; throws if that is nowhere. */
  const read = (url: URL): Reading => {
    const known = PORTS[url.protocol]
    if (!known) throw blocked(`${url.protocol} is not spoken by this gateway`)
    if (url.username !== '' || url.password !== '') throw blocked('an address may not carry a name or password')
    const port = url.port === '' ? known.port : Number(url.port)
    const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
    const mine = self().map((text) => new URL(text))
    if (mine.some((own) => own.hostname.replace(/\.$/, '') === host && portOf(own) === port)) throw loop(host)

    const asWritten = allowed.origins.has(`${known.secure ? 'https' : 'http'}://${host}:${port}`)
    const isNamed = asWritten || allowed.isName(host)
    if (!known.secure && !asWritten && !allowLoopback) throw blocked(`${host} must be called by an encrypted protocol`)
    return { host, port, secure: known.secure, mine, asWritten, isNamed }
  }

  const judge = (addresses: readonly IpAddress[], { host, port, secure, mine, asWritten, isNamed }: Reading): void => {
    for (const address of addresses) {
      if (mine.some((own) => portOf(own) === port && isBoundTo(own, address))) throw loop(host)
      const kind = classifyAddress(address)
      if (asWritten) continue
      if (!isFit(address, kind, isNamed)) throw blocked(`${host} leads to a ${kind} address`)
      if (!secure && kind !== 'loopback') throw blocked(`${host} must be called by an encrypted protocol`)
    }
  }

  return {
    async check(url) {
      const reading = read(url)
      const addresses = plainAddresses(reading.host) ?? (await resolved(reading, resolve))
      judge(addresses, reading)
      return addresses.map(formatIpAddress)
    },
    checkPlain(url) {
      const reading = read(url)
      judge(plainAddresses(reading.host) ?? [], reading)
    },
  }
}

/** A URL as far as it can be judged without asking anybody. */
interface Reading {
  /** Without brackets and without the dot at the end. */
  readonly host: string
  readonly port: number
  readonly secure: boolean
  readonly mine: readonly URL[]
  /** The operator wrote this very origin. */
  readonly asWritten: boolean
  /** The operator wrote this name. */
  readonly isNamed: boolean
}

/** The addresses of a host that needs no name server. */
function plainAddresses(host: string): IpAddress[] | undefined {
  const literal = parseIpAddress(host)
  if (literal) return [literal]
  // RFC 6761: these mean this machine whatever a name server says.
  return isLoopbackHost(host) ? ['127.0.0.1', '::1'].flatMap((text) => parseIpAddress(text) ?? []) : undefined
}

async function resolved({ host, isNamed }: Reading, resolve: ResolveName): Promise<IpAddress[]> {
  const addresses = (await resolve(host, { isTrusted: isNamed })).flatMap((text) => parseIpAddress(text) ?? [])
  if (addresses.length === 0) throw new GatewayError('unreachable', `${host} has no address`)
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
    else throw new TypeError(`gateway: ${entry} is no range of addresses, host name or origin`)
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

/** Whether a server at this URL hears what is sent to the address; one bound to all addresses hears all of the machine's. */
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
const loop = (host: string): GatewayError => new GatewayError('loop', `${host} leads back to this gateway`)
