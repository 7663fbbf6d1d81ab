import { asString, given, type JsonObject } from '@switchboard/protocol'
import type { Peer } from '../../policy/federation.js'

/** How far the agents of a peer have been read; replicas share it, and it survives a restart. Times in milliseconds. */
export interface PullState {
  /** The settings of the peer that decide which agents are kept. */
  readonly terms?: string
  /** Where to continue; undefined: from the start. */
  readonly cursor?: string | undefined
  /** The validator of the response to the cursor, for conditional requests. */
  readonly etag?: string | undefined
  /** Pages that were read since the peer last had no more. */
  readonly pages: number
  /** When the complete list was started that is being read. */
  readonly listStartedAt?: number | undefined
  /** When the last complete list was started that has been read to its end. */
  readonly listedAt?: number | undefined
  /** When the peer last answered. */
  readonly heardAt?: number
  /** Failures since then. */
  readonly failures: number
  /** Why the last attempt failed. */
  readonly error?: string | undefined
  /** Agents that were refused since the last complete list, and why the last one was. */
  readonly refused: number
  readonly refusal?: string | undefined
  /** How the peer's agents are read. */
  readonly protocol?: 'feed' | 'directory' | 'profile' | undefined
}

/** A peer is out of reach if it has not been heard for this many intervals, and this long in milliseconds. */
const MISSED = { intervals: 3, ms: 60_000 }

/** When a peer that is out of reach was last heard; undefined if it can be reached. */
export function silentSince({ intervalSeconds }: Peer, { heardAt }: PullState, now: number): number | undefined {
  const limit = Math.max(MISSED.intervals * intervalSeconds * 1000, MISSED.ms)
  return heardAt !== undefined && now - heardAt > limit ? heardAt : undefined
}

export const NEVER_PULLED: PullState = { pages: 0, failures: 0, refused: 0 }

export function toPullState(value: JsonObject | undefined): PullState {
  if (!value) return NEVER_PULLED
  const { terms, cursor, etag, error, refusal, protocol } = value
  const time = (name: string): JsonObject => (typeof value[name] === 'number' ? { [name]: value[name] } : {})
  return {
    pages: Number(value.pages ?? 0),
    failures: Number(value.failures ?? 0),
    refused: Number(value.refused ?? 0),
    ...given('terms', asString(terms)),
    ...given('cursor', asString(cursor)),
    ...given('etag', asString(etag)),
    ...given('error', asString(error)),
    ...given('refusal', asString(refusal)),
    ...((protocol === 'feed' || protocol === 'directory' || protocol === 'profile') && { protocol }),
    ...time('listStartedAt'),
    ...time('listedAt'),
    ...time('heardAt'),
  }
}

/** The state as it is stored; members without a value are left out. */
export const writePullState = (state: PullState): JsonObject =>
  Object.fromEntries(Object.entries(state).filter(([, value]) => value !== undefined))
