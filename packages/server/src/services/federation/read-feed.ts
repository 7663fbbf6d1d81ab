import { asObjects, asString, asStrings, isObject, type JsonObject } from '@switchboard/protocol'
import { PeerError, type PeerRequest, type PeerResponse } from './peer-request.js'
import type { KnownPeer } from './peers.js'
import type { PullState } from './pull-state.js'

/** What a peer says about one agent; nothing of it has been checked. */
export interface PeerEntry {
  /** With the members of a record in our feed. */
  readonly record: JsonObject
  /** The directories it has passed, from the origin to the peer. */
  readonly path: readonly string[]
}

export interface PeerPage {
  readonly entries: readonly PeerEntry[]
  /** Agents that are listed and have not changed. */
  readonly unchanged?: readonly { readonly id: string; readonly expiresAt: number }[]
  readonly removed: readonly string[]
  /** The page is part of a complete list. */
  readonly full: boolean
  readonly more: boolean
  readonly cursor: string | undefined
  readonly etag?: string | undefined
  readonly bytes: number
}

/**
 * Reads the next page of a peer's agents; `unchanged` if there is nothing new, `unsupported` if the peer does not have
 * this interface. Throws a PeerError.
 */
export type ReadPage = (
  peer: KnownPeer,
  state: PullState,
  signal: AbortSignal,
) => Promise<PeerPage | 'unchanged' | 'unsupported'>

/** Levels of a page around a document: the page, its list, the entry, the record. */
const DEPTH = 4
/** Agents of one page that are looked at; ours has fewer. */
const MAX_ENTRIES = 1000

/** Statuses of a server that does not accept a cursor. */
const LOST_CURSOR = [400, 404, 410]

/** Reads the change feed of another Switchboard. */
export const createReadFeed =
  (request: PeerRequest): ReadPage =>
  async (peer, { cursor, etag }, signal) => {
    const ask = (since: string | undefined, headers: Record<string, string> = {}): Promise<PeerResponse> =>
      request(peer, {
        path: since === undefined ? '/feed' : `/feed?since=${encodeURIComponent(since)}`,
        headers,
        signal,
        depth: DEPTH,
      })
    const first = await ask(cursor, cursor !== undefined && etag !== undefined ? { 'if-none-match': etag } : {})
    // The peer may not know the cursor any more, such as after it was restored from a backup.
    const response = cursor !== undefined && LOST_CURSOR.includes(first.status) ? await ask(undefined) : first
    if (response.status === 304) return 'unchanged'
    if (isUnsupported(response)) return 'unsupported'
    const { json, headers, bytes } = expectObject(response)
    const { agents, removed, full, more } = json
    const next = asString(json.cursor)
    if (!Array.isArray(agents) || next === undefined || next.length > 256)
      throw new PeerError('the response is not a page of a change feed')
    return {
      entries: asObjects(agents).slice(0, MAX_ENTRIES).flatMap(toEntry),
      removed: asStrings(removed),
      full: full === true,
      more: more === true,
      cursor: next,
      // A page with changes has another cursor, so its validator is of no use.
      etag: next === cursor ? (headers.get('etag') ?? undefined) : undefined,
      bytes,
    }
  }

const toEntry = ({ record, path }: JsonObject): PeerEntry[] =>
  isObject(record) ? [{ record, path: asStrings(path) }] : []

/** Statuses of a server that does not know the path. */
export const isUnsupported = ({ status }: PeerResponse): boolean => [404, 405, 410, 501].includes(status)

/** Throws unless the response is a JSON object. */
export function expectObject({
  status,
  json,
  ...rest
}: PeerResponse): Omit<PeerResponse, 'json'> & { json: JsonObject } {
  if (status === 429) throw new PeerError('the peer limits how often it may be read (status 429)')
  if (status === 401 || status === 403) throw new PeerError(`the peer does not accept our token (status ${status})`)
  if (status !== 200) throw new PeerError(`the peer answered with status ${status}`)
  if (!isObject(json)) throw new PeerError('the response is not a JSON object')
  return { status, json, ...rest }
}
