import { asObjects, asString, isObject, type JsonObject, type JsonValue } from '@switchboard/protocol'
import { ClientError } from '../errors.js'

/** What a directory found at one place of a site. */
export interface CrawledDocument {
  readonly url: string
  /** The id of its agent. */
  readonly agent?: string
  /** `created`, `updated`, `unchanged`, `stale`, `removed`, `skipped` or `failed`. */
  readonly status: string
  /** Why it was skipped, failed or is no longer there. */
  readonly reason?: string
}

/** A site that a directory reads regularly. */
export interface CrawledSite {
  readonly id: string
  readonly url: string
  /** `running`: the directory is still reading it. */
  readonly state: 'read' | 'running' | 'failed'
  /** Why the last visit failed. */
  readonly reason?: string
  readonly agents: readonly CrawledDocument[]
  /** RFC 3339. */
  readonly crawledAt?: string
  readonly nextAt?: string
  /** As the directory shows it. */
  readonly document: JsonObject
}

export function readSite(body: JsonValue | undefined): CrawledSite {
  const site = isObject(body) ? body : {}
  const [id, url, state] = [asString(site.id), asString(site.url), asString(site.state)]
  if (id === undefined || url === undefined)
    throw new ClientError('bad_response', 'the directory did not describe the site that it crawled')
  const [reason, crawledAt, nextAt] = [asString(site.reason), asString(site.crawled_at), asString(site.next_at)]
  return {
    id,
    url,
    state: state === 'running' || state === 'failed' ? state : 'read',
    ...(reason !== undefined && { reason }),
    agents: asObjects(site.agents).map(readDocument),
    ...(crawledAt !== undefined && { crawledAt }),
    ...(nextAt !== undefined && { nextAt }),
    document: site,
  }
}

function readDocument(value: JsonObject): CrawledDocument {
  const [agent, reason] = [asString(value.agent), asString(value.reason)]
  return {
    url: asString(value.url) ?? '',
    status: asString(value.status) ?? '',
    ...(agent !== undefined && { agent }),
    ...(reason !== undefined && { reason }),
  }
}
