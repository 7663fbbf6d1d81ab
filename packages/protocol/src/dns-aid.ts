import { parseIpAddress } from './addresses.js'
import { absoluteName, MAX_STRING_BYTES, quoteString, type ZoneRecord } from './zone-records.js'

// Agents in DNS, by draft-mozleywilliams-dnsop-dnsaid-02: each has an SVCB record (RFC 9460) at its own name in a domain. Names
// below `_agents` let others walk through the agents of the domain.

/** The label below which the agents of a domain are listed. */
export const AGENTS_LABEL = '_agents'
/** The type of SVCB records, in queries. */
export const SVCB_TYPE = 64

/** Keys of SvcParams: those of RFC 9460, and those of the draft, for which it uses numbers for private use until some are assigned. */
export const SVC_KEYS = { mandatory: 0, alpn: 1, noDefaultAlpn: 2, port: 3, cap: 65_400, bap: 65_402 } as const

/** An agent of a domain, as DNS describes it. */
export interface AgentInDns {
  /** The label of its name in the domain. */
  readonly label: string
  readonly bindings: readonly { readonly protocol: string; readonly endpoint: string }[]
  readonly capabilities?: readonly string[]
  readonly version?: string
  /** URL of its descriptor. */
  readonly descriptor?: string
}

export interface AgentRecordsOptions {
  /** URL of the directory that lists the agents of the domain. */
  readonly index?: string
  /** Also write the keys for private use: `cap` (the URL of the descriptor) and `bap` (the protocols). */
  readonly privateKeys?: boolean
}

const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/
const PROTOCOL = /^[a-z0-9][a-z0-9.-]*$/
/** Endpoints of an agent that are written. */
const MAX_TARGETS = 8

/** The label for an agent: the last segment of its id, as far as a label can contain it; undefined if nothing is left. */
export function labelOf(id: string): string | undefined {
  const last =
    id
      .replace(/[?#].*$/, '')
      .split(/[/:]+/)
      .filter(Boolean)
      .at(-1) ?? ''
  const label = last
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 63)
    .replaceAll(/^-+|-+$/g, '')
  return LABEL.test(label) ? label : undefined
}

/**
 * The records of the agents of a domain. An agent without an endpoint over TLS on a host with a name has none.
 *
 * @throws {TypeError} if a name cannot be written in DNS
 */
export function agentRecords(
  agents: readonly AgentInDns[],
  domain: string,
  { index, privateKeys = false }: AgentRecordsOptions = {},
): ZoneRecord[] {
  const zone = absoluteName(domain)
  const described = agents.flatMap((agent) => {
    if (!LABEL.test(agent.label)) throw new TypeError(`"${agent.label}" is not a label of a host name`)
    const targets = targetsOf(agent)
    return targets.length > 0 ? [{ agent, targets }] : []
  })
  const indexName = `_index.${AGENTS_LABEL}.${zone}`
  const indexTarget = index === undefined ? undefined : targetOf(index)
  const listed = described.map(({ agent, targets }) => `${agent.label}:${toName(targets[0]?.protocols[0])}`)
  return [
    ...(indexTarget ? [svcb(indexName, 1, { ...indexTarget, protocols: [HTTP] })] : []),
    ...(listed.length > 0 ? [txt(indexName, chunks('agents', listed))] : []),
    ...described.flatMap(({ agent, targets }) => {
      const name = `${agent.label}.${zone}`
      const texts = [
        ...chunks('capabilities', agent.capabilities ?? []).slice(0, 1),
        ...chunks('version', agent.version === undefined ? [] : [agent.version]),
      ]
      return [
        ...targets.map((target, i) => svcb(name, i + 1, target, privateKeys ? agent : undefined)),
        ...(texts.length > 0 ? [txt(name, texts)] : []),
        // AliasMode: the same agent, in the list of the domain.
        { name: `${agent.label}.${AGENTS_LABEL}.${zone}`, type: 'SVCB' as const, data: `0 ${name}` },
      ]
    }),
  ]
}

/** A host and a port, and the protocols that an agent speaks there. */
interface Target {
  readonly host: string
  readonly port: number
  readonly protocols: readonly string[]
}

/** The protocol of endpoints that speak no protocol of agents, by its name in ALPN. */
const HTTP = 'http/1.1'

/** A protocol as lists of agents name it. */
const toName = (protocol = HTTP): string => (protocol === HTTP ? 'https' : protocol)

/** The endpoints by host and port, in order of preference. */
function targetsOf({ bindings }: AgentInDns): Target[] {
  const targets = new Map<string, Target>()
  for (const { protocol, endpoint } of bindings) {
    const at = targetOf(endpoint)
    const [base = ''] = protocol.toLowerCase().split('/', 1)
    if (!at || !PROTOCOL.test(base)) continue
    const key = `${at.host}:${at.port}`
    const known = targets.get(key)?.protocols ?? []
    const name = base === 'https' || base === 'http' ? HTTP : base
    targets.set(key, { ...at, protocols: [...new Set([...known, name])] })
  }
  return [...targets.values()].slice(0, MAX_TARGETS)
}

/** Where a URL leads, if it uses TLS and its host has a name that certificates can have: without underscores. */
function targetOf(text: string): Omit<Target, 'protocols'> | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^(https|wss):$/.test(url.protocol)) return undefined
  const { hostname: host } = url
  if (parseIpAddress(host) || host.includes('_') || !host.includes('.')) return undefined
  return { host, port: url.port === '' ? 443 : Number(url.port) }
}

