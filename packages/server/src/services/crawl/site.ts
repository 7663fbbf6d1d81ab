import { hash } from 'node:crypto'
import { asObjects, asString, isObject, type JsonObject } from '@switchboard/protocol'
import type { TrustEntry } from '../../store/trust-store.js'
import type { Validators } from './send-politely.js'

/** What became of one document of a site. */
export type PageStatus = 'created' | 'updated' | 'unchanged' | 'stale' | 'removed' | 'skipped' | 'failed'

/** A document of a site, and the agent that was read from it. */
export interface SitePage extends Validators {
  readonly url: string
  readonly agent?: string
  readonly status: PageStatus
  /** Of a failure: the code of the error, such as `conflict`. */
  readonly code?: string
  readonly reason?: string
}

/** A site that is crawled: a host or the URL of a document. Times are milliseconds since 1970. */
export interface Site {
  readonly id: string
  readonly url: string
  /** Subjects that asked for it; empty if only the config lists it. */
  readonly requestedBy: readonly string[]
  readonly pages: readonly SitePage[]
  /** The list of agents, if the site has one that was read to its end. */
  readonly index?: { readonly url: string } & Validators
  readonly since: number
  readonly visitedAt?: number
  /** When it was last read without a failure. */
  readonly readAt?: number
  readonly nextAt: number
  /** Visits that failed since then, and why the last one did. */
  readonly failures: number
  readonly reason?: string
}

/** The id of a site. It does not start with a hyphen, which would look like a flag on the command line. */
export const siteIdOf = ({ href }: URL): string => hash('sha256', href, 'base64url').slice(0, 16).replace(/^-/, '_')

/** Milliseconds that a site is kept without being read. */
const KEPT_MS = 30 * 86_400_000

/** When the site is forgotten unless it can be read before. */
export const endOfSite = ({ readAt, since }: Site): number => (readAt ?? since) + KEPT_MS

export const toEntry = (site: Site, version: number, at: number): TrustEntry => ({
  kind: 'crawl',
  key: site.id,
  version,
  value: toValue(site),
  at,
  expiresAt: endOfSite(site),
})

function toValue({ id: _id, requestedBy, pages, index, ...rest }: Site): JsonObject {
  return {
    ...rest,
    // In this form, the store can find and rename a subject.
    requestedBy: requestedBy.map((by) => ({ by })),
    pages: pages.map((page) => ({ ...page })),
    ...(index && { index: { ...index } }),
  }
}

export function toSite({ key, value }: TrustEntry): Site {
  const { index, reason } = value
  return {
    id: key,
    url: asString(value.url) ?? '',
    requestedBy: [...new Set(asObjects(value.requestedBy).flatMap(({ by }) => asString(by) ?? []))],
    pages: asObjects(value.pages).map(toPage),
    ...(isObject(index) && { index: { url: asString(index.url) ?? '', ...validatorsOf(index) } }),
    since: Number(value.since),
    ...(value.visitedAt !== undefined && { visitedAt: Number(value.visitedAt) }),
    ...(value.readAt !== undefined && { readAt: Number(value.readAt) }),
    nextAt: Number(value.nextAt),
    failures: Number(value.failures),
    ...(typeof reason === 'string' && { reason }),
  }
}

const STATUSES: readonly PageStatus[] = ['created', 'updated', 'unchanged', 'stale', 'removed', 'skipped', 'failed']

function toPage(value: JsonObject): SitePage {
  const [agent, code, reason] = [asString(value.agent), asString(value.code), asString(value.reason)]
  return {
    url: asString(value.url) ?? '',
    status: STATUSES.find((status) => status === value.status) ?? 'failed',
    ...validatorsOf(value),
    ...(agent !== undefined && { agent }),
    ...(code !== undefined && { code }),
    ...(reason !== undefined && { reason }),
  }
}

function validatorsOf(value: JsonObject): Validators {
  const [etag, lastModified] = [asString(value.etag), asString(value.lastModified)]
  return { ...(etag !== undefined && { etag }), ...(lastModified !== undefined && { lastModified }) }
}
