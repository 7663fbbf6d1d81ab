import type { LimitName } from '../../policy/limits.js'

/** Minutes of one slice, and slices that are kept: together an hour. */
const SLICE_MS = 5 * 60_000
const SLICES = 12
/** Clients that are told apart in one slice; further ones are only counted. */
const MAX_CLIENTS = 500

/** Whose limit was reached. */
export interface LimitedClient {
  readonly kind: 'subject' | 'address' | 'agent'
  readonly name: string
}

export interface RefusedClient {
  readonly limit: LimitName
  /** Undefined: callers without credentials, whose addresses are not kept. */
  readonly client: LimitedClient | undefined
  readonly times: number
  /** Milliseconds since 1970. */
  readonly lastAt: number
}

export interface RefusedClients {
  /** Milliseconds since 1970. */
  readonly since: number
  /** Those that were refused most often come first. */
  readonly clients: readonly RefusedClient[]
  /** Refusals of further clients. */
  readonly others: number
}

/** Who reached a limit in the last hour: in the memory of this process only. */
export interface Refusals {
  note(limit: LimitName, client: LimitedClient): void
  top(limit: number): RefusedClients
}

export interface RefusalsOptions {
  readonly now: () => number
  /** Whether the addresses of callers without credentials are kept; otherwise they count as one client. */
  readonly addresses: boolean
}

interface Slice {
  readonly number: number
  readonly clients: Map<string, RefusedClient>
  others: number
}

export function createRefusals({ now, addresses }: RefusalsOptions): Refusals {
  let slices: Slice[] = []

  /** The slices of the last hour. */
  const recent = (): Slice[] => {
    const oldest = Math.floor(now() / SLICE_MS) - SLICES
    if (slices.some(({ number }) => number <= oldest)) slices = slices.filter(({ number }) => number > oldest)
    return slices
  }
  const current = (): Slice => {
    const number = Math.floor(now() / SLICE_MS)
    const known = recent().find((slice) => slice.number === number)
    if (known) return known
    const slice: Slice = { number, clients: new Map(), others: 0 }
    slices.push(slice)
    return slice
  }

  return {
    note(limit, client) {
      const slice = current()
      const kept = client.kind === 'address' && !addresses ? undefined : client
      const noted: RefusedClient = { limit, client: kept, times: 1, lastAt: now() }
      if (slice.clients.has(keyOf(noted)) || slice.clients.size < MAX_CLIENTS) addTo(slice.clients, noted)
      else slice.others++
    },
    top(limit) {
      const all = new Map<string, RefusedClient>()
      for (const { clients } of recent()) for (const client of clients.values()) addTo(all, client)
      const sorted = [...all.values()].sort((a, b) => b.times - a.times || b.lastAt - a.lastAt)
      const unshown = sorted.splice(limit).reduce((sum, { times }) => sum + times, 0)
      return {
        since: (Math.floor(now() / SLICE_MS) - SLICES + 1) * SLICE_MS,
        clients: sorted,
        others: slices.reduce((sum, { others }) => sum + others, unshown),
      }
    },
  }
}

const keyOf = ({ limit, client }: RefusedClient): string => JSON.stringify([limit, client?.kind, client?.name])

function addTo(clients: Map<string, RefusedClient>, added: RefusedClient): void {
  const key = keyOf(added)
  const { times = 0, lastAt = 0 } = clients.get(key) ?? {}
  clients.set(key, { ...added, times: times + added.times, lastAt: Math.max(lastAt, added.lastAt) })
}
