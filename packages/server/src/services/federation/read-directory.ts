import { hash } from 'node:crypto'
import { asObjects, asString, idProblem, type JsonObject, parseTimestamp } from '@switchboard/protocol'
import { DOCUMENT_LIMITS } from '../../policy/document-limits.js'
import type { PeerRequest } from './peer-request.js'
import type { KnownPeer } from './peers.js'
import { expectObject, isUnsupported, type PeerEntry, type ReadPage } from './read-feed.js'
import { withoutRegistryMembers } from './registry-members.js'

/** Agents on a page of a lookup. */
const COUNT = 100
/** Of one registration: its document, and what the directory adds. A page of them is in memory at once. */
const REGISTRATION_LIMITS = { bytes: 2 * DOCUMENT_LIMITS.bytes, values: 2 * DOCUMENT_LIMITS.values }
/** Characters of the path of a registration. */
const MAX_HREF = 2048
/** Pages of a lookup: a peer may send the same page for ever. */
const MAX_PAGES = 1000
/** Summaries that are remembered, to recognise agents that have not changed. */
const MAX_KNOWN = 100_000
/** Milliseconds after which an unchanged summary does not prove any more that the registration is unchanged. */
const RELOAD_MS = 3_600_000

/** Seconds that an agent stays at least after it was listed. */
const MIN_LIFETIME = 60

interface Known {
  readonly digest: string
  readonly readAt: number
  /** Seconds. */
  readonly lifetime: number
}

export interface ReadDirectoryOptions {
  readonly request: PeerRequest
  /** Whether there is a copy of this peer's agent. */
  readonly hasCopy: (peer: string, id: string) => Promise<boolean>
  readonly now: () => number
}

/**
 * Reads an Agent Directory by its lookup (AD §5). A lookup returns summaries, so that each new or changed agent takes
 * another request. It does not say when a registration ends, only how long its lifetime was: an agent stays for three
 * intervals after it was last listed, and no longer than that lifetime.
 */
export function createReadDirectory({ request, hasCopy, now }: ReadDirectoryOptions): ReadPage {
  const known = new Map<string, Known>()

  /** The complete registration; the summary if there is no more. */
  const readRegistration = async (
    peer: KnownPeer,
    summary: JsonObject,
    signal: AbortSignal,
  ): Promise<{ registration: JsonObject; bytes: number }> => {
    const href = asString(summary.href)
    if (!href?.startsWith('/') || href.length > MAX_HREF) return { registration: summary, bytes: 0 }
    const response = await request(peer, { path: href, signal, limits: REGISTRATION_LIMITS })
    if (isUnsupported(response)) return { registration: summary, bytes: 0 }
    const { json, bytes } = expectObject(response)
    return { registration: json, bytes }
  }

  const readAgent = async (peer: KnownPeer, id: string, summary: JsonObject, signal: AbortSignal): Promise<Listed> => {
    const key = `${peer.name} ${id}`
    const digest = hash('sha256', JSON.stringify(summary), 'base64url')
    const before = known.get(key)
    if (before?.digest === digest && now() - before.readAt < RELOAD_MS && (await hasCopy(peer.name, id)))
      return { id, expiresAt: now() + before.lifetime * 1000 }
    const { registration, bytes } = await readRegistration(peer, summary, signal)
    // The copy of a copy has no proof of its origin (C-45).
    if (registration.origin_service !== undefined) return { bytes }
    const lifetime = lifetimeOf(peer, registration, now())
    if (known.size < MAX_KNOWN || before) known.set(key, { digest, readAt: now(), lifetime })
    const record = {
      id,
      format: 'directory',
      document: withoutRegistryMembers(registration),
      expires_at: new Date(now() + lifetime * 1000).toISOString(),
      ...(registration.redacted === true && { redacted: true }),
    }
    return { record, path: [peer.url], bytes }
  }

  return async (peer, { cursor }, signal) => {
    const page = /^\d{1,6}$/.test(cursor ?? '') ? Number(cursor) : 0
    const response = await request(peer, { path: `/ad/l?page=${page}&count=${COUNT}`, signal })
    if (isUnsupported(response)) return 'unsupported'
    const { json, headers, bytes } = expectObject(response)
    const listed: Listed[] = []
    for (const summary of asObjects(json.agents).slice(0, COUNT)) {
      const id = asString(summary.agent)
      if (id !== undefined && idProblem(id) === undefined && summary.origin_service === undefined)
        listed.push(await readAgent(peer, id, summary, signal))
    }
    const more = /rel="?next"?/.test(headers.get('link') ?? '') && page + 1 < MAX_PAGES
    return {
      entries: listed.flatMap((agent) => ('record' in agent ? [agent] : [])),
      unchanged: listed.flatMap((agent) => ('id' in agent ? [agent] : [])),
      removed: [],
      full: true,
      more,
      cursor: more ? String(page + 1) : undefined,
      bytes: listed.reduce((sum, agent) => sum + ('bytes' in agent ? agent.bytes : 0), bytes),
    }
  }
}

/** What was read, what has not changed, or nothing that may be copied; `bytes` of the response. */
type Listed = (PeerEntry & Read) | { readonly id: string; readonly expiresAt: number } | Read
interface Read {
  readonly bytes: number
}

/** Seconds; not beyond the end that the publisher has set. */
function lifetimeOf({ intervalSeconds }: KnownPeer, { lt, expires_at: end }: JsonObject, now: number): number {
  const longest = Math.max(3 * intervalSeconds, MIN_LIFETIME)
  const left = ((parseTimestamp(asString(end) ?? '') ?? Number.POSITIVE_INFINITY) - now) / 1000
  return Math.min(longest, left, typeof lt === 'number' && lt > 0 ? lt : longest)
}
