import type { Packet } from 'dns-packet'
import { type Advertisement, toAdvertisement } from './advertised.js'

/** Names that are remembered: anyone can send any number. */
const MAX_NAMES = 100
const MAX_ADDRESSES = 8

export interface ServiceQuestion {
  readonly name: string
  readonly type: 'PTR' | 'SRV' | 'TXT' | 'A'
}

/** Records of DNS-SD as they arrive, in any order (RFC 6763). */
export interface ServiceRecords {
  add(packet: Pick<Packet, 'answers' | 'additionals'>): void
  /** What is still unknown. */
  questions(): ServiceQuestion[]
  directories(): Advertisement[]
}

/** @param service the service type and its domain, such as `_ad._tcp.local` */
export function createServiceRecords(service: string): ServiceRecords {
  const instances = new Set<string>()
  const targets = new Map<string, { target: string; port: number }>()
  const texts = new Map<string, string[]>()
  const addresses = new Map<string, Set<string>>()
  const hasRoom = (names: { readonly size: number }): boolean => names.size < MAX_NAMES

  const add: ServiceRecords['add'] = ({ answers = [], additionals = [] }) => {
    for (const record of [...answers, ...additionals]) {
      if (record.type === 'PTR' && record.name.toLowerCase() === service.toLowerCase()) {
        // A time to live of 0 says that the directory has gone (RFC 6762 §10.1).
        if (record.ttl === 0) instances.delete(record.data)
        else if (hasRoom(instances)) instances.add(record.data)
      } else if (record.type === 'SRV' && hasRoom(targets)) {
        targets.set(record.name, { target: record.data.target, port: record.data.port })
      } else if (record.type === 'TXT' && hasRoom(texts)) {
        texts.set(record.name, [record.data].flat().map(String))
      } else if ((record.type === 'A' || record.type === 'AAAA') && hasRoom(addresses)) {
        const known = addresses.get(record.name) ?? new Set()
        if (known.size < MAX_ADDRESSES) addresses.set(record.name, known.add(record.data))
      }
    }
  }

  return {
    add,
    questions: () => [
      { name: service, type: 'PTR' },
      ...[...instances].flatMap((name) => {
        const host = targets.get(name)?.target
        return [
          ...(host === undefined ? [{ name, type: 'SRV' as const }] : []),
          ...(texts.has(name) ? [] : [{ name, type: 'TXT' as const }]),
          ...(host === undefined || addresses.has(host) ? [] : [{ name: host, type: 'A' as const }]),
        ]
      }),
    ],
    directories: () =>
      [...instances].flatMap((instance) => {
        const at = targets.get(instance)
        if (!at) return []
        const name = instance.slice(0, -service.length - 1)
        const known = [...(addresses.get(at.target) ?? [])]
        const records = {
          name,
          host: at.target,
          port: at.port,
          txt: texts.get(instance) ?? [],
          addresses: known,
        }
        return toAdvertisement(records) ?? []
      }),
  }
}