function svcb(name: string, priority: number, { host, port, protocols }: Target, described?: AgentInDns): ZoneRecord {
  const spoken = protocols.filter((protocol) => protocol !== HTTP)
  const params = [
    `alpn=${quoteString(protocols.join(','))}`,
    `port=${port}`,
    ...(described?.descriptor === undefined ? [] : [`key${SVC_KEYS.cap}=${quoteString(described.descriptor)}`]),
    ...(described && spoken.length > 0 ? [`key${SVC_KEYS.bap}=${quoteString(spoken.join(','))}`] : []),
  ]
  return { name, type: 'SVCB', data: `${priority} ${absoluteName(host)} ${params.join(' ')}` }
}

const txt = (name: string, strings: readonly string[]): ZoneRecord => ({
  name,
  type: 'TXT',
  data: strings.map(quoteString).join(' '),
})

/** A list as strings `key=value,value…`, each short enough for a record. Values that cannot be in such a list are left out. */
function chunks(key: string, values: readonly string[]): string[] {
  const strings: string[] = []
  const sizeOf = (text: string): number => new TextEncoder().encode(text).length
  for (const value of values) {
    if (value === '' || /[,\p{C}]/u.test(value) || sizeOf(`${key}=${value}`) > MAX_STRING_BYTES) continue
    const last = strings.at(-1)
    const longer = last === undefined ? undefined : `${last},${value}`
    if (longer !== undefined && sizeOf(longer) <= MAX_STRING_BYTES) strings[strings.length - 1] = longer
    else strings.push(`${key}=${value}`)
  }
  return strings
}

/** The data of an SVCB record. */
export interface Svcb {
  /** 0: an alias for the target. */
  readonly priority: number
  /** Without the dot at its end; empty for the root, which stands for the name of the record. */
  readonly target: string
  readonly params: ReadonlyMap<number, Uint8Array>
}

/** Reads the data of an SVCB record; undefined if it is malformed (RFC 9460 §2.2). */
export function readSvcb(data: Uint8Array): Svcb | undefined {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  try {
    const priority = view.getUint16(0)
    const labels: string[] = []
    let at = 2
    for (let length = view.getUint8(at); length > 0; length = view.getUint8(at)) {
      // Names are not compressed here, and only host names are of use.
      const label = String.fromCharCode(...data.subarray(at + 1, at + 1 + length))
      if (length > 63 || label.length < length || !/^[\w-]+$/.test(label)) return undefined
      labels.push(label)
      at += 1 + length
    }
    const params = new Map<number, Uint8Array>()
    let last = -1
    for (at += 1; at < data.length; ) {
      const key = view.getUint16(at)
      const length = view.getUint16(at + 2)
      const value = data.subarray(at + 4, at + 4 + length)
      // Keys are in strictly increasing order.
      if (key <= last || value.length < length) return undefined
      params.set(key, value)
      last = key
      at += 4 + length
    }
    return { priority, target: labels.join('.'), params }
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}
