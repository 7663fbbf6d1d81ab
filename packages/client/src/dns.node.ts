// The entry point `@switchboard/client/dns`, for Node only: browsers have no access to DNS.
import { AGENTS_LABEL, readSvcb, SVC_KEYS, type Svcb } from '@switchboard/protocol'
import type { Packet } from 'dns-packet'
import { type AskDnsOptions, askDns } from './find/ask-dns.node.js'
import type { DnsHint, FindInDns } from './resolve/dns-hints.js'

export type { DnsHint, FindInDns } from './resolve/dns-hints.js'

export interface FindInDnsOptions {
  /** DNS servers such as `192.0.2.1:53`; default: those of the system. */
  readonly servers?: readonly string[]
  /** Milliseconds to wait for each server; default: 2 s. */
  readonly timeoutMs?: number
  /** Use the URL of the descriptor in the key that the draft has no assigned number for (`cap`, key65400). */
  readonly privateKeys?: boolean
}

const TIMEOUT_MS = 2000
const HTTPS_PORT = 443
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i

/** Keys that a record may declare mandatory: those whose meaning is respected (RFC 9460 §8). */
const KNOWN_KEYS: ReadonlySet<number> = new Set([SVC_KEYS.alpn, SVC_KEYS.noDefaultAlpn, SVC_KEYS.port])

/**
 * Looks agents up in DNS, by their SVCB records (draft-mozleywilliams-dnsop-dnsaid). For the option `dns` of `resolveAgent` and
 * `createResolver`.
 *
 * @example
 * const resolver = createResolver({ dns: createDnsLookup() })
 * const agent = await resolver.resolveAgent('agent://example.com/translator')
 */
export function createDnsLookup(options: FindInDnsOptions = {}): FindInDns {
  const { servers, timeoutMs = TIMEOUT_MS, privateKeys = false } = options
  return async (host, name, signal) => {
    const ask: AskDnsOptions = { servers, timeoutMs, signal }
    // Only the names of agents are looked up, not every first segment of a path.
    const named = name !== undefined && LABEL.test(name) ? [`${name}.${host}`, `${name}.${AGENTS_LABEL}.${host}`] : []
    const lookUp = async (owner: string, isNamed: boolean): Promise<DnsHint[]> =>
      (await servicesAt(owner, ask)).map((service) => toHint(service, isNamed, privateKeys))
    const hints = await Promise.all([...named.map((owner) => lookUp(owner, true)), lookUp(host, false)])
    return hints.find((each) => each.length > 0) ?? []
  }
}

/** A record that describes a service, and its name. */
interface Service {
  readonly owner: string
  readonly svcb: Svcb
}

/** The services at a name, the preferred one first; an alias is followed once. */
async function servicesAt(owner: string, options: AskDnsOptions, mayFollow = true): Promise<Service[]> {
  const records = svcbIn(await askDns({ name: owner, type: 'SVCB' }, options))
  const alias = records.find(({ priority }) => priority === 0)
  // With an alias, other records are ignored (RFC 9460 §2.4.1).
  if (alias) return mayFollow && alias.target !== '' ? servicesAt(alias.target, options, false) : []
  return records
    .filter(isUsable)
    .sort((a, b) => a.priority - b.priority)
    .map((svcb) => ({ owner, svcb }))
}

function svcbIn({ answers = [] }: Packet): Svcb[] {
  return answers.flatMap((answer) => {
    const type: string = answer.type
    const data =
      type === 'UNKNOWN_64' && 'data' in answer && answer.data instanceof Uint8Array ? answer.data : undefined
    return (data && readSvcb(data)) ?? []
  })
}

/** A client must ignore a record with a mandatory key that it does not know. */
function isUsable({ params }: Svcb): boolean {
  const mandatory = params.get(SVC_KEYS.mandatory) ?? new Uint8Array()
  return toNumbers(mandatory).every((key) => KNOWN_KEYS.has(key))
}

function toHint({ owner, svcb }: Service, isNamed: boolean, privateKeys: boolean): DnsHint {
  const [port = HTTPS_PORT] = toNumbers(svcb.params.get(SVC_KEYS.port) ?? new Uint8Array())
  const cap = privateKeys ? svcb.params.get(SVC_KEYS.cap) : undefined
  return {
    host: (svcb.target === '' ? owner : svcb.target).toLowerCase(),
    port,
    isNamed,
    ...(cap && { descriptor: new TextDecoder().decode(cap) }),
  }
}

/** Numbers of two bytes each. */
const toNumbers = (bytes: Uint8Array): number[] =>
  Array.from({ length: Math.floor(bytes.length / 2) }, (_, i) => (bytes[2 * i] ?? 0) * 256 + (bytes[2 * i + 1] ?? 0))
